"""Copying what an agent left: nothing blocks, nothing grows, nothing is followed."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from evalrepo.sandbox import trees


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    return source, target


def test_pipes_and_sockets_are_left_out_and_links_stay_links(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
):
    source, target = places
    os.mkfifo(source / "pipe")
    monkeypatch.chdir(source)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
    (source / "link").symlink_to("/")
    (source / "file").write_text("x")
    trees.copy(source, target)
    assert sorted(p.name for p in target.iterdir()) == ["file", "link"]
    assert (target / "link").readlink() == Path("/")


def test_holes_stay_holes_and_the_bytes_between_them_are_copied(places: tuple[Path, Path]):
    source, target = places
    with (source / "sparse").open("wb") as file:
        file.write(b"begin")
        file.seek(300_000_000)
        file.write(b"middle")
        file.truncate(600_000_000)
    trees.copy(source, target, room=1_000_000)
    about = (target / "sparse").stat()
    assert (about.st_size, about.st_blocks * 512 < 1_000_000) == (600_000_000, True)
    with (target / "sparse").open("rb") as file:
        assert file.read(5) == b"begin"
        file.seek(300_000_000)
        assert file.read(7) == b"middle\0"


def test_more_than_the_room_that_is_given_is_an_error(places: tuple[Path, Path]):
    source, target = places
    for number in range(3):
        (source / str(number)).write_bytes(b"x" * 500_000)
    with pytest.raises(trees.TooLargeError):
        trees.copy(source, target, room=1_000_000)


def test_what_lies_too_deep_is_left_out(places: tuple[Path, Path]):
    source, target = places
    descriptor = os.open(source, os.O_RDONLY)
    for _ in range(trees.DEPTH + 50):
        os.mkdir("d", dir_fd=descriptor)
        below = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(descriptor)
    trees.copy(source, target)
    levels = sum(1 for _ in target.rglob("d"))
    assert levels == trees.DEPTH
    trees.remove(source)
    assert not source.exists()
