"""Faults of single system calls, planned from a clean trace: the n-th call of the run, or of the k-th git it starts.

strace kills the process at the call, or makes the call fail. A plan that did not fire is an error of the test.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from yard import PYTHONPATH

from tests.call_faults import STRACE, Fault, changes

CALLS = ("fsync", "write", "openat", "link", "linkat", "rename", "renameat2", "unlink", "unlinkat", "mkdir", "mkdirat")
FAILING = {"fsync": "EIO", "write": "ENOSPC", "openat": "ENOSPC", "mkdir": "ENOSPC"}

SHIM = """#!/bin/sh
n=$(($(cat "$FAULT_DIR/count" 2>/dev/null || echo 0) + 1))
echo $n > "$FAULT_DIR/count"
if [ "$FAULT_GIT" = all ]; then
  exec {strace} -f -o "$FAULT_DIR/git-$n.log" -e trace={calls} {git} "$@"
elif [ "$FAULT_GIT" = "$n" ]; then
  exec {strace} -f -o "$FAULT_DIR/hit.log" -e trace="$FAULT_CALL" -e inject="$FAULT_INJECT" {git} "$@"
fi
exec {git} "$@"
"""


def run(script: Path, top: Path, work: Path, fault: Fault | None, *, trace: bool = False) -> tuple[int, str, str]:
    """Run the script on a repository under a fault; exit code (negative when killed), output, errors."""
    bin_ = work / "bin"
    bin_.mkdir(parents=True, exist_ok=True)
    (work / "count").unlink(missing_ok=True)
    text = SHIM.format(strace=STRACE, git=shutil.which("git"), calls=",".join(CALLS))
    (bin_ / "git").write_text(text)
    (bin_ / "git").chmod(0o755)
    env = {
        "PATH": f"{bin_}:{os.environ['PATH']}",
        "FAULT_DIR": str(work),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": PYTHONPATH,
    }
    env["FAULT_GIT"] = "all" if trace else str(fault.process) if fault else ""
    argv = [sys.executable, str(script), str(top)]
    if fault:
        env |= {"FAULT_CALL": fault.call, "FAULT_INJECT": fault.inject}
    if trace:
        argv = [str(STRACE), "-o", str(work / "run.log"), "-e", f"trace={','.join(CALLS)}", *argv]
    elif fault and not fault.process:
        inject = ["-e", f"trace={fault.call}", "-e", f"inject={fault.inject}"]
        argv = [str(STRACE), "-o", str(work / "hit.log"), *inject, *argv]
    done = subprocess.run(argv, env=env, capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def plan(work: Path) -> list[Fault]:
    """Every fault that the trace of a clean run has a place for."""
    faults = list(_of(work / "run.log", 0, after='"measuring'))
    logs = sorted(work.glob("git-*.log"), key=lambda p: int(p.stem[4:]))
    for log in logs:
        faults += _of(log, int(log.stem[4:]))
    return faults


def _of(log: Path, process: int, after: str = "") -> Iterator[Fault]:
    counts: Counter[str] = Counter()
    begun = not after
    for line in log.read_text(errors="replace").splitlines():
        found = re.match(r"(?:\d+\s+)?(\w+)\((.*)", line)
        if not found:
            continue
        call, rest = found.groups()
        counts[call] += 1
        if begun and changes(call, rest):
            yield Fault(process, call, counts[call], "KILL")
            if call in FAILING:
                yield Fault(process, call, counts[call], FAILING[call])
        begun = begun or after in rest
