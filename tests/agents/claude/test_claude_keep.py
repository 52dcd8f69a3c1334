"""Which files of Claude Code are kept, and what of them is left out."""

from __future__ import annotations

import json
import os
from pathlib import Path

from claude_recorded import AGENT

from evalrepo.agents import claude
from evalrepo.agents.base import Box, Growing
from evalrepo.agents.claude.keep import trimmed

USER = b'{"type":"user","message":{"content":"\\"attachment\\":{\\"type\\":\\"prompt_snapshot\\""}}\n'
REQUEST = b'{"type":"api-request-blob","sessionId":"s","message":{}}\n'
SNAPSHOT = b'{"parentUuid":"u","isSidechain":false,"attachment":{"type":"prompt_snapshot","systemPrompt":["x"]}}\n'


def box(root: Path) -> Box:
    for name in ("work", "home", "tmp", "out"):
        (root / name).mkdir()
    return Box.bare(root / "work", root / "home", root / "tmp", root / "out")


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_what_was_sent_to_the_model_is_left_out_and_every_line_stays_where_it_was():
    kept = trimmed(USER + REQUEST + SNAPSHOT + USER + REQUEST[:20])
    lines = kept.split(b"\n")
    assert (lines[0] + b"\n", lines[3] + b"\n", lines[4]) == (USER, USER, REQUEST[:20])
    assert json.loads(lines[1]) == {"type": "api-request", "left_out": len(REQUEST)}
    assert json.loads(lines[2]) == {
        "type": "attachment",
        "attachment": {"type": "prompt_snapshot"},
        "left_out": len(SNAPSHOT),
    }


def test_sessions_come_first_then_sub_agents_then_outputs(tmp_path: Path):
    at = box(tmp_path)
    projects = at.home / ".claude/projects/-srv-project"
    put(at.out / "turn-10.out", b"{}")
    put(at.out / "turn-2.out", b"{}")
    put(at.out / "turn-2.err", b"x")
    put(projects / "b/subagents/agent-1.jsonl", USER)
    put(projects / "b/subagents/agent-1.meta.json", b"{}")
    put(projects / "b/tool-results/long.txt", b"x")
    for name, when in (("a", 2), ("b", 1)):
        os.utime(put(projects / f"{name}.jsonl", USER + REQUEST), (when, when))
    files = claude.native(AGENT, at)
    assert list(files) == [
        "b.jsonl", "a.jsonl", "b/subagents/agent-1.jsonl", "b/subagents/agent-1.meta.json", "turn-2.out", "turn-10.out",
    ]  # fmt: skip
    assert files["b.jsonl"].read_bytes() == USER + b'{"type":"api-request","left_out":%d}\n' % len(REQUEST)


def test_links_that_the_agent_laid_are_not_followed(tmp_path: Path):
    at = box(tmp_path)
    put(tmp_path / "real/projects/p/s.jsonl", USER)
    (at.home / ".claude").symlink_to(tmp_path / "real")
    assert claude.native(AGENT, at) == {}
    (at.home / ".claude").unlink()
    put(at.home / ".claude/projects/p/x", b"")
    (at.home / ".claude/projects/p/s.jsonl").symlink_to(tmp_path / "real/projects/p/s.jsonl")
    assert claude.native(AGENT, at) == {}


def test_calls_are_counted_as_they_come_sub_agents_included(tmp_path: Path):
    at = box(tmp_path)
    projects = at.home / ".claude/projects"
    count = claude.counter(AGENT, Growing((projects,)))
    assert count() == 0
    call = b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1"},{"type":"text","text":"x"}]}}\n'
    main = put(
        projects / "p/s.jsonl",
        USER + call + b'{"type":"api-request-blob","message":{"content":[{"type":"tool_use"}]}}\n',
    )
    put(projects / "p/s/subagents/agent-1.jsonl", call + call[:40])
    assert count() == 2
    with main.open("ab") as file:
        file.write(call + b'{"type":"assistant","message":7,"x":"tool_use"}\n')
    assert count() == 3
