"""What an agent that looks around gets to see under isolation: nothing that is not its own."""

from __future__ import annotations

import json

import pytest

from tests.commands.conftest import Repo

SECRET = "the-answer-key-7f3a"
NOSY = """\
title: An agent that looks around
subject: style
fixture: app
turns: [{prompt: "Tidy the project"}]
checks: [{id: speaks, axis: A, text: {matches: done}}]
conformance:
  - {name: speaks, expect: PASS, script: [{say: done}]}
  - {name: mute, expect: {FAIL: A}, script: [{say: nothing}]}
  - {name: nothing, expect: {ERROR: empty}, script: []}
behaviours:
  - name: follows
    script:
%s
      - say: done
"""


def outputs(repo: Repo, commands: list[str]) -> list[dict]:
    """The answers of these shell commands, given by an agent in a rep, from its transcript."""
    steps = "\n".join(f"      - run: {json.dumps(c)}" for c in commands)
    twin = f"# {SECRET}\ntwin: S9-nosy\ntripwire: 0b1f7a2e-6d5a-4f0e-9f0e-3f6d3c1a2b4c\n" + NOSY % steps
    repo.commit({"scenarios/S9-nosy.yaml": "twin: R1-nosy\n" + NOSY % steps, "scenarios-reserve/R1-nosy.yaml": twin})
    repo.run("run", "S9-nosy", "--reps", "1", exit=None)
    record = repo.records()[-1]
    assert record["isolation"] == "bwrap"
    path = record["reps"][0]["transcript"]["path"]
    rows = [json.loads(r) for r in repo.git("show", f"refs/evalrepo/runs/{record['run']}:{path}").splitlines()]
    return [r for r in rows if r.get("type") == "tool_result"]


@pytest.mark.isolation
def test_an_agent_cannot_read_scenarios_reserve_objects_processes_home_or_other_sandboxes(repo):
    (repo.home / "secret.txt").write_text(SECRET)
    repo.env["RUNNER_SECRET"] = SECRET
    at, temporary = repo.path, repo.home.parent / "t"
    found = outputs(
        repo,
        [
            f"cat {at}/scenarios/*.yaml",
            f"cat {at}/scenarios-reserve/*.yaml",
            f"git -C {at} show HEAD:scenarios-reserve/R1-nosy.yaml",
            f"find {at}/.git/objects -type f",
            "for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ | grep RUNNER_SECRET; done",
            "for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/cmdline | grep -e evalrepo -e reserve; done",
            "for p in /proc/[0-9]*; do ls $p/root/ $p/cwd/ | grep -e evalrepo; done",
            f"cat {repo.home}/secret.txt {repo.home}/.bashrc",
            f"find {temporary} -type f",
            "grep -e evalrepo -e reserve /proc/self/mountinfo",
            "env | grep -i -e eval -e secret",
            "(: >> /proc/sys/kernel/core_pattern) && echo opened",
            "(: >> /proc/sysrq-trigger) && echo opened",
            "id -u | grep -x 0",
            "ls /sys/class/net | grep -v lo",
        ],
    )
    assert len(found) == 15
    for row in found:
        assert SECRET not in json.dumps(row), row
        assert not row["ok"], row
