"""A tree of two: some paths of one commit, all others of the work tree."""

from __future__ import annotations

import pytest

from evalrepo.errors import GitError
from evalrepo.repository.composed import Composed


def composed(lab, rev: str, *paths: str) -> Composed:
    repo = lab.open()
    return Composed(repo.tree("WORKTREE"), repo.tree(rev), replaces=paths, takes=paths)


@pytest.fixture
def past(lab) -> str:
    """The first commit; after it the skill and the app changed, and the work tree holds more."""
    first = lab.commit({"skill/a.md": "old", "skill/gone.md": "old only", "app/x": "1"})
    (lab.top / "skill/gone.md").unlink()
    lab.commit({"skill/a.md": "new", "skill/more.md": "new only", "app/x": "2"})
    lab.write({"app/y": "not committed"})
    return first


def test_the_named_paths_are_the_others_and_all_else_is_here(lab, past):
    tree = composed(lab, past, "skill/**")
    assert list(tree.entries()) == ["app/x", "app/y", "skill/a.md", "skill/gone.md"]
    assert dict(tree.read_many(tree.entries())) == {
        "app/x": b"2",
        "app/y": b"not committed",
        "skill/a.md": b"old",
        "skill/gone.md": b"old only",
    }
    assert tree.commit is None


def test_folders_have_the_ids_that_git_gives_them(lab, past):
    tree = composed(lab, past, "skill/**")
    assert tree.tree_oid("skill") == lab.git("rev-parse", f"{past}:skill")
    lab.git("add", "app")
    assert tree.tree_oid("app") == lab.git("write-tree", "--prefix=app/")
    assert set(tree.children()) == {"app", "skill"}


def test_what_only_the_work_tree_holds_is_stored_when_it_is_kept(lab, past):
    tree = composed(lab, past, "skill/**")
    assert tree.persist(tree.entries()) == 1
    oid = tree.entries()["app/y"].oid
    assert lab.git("cat-file", "blob", oid) == "not committed"


def test_a_file_gives_way_to_a_folder_of_the_other_and_a_folder_to_a_file(lab):
    first = lab.commit({"skill/a/deep.md": "folder", "skill/b": "file"})
    lab.git("rm", "-qr", "skill")
    lab.commit({"skill/a": "file", "skill/b/deep.md": "folder", "app/x": "1"})
    repo = lab.open()
    tree = Composed(repo.tree("WORKTREE"), repo.tree(first), replaces=[], takes=["skill/**"])
    assert list(tree.entries()) == ["app/x", "skill/a/deep.md", "skill/b"]
    assert lab.git("cat-file", "-t", repo.write_tree(tree.entries())) == "tree"


def test_a_file_of_neither_is_an_error_that_names_the_tree(lab, past):
    tree = composed(lab, past, "skill/**")
    with pytest.raises(GitError, match=r"skill/more.md: no such file in WORKTREE with the subject of"):
        tree.read("skill/more.md")
