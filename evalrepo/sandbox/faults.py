"""Planned faults as shims that come first in PATH: a command that is missing, or fails the first times.

What fired is noted in `var`, which the agent may add to and, when it runs as another user, not list.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Sequence

from evalrepo.records.scenario import Fault
from evalrepo.sandbox.layout import Sandbox

_MISSING = """#!/bin/sh
echo >> {note}
echo "sh: 1: {name}: not found" >&2
exit 127
"""
_FAILING = """#!/bin/sh
set -C
n=1
while [ "$n" -le {times} ]; do
  if (: > {note}."$n") 2>/dev/null; then
    printf %s {stdout}
    printf %s {stderr} >&2
    exit {exit}
  fi
  n=$((n + 1))
done
set +C
old=$IFS
IFS=:
for place in $PATH; do
  if [ "$place" != {bin} ] && [ -f "$place/{name}" ] && [ -x "$place/{name}" ]; then
    IFS=$old
    exec "$place/{name}" "$@"
  fi
done
echo "sh: 1: {name}: not found" >&2
exit 127
"""


def plant(box: Sandbox, faults: Sequence[Fault]) -> None:
    """Write the shims. A slot file per failure, made exclusively, counts right when calls run side by side."""
    for number, fault in enumerate(faults):
        text = (_MISSING if fault.missing else _FAILING).format(
            name=fault.command,
            note=shlex.quote(f"{box.inside(box.var)}/{number}"),
            times=fault.fail_first,
            exit=fault.exit,
            stdout=shlex.quote(fault.stdout),
            stderr=shlex.quote(fault.stderr),
            bin=shlex.quote(box.inside(box.bin)),
        )
        shim = box.bin / fault.command
        shim.write_text(text)
        shim.chmod(0o755)


def fired(box: Sandbox, faults: Sequence[Fault]) -> dict[str, int]:
    """Command → how often its fault was met: calls of a missing command, failures of one that fails at first."""
    met: dict[str, int] = {}
    for number, fault in enumerate(faults):
        met[fault.command] = 0
        if fault.missing:
            with contextlib.suppress(OSError):
                met[fault.command] = (box.var / str(number)).lstat().st_size
        else:
            slots = range(1, (fault.fail_first or 0) + 1)
            met[fault.command] = sum((box.var / f"{number}.{n}").is_file() for n in slots)
    return met
