"""Results: they say what their record says, and git takes them."""

from __future__ import annotations

from collections.abc import Iterator

from evalrepo.errors import Finding, Place
from evalrepo.formats import fence, result, scorecard
from evalrepo.linting.ground import Ground

FOLDER = "AgentsReport/evaluation"
_PROBE = f"{FOLDER}/2000-01/2000-01-01_scenario-x_agent-tier_00000000.md"

_PATHSPECS = {"GIT_LITERAL_PATHSPECS": "0"}  # check-ignore takes paths only, and refuses to be told so


def records(ground: Ground) -> Iterator[Finding]:
    """Every result that the tool wrote is as the tool wrote it. Hand-written ones and notes are the people's."""
    paths = [p for p in ground.tree.under(FOLDER) if p.endswith(".md") and not p.endswith(".notes.md")]
    written = [p for p in paths if p.count("/") == 3 and not scorecard.BY_HAND.fullmatch(p.rpartition("/")[2])]
    for path, text in ground.tree.read_many(written):
        yield from result.check(text, path)


def taken(ground: Ground) -> Iterator[Finding]:
    """.gitignore does not hide results."""
    code, out, _ = ground.repo.git.code("check-ignore", "--no-index", "-v", "--", _PROBE, extra=_PATHSPECS)
    if code == 0:
        rule = out.decode("utf-8", "replace").split("\t")[0]
        source, line, pattern = ([*rule.split(":", 2), "", ""])[:3]
        if pattern.startswith("!"):
            return
        hint = f"add a line !/{FOLDER}/ below it, or take the pattern away"
        place = Place(source or ".gitignore", int(line) if line.isdigit() else 0)
        yield Finding(place, "RES101", f'"{pattern}" hides results in {FOLDER}/', hint)


def by_hand(ground: Ground) -> Iterator[Finding]:
    """What people wrote can be read: each score has evidence, and is of a scenario that there is."""
    known = {w for name in ground.loaded.scenarios for w in (name, name.partition("/")[0], name.partition("-")[0])}
    paths = [p for p in ground.tree.under(FOLDER) if scorecard.BY_HAND.fullmatch(p.rpartition("/")[2])]
    for path, data in ground.tree.read_many(paths):
        if fence.OPEN in data:
            continue
        cards, findings = scorecard.parse(data.decode("utf-8-sig", "replace"), path)
        filled = [card for card in cards if card.filled]
        yield from (finding._replace(warning=True) for finding in findings)
        for card in filled:
            if card.scenario not in known:
                text = f"scores {card.scenario}, and no scenario is called that, so it counts nowhere"
                yield Finding(Place(path, card.line, 1), "SCO007", text, "evalrepo list has the names", warning=True)
        if filled and scorecard.day_of(path) is None:
            text = f"{path.rpartition('/')[2][:10]} is no day, so what it scores counts nowhere"
            yield Finding(Place(path), "SCO007", text, "YYYY-MM-DD_scenario-N.md", warning=True)


RULES = (records, taken, by_hand)
