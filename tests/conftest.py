"""What every test stands on: an environment of its own, and a reason for every test that cannot run here."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

PROGRAMS = {
    "isolation": ("bwrap", "install bubblewrap"),
    "strace": ("strace", "install strace"),
    "tmux": ("tmux", "install tmux"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--require-all", action="store_true", help="a skipped test is a failed one")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what needs a program that is not there, with the reason; with --require-all let it fail."""
    if config.getoption("--require-all"):
        return
    for item in items:
        for marker, (program, remedy) in PROGRAMS.items():
            if item.get_closest_marker(marker) and shutil.which(program) is None:
                item.add_marker(pytest.mark.skip(reason=f"{program} is not installed: {remedy}"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """With --require-all a skipped test is a failed one."""
    outcome = yield
    report = outcome.get_result()
    if report.skipped and item.config.getoption("--require-all") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, and nothing may be: {call.excinfo and call.excinfo.value}"


@pytest.fixture(autouse=True, scope="session")
def _own_environment(tmp_path_factory: pytest.TempPathFactory):
    """No test sees the person's HOME, git configuration or a hook's GIT_ variables."""
    home = tmp_path_factory.mktemp("home")
    before = dict(os.environ)
    for name in [n for n in os.environ if n.startswith(("GIT_", "EVALREPO_", "XDG_"))]:
        del os.environ[name]
    os.environ.update(
        {
            "HOME": str(home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
            "GIT_CEILING_DIRECTORIES": str(Path(home).parent),
            "LC_ALL": "C.UTF-8",
        }
    )
    yield
    os.environ.clear()
    os.environ.update(before)
