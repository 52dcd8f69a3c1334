"""A repository with a person's work in it, a run that has measured two cells, and what must hold after any crash.

Run as a script it is the run itself: `python yard.py TOP [until]` measures, finishes and lands; a fault kills it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import evalrepo
from evalrepo.errors import EvalrepoError
from evalrepo.formats import result
from evalrepo.records.record import (
    BarRecord,
    CellHeader,
    CheckResult,
    Digests,
    Outcome,
    Record,
    Rep,
    StoredTranscript,
    Timing,
    Verdict,
)
from evalrepo.repository.repo import Repository
from evalrepo.running.journal import Header, Journal, Planned
from evalrepo.running.keep import clone_id, finish
from evalrepo.running.sequence import given
from evalrepo.world import World

NOW = datetime(2026, 11, 29, 21, 53, 48, tzinfo=UTC)
START = "2026-11-29T21:53:48Z"
RUN = "k7m2q9ab"
RESULTS = "AgentsReport/evaluation/2026-11/"
MINE = Path(__file__)
PYTHONPATH = os.pathsep.join((str(MINE.parent), str(Path(evalrepo.__file__).parent.parent)))
"""For processes that a test starts: this folder, and the package that the test itself imported."""


def environ(base: Path, **more: str) -> dict[str, str]:
    """Nothing of the machine's own configuration."""
    fixed = {"HOME": str(base), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "LANG": "C.UTF-8"}
    return {"PATH": os.environ["PATH"], **fixed, **more}


def cell(scenario: str, **more: object) -> CellHeader:
    """A cell's header."""
    subject, stimulus, instrument, apparatus = (hashlib.sha256(c.encode()).hexdigest() for c in "abcd")
    known: dict[str, object] = {
        "scenario": scenario,
        "title": "A title",
        "agent": "scripted",
        "tier": "good",
        "subjects": ("orchestration",),
        "digests": Digests(subject=subject, stimulus=stimulus, instrument=instrument, apparatus=apparatus),
        "commit": "0" * 40,
        "dirty": False,
        "isolation": "none",
        "bar": BarRecord(passes=2, of=3),
        "checks": ("c",),
    }
    return CellHeader(**{**known, **more})


def rep(
    number: int, attempt: int = 1, verdict: Verdict = Verdict.PASS, transcript: StoredTranscript | None = None
) -> Rep:
    """An attempt that ended."""
    outcome = Outcome.PASS if verdict is Verdict.PASS else Outcome.FAIL
    return Rep(
        rep=number,
        attempt=attempt,
        verdict=verdict,
        checks=(CheckResult(id="c", axis="A", outcome=outcome),),
        models=("m-1",),
        timing=Timing(start=START, seconds=2.5),
        transcript=transcript,
    )


class Yard:
    """`top` is the work tree. Everything is real."""

    def __init__(self, top: Path, **more: str) -> None:
        self.top = top
        self.env = environ(top.parent, **more)

    def git(self, *args: str, cwd: Path | None = None, check: bool = True, stdin: bytes = b"") -> str:
        """The person's git."""
        done = subprocess.run(
            ["git", *args], cwd=cwd or self.top, env=self.env, input=stdin, capture_output=True, check=False
        )
        assert not check or done.returncode == 0, done.stderr.decode()
        return os.fsdecode(done.stdout).rstrip("\n")

    def begin(self, *init: str) -> Yard:
        """A repository with one commit."""
        self.top.mkdir(parents=True)
        self.git("init", "-q", "-b", "main", *init)
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.org")
        self.write({"kept.txt": "kept\n", "staged.txt": "one\n", "modified.txt": "one\n"})
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "first")
        return self

    def person_at_work(self) -> Yard:
        """One file staged, one modified, one untracked, one of them both."""
        self.write({"staged.txt": "two\n", "new staged.txt": "new\n"})
        self.git("add", "staged.txt", "new staged.txt")
        self.write({"modified.txt": "two\n", "untracked.txt": "untracked\n", "staged.txt": "three\n"})
        return self

    def write(self, files: Mapping[str, str]) -> None:
        """Files of the work tree."""
        for name, text in files.items():
            path = self.top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def world(self, cwd: Path | None = None) -> World:
        """With a clock that stands still."""
        return World(cwd or self.top, self.env, lambda: NOW, os.urandom)

    def repo(self, cwd: Path | None = None) -> Repository:
        """Opened anew."""
        return Repository.open(self.world(cwd))

    def work(self) -> dict[str, str]:
        """What must be as it was: the person's index entries, status and files, results left out."""
        staged = [s for s in self.git("ls-files", "-s", "-z").split("\0") if "AgentsReport/" not in s]
        status = [s for s in self.git("status", "--porcelain", "-z").split("\0") if "AgentsReport/" not in s]
        flags = [s for s in self.git("ls-files", "-v", "-z").split("\0") if "AgentsReport/" not in s]
        files = {
            str(p.relative_to(self.top)): p.read_bytes().decode()
            for p in sorted(self.top.rglob("*"))
            if p.is_file() and ".git" not in p.parts and "AgentsReport" not in p.parts
        }
        return {
            "index": "\n".join(staged),
            "status": "\n".join(status),
            "flags": "\n".join(flags),
            "files": repr(files),
        }

    def results(self, rev: str = "HEAD") -> dict[str, Record]:
        """The result files of a revision."""
        names = self.git("ls-tree", "-r", "--name-only", "-z", rev, "--", "AgentsReport").split("\0")
        return {n: result.load(self.git("show", f"{rev}:{n}").encode() + b"\n", n) for n in names if n}

    def copy(self, top: Path) -> Yard:
        """The same yard in another place."""
        shutil.copytree(self.top, top, symlinks=True)
        other = Yard(top)
        other.git("update-index", "-q", "--refresh", check=False)
        return other


