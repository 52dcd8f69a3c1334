"""One system call of a run, or of a git that it starts, fails or kills it: the next run puts everything right.

The faults are a seeded sample of those that one clean trace has a place for. `EVALREPO_SWEEP=N` takes N of them, `all`
every one; `EVALREPO_SWEEP_SEED` chooses others.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from evalrepo.cli import world
from evalrepo.repository.repo import Repository
from evalrepo.running.recover import recover
from tests.call_faults import STRACE, Fault, changes, fired
from tests.commands.conftest import SCENARIO, WORLD, Repo
from tests.commands.test_commands_crash import processes_below

SEED = int(os.environ.get("EVALREPO_SWEEP_SEED", "40"))
SAMPLE = os.environ.get("EVALREPO_SWEEP", "40")
CALLS = ("openat", "write", "fsync", "fdatasync", "rename", "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir", "mkdirat")  # fmt: skip
ERRORS = {"openat": "ENOSPC", "write": "ENOSPC", "mkdir": "ENOSPC", "mkdirat": "ENOSPC"}
TABLE = {0, 1, 2, 3, 4, 130}
TWO_CHECKS = SCENARIO.partition("conformance:")[0] + """\
conformance:
  - name: good
    expect: PASS
    script: [{read: README.md}, {edit: {path: README.md, old: hello, new: hallo}}, {say: done}]
  - {name: blind, expect: {FAIL: A}, script: [{edit: {path: README.md, old: hello, new: hallo}}, {read: README.md}, {say: x}]}
  - {name: lazy, expect: {FAIL: B}, script: [{read: README.md}, {edit: {path: README.md, old: hello, new: he}}, {say: x}]}
  - {name: nothing, expect: {ERROR: empty}, script: []}
behaviours:
  - {name: follows, script: [{read: README.md}, {edit: {path: README.md, old: hello, new: hallo}}, {say: "Status: COMPLETE"}]}
"""  # fmt: skip
SHIM = """#!/bin/sh
n=0
[ ! -e "$FAULT_DIR/count" ] || read n < "$FAULT_DIR/count"
n=$((n + 1))
echo $n > "$FAULT_DIR/count"
if [ "$FAULT_GIT" = all ]; then
  exec {strace} -f -o "$FAULT_DIR/git-$n.log" -e trace={calls} {git} "$@"
elif [ "$FAULT_GIT" = "$n" ]; then
  exec {strace} -f -o "$FAULT_DIR/hit.log" -e trace="$FAULT_CALL" -e inject="$FAULT_INJECT" {git} "$@"
fi
exec {git} "$@"
"""
pytestmark = [pytest.mark.strace, pytest.mark.slow]


def faulty(repo: Repo, work: Path, fault: Fault | None) -> tuple[int, str]:
    """`evalrepo run --reps 1` under a fault, or traced where there is none: exit code (-9: killed) and what it said."""
    tools = work / "tools"
    tools.mkdir(parents=True)
    shim = tools / "git"
    shim.write_text(SHIM.format(strace=STRACE, git=shutil.which("git"), calls=",".join(CALLS)))
    shim.chmod(0o755)
    env = repo.environment() | {"FAULT_DIR": str(work), "PYTHONDONTWRITEBYTECODE": "1", "EVALREPO_DEBUG": "1"}
    if fault is None or fault.process:
        env["PATH"] = f"{tools}:{env['PATH']}"
    env["FAULT_GIT"] = "all" if fault is None else str(fault.process)
    argv = [sys.executable, "-m", "evalrepo", "run", "--reps", "1", "--jobs", "1"]
    alone = [STRACE, "-f", "-b", "execve", "-o"]  # threads are followed, the programs that are started are not
    if fault is None:
        argv = [*alone, str(work / "run.log"), "-e", f"trace={','.join(CALLS)}", *argv]
    else:
        env |= {"FAULT_CALL": fault.call, "FAULT_INJECT": fault.inject}
        if not fault.process:
            argv = [*alone, str(work / "hit.log"), "-e", f"trace={fault.call}", "-e", f"inject={fault.inject}", *argv]
    done = subprocess.run(argv, cwd=repo.path, env=env, capture_output=True, timeout=120, check=False)
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def possible(log: Path, process: int) -> Iterator[Fault]:
    """Every fault that changes something, by the counts of the thread that makes the call."""
    counts: Counter[tuple[str, str]] = Counter()
    for line in log.read_text(errors="replace").splitlines():
        found = re.match(r"(\d+) +(\w+)\((.*)", line)
        if not found:
            continue
        thread, call, rest = found.groups()
        counts[thread, call] += 1
        if changes(call, rest):
            yield Fault(process, call, counts[thread, call], "KILL")
            if process and call.startswith("unlink"):
                continue  # git does not look whether it could remove its own lock or temporary file
            yield Fault(process, call, counts[thread, call], ERRORS.get(call, "EIO"))


def planned(work: Path) -> list[Fault]:
    """The sample: one half in evalrepo itself, one half in the gits that it starts, calls alike."""
    own = list(dict.fromkeys(possible(work / "run.log", 0)))
    logs = sorted(work.glob("git-*.log"), key=lambda p: int(p.stem[4:]))
    gits = [fault for log in logs for fault in dict.fromkeys(possible(log, int(log.stem[4:])))]
    if SAMPLE == "all":
        return own + gits
    draw = random.Random(SEED)
    return [*_alike(own, int(SAMPLE) // 2, draw), *_alike(gits, int(SAMPLE) - int(SAMPLE) // 2, draw)]


def _alike(faults: list[Fault], count: int, draw: random.Random) -> list[Fault]:
    """`count` of them, each kind of call (almost) as often as the others."""
    draw.shuffle(faults)
    seen: Counter[str] = Counter()
    rank = {}
    for fault in faults:
        rank[fault] = seen[fault.call]
        seen[fault.call] += 1
    return sorted(faults, key=rank.__getitem__)[:count]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository whose scripts are proven, with a file staged, one modified and one untracked."""
    top = tmp_path_factory.mktemp("sweep")
    for name in ("repo", "home", "t"):
        (top / name).mkdir()
    repo = Repo(top / "repo", top / "home")
    repo.git("init", "-q", "-b", "main")
    repo.git("config", "user.name", "Test Person")
    repo.git("config", "user.email", "person@example.org")
    repo.commit(WORLD | {"scenarios/S1-typo.yaml": TWO_CHECKS, "notes.txt": "notes\n"}, "the world")
    repo.run("selftest")
    repo.write({"staged.txt": "staged\n", "untracked.txt": "untracked\n", "notes.txt": "other notes\n"})
    repo.git("add", "staged.txt")
    return repo


