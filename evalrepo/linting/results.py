"""Results: they say what their record says, and git takes them."""

from __future__ import annotations

from collections.abc import Iterator

from evalrepo.errors import Finding, Place
from evalrepo.formats import result
from evalrepo.linting.ground import Ground

FOLDER = "AgentsReport/evaluation"
_PROBE = f"{FOLDER}/2000-01/2000-01-01_scenario-x_agent-tier_00000000.md"

_PATHSPECS = {"GIT_LITERAL_PATHSPECS": "0"}  # check-ignore takes paths only, and refuses to be told so


def records(ground: Ground) -> Iterator[Finding]:
    """Every result that the tool wrote is as the tool wrote it. Hand-written ones and notes are the people's."""
    paths = [p for p in ground.tree.under(FOLDER) if p.endswith(".md") and not p.endswith(".notes.md")]
    written = [p for p in paths if p.count("/") == 3]
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


RULES = (records, taken)
