"""`diff A B`: 10,000 results, nine tenths of them on both sides; with --large 100,000."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from ground import Ground, ground
from measure import EVALREPO, NOTHING, Case, Figure, Options, command, peak_megabytes, ratios, together

FOLDER = "AgentsReport/evaluation"
MEMORY = 500
"""MB that a diff may hold."""

CELLS = 100
"""Scenarios whose results these are."""
CONFIG = """\
version: 1
subjects:
  style: {paths: [subjects/style/**], agents: [scripted]}
agents:
  scripted: {tiers: {default: {script: good}}}
"""
SCENARIO = """\
title: Nothing is done
subject: style
turns: [{prompt: "do nothing"}]
checks: [{id: quiet, axis: A, calls: {tool: read, max: 0}}]
behaviours: [{name: good, script: [{say: "Done."}]}]
"""
START, RUN, SUBJECT, NOTE = "2026-01-01T00:00:00Z", "aaaaaaaa", "0" * 64, "x" * 900
HEAD = b"commit refs/heads/main\ncommitter B <b@example.org> %d +0000\ndata 1\nx\nfrom %b\n"


def record(digests: Any) -> tuple[str, str]:
    """Path and text of a result of three reps, about 3 kB; what differs between results is easy to replace in them."""
    from evalrepo.formats import result
    from evalrepo.records.record import Record

    rep = {
        "attempt": 1,
        "verdict": "PASS",
        "checks": [{"id": "quiet", "axis": "A", "outcome": "pass"}],
        "timing": {"start": START, "seconds": 1.0},
        "exit_code": 0,
        "usage": {"input_tokens": 1000, "output_tokens": 100, "tool_calls": 3},
    }
    record = {
        "scenario": "S000",
        "title": "Nothing is done",
        "agent": "scripted",
        "tier": "default",
        "subjects": ["style"],
        "digests": {**digests.model_dump(mode="json"), "subject": SUBJECT},
        "commit": "c" * 40,
        "dirty": False,
        "isolation": "none",
        "model_free": True,
        "bar": {"passes": 2, "of": 3},
        "checks": ["quiet"],
        "run": RUN,
        "start": START,
        "end": "2026-01-01T00:00:09Z",
        "evalrepo": "0.1.0",
        "clone": "0123456789abcdef",
        "sequence": 1,
        "reps": [{"rep": n, **rep} for n in (1, 2, 3)],
        "notes": [NOTE],
    }
    made = Record.model_validate_json(json.dumps(record))
    return result.file_name(made), result.dump(made)


def _results(at: Ground, count: int, digests: tuple[Any, Any]) -> Iterator[tuple[str, str]]:
    """Spread over a year and the cells, each subject measured twice in each cell; `old` has the shared part's last."""
    name, text = record(digests[0])
    last = (count * 9 // 10 - 1, count - 1)
    known = {number // (2 * CELLS): side.subject for number, side in zip(last, digests, strict=True)}
    for number in range(count):
        block = number // (2 * CELLS)
        subject = known.get(block) or sha256(b"%d" % block).hexdigest()
        scenario, month, day = f"S{number % CELLS:03}", f"{1 + 12 * number // count:02}", f"{1 + number // 7 % 28:02}"
        run = f"{at.random.getrandbits(40):010x}"[:8]
        dated = name.replace("2026-01/", f"2026-{month}/").replace("2026-01-01", f"2026-{month}-{day}")
        own = text.replace("S000", scenario).replace(SUBJECT, subject).replace(RUN, run)
        own = own.replace("2026-01-01", f"2026-{month}-{day}")
        yield dated.replace("S000", scenario).replace(RUN, run), own


def _digests(at: Ground) -> Any:
    """What the one cell's digests are at HEAD."""
    from datetime import UTC, datetime

    from evalrepo.agents import scripted
    from evalrepo.repository.digests import digests
    from evalrepo.repository.repo import Repository
    from evalrepo.store import load
    from evalrepo.world import World

    world = World(cwd=at.repo, environ=at.env, now=lambda: datetime.now(UTC), random=bytes)
    repo = Repository.open(world)
    tree = repo.tree("HEAD")
    loaded = load(tree)
    agent = loaded.config.agents["scripted"]
    description = scripted.describe(agent, agent.tiers["default"])
    cli = scripted.version(agent, world)
    scenario = loaded.scenarios["S000"].scenario
    return digests(tree, loaded.config, scenario, "scripted", "default", cli=cli, description=description)


def _fill(at: Ground, count: int) -> None:
    """`old` holds nine tenths of the results, `main` all of them, another subject, and nothing is in the work tree."""
    scenarios: dict[str, str | bytes] = {f"scenarios/S{n:03}.yaml": SCENARIO for n in range(CELLS)}
    first = at.commit({"evalrepo.yaml": CONFIG, "subjects/style/GUIDE.md": "one\n", **scenarios})
    before = _digests(at)
    second = at.commit({"subjects/style/GUIDE.md": "two\n"})
    files = list(map(_inline, _results(at, count, (before, _digests(at)))))
    shared = count * 9 // 10
    guide = _inline(("subjects/style/GUIDE.md", "one\n"))
    at.git("fast-import", "--quiet", stdin=b"".join([HEAD % (1_700_000_000, second.encode()), guide, *files[:shared]]))
    guide = _inline(("subjects/style/GUIDE.md", "two\n"))
    later = [HEAD % (1_700_000_001, b"refs/heads/main^0"), guide, *files[shared:]]
    at.git("fast-import", "--quiet", stdin=b"".join(later))
    at.git("tag", "old", "main~1")
    at.git("read-tree", "HEAD")
    assert at.git("merge-base", "old", first).strip() == first


def _inline(file: tuple[str, str]) -> bytes:
    data = file[1].encode()
    return b"M 100644 inline %b\ndata %d\n%b\n" % (file[0].encode(), len(data), data)


def figures(options: Options) -> list[Figure]:
    """Warm and cold at each size."""
    found: list[Figure] = []
    for count in (10_000, 100_000) if options.large else (10_000,):
        with ground() as at:
            _fill(at, count)
            found += _measured(at, count, options)
    return found


def _measured(at: Ground, count: int, options: Options) -> list[Figure]:
    """`cold`: the results are read anew. `nothing cached`: YAML, models and digests of both sides as well."""
    sides = [command("git", "ls-tree", "-r", "-z", side, cwd=at.repo, env=at.env) for side in ("old", "main")]
    listed = at.git("ls-tree", "-r", "main", "--", FOLDER).splitlines()
    feed = "".join(line.split()[2] + "\n" for line in listed).encode()
    contents = command("git", "cat-file", "--batch", "--buffer", cwd=at.repo, env=at.env, stdin=feed)
    nothing = command(*NOTHING, cwd=at.repo, env=at.env)
    diff = command(*EVALREPO, "diff", "old", "main", cwd=at.repo, env=at.env, codes=(0, 1))
    cache = Path(at.repo, ".git", "evalrepo", "cache")

    def cold() -> None:
        for rows in cache.glob("rows-*"):
            shutil.rmtree(rows)
        diff()

    def bare() -> None:
        shutil.rmtree(cache)
        diff()

    warm, read = together(*sides, nothing), together(*sides, contents, nothing)
    few = 5 if count > 10_000 else 9
    cases = [
        Case("compare", f"{count:,} results warm / ls-tree of both + python", diff, warm, 5.0, rounds=15),
        Case("compare", f"{count:,} results cold / + cat-file of the union", cold, read, 1.8, rounds=few),
        Case("compare", f"{count:,} results, nothing cached / the same", bare, read, 1.8, rounds=few),
    ]
    timed = [ratios(case, options) for case in cases]
    shutil.rmtree(cache)
    megabytes = peak_megabytes((*EVALREPO, "diff", "old", "main"), at.repo, at.env)
    what = f"{count:,} results, nothing cached: most memory"
    return [*timed, Figure("compare", what, megabytes, megabytes, megabytes, MEMORY, unit="MB")]
