"""Reading a long session of Claude Code, against `json.loads` of its lines; and the memory of ten such reps."""

from __future__ import annotations

import json
import os
import random
import tempfile
from pathlib import Path
from typing import Any

from ground import SEED
from measure import PYTHON, Case, Figure, Options, peak_megabytes, ratios

BYTES = 20_000_000
MANY = 10
SLACK = 1.1
_READ = """
import sys
from evalrepo.agents import claude
from evalrepo.records.config import Agent
agent = Agent.model_validate({"tiers": {"t": {"model": "m"}}})
for _ in range(int(sys.argv[2])):
    claude.read(agent, {"s.jsonl": open(sys.argv[1], "rb").read()}, "/w")
"""


def _row(kind: str, number: int, **more: Any) -> bytes:
    head = {"parentUuid": f"{number - 1:036d}", "isSidechain": False, "type": kind, "uuid": f"{number:036d}"}
    tail = {"timestamp": "2026-11-30T01:19:55.249Z", "userType": "external", "entrypoint": "sdk-cli", "cwd": "/w"}
    return json.dumps(head | more | tail | {"sessionId": "s", "version": "2.1.332"}).encode() + b"\n"


def _said(number: int, block: dict[str, Any]) -> bytes:
    usage = {"input_tokens": 100, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 20}
    message = {"id": f"msg_{number // 3}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
    rest = {"content": [block], "stop_reason": "tool_use", "stop_sequence": None, "usage": usage}
    return _row("assistant", number, message=message | rest, requestedModel="claude-sonnet-4-5", madeBy="model")


def session(size: int) -> bytes:
    """Rows as the CLI writes them, about `size` bytes: a prompt, then answers of two blocks and results."""
    dice = random.Random(SEED)
    words = ["alpha", "beta", "def f(x):", "return x + 1", "# nothing here", '"quoted"', "a\\nline"]
    foreign = [*words, "für", "→"]
    out = [_row("user", 0, message={"role": "user", "content": "do it"}, promptSource="sdk")]
    length, number = 0, 0
    while length < size:
        number += 3
        text = " ".join(dice.choices(foreign if number % 5 == 0 else words, k=dice.randrange(200, 1200)))
        place = f"/w/src/f{number}.py"
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Read", "input": {"file_path": place}}
        result = {"tool_use_id": f"toolu_{number}", "type": "tool_result", "content": text}
        file = {"type": "text", "file": {"filePath": place, "content": text, "numLines": 9, "totalLines": 9}}
        block = _said(number, {"type": "text", "text": text[:300]}) + _said(number + 1, call)
        block += _row("user", number + 2, message={"role": "user", "content": [result]}, toolUseResult=file)
        length += len(block)
        out.append(block)
    return b"".join(out)


def figures(options: Options) -> list[Figure]:
    """One file, read into a `Transcript`; and a process that reads it ten times against one that reads it once."""
    from evalrepo.agents import claude
    from evalrepo.records.config import Agent

    data = session(BYTES)
    agent = Agent.model_validate({"tiers": {"t": {"model": "m"}}})

    def floor() -> None:
        for line in data.splitlines():
            json.loads(line)

    def candidate() -> None:
        claude.read(agent, {"s.jsonl": data}, "/w")

    case = Case("claude", f"read {len(data) / 1e6:.0f} MB / json.loads of its lines", candidate, floor, 1.5, 9)
    return [ratios(case, options), _memory(data)]


def _memory(data: bytes) -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.jsonl")
        path.write_bytes(data)
        once, often = (
            peak_megabytes([PYTHON, "-c", _READ, str(path), str(n)], Path.cwd(), dict(os.environ)) for n in (1, MANY)
        )
    what = f"memory of {MANY} reads ({often:.0f} MB) / of one ({once:.0f} MB)"
    return Figure("claude", what, often / once, often / once, often / once, SLACK)
