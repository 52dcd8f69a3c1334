"""Reading a long session of the scripted agent, against `json.loads` of its lines."""

from __future__ import annotations

import json
import random

from ground import SEED
from measure import Case, Figure, Options, ratios

BYTES = 20_000_000


def session(size: int) -> bytes:
    """Rows of our own format, about `size` bytes: a prompt, then calls with results of some kilobytes."""
    dice = random.Random(SEED)
    words = ["alpha", "beta", "def f(x):", "return x + 1", "# nothing here", '"quoted"', "a\\nline"]
    foreign = [*words, "für", "→"]
    rows = [
        {"type": "session", "format": 1, "session": "s", "agent": "scripted", "cwd": "/w", "turn": 1},
        {"type": "prompt", "text": "do it", "turn": 1},
    ]
    out = [json.dumps(row).encode() + b"\n" for row in rows]
    length, number = 0, 0
    while length < size:
        number += 1
        text = " ".join(dice.choices(foreign if number % 5 == 0 else words, k=dice.randrange(200, 1200)))
        call = {"type": "tool_call", "id": f"c{number}", "tool": "read", "args": {"path": f"src/f{number}.py"}}
        result = {"type": "tool_result", "id": f"c{number}", "ok": True, "text": text, "exit_code": 0}
        said = {"type": "assistant", "text": text[:300], "usage": {"input_tokens": 100, "output_tokens": 20}}
        block = b"".join(json.dumps(row).encode() + b"\n" for row in (said, call, result))
        length += len(block)
        out.append(block)
    return b"".join([*out, b'{"type": "end", "reason": "done"}\n'])


def figures(options: Options) -> list[Figure]:
    """One file, read into a `Transcript`."""
    from evalrepo.agents import scripted
    from evalrepo.records.config import Agent

    data = session(BYTES)
    agent = Agent.model_validate({"tiers": {"default": {"script": "x"}}})

    def floor() -> None:
        for line in data.splitlines():
            json.loads(line)

    def candidate() -> None:
        scripted.read(agent, {"main.jsonl": data}, "/w")

    case = Case("transcript", f"read {len(data) / 1e6:.0f} MB / json.loads of its lines", candidate, floor, 1.5, 9)
    return [ratios(case, options)]
