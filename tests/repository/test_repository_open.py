from __future__ import annotations

import os
import subprocess
import sys

import pytest

from evalrepo.errors import GitError
from evalrepo.repository.repo import Repository

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="gives a folder to another user")


def test_it_opens_from_any_folder_below(lab):
    lab.commit({"a/b/c": "1"})
    repo = lab.open(lab.top / "a/b")
    assert (repo.top, repo.git_dir, repo.common_dir) == (lab.top, lab.top / ".git", lab.top / ".git")
    assert repo.home == lab.top / ".git/evalrepo"
    assert not repo.home.exists()
    assert (repo.object_format, repo.shallow) == ("sha1", False)


def test_no_repository_is_said_with_what_to_do(lab, tmp_path):
    with pytest.raises(GitError, match="not a git repository") as caught:
        lab.open(tmp_path)
    assert "git init" in caught.value.hint


def test_a_bare_repository_and_the_inside_of_a_git_directory_are_refused(bare_lab, make_lab):
    bare_lab.top.mkdir()
    bare_lab.git("init", "-q", "--bare")
    with pytest.raises(GitError, match="bare repository has no work tree"):
        bare_lab.open()
    other = make_lab("other")
    with pytest.raises(GitError, match="inside of a git directory"):
        other.open(other.top / ".git")


@as_root
def test_somebody_elses_repository_is_refused_until_it_is_called_safe(lab):
    lab.commit({"a": "1"})
    os.chown(lab.top, 12345, 12345)
    with pytest.raises(GitError, match="belongs to another user") as caught:
        lab.open()
    assert f"safe.directory {lab.top}" in caught.value.hint
    lab.git("config", "--file", str(lab.config), "safe.directory", str(lab.top))
    assert lab.open().head()


def test_a_linked_work_tree_has_its_own_git_directory_and_shares_ours(lab):
    first = lab.commit({"a": "1"})
    lab.git("worktree", "add", "-q", "../linked", "-b", "side")
    linked = lab.base / "linked"
    repo = lab.open(linked)
    assert repo.top == linked
    assert repo.git_dir == lab.top / ".git/worktrees/linked"
    assert repo.home == lab.open().home
    assert (repo.branch(), repo.head()) == ("refs/heads/side", first)
    (linked / "b").write_text("2")
    assert list(repo.tree("WORKTREE").entries()) == ["a", "b"]
    assert list(lab.open().tree("WORKTREE").entries()) == ["a"]
    assert [c.id for c in repo.first_parents("HEAD")] == [first]


def test_a_submodule_is_a_repository_of_its_own_and_a_gitlink_above(lab, make_lab):
    part = make_lab("part")
    inner = part.commit({"x": "1"})
    lab.commit({"a": "1"})
    lab.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(part.top), "part")
    lab.commit()
    repo = lab.open(lab.top / "part")
    assert (repo.top, repo.git_dir) == (lab.top / "part", lab.top / ".git/modules/part")
    assert repo.head() == inner
    assert [c.id for c in repo.first_parents("HEAD")] == [inner]
    for name in ("HEAD", "INDEX", "WORKTREE"):
        assert lab.open().tree(name).entries()["part"] == ("160000", inner)


def test_a_sparse_checkout_is_read_whole(lab):
    lab.commit({"a/x": "1", "b/y": "2", "c": "3"})
    lab.git("sparse-checkout", "set", "a")
    assert not (lab.top / "b/y").exists()
    lab.write({"b/new": "4"})
    repo = lab.open()
    assert repo.tree("INDEX").tree_oid("") == repo.tree("HEAD").tree_oid("")
    work = repo.tree("WORKTREE")
    assert list(work.entries()) == ["a/x", "b/new", "b/y", "c"]
    assert work.read("b/y") == b"2"
    assert [c.id for c in repo.first_parents("HEAD")] == [repo.head()]


