"""The clone's name and count."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from yard import Yard

from evalrepo.errors import HarnessError
from evalrepo.running.sequence import assign, clone_id, given


def test_a_clone_is_named_once_and_linked_work_trees_share_its_name(tmp_path: Path):
    yard = Yard(tmp_path / "repo").begin()
    yard.git("worktree", "add", "-q", "-b", "two", str(tmp_path / "two"))
    names: set[str] = set()

    def ask(place: Path) -> None:
        names.add(clone_id(yard.repo(place), yard.world()))

    threads = [threading.Thread(target=ask, args=(p,)) for p in (yard.top, tmp_path / "two") * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(names) == 1
    assert sorted(p.name for p in yard.repo().home.iterdir()) == ["clone"]


def test_a_damaged_name_is_refused(tmp_path: Path):
    yard = Yard(tmp_path / "repo").begin()
    clone_id(yard.repo(), yard.world())
    (yard.repo().home / "clone").write_text("")
    with pytest.raises(HarnessError, match="no clone's name"):
        clone_id(yard.repo(), yard.world())


def test_runs_that_ask_at_once_get_numbers_without_gap_or_overlap(tmp_path: Path):
    def ask(run: str) -> None:
        assign(tmp_path, run, 3, lambda first, previous: (f"tree{first}", f"{previous}>{first}"))

    threads = [threading.Thread(target=ask, args=(f"run{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    all_ = given(tmp_path)
    assert [a.first for a in all_] == [1, 4, 7, 10, 13, 16, 19, 22]
    assert [a.previous for a in all_[1:]] == [a.last for a in all_[:-1]]
