"""Planned faults: a command that is not on PATH, or one that fails the first times, by a shim that comes first in PATH.

What a shim did is noted in `var`, which the agent may add to and, when it runs as another user, not list. Nothing is
there to note that a missing command was asked for: the agent's log tells of it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from evalrepo.records.scenario import Fault
from evalrepo.records.transcript import Call, Transcript
from evalrepo.sandbox.layout import Sandbox
from evalrepo.sandbox.masking import hide

_AT = r"(?:^|[\n;&|(`{!]|\b(?:if|then|do|else|while|until)|\s-\w*c\s+['\"])\s*(?:\w+=\S*\s+)*"
_BEFORE = (
    r"(?:(?:sudo|env|exec|time|nice|nohup|command|which|type|hash|whereis|xargs|timeout)\s+(?:-\S+\s+|\d\S*\s+)*)*"
)
"""Where a shell takes a word for a command: at a beginning, after variables, after commands that take another one."""
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
    hide(box, [fault.command for fault in faults if fault.missing])
    for number, fault in enumerate(faults):
        if fault.missing:
            continue
        text = _FAILING.format(
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


def fired(box: Sandbox, faults: Sequence[Fault], transcript: Transcript) -> dict[str, int]:
    """Command → how often its fault was met: failures of one that fails at first, and of a missing one how often the
    agent called it or looked for it, by its log."""
    met: dict[str, int] = {}
    for number, fault in enumerate(faults):
        if fault.missing:
            met[fault.command] = asked_for(transcript, fault.command)
        else:
            slots = range(1, (fault.fail_first or 0) + 1)
            met[fault.command] = sum((box.var / f"{number}.{n}").is_file() for n in slots)
    return met


def asked_for(transcript: Transcript, command: str) -> int:
    """How often shell calls of the agent and its sub-agents called a missing command or looked for it: by what the
    shell was given, or, where another program called it, by what came back."""
    name = re.escape(command)
    given = re.compile(rf"{_AT}{_BEFORE}{name}(?![\w./=-])", re.MULTILINE)
    back = re.compile(
        rf"(?<![\w/.-]){name}: (?:command )?not found|command not found: {name}\b|(?<![\w/.-]){name}: No such file"
    )
    return sum(max(len(given.findall(text)), len(back.findall(output))) for text, output in _shell(transcript))


def _shell(transcript: Transcript) -> Iterator[tuple[str, str]]:
    """Command line and output of every shell call."""
    for thread in transcript.walk():
        for event in thread.events:
            if isinstance(event, Call) and event.kind == "shell":
                yield str(event.canonical.get("command", "")), event.result.text if event.result else ""