def copied(template: Repo, top: Path) -> Repo:
    for name in ("home", "t"):
        (top / name).mkdir(parents=True)
    shutil.copytree(template.path, top / "repo", symlinks=True)
    return Repo(top / "repo", top / "home")


def person(repo: Repo) -> tuple[str, ...]:
    """What the person at the keyboard has there."""
    return (repo.git("status", "--porcelain"), repo.git("diff"), repo.git("diff", "--cached"),
            repo.git("symbolic-ref", "HEAD"))  # fmt: skip


def machine(repo: Repo) -> tuple[object, ...]:
    """All that a recovery could change."""
    files = {str(p): p.read_bytes() for p in (repo.path / "AgentsReport").rglob("*") if p.is_file()}
    ours = sorted(str(p) for p in (repo.path / ".git/evalrepo").rglob("*") if "cache" not in p.parts)
    return repo.git("show-ref"), repo.git("ls-files", "-s"), repo.git("reflog", "HEAD"), files, ours


def starts(repo: Repo) -> list[tuple[str, int, int]]:
    """Every start that a journal tells of: run, rep, attempt."""
    found = []
    for path in (repo.path / ".git/evalrepo/journal").rglob("*.jsonl"):
        for line in path.read_text(errors="replace").splitlines():
            told = re.search(r'"line": ?"start"', line) and json.loads(line[line.index("{") :])
            if told:
                row = told.get("row", told)
                found.append((path.name.split(".")[0], row["rep"], row["attempt"]))
    return sorted(found)


def assert_sound(repo: Repo, before: tuple[str, ...], fault: Fault) -> None:
    """After a fault and a run that completed: all recorded once, nothing left, the person's work as it was.

    A git that is killed alone, or a run that cannot remove it, leaves a temporary object: `git gc` removes it in time.
    """
    reps = repo.reps()
    assert sorted((run, rep, attempt) for run, _, rep, attempt, _ in reps) == starts(repo)
    assert Counter(r[4] for r in reps)["PASS"] == 1, reps
    assert {r[4] for r in reps} <= {"PASS", "ERROR"}
    assert person(repo) == before
    assert repo.git("fsck", "--full", "--strict", "--no-dangling") == ""
    home = repo.path / ".git/evalrepo"
    left = [p for p in (repo.path / ".git").rglob("*.lock") if p.parent.name != "claims"]
    garbage = fault.process > 0 or (fault.call.startswith("unlink") and fault.what != "KILL")
    left += [p for p in (repo.path / ".git").rglob("tmp_*") if not garbage or not p.name.startswith("tmp_obj_")]
    left += [*home.glob("journal/*.jsonl"), *home.glob("journal/.*")]
    left += [*home.glob("landing/*"), *home.glob("scratch/*")]
    assert left == []
    assert [p for p in (repo.home.parent / "t").iterdir() if p.name != "hsperfdata_root"] == []
    assert processes_below(repo.path.parent) == []


def survives(template: Repo, top: Path, fault: Fault) -> str:
    """ "" when the fault came and all is sound after the next run; "quiet" when it did not come; else what is wrong."""
    repo = copied(template, top)
    before = person(repo)
    code, said = faulty(repo, top / "fault", fault)
    if not fired(top / "fault"):
        return "quiet"
    try:
        assert code in TABLE or code == -9, f"exit {code}"
        assert "Traceback" not in said
        repo.run("run", "--reps", "1", "--jobs", "1")
        assert_sound(repo, before, fault)
        still, ours = machine(repo), replace(world(), cwd=repo.path, environ=repo.environment())
        assert recover(Repository.open(ours), ours) == []
        assert machine(repo) == still
    except AssertionError as error:
        return f"{fault}: {error}\nthe run under the fault: exit {code}\n{said}"
    shutil.rmtree(top)
    return ""


def test_after_a_fault_of_any_system_call_the_next_run_puts_everything_right(template: Repo, tmp_path: Path):
    clean = copied(template, tmp_path / "clean")
    code, said = faulty(clean, tmp_path / "clean/fault", None)
    assert code == 0, said
    plan = planned(tmp_path / "clean/fault")
    with ThreadPoolExecutor(max_workers=2) as pool:
        ends = list(pool.map(lambda fault: survives(template, tmp_path / str(fault), fault), plan))
    wrong = [end for end in ends if end not in ("", "quiet")]
    assert wrong == [], "\n\n".join(wrong)
    assert ends.count("quiet") <= len(plan) // 10, [str(f) for f, end in zip(plan, ends, strict=True) if end]