def test_a_sparse_index_is_read_whole(lab):
    lab.commit({"a/x": "1", "b/c/y": "2", "c": "3"})
    lab.git("sparse-checkout", "set", "--cone", "--sparse-index", "a")
    repo = lab.open()
    for name in ("INDEX", "WORKTREE"):
        assert repo.tree(name).entries() == repo.tree("HEAD").entries()


def test_a_sha256_repository_works(bare_lab):
    lab = bare_lab.init("--object-format=sha256")
    commit = lab.commit({"a/b": "1"}, "subject\n\nRun: x")
    lab.commit({"a/c": "1"})
    repo = lab.open()
    assert repo.object_format == "sha256"
    assert (repo.resolve("HEAD~1"), len(commit)) == (commit, 64)
    trees = [repo.tree(name) for name in ("HEAD", "INDEX", "WORKTREE")]
    assert len({tree.tree_oid("a") for tree in trees}) == 1
    assert repo.write_blob(b"1") == trees[0].entries()["a/b"].oid
    repo.move_ref("refs/evalrepo/x", commit, None)
    assert repo.commit("HEAD~1").trailers == {"Run": ("x",)}


def test_a_shallow_clone_names_the_remedy(lab, tmp_path):
    for number in range(3):
        lab.commit({"a": str(number)})
    lab.git("branch", "side", "HEAD~2")
    lab.git(
        "clone", "-q", "--depth=1", "--no-single-branch", f"file://{lab.top}", str(tmp_path / "clone"), cwd=tmp_path
    )
    repo = lab.open(tmp_path / "clone")
    assert repo.shallow
    for question in (
        lambda: repo.resolve("HEAD~1"),
        lambda: repo.merge_base("HEAD", "origin/side"),
        lambda: repo.is_ancestor("origin/side", "HEAD"),
    ):
        with pytest.raises(GitError) as caught:
            question()
        assert "fetch-depth: 0" in caught.value.hint
    assert [c.id for c in repo.first_parents("HEAD")] == [repo.head()]


def test_before_the_first_commit(lab):
    lab.write({"a": "1"})
    repo = lab.open()
    assert (repo.head(), repo.branch(), repo.default_branch()) == (None, "refs/heads/main", None)
    with pytest.raises(GitError, match='unknown revision "HEAD": the repository has no commit yet'):
        repo.tree("HEAD")
    assert dict(repo.tree("INDEX").entries()) == {}
    assert list(repo.tree("WORKTREE").entries()) == ["a"]
    assert not (lab.top / ".git/index").exists()


def test_a_detached_head_has_no_branch(lab):
    first = lab.commit({"a": "1"})
    lab.git("checkout", "-q", "--detach")
    repo = lab.open()
    assert (repo.branch(), repo.head(), repo.default_branch()) == (None, first, "refs/heads/main")


def test_a_head_whose_commit_is_broken_is_not_taken_for_a_new_repository(lab):
    head = lab.commit({"a": "1"})
    (lab.top / ".git/objects" / head[:2] / head[2:]).unlink()
    with pytest.raises(GitError, match="missing or broken"):
        lab.open().head()


def test_a_path_with_a_newline_a_quote_and_a_colon_is_read(tmp_path, make_lab):
    lab = make_lab('re"po\nof:a\\é')
    lab.commit({"a": "1"})
    lab.write({"b": "2"})
    repo = lab.open()
    assert repo.top == lab.top
    assert [c.id for c in repo.first_parents("HEAD")] == [repo.head()]
    assert repo.tree("WORKTREE").read("b") == b"2"
    assert repo.tree("WORKTREE").read("a") == b"1"


