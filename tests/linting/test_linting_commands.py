"""lint and list as a person uses them, and the hooks that come with the package."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from wrong_files import Link, Swap, write

from evalrepo.codes import CODES
from evalrepo.formats import yaml
from evalrepo.records.base import plain_value

ROOT = Path(__file__).parents[2]
S1 = "scenarios/S1-note.yaml"


def run(root: Path, environ: dict[str, str], *args: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "evalrepo", *args], cwd=root, env={**environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


def git(root: Path, environ: dict[str, str], *args: str) -> None:
    subprocess.run(["git", *args], cwd=root, env=environ, check=True, capture_output=True)


def test_every_code_that_the_package_gives_is_explained_and_no_other():
    used: set[str] = set()
    families = "|".join({code[:3] for code in CODES})
    for path in (ROOT / "evalrepo").rglob("*.py"):
        if path.name != "codes.py":
            used |= set(re.findall(rf"""["']((?:{families})\d{{3}})["']""", path.read_text()))
    used |= {f"{family}00{n}" for family in ("CFG", "SCN", "RUB", "LED") for n in range(1, 6)}
    assert used == set(CODES)


def test_text_output_names_place_code_and_next_step(sound, environ):
    write(sound, {S1: Swap("fixture: plain", "fixture: plane")})
    code, said = run(sound, environ, "lint")
    assert code == 1
    assert f"{S1}:4:1: FIX101 fixtures/plane/ holds no file\n  hint: did you mean plain?" in said
    assert "1 finding and" in said


def test_staged_and_rev_look_at_what_they_say(sound, environ):
    write(sound, {S1: Swap("fixture: plain", "fixture: plane")})
    assert run(sound, environ, "lint", "--staged")[0] == 0
    git(sound, environ, "add", "-A")
    assert run(sound, environ, "lint", "--staged")[0] == 1
    assert run(sound, environ, "lint", "--rev", "HEAD")[0] == 0


def test_terminal_escapes_in_names_are_shown_and_not_sent(sound, environ):
    write(sound, {"fixtures/plain/\x1b[31m": Link("/etc/passwd")})
    code, said = run(sound, environ, "lint")
    assert code == 1
    assert "\x1b" not in said
    assert "\\x1b[31m" in said


@pytest.mark.parametrize("code", ["FRZ001", "scn001", "YML009"])
def test_explain_says_what_a_code_means(code, sound, environ):
    assert run(sound, environ, "lint", "--explain", code)[0] == 0
    assert CODES[code.upper()][:30] in run(sound, environ, "lint", "--explain", code)[1]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--explain", "FRZ999"), "FRZ999"),
        (("--staged", "--rev", "HEAD"), "two different things"),
        (("--rev", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_answered_is_exit_2(args, said, sound, environ):
    code, text = run(sound, environ, "lint", *args)
    assert code == 2
    assert said in text


def test_outside_of_a_repository_it_says_so(tmp_path, environ):
    code, said = run(tmp_path, environ, "lint")
    assert code == 2
    assert "git init" in said


@pytest.mark.parametrize(
    ("what", "wanted"),
    [
        ("scenarios", ["S1-note", "S2-question", "S1-note-reserve"]),
        ("suites", ["quick"]),
        ("agents", ["scripted"]),
        ("subjects", ["style"]),
    ],
)
def test_list_says_what_there_is_in_three_formats(what, wanted, sound, environ):
    assert run(sound, environ, "list", what, "--format", "ids") == (0, "".join(f"{w}\n" for w in wanted))
    rows = json.loads(run(sound, environ, "list", what, "--format", "json")[1])[what]
    assert [row["id"] for row in rows] == wanted
    text = run(sound, environ, "list", what)[1]
    assert all(name in text for name in wanted)


def test_list_shows_no_reserve_title(sound, environ):
    assert "A letter is written" not in run(sound, environ, "list", "--format", "json")[1]


def test_list_of_wrong_files_is_exit_2(sound, environ):
    write(sound, {S1: Swap("fixture: plain", "fixtur: plain")})
    code, said = run(sound, environ, "list")
    assert code == 2
    assert f"{S1}:4:1: SCN001" in said


@pytest.mark.parametrize("committed", [False, True])
def test_a_repository_in_a_fixture_is_a_finding_with_and_without_a_commit(committed, sound, environ):
    inner = sound / "fixtures/plain/sub"
    inner.mkdir()
    git(inner, environ, "init", "-q")
    if committed:
        git(inner, environ, "-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "x")
    code, said = run(sound, environ, "lint")
    assert code == 1
    assert "fixtures/plain/sub: FIX105" in said


def test_the_hooks_always_run_and_pass_no_file_names():
    hooks = plain_value(yaml.read((ROOT / ".pre-commit-hooks.yaml").read_bytes(), "hooks").data)
    ids = ["evalrepo-verify", "evalrepo-lint", "evalrepo-leaks", "evalrepo-verify-push"]
    assert [hook["id"] for hook in hooks] == ids
    assert all(hook["always_run"] is True and hook["pass_filenames"] is False for hook in hooks)
    asked = ["verify --staged", "lint --staged", "leaks --staged", "verify --push"]
    assert [hook["entry"] for hook in hooks] == [f"evalrepo {words}" for words in asked]
    own = plain_value(yaml.read((ROOT / ".pre-commit-config.yaml").read_bytes(), "config").data)
    assert [hook["id"] for repo in own["repos"] for hook in repo["hooks"]][:3] == [i for i in ids if "leaks" not in i]