def journal(yard: Yard, run: str = RUN, cells: tuple[CellHeader, ...] | None = None, **more: object) -> Journal:
    """A run of three reps in each of its cells."""
    repo = yard.repo()
    known: dict[str, object] = {
        "run": run,
        "start": START,
        "evalrepo": "0.1.0",
        "clone": clone_id(repo, yard.world()),
        "branch": repo.branch(),
        "commit": True,
        "cells": tuple(Planned(c, 3) for c in (cells or (cell("E1-first"), cell("E2-second/case")))),
    }
    return Journal.create(repo.home, Header(**{**known, **more}))


def play(yard: Yard, log: Journal, number: int, which: int, *, end: bool = True) -> None:
    """One rep: started, its transcript stored, ended."""
    log.start(number, which, 1, START)
    data = f"transcript of {log.run} {number} {which}\n".encode()
    path = f"transcripts/{number}/{which}-1/log.jsonl"
    oid = yard.repo().write_blob(data)
    stored = StoredTranscript(sha256=hashlib.sha256(data).hexdigest(), path=path, size=len(data))
    if end:
        log.end(
            number, rep(which, verdict=Verdict.FAIL if which == 2 else Verdict.PASS, transcript=stored), {path: oid}
        )


PLAYED = ((0, 1, True), (0, 2, True), (1, 1, True), (1, 2, False))
"""Cell, rep, and whether it ended."""
SCENARIOS = ("E1-first", "E2-second/case")


def measure(yard: Yard, run: str = RUN) -> Journal:
    """Two cells: one of two reps that ended, one of a rep that ended and one that did not."""
    log = journal(yard, run)
    for number, which, end in PLAYED:
        play(yard, log, number, which, end=end)
    return log


def assert_sound(yard: Yard, before: Mapping[str, str], said: str = "measured", run: str = RUN) -> None:
    """After recovery: the invariants of the fault matrix. `said` is what the run said it had done before it died."""
    records = yard.results()
    mine = [(r.scenario, p) for r in records.values() if r.run == run for p in r.reps]
    verdicts = {(scenario, p.rep): f"{p.verdict}{p.error}" for scenario, p in mine}
    assert len(verdicts) == len(mine), "a rep stands twice"
    for number, which, end in PLAYED:
        if "measured" in said or f"{number}.{which}\n" in said:
            wanted = ("FAIL" if which == 2 else "PASS") if end else "ERRORinterrupted"
            assert verdicts[(SCENARIOS[number], which)] == wanted
    kept = {p.transcript.path: p.transcript for _, p in mine if p.transcript}
    for path, stored in kept.items():
        data = yard.git("show", f"refs/evalrepo/runs/{run}:{path}").encode() + b"\n"
        assert hashlib.sha256(data).hexdigest() == stored.sha256
    assert yard.work() == before
    _clean(yard)
    _counted(yard, records)
    _next_commit_keeps(yard, records)


def _clean(yard: Yard) -> None:
    """No lock, no temporary file, no open journal; what references reach is whole."""
    left = [p for p in (yard.top / ".git").rglob("*") if p.name.endswith(".lock") or p.name.startswith("tmp_")]
    assert left == []
    assert not (yard.top / ".git/evalrepo/landing").exists() or not list((yard.top / ".git/evalrepo/landing").iterdir())
    assert list((yard.top / ".git/evalrepo/journal").glob("*.jsonl")) == []
    said = yard.git("fsck", "--full", "--strict", "--no-dangling")
    assert said == "", said
    assert [s for s in yard.git("status", "--porcelain").splitlines() if "AgentsReport" in s] == []


def _counted(yard: Yard, records: Mapping[str, Record]) -> None:
    """Numbers without a gap, each record naming the hash of the one before it, and what the clone counted."""
    previous = ""
    for number, (path, record) in enumerate(sorted(records.items(), key=lambda item: item[1].sequence), 1):
        assert (record.sequence, record.previous) == (number, previous)
        previous = hashlib.sha256(yard.git("show", f"HEAD:{path}").encode() + b"\n").hexdigest()
    last = given(yard.top / ".git/evalrepo")
    assert (sum(a.count for a in last), last[-1].last if last else "") == (len(records), previous)


def _next_commit_keeps(yard: Yard, records: Mapping[str, Record]) -> None:
    """The person's next commit drops no result."""
    index = (yard.top / ".git/index").read_bytes()
    head = yard.git("rev-parse", "HEAD")
    yard.git("commit", "-q", "--allow-empty", "-m", "the next")
    assert set(yard.results()) == set(records)
    yard.git("update-ref", "HEAD", head)
    (yard.top / ".git/index").write_bytes(index)


def snapshot(yard: Yard) -> dict[str, bytes]:
    """Every byte below the top."""
    return {str(p.relative_to(yard.top)): p.read_bytes() for p in sorted(yard.top.rglob("*")) if p.is_file()}


def main(top: str) -> int:
    """Measure and land, saying what is done."""
    place = Yard(Path(top), **{k: v for k, v in os.environ.items() if k.startswith("FAULT_")})
    print("measuring", flush=True)
    try:
        log = journal(place)
        for number, which, end in PLAYED:
            play(place, log, number, which, end=end)
            print(f"{number}.{which}", flush=True)
        print("measured", flush=True)
        finish(place.repo(), place.world(), log)
        print("landed", flush=True)
    except EvalrepoError as error:
        print(f"evalrepo: {error}", file=sys.stderr)
        return int(error.exit)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