def test_a_decoy_in_the_environment_is_not_followed(lab, make_lab, monkeypatch):
    decoy = make_lab("decoy")
    decoy.commit({"decoy": "1"}, "decoy")
    head = lab.commit({"a": "1"}, "ours")
    env = {
        "GIT_DIR": str(decoy.top / ".git"),
        "GIT_WORK_TREE": str(decoy.top),
        "GIT_INDEX_FILE": str(decoy.top / ".git/index"),
        "GIT_OBJECT_DIRECTORY": str(decoy.top / ".git/objects"),
        "GIT_COMMON_DIR": str(decoy.top / ".git"),
        "GIT_NAMESPACE": "decoy",
    }
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    before = decoy.state()
    repo = lab.open(**env)
    assert (repo.top, repo.head()) == (lab.top, head)
    for name in ("HEAD", "INDEX", "WORKTREE"):
        assert list(repo.tree(name).entries()) == ["a"]
    assert [c.subject for c in repo.first_parents("HEAD")] == ["ours"]
    repo.move_ref("refs/evalrepo/x", repo.write_commit(repo.write_tree({}), [], "x"), None)
    assert decoy.state() == before


SCRIPT = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from evalrepo.repository.repo import Repository
from evalrepo.world import World
world = World(Path.cwd() / {below!r}, dict(os.environ), lambda: datetime.now(UTC), os.urandom)
tree = Repository.open(world, hook=True).tree("INDEX")
Path({out!r}).write_text(repr({{path: tree.read(path).decode() for path in tree.entries()}}))
"""


@pytest.mark.parametrize(
    ("command", "seen"),
    [
        (["commit"], {"a": "staged", "b": "old", "d/e": "old"}),
        (["commit", "-a"], {"a": "disk", "b": "disk", "d/e": "old"}),
        (["commit", "--only", "b"], {"a": "old", "b": "disk", "d/e": "old"}),
    ],
)
@pytest.mark.parametrize("below", ["", "d"])
@pytest.mark.parametrize("linked", [False, True])
def test_a_hook_sees_what_the_commit_will_hold(lab, command, seen, below, linked):
    lab.commit({"a": "old", "b": "old", "d/e": "old"})
    if linked:
        lab.git("worktree", "add", "-q", "../linked", "-b", "side")
        lab.top = lab.base / "linked"
    lab.write({"a": "staged"})
    lab.git("add", "a")
    lab.write({"a": "disk", "b": "disk"})
    out = lab.base / "seen"
    hook = lab.base / "repo/.git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!{sys.executable}\n" + SCRIPT.format(below=below, out=str(out)))
    hook.chmod(0o755)
    lab.git(*command, "-q", "-m", "x")
    assert out.read_text() == repr(seen)
    assert lab.git("rev-parse", "HEAD^") == lab.git("rev-parse", "main" if linked else "main^")


def test_a_git_directory_apart_from_its_work_tree_is_read_in_a_hook(bare_lab):
    bare_lab.init()
    (bare_lab.top / ".git").rename(bare_lab.base / "apart.git")
    bare_lab.write({"a": "1", "sub/b": "2"})
    places = {"GIT_DIR": str(bare_lab.base / "apart.git"), "GIT_WORK_TREE": str(bare_lab.top)}
    repo = bare_lab.open(bare_lab.top / "sub", hook=True, **places)
    assert repo.top == bare_lab.top
    assert list(repo.tree("WORKTREE").entries()) == ["a", "sub/b"]


MARKS = ["fsmonitor", "hook", "textconv", "external", "pager", "clean", "smudge"]


@pytest.fixture
def hostile(lab):
    """A repository whose own configuration runs something wherever git allows it."""
    lab.commit({"a.txt": "1", "b.txt": "2"})
    marks = lab.base / "marks"
    marks.mkdir()
    for mark in MARKS:
        script = lab.base / mark
        script.write_text(f"#!/bin/sh\ntouch {marks}/{mark}\ncat 2>/dev/null\nexit 0\n")
        script.chmod(0o755)
    hooks = lab.base / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "pre-commit", "post-commit", "post-checkout"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {marks}/hook\n")
        (hooks / name).chmod(0o755)
    for key, value in {
        "core.fsmonitor": lab.base / "fsmonitor",
        "core.hooksPath": hooks,
        "core.pager": lab.base / "pager",
        "diff.external": lab.base / "external",
        "diff.x.textconv": lab.base / "textconv",
        "diff.x.command": lab.base / "external",
        "filter.x.clean": lab.base / "clean",
        "filter.x.smudge": lab.base / "smudge",
        "log.showSignature": "true",
        "gpg.program": lab.base / "pager",
        "alias.ls-files": f"!touch {marks}/alias",
    }.items():
        lab.git("config", key, str(value))
    (lab.top / ".git/info/attributes").write_text("*.txt diff=x filter=x\n")
    lab.marks = lambda: {path.name for path in marks.iterdir()}
    return lab


def test_a_hostile_configuration_runs_nothing(hostile):
    repo = hostile.open()
    for name in ("HEAD", "INDEX"):
        tree = repo.tree(name)
        assert dict(tree.read_many(tree.entries())) == {"a.txt": b"1", "b.txt": b"2"}
        assert tree.tree_oid("") is not None
    old = repo.head()
    new = repo.write_commit(repo.write_tree({}, base=old), [old], "x")
    repo.move_ref("refs/heads/main", new, old)
    assert [c.id for c in repo.first_parents("HEAD")] == [new, old]
    assert repo.changed(old, new) == []
    assert repo.refs("refs/") == {"refs/heads/main": new}
    repo.identity(), repo.default_branch(), repo.merge_base(old, new), repo.busy()
    assert hostile.marks() == set()


def test_the_work_tree_read_runs_the_clean_filter_and_nothing_else(hostile):
    hostile.write({"c.txt": "3"})
    assert hostile.open().tree("WORKTREE").read("c.txt") == b"3"
    assert hostile.marks() == {"clean"}


def test_gitpython_alone_would_have_run_the_marker(hostile):
    """So the test above would notice: the same repository, GitPython as it comes."""
    code = f"import git; git.Repo({str(hostile.top)!r}).is_dirty()"
    subprocess.run([sys.executable, "-c", code], env={**hostile.env, "GIT_OPTIONAL_LOCKS": "0"}, check=True)
    assert "fsmonitor" in hostile.marks()


def test_replaced_objects_and_grafts_are_not_looked_at(lab):
    first = lab.commit({"a": "1"})
    second = lab.commit({"a": "2"})
    blob = lab.git("rev-parse", "HEAD:a")
    other = lab.git("hash-object", "-w", "--stdin", stdin=b"forged")
    lab.git("replace", blob, other)
    lab.git("replace", second, lab.git("commit-tree", "-m", "forged", f"{first}^{{tree}}"))
    (lab.top / ".git/info").mkdir(exist_ok=True)
    (lab.top / ".git/info/grafts").write_text(f"{second}\n")
    repo = lab.open()
    assert repo.tree("HEAD").read("a") == b"2"
    assert [(c.id, c.subject) for c in repo.first_parents("HEAD")] == [(second, "a commit"), (first, "a commit")]
    assert repo.is_ancestor(first, second)


def test_a_repository_and_its_trees_are_had_without_heavy_imports(lab):
    lab.commit({"a": "1"})
    code = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from evalrepo.repository.repo import Repository
from evalrepo.world import World
repo = Repository.open(World(Path.cwd(), dict(os.environ), lambda: datetime.now(UTC), os.urandom))
for name in ("HEAD", "INDEX", "WORKTREE"):
    assert repo.tree(name).read("a") == b"1"
print(sorted({"git", "pydantic", "ruamel", "jsonschema", "regex"} & sys.modules.keys()))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=lab.top, env=lab.env, capture_output=True, check=True)
    assert done.stdout == b"[]\n"


def test_open_is_one_git_process(lab, monkeypatch):
    lab.commit({"a": "1"})
    calls = []
    real = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda argv, **kw: calls.append(argv) or real(argv, **kw))
    Repository.open(lab.world())
    assert len(calls) == 1
