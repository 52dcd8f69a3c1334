"""`rescore` over 200 stored reps: a check repaired, and every rep judged again from its transcript and its files.

The floor reads the same transcripts by one `git cat-file --batch` and parses their JSON; beside it stands what the
command costs when no rep is to be judged (starting, linting, reading records). What is recorded then (the self-test
of the repaired check, five records, their reference, one commit) is measured by itself.
"""

from __future__ import annotations

import time

from ground import Ground, ground
from measure import EVALREPO, PYTHON, Case, Figure, Options, command, ratios, together

SCENARIOS, REPS = 5, 40
CONFIG = """\
version: 1
subjects:
  style: {paths: [subjects/**], agents: [scripted], install: {scripted: {copy: {.: ~/style}}}}
agents: {scripted: {tiers: {default: {script: good}}}}
"""
SCENARIO = """\
title: A typo is mended
subject: style
fixture: app
turns: [{prompt: Fix the typo in README.md.}]
checks:
  - {id: looks, axis: A, order: {first: {tool: read, path: README.md}, before: {tool: edit}}}
  - {id: fixed, axis: B, file: {path: README.md, matches: "WORD"}}
conformance:
  - {name: good, expect: PASS, script: [{read: README.md}, {edit: {path: README.md, old: hello, new: hallo}}]}
  - {name: blind, expect: {FAIL: A}, script: [{edit: {path: README.md, old: hello, new: hallo}}, {read: README.md}]}
  - {name: lazy, expect: {FAIL: B}, script: [{read: README.md}, {edit: {path: README.md, old: hello, new: x}}]}
  - {name: nothing, expect: {ERROR: empty}, script: []}
"""
FLOOR = """\
import json, subprocess, sys
out = subprocess.run(["git", "cat-file", "--batch"], input=sys.stdin.buffer.read(), capture_output=True).stdout
at = 0
while at < len(out):
    end = out.index(b"\\n", at)
    size = int(out[at:end].split(b" ")[2])
    for line in out[end + 1 : end + 1 + size].splitlines():
        json.loads(line)
    at = end + size + 2
"""


def _scenarios(word: str) -> dict[str, str]:
    return {f"scenarios/S{n}.yaml": SCENARIO.replace("WORD", word) for n in range(SCENARIOS)}


def _fill(at: Ground) -> None:
    own = {"evalrepo.yaml": CONFIG, "subjects/GUIDE.md": "Be brief.\n", "fixtures/app/README.md": "hello\n"}
    at.commit({**own, **_scenarios("hallo")})
    command(*EVALREPO, "run", "--reps", str(REPS), cwd=at.repo, env=at.env)()


def _transcripts(at: Ground) -> bytes:
    """Blob ids of the transcripts, one a line."""
    refs = at.git("for-each-ref", "--format=%(refname)", "refs/evalrepo/runs").split()
    rows = [row for ref in refs for row in at.git("ls-tree", "-r", ref, "transcripts/").splitlines()]
    found = [row.split()[2] for row in rows if row.endswith(".jsonl")]
    assert len(found) == SCENARIOS * REPS, len(found)
    return "".join(f"{oid}\n" for oid in found).encode()


def figures(options: Options) -> list[Figure]:
    """Judging by itself, in turns with the floor; then all of it, once for each of two repairs."""
    with ground() as at:
        _fill(at)
        floor = command(PYTHON, "-c", FLOOR, cwd=at.repo, env=at.env, stdin=_transcripts(at))
        at.commit(_scenarios("^hallo"))
        judge = command(*EVALREPO, "rescore", "--dry-run", cwd=at.repo, env=at.env)
        none = command(*EVALREPO, "rescore", "--dry-run", "--since", "HEAD", cwd=at.repo, env=at.env)
        what = f"rescore --dry-run, {SCENARIOS * REPS} reps / cat-file --batch + JSON"
        alone = ratios(Case("rescore", what, judge, floor, None, 5), options)
        found = ratios(Case("rescore", "the same / + rescore of no rep", judge, together(floor, none), 2.0, 7), options)
        times = []
        for word in ("hall[o]", "[h]allo"):
            at.commit(_scenarios(word))
            began = time.perf_counter()
            command(*EVALREPO, "rescore", cwd=at.repo, env=at.env)()
            times.append(time.perf_counter() - began)
        whole = f"rescore, {SCENARIOS * REPS} reps, self-test, records and commit included"
        return [found, alone, Figure("rescore", whole, sum(times) / 2, min(times), max(times), None, "s")]
