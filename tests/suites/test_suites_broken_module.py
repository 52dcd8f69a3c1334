"""Any check module that is broken by hand turns `selftest` of this project's own suites red, on the line it is about."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.conftest import Repo, empty

__all__ = ["empty"]

ROOT = Path(__file__).parents[2]
DATA = ("evalrepo.yaml", "checks", "fixtures", "rubrics", "subjects", "scenarios/files")
MODULES = sorted(p.stem for p in (ROOT / "evalrepo/checks").glob("*.py") if p.stem not in {"__init__", "registry"})

UPSIDE_DOWN = """

def _upside_down(function):
    from dataclasses import replace

    turned = {"pass": Outcome.FAIL, "fail": Outcome.PASS}
    return lambda *given: replace(answer := function(*given), outcome=turned.get(answer.outcome, answer.outcome))


"""
TURNED = "from evalrepo.records.record import Outcome" + UPSIDE_DOWN

BREAKS = {
    "asking": ("E2N-readme-typo", "evaluate_all = lambda *_, **__: []\n", "E2N-readme-typo: "),
    "calls": ("E2N-readme-typo", f"{TURNED}calls = _upside_down(calls)\n", "fail      does-it-alone"),
    "combined": ("S6-stale", f"{TURNED}any_of = _upside_down(any_of)\n", "fail      looks-first"),
    "judged": ("E1P-pipeline-review", "judge = lambda *_: 1 / 0\n", "the check `judge` broke: ZeroDivisionError"),
    "outcome": ("C2-question", f"{TURNED}changes = _upside_down(changes)\n", "fail      changes-nothing"),
    "patterns": ("C3-where", "search = lambda *_, **__: None\n", "fail      names-the-file"),
    "python": ("C6-no-such-script", f"{TURNED}python = _upside_down(python)\n", "fail      gives-up"),
    "selectors": ("E2N-readme-typo", "select = lambda *_: []\n", "pass      does-it-alone"),
    "spawns": ("E2P-retry-policy", f"{TURNED}spawn_model = _upside_down(spawn_model)\n", "fail      names-every-model"),
    "text": ("C3-where", f"{TURNED}text = _upside_down(text)\n", "fail      names-the-file"),
    "usage": ("C3-where", f"{TURNED}usage = _upside_down(usage)\n", "fail      few-calls"),
    "view": ("C3-where", "View.calls = property(lambda _: ())\n", "fail      looks-first"),
}
"""Module → a scenario that asks it, what is written at its end, and what `selftest` says then."""


def test_every_check_module_is_broken_here_once():
    assert sorted(BREAKS) == MODULES


@pytest.mark.parametrize("module", sorted(BREAKS))
def test_a_broken_check_module_turns_the_selftest_red_on_its_line(module: str, empty: Repo, tmp_path: Path):
    scenario, sabotage, says = BREAKS[module]
    for name in DATA:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, empty.path / name)
    shutil.copy(ROOT / f"scenarios/{scenario}.yaml", empty.path / "scenarios")
    empty.commit({}, "one scenario")
    package = tmp_path / "broken/evalrepo"
    shutil.copytree(ROOT / "evalrepo", package, ignore=shutil.ignore_patterns("__pycache__"))
    with (package / f"checks/{module}.py").open("a") as file:
        file.write(sabotage)
    done = subprocess.run(
        [sys.executable, "-m", "evalrepo", "selftest", scenario],
        cwd=empty.path,
        env=empty.environment() | {"PYTHONPATH": str(package.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == 1, done.stdout + done.stderr
    assert says in done.stdout
    assert scenario in done.stdout
