"""`home: inherit`: a rep gets the login files and nothing else, and their secrets are never stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalrepo.agents.base import Box
from evalrepo.errors import HarnessError
from evalrepo.formats.redaction import Redactor
from evalrepo.running.logins import lend, secrets

TOKEN = "tok-0123456789abcdef"


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Box]:
    real = tmp_path / "real"
    (real / ".x").mkdir(parents=True)
    (real / ".x" / "login.json").write_text(
        f'{{"oauth": {{"access": "{TOKEN}", "kind": "pro"}}, "old": ["{TOKEN}-2"]}}'
    )
    (real / ".x" / "history").write_text("private")
    for name in ("work", "home", "tmp", "out"):
        (tmp_path / name).mkdir()
    return real, Box.bare(*(tmp_path / name for name in ("work", "home", "tmp", "out")))


def test_only_the_login_files_are_copied(places: tuple[Path, Box]):
    real, box = places
    lend(str(real), (".x/login.json", ".y/other.json"), box)
    assert [p.relative_to(box.home).as_posix() for p in box.home.rglob("*") if p.is_file()] == [".x/login.json"]
    assert (box.home / ".x/login.json").read_bytes() == (real / ".x/login.json").read_bytes()


def test_no_login_is_an_error_that_says_where_it_was_looked_for(places: tuple[Path, Box]):
    real, box = places
    with pytest.raises(HarnessError, match=r"there is no login: none of ~/\.z/auth\.json") as error:
        lend(str(real), (".z/auth.json",), box)
    assert "env:" in (error.value.hint or "")


def test_every_long_value_of_a_login_file_is_a_secret(places: tuple[Path, Box]):
    real, _ = places
    found = secrets(str(real), (".x/login.json",))
    assert found == {".x/login.json:oauth:access": TOKEN, ".x/login.json:old:0": f"{TOKEN}-2"}
    clean, count = Redactor(found, ()).redact(f"export KEY={TOKEN}-2 {TOKEN}\n".encode())
    assert TOKEN.encode() not in clean
    assert count == 2


def test_an_agent_without_login_files_is_lent_nothing(places: tuple[Path, Box]):
    real, box = places
    lend(str(real), (), box)
    assert not any(box.home.iterdir())
