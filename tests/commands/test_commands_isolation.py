"""What an agent that looks around gets to see under isolation: nothing that is not its own."""

from __future__ import annotations

import json
import shutil

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


SCAN = (
    "import socket\nfor port in range(1024, 65536):\n    with socket.socket() as s:\n"
    '        if not s.connect_ex(("127.0.0.1", port)) and s.getsockname()[1] != port: print("open", port)'
)
"""Ports that answer; a socket that met itself is none."""
WAYS = {
    "other sandboxes": "grep -r -e 'the-answer-ke[y]' {temporary}",
    "its path": "cat {at}/scenarios-reserve/*.yaml",
    "git show": "git -C {at} show HEAD:scenarios-reserve/R1-nosy.yaml",
    "the object store": "git -C {at} cat-file --batch-all-objects --batch | grep -a -e {secret}",
    "/proc": "for p in /proc/[0-9]*; do cat $p/cwd/scenarios-reserve/*.yaml $p/root{at}/scenarios-reserve/*.yaml; done",
    "the parent's environment": "cat /proc/$PPID/environ /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -e {secret}",
    "find": "find {root} -path /sys -prune -o -path /proc -prune -o -name 'R1-nosy*' -exec cat {{}} +",
    "the run refs": "git -C {at} grep -e {secret} $(git -C {at} for-each-ref --format='%(refname)' refs/evalrepo)",
    "the cache": "grep -r -a -e R1-nosy {at}/.git/evalrepo",
    "the journal": "cat {at}/.git/evalrepo/journal/*.jsonl {at}/.git/evalrepo/journal/done/*.jsonl",
    "the lock's neighbours": "cat {at}/evalrepo.lock {at}/evalrepo.ledger/*.yaml",
    "the rehearsal server": "python3 -c '" + SCAN + "'",
}
"""How an agent may try to come at the reserve → a command that does."""
POSSIBLE = set(WAYS) - {"other sandboxes", "the rehearsal server"}
"""Ways that lead somewhere where nothing is hidden: here no other sandbox holds the reserve, and no server runs."""


def tried(repo: Repo, env: dict[str, str]) -> tuple[dict, dict[str, str]]:
    """The record of a rep that tries all of them after a look at the reserve, and what each printed."""
    repo.env |= env
    at, temporary = str(repo.path), str(repo.home.parent / "t")
    root = "/" if "PATH" not in env else str(repo.path.parent)
    commands = [c.format(at=at, temporary=temporary, secret=SECRET, root=root) for c in WAYS.values()]
    steps = "\n".join(f"      - run: {json.dumps(c)}" for c in commands)
    quiet = NOSY % "      - run: pwd"
    twin = f"# {SECRET}\ntwin: S9-nosy\ntripwire: 0b1f7a2e-6d5a-4f0e-9f0e-3f6d3c1a2b4c\n" + quiet
    repo.write({"scenarios/S9-nosy.yaml": "twin: R1-nosy\n" + NOSY % steps, "scenarios-reserve/R1-nosy.yaml": twin})
    repo.git("add", "-A")
    repo.run("freeze", "--why", "a reserve that is looked for")
    repo.git("commit", "-qm", "freeze")
    masked = [] if "PATH" not in env else ["--allow-unmasked"]
    repo.run("run", "--reserve", "--why", "so that its refs are there", *masked, exit=None)
    repo.env["RUNNER_SECRET"] = SECRET
    repo.run("run", "S9-nosy", "--reps", "1", exit=None)
    (record,) = [r for r in repo.records() if r["scenario"] == "S9-nosy"]
    path = record["reps"][0]["transcript"]["path"]
    rows = [json.loads(r) for r in repo.git("show", f"refs/evalrepo/runs/{record['run']}:{path}").splitlines()]
    told = [json.dumps(r) for r in rows if r.get("type") == "tool_result"]
    assert len(told) == len(WAYS)
    return record, dict(zip(WAYS, told, strict=True))


@pytest.mark.isolation
def test_twelve_ways_to_the_reserve_lead_nowhere_under_isolation(repo: Repo):
    record, told = tried(repo, {})
    assert record["isolation"] == "bwrap"
    for way, said in told.items():
        assert not any(word in said for word in (SECRET, "R1-nosy", "0b1f7a2e", "open ")), f"{way}: {said}"
    assert record["reps"][0]["verdict"] == "PASS"


def test_without_isolation_the_same_ways_lead_there_and_the_rep_is_an_error_of_a_leak(repo: Repo, tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in (
        "git",
        "sh",
        "bash",
        "env",
        "cat",
        "sed",
        "python3",
        "ls",
        "rm",
        "cp",
        "mkdir",
        "grep",
        "find",
        "tr",
        "pwd",
    ):
        real = shutil.which(name)
        assert real, name
        (programs / name).symlink_to(real)
    record, told = tried(repo, {"PATH": str(programs)})
    assert record["isolation"] == "none"
    led = {way for way, said in told.items() if any(word in said for word in (SECRET, "R1-nosy"))}
    assert led >= POSSIBLE
    (rep,) = record["reps"]
    assert (rep["verdict"], rep["error"]) == ("ERROR", "leak")
    assert "scenarios-reserve" in rep["message"] or "tripwire" in rep["message"] or str(repo.path) in rep["message"]
