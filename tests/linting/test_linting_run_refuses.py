"""Every wrong file of the table: `run` measures nothing, says where and what next, and would exit with 2."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from wrong_files import WRONG, Wrong, write

from evalrepo.commands.run import command
from evalrepo.errors import DataError, EvalrepoError, Exit
from evalrepo.world import World


def refused(root: Path, environ: dict[str, str]) -> EvalrepoError:
    """What `evalrepo run` says instead of running."""
    world = World(root, environ, lambda: datetime(2026, 11, 29, tzinfo=UTC), os.urandom)
    done = CliRunner().invoke(command, ["--reps", "1"], obj=world, standalone_mode=False)
    assert isinstance(done.exception, EvalrepoError), (done.exception, done.output)
    return done.exception


@pytest.mark.parametrize("wrong", WRONG, ids=lambda w: w.name)
def test_run_refuses(wrong: Wrong, sound, environ):
    write(sound, wrong.files)
    error = refused(sound, {**environ, "PATH": os.environ["PATH"]})
    assert error.exit == Exit.CANNOT
    if isinstance(error, DataError):
        own = [f for f in error.findings if f.place.file == wrong.file]
        assert all(f.hint for f in own)
        assert own, error.findings
    else:
        assert error.hint, error
