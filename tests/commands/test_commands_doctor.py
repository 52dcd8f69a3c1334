"""doctor: what is there, what is not, what to do; the real CLIs where they are installed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from evalrepo.records.checkup import AgentCheck, Checkup, Problem, Rehearsal, Tool, older
from evalrepo.render.doctor import doctor_text

from .conftest import CONFIG, WORLD, Repo

MISSING = "npm install --global @anthropic-ai/claude-code"


def programs(repo: Repo, **scripts: str) -> None:
    """A PATH of these shell scripts, git and what a shell needs; no agent and no bubblewrap."""
    place = repo.home.parent / "bin"
    place.mkdir(exist_ok=True)
    for name in ("git", "sh", "cat", "env"):
        (place / name).symlink_to(shutil.which(name) or "")
    for name, text in scripts.items():
        (place / name).write_text(f"#!/bin/sh\n{text}\n")
        (place / name).chmod(0o755)
    repo.env["PATH"] = str(place)


def outside(repo: Repo) -> Repo:
    """The same person in a directory that is no repository."""
    place = repo.home.parent / "elsewhere"
    place.mkdir()
    return Repo(place, repo.home, repo.env)


def left(repo: Repo) -> list[str]:
    """What is in HOME and in TMPDIR."""
    return [str(path) for top in (repo.home, repo.home.parent / "t") for path in sorted(top.rglob("*"))]


def test_a_missing_cli_is_a_line_with_how_to_install_it(repo: Repo):
    programs(repo)
    text = outside(repo).run("doctor")
    for name in ("claude", "opencode", "pi", "codex"):
        assert f"{name}: not installed\n  → npm install --global " in text
    assert "isolation   none (bubblewrap is not installed; install the package bubblewrap)" in text
    assert "rg          not in PATH; needed by opencode's search and skill tools" in text
    assert "config      none: this is no repository with an evalrepo.yaml" in text
    assert all(len(line) <= 80 or "/" in line for line in text.splitlines())
    assert text.endswith("doctor: usable: none; missing: rg (exit 0)\n")


def test_an_agent_that_somebody_asks_for_must_be_there(repo: Repo):
    programs(repo)
    place = outside(repo)
    assert "doctor: usable: none; not usable: claude (exit 1)" in place.run("doctor", "claude", exit=1)
    assert "agents: claude, opencode, pi, codex, scripted" in place.run("doctor", "gemini", exit=2)
    assert repo.json("doctor", "--no-rehearsal")["exit"] == 0
    config = CONFIG.replace("agents:\n  scripted", "agents:\n  claude: {tiers: {a: {model: m}}}\n  scripted")
    repo.commit({"evalrepo.yaml": config})
    text = repo.run("doctor", "--no-rehearsal", exit=1)
    assert f"claude: not installed\n  → {MISSING}\n" in text
    assert "pi: not installed (not in evalrepo.yaml)" in text
    repo.commit({"evalrepo.yaml": "version: 1\nagents: [\n"})
    assert "evalrepo lint explains" in repo.run("doctor", exit=2)


def test_the_embedded_agent_plays_its_rep_and_leaves_nothing(repo: Repo):
    before = left(repo)
    (one,) = repo.json("doctor", "scripted")["doctor"]["agents"]
    assert (one["rehearsal"]["verdict"], one["problems"], one["path"]) == ("PASS", [], "built in")
    assert one["rehearsal"]["seconds"] > 0
    assert outside(repo).json("doctor", "scripted")["exit"] == 0
    assert left(repo) == before


def test_a_version_that_the_reader_was_not_tested_with_is_said(repo: Repo):
    programs(repo, claude='echo "9.9.9 (Claude Code)"')
    text = outside(repo).run("doctor", "claude", "--no-rehearsal")
    said = " ".join(text.split())
    assert "version 9.9.9: its reader was tested with 2.1.332 only" in said
    assert "rehearsal none: not asked for" in said
    assert "doctor: usable: claude (exit 0)" in said


def test_a_cli_that_is_none_breaks_its_rehearsal(repo: Repo):
    programs(repo, claude='echo "9.9.9 (Claude Code)"')
    place = outside(repo)
    found = place.json("doctor", "claude", exit=4)
    (one,) = found["doctor"]["agents"]
    assert one["rehearsal"]["verdict"].startswith("ERROR ")
    assert (one["problems"][0]["harness"], found["exit"]) == (True, 4)
    said = " ".join(place.run("doctor", "claude", exit=4).split())
    assert "→ install a version that is known to work: 2.1.332" in said
    assert "not usable: claude (exit 4)" in said


def test_a_cli_that_cannot_say_its_version_is_not_usable(repo: Repo):
    programs(repo, claude='echo "library missing" >&2; exit 127')
    said = " ".join(outside(repo).run("doctor", "claude", exit=1).split())
    assert "ended with exit code 127: library missing" in said
    assert f"→ install it anew: {MISSING}" in said
    assert "rehearsal none: it cannot be started" in said


def test_node_must_be_there_and_new_enough(repo: Repo):
    programs(repo, pi="echo 1.6.0", node="echo v12.1.0")
    place = outside(repo)
    said = " ".join(place.run("doctor", "pi", "--no-rehearsal", exit=1).split())
    assert "Node.js 12.1.0 is too old; it needs" in said
    assert "→ install Node.js from nodejs.org" in said
    (Path(repo.env["PATH"]) / "node").unlink()
    assert "Node.js is not in PATH; it needs" in " ".join(place.run("doctor", "pi", exit=1).split())


def test_a_login_is_named_and_never_shown(repo: Repo):
    programs(repo, claude='echo "2.1.332 (Claude Code)"')
    args = ("doctor", "claude", "--no-rehearsal")
    assert "login     none; a rehearsal needs none" in repo.run(*args)
    repo.run(*args, "--live", exit=1)
    repo.env["ANTHROPIC_API_KEY"] = "sk-secret-value"
    text = repo.run(*args)
    assert "ANTHROPIC_API_KEY is set, and not given to a rep" in text
    assert "agents.claude.env: [ANTHROPIC_API_KEY]" in " ".join(text.split())
    (repo.home / ".claude").mkdir()
    (repo.home / ".claude/.credentials.json").write_text('{"token": "sk-secret-value"}')
    inherit = "agents:\n  claude: {home: inherit, tiers: {a: {model: m}}}\n  scripted"
    repo.commit({"evalrepo.yaml": CONFIG.replace("agents:\n  scripted", inherit)})
    assert "~/.claude/.credentials.json is lent to each rep" in repo.run(*args, "--live")
    passed = inherit.replace("home: inherit", "env: [ANTHROPIC_API_KEY]")
    repo.commit({"evalrepo.yaml": CONFIG.replace("agents:\n  scripted", passed)})
    text = repo.run(*args, "--live")
    assert "ANTHROPIC_API_KEY is passed on" in text
    assert "sk-secret" not in text + str(repo.json(*args))


def test_an_agent_of_ones_own_is_found_and_not_rehearsed(repo: Repo):
    mine = "agents:\n  mine: {kind: command, argv: [my-agent], version: [my-agent], tiers: {a: {}}}\n  scripted"
    repo.commit({**WORLD, "evalrepo.yaml": CONFIG.replace("agents:\n  scripted", mine)})
    programs(repo)
    assert "mine: not installed" in repo.run("doctor", "mine", exit=1)
    (Path(repo.env["PATH"]) / "my-agent").write_text("#!/bin/sh\necho 7.1\n")
    (Path(repo.env["PATH"]) / "my-agent").chmod(0o755)
    said = " ".join(repo.run("doctor", "mine").split())
    assert "my-agent, version 7.1" in said
    assert "rehearsal none: its protocol is not known; evalrepo run --fresh 1 --no-commit tries one" in said


def test_a_run_says_once_that_a_reader_was_not_tested_with_the_version(repo: Repo):
    programs(repo, claude='echo "9.9.9 (Claude Code)"')
    config = CONFIG.replace("agents:\n  scripted", "agents:\n  claude: {tiers: {a: {model: m}}}\n  scripted")
    repo.commit({"evalrepo.yaml": config})
    text = repo.run("run", "--agent", "claude", "--tier", "rehearsal:follows", "--reps", "2", exit=4)
    said = " ".join(text.split())
    assert said.count("note: claude 9.9.9: its log is read as that of 2.1.332 is") == 1


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["claude", "opencode", "pi", "codex"])
def test_the_real_cli_plays_its_rehearsal(repo: Repo, agent):
    if shutil.which(agent) is None:
        pytest.skip(f"the CLI {agent} is not installed (.ci/agents installs the pinned ones)")
    before = left(repo)
    (one,) = repo.json("doctor", agent)["doctor"]["agents"]
    assert (one["rehearsal"]["verdict"], one["problems"]) == ("PASS", [])
    assert one["path"] == shutil.which(agent, path=os.environ["PATH"])
    assert one["known"]
    assert left(repo) == before


def test_versions_are_compared_by_their_numbers():
    assert older("20.9.0", "22.19")
    assert not older("22.19.0", "22.19")
    assert not older("22", "9")
    assert not older("", "9")
    assert not older("nightly", "9")


def test_what_a_machine_says_of_itself_cannot_move_the_cursor():
    agent = AgentCheck(
        "x\x1b[2J", asked=True, path="/a\nb", version="\x9b1", rehearsal=Rehearsal("ERROR agent", 1.0, "\x1b]0;t\x07"),
        problems=(Problem("\x1b[1m", "do\x1b", harness=True),),
    )  # fmt: skip
    text = doctor_text(Checkup("c\x1b", "none", "w\x1b", (Tool("git", ""),), (agent,)), 4)
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert text.count("\n") == len(text.splitlines())
