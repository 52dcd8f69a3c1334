"""Every wrong file of the table: exit 1 from lint, the right place, a hint, no traceback."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from wrong_files import WRONG, Swap, Wrong, write

from evalrepo.codes import CODES
from evalrepo.commands.lint import command
from evalrepo.world import World


def lint(root: Path, environ: dict[str, str], *args: str) -> tuple[int, list[dict[str, object]]]:
    world = World(root, environ, lambda: datetime(2026, 11, 29, tzinfo=UTC), bytes)
    done = CliRunner().invoke(command, [*args, "--format", "json"], obj=world, standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return int(done.return_value), json.loads(done.output)["findings"]


def test_the_table_holds_more_than_sixty_wrong_files_of_different_names():
    assert len(WRONG) >= 60
    assert len({w.name for w in WRONG}) == len(WRONG)


def test_the_sound_repository_has_nothing_but_the_warning_that_it_is_not_frozen_yet(sound, environ):
    code, findings = lint(sound, environ)
    assert code == 0
    assert {f["code"] for f in findings} <= {"LCK101", "SCN134"}  # the twin has one metric more
    assert all(f["severity"] == "warning" for f in findings)


def test_a_value_between_the_ends_of_a_scale_without_an_anchor_is_a_warning(sound, environ):
    write(sound, {"rubrics/tone.md": Swap("2: polite, ", "")})
    code, findings = lint(sound, environ)
    assert code == 0
    (said,) = (f["message"] for f in findings if f["code"] == "RUB107")
    assert said == "M4: nothing says what earns 2"


@pytest.mark.parametrize("wrong", WRONG, ids=lambda w: w.name)
def test_lint_finds(wrong: Wrong, sound, environ):
    write(sound, wrong.files)
    code, findings = lint(sound, environ)
    assert code == 1
    own = [f for f in findings if f["code"] == wrong.code and f["file"] == wrong.file]
    assert own, (
        f"{wrong.code} at {wrong.file}, got {[(f['code'], f['file'], f['line'], f['message']) for f in findings]}"
    )
    assert not wrong.line or wrong.line in [f["line"] for f in own], own
    assert all(f["hint"] for f in own), own
    assert own[0]["severity"] == "error"
    assert {str(f["code"]) for f in findings} <= set(CODES)
