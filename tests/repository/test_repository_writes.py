from __future__ import annotations

import os
import shutil

import pytest

from evalrepo.errors import GitError
from evalrepo.repository.objects import Entry, tree_id
from evalrepo.repository.refs import LostRace

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")


def emptied(lab, oid):
    path = lab.top / ".git/objects" / oid[:2] / oid[2:]
    path.chmod(0o644)
    path.write_bytes(b"")
    return path


def test_a_blob_is_what_git_says_it_is(lab):
    repo = lab.open()
    for data in (b"", b"x", b"\0\r\n" * 100_000):
        oid = repo.write_blob(data)
        assert oid == lab.git("hash-object", "--stdin", stdin=data)
        assert dict(repo.git.blobs([oid])) == {oid: data}


def test_no_filter_touches_what_we_store(lab):
    lab.git("config", "core.autocrlf", "true")
    lab.write({".gitattributes": "* text\n"})
    repo = lab.open()
    assert dict(repo.git.blobs([repo.write_blob(b"a\r\nb")])).popitem()[1] == b"a\r\nb"


def test_an_empty_file_where_a_blob_should_be_is_written_again(lab):
    repo = lab.open()
    oid = repo.write_blob(b"content")
    emptied(lab, oid)
    assert not lab.sound()
    assert repo.write_blob(b"content") == oid
    assert dict(repo.git.blobs([oid])) == {oid: b"content"}
    assert lab.sound()


def test_a_blob_with_another_content_is_written_again(lab):
    repo = lab.open()
    oid, other = repo.write_blob(b"content"), repo.write_blob(b"other")
    wrong = emptied(lab, oid)
    wrong.write_bytes((lab.top / ".git/objects" / other[:2] / other[2:]).read_bytes())
    repo.write_blob(b"content")
    assert dict(repo.git.blobs([oid])) == {oid: b"content"}


def test_a_packed_blob_is_not_written_twice(lab):
    lab.commit({"a": "packed"})
    lab.git("gc", "-q")
    repo = lab.open()
    oid = repo.write_blob(b"packed")
    assert not repo.objects.loose(oid).exists()


def test_a_tree_is_what_git_says_it_is(lab):
    lab.commit({"a/b": "1", "a-b": "2", "a.b": "3", "z/y/x": "4", "new\nline": "5"})
    entries = dict(lab.open().tree("HEAD").entries())
    lab.git("update-ref", "-d", "HEAD")
    shutil.rmtree(lab.top / ".git/objects/pack", ignore_errors=True)
    assert lab.open().write_tree(entries) == tree_id(entries, "sha1") == lab.git("write-tree")


def test_an_empty_tree_can_be_written(lab):
    assert lab.open().write_tree({}) == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def test_a_tree_can_be_put_over_a_commit(lab):
    lab.commit({"a/b": "1", "c": "2"})
    repo = lab.open()
    blob = repo.write_blob(b"new")
    tree = repo.write_tree({"a/n": Entry("100644", blob), "c": Entry("100755", blob)}, base=repo.head())
    assert lab.git("ls-tree", "-r", "--name-only", tree).split() == ["a/b", "a/n", "c"]
    assert lab.git("ls-tree", tree, "c").startswith("100755")


@pytest.mark.parametrize("broken", ["", "a", "a/b", "a/b/c"])
def test_an_empty_file_where_a_tree_should_be_is_written_again(lab, broken):
    lab.commit({"other/x": "1"})
    repo = lab.open()
    files = {"a/b/c/d": Entry("100644", repo.write_blob(b"1")), "e": Entry("100644", repo.write_blob(b"2"))}
    tree = repo.write_tree(files, base=repo.head())
    emptied(lab, lab.git("rev-parse", f"{tree}:{broken}"))
    assert repo.write_tree(files, base=repo.head()) == tree
    assert lab.git("ls-tree", "-r", "--name-only", tree).split() == ["a/b/c/d", "e", "other/x"]
    assert lab.sound()


def test_all_trees_of_a_new_folder_may_be_broken_at_once(lab):
    repo = lab.open()
    files = {"a/b/c": Entry("100644", repo.write_blob(b"1"))}
    tree = repo.write_tree(files)
    for below in ("a/b", "a"):
        emptied(lab, lab.git("rev-parse", f"{tree}:{below}"))
    emptied(lab, tree)
    assert repo.write_tree(files) == tree
    assert lab.sound()


@pytest.mark.parametrize("path", ["../x", "a/../b", ".git/config", "/etc/passwd", ""])
def test_a_path_that_leaves_the_tree_is_refused(lab, path):
    repo = lab.open()
    with pytest.raises(GitError, match="does not take the path"):
        repo.write_tree({path: Entry("100644", repo.write_blob(b"1"))})


def test_the_users_index_is_not_used(lab):
    lab.commit({"a": "1"})
    lab.write({"staged": "1"})
    lab.git("add", "-A")
    before = lab.state()
    repo = lab.open()
    repo.write_tree({}, base=repo.head())
    assert {k: v for k, v in lab.state().items() if "objects" not in k} == {
        k: v for k, v in before.items() if "objects" not in k
    }
    assert not list((lab.top / ".git/evalrepo/scratch").iterdir())


def test_a_commit_is_by_the_person_and_dated_by_the_world(lab):
    repo = lab.open(GIT_AUTHOR_DATE="2001-01-01T00:00:00Z", GIT_COMMITTER_NAME="Eve")
    commit = repo.write_commit(repo.write_tree({}), [], "subject: é\n\nRun: 1\n")
    assert lab.git("log", "-1", "--format=%an|%ae|%aI|%cn|%cI|%s|%(trailers)", commit) == (
        "Ada|ada@example.org|2026-11-29T12:00:00+00:00|Ada|2026-11-29T12:00:00+00:00|subject: é|Run: 1"
    )


def test_without_a_person_it_is_by_evalrepo(lab):
    lab.git("config", "--unset", "user.email")
    repo = lab.open()
    assert repo.identity() is None
    commit = repo.write_commit(repo.write_tree({}), [], "x")
    assert lab.git("log", "-1", "--format=%an <%ae>", commit) == "evalrepo <evalrepo@localhost>"


def test_the_environment_may_say_who_somebody_is(lab):
    assert lab.open(GIT_AUTHOR_NAME="Bob").identity() == ("Bob", "ada@example.org")
    lab.git("config", "author.email", "author@example.org")
    assert lab.open().identity() == ("Ada", "author@example.org")


def test_a_broken_commit_is_written_again(lab):
    repo = lab.open()
    tree = repo.write_tree({})
    commit = repo.write_commit(tree, [], "x")
    emptied(lab, commit)
    assert repo.write_commit(tree, [], "x") == commit
    assert lab.git("cat-file", "-t", commit) == "commit"


def test_a_reference_moves_only_from_where_it_was(lab):
    first = lab.commit({"a": "1"})
    repo = lab.open()
    second = repo.write_commit(repo.write_tree({}), [first], "second")
    third = repo.write_commit(repo.write_tree({}), [first], "third")
    repo.move_ref("refs/heads/main", second, first, "evalrepo: results")
    for ref, new, old in [
        ("refs/heads/main", third, first),
        ("refs/heads/main", third, None),
        ("refs/evalrepo/runs/x", third, first),
    ]:
        with pytest.raises(LostRace, match="moved by somebody else"):
            repo.move_ref(ref, new, old)
    assert repo.head() == second
    repo.move_ref("refs/evalrepo/runs/x", third, None)
    assert repo.refs("refs/evalrepo/") == {"refs/evalrepo/runs/x": third}
    assert lab.git("reflog", "-1", "--format=%gs", "main") == "evalrepo: results"
    assert lab.git("reflog", "-1", "--format=%gs", "HEAD") == "evalrepo: results"
    assert not (lab.top / ".git/logs/refs/evalrepo").exists()


def test_a_detached_head_is_moved_itself(lab):
    first = lab.commit({"a": "1"})
    lab.git("checkout", "-q", "--detach")
    repo = lab.open()
    second = repo.write_commit(repo.write_tree({}), [first], "x")
    repo.move_ref("HEAD", second, first)
    assert (repo.head(), lab.git("rev-parse", "main")) == (second, first)


def test_a_locked_reference_is_no_lost_race(lab):
    first = lab.commit({"a": "1"})
    repo = lab.open()
    second = repo.write_commit(repo.write_tree({}), [first], "x")
    (lab.top / ".git/refs/heads/main.lock").touch()
    with pytest.raises(GitError, match="File exists") as caught:
        repo.move_ref("refs/heads/main", second, first)
    assert not isinstance(caught.value, LostRace)
    assert "another git process" in caught.value.hint


@pytest.mark.parametrize(
    ("made", "what"),
    [
        ("MERGE_HEAD", "merge"),
        ("rebase-merge/done", "rebase"),
        ("rebase-apply/applying", "am"),
        ("rebase-apply/rebasing", "rebase"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("REVERT_HEAD", "revert"),
        ("BISECT_LOG", "bisect"),
    ],
)
def test_what_git_is_in_the_middle_of_is_known(lab, made, what):
    repo = lab.open()
    assert repo.busy() is None
    lab.write({f".git/{made}": ""})
    assert repo.busy() == what


@pytest.mark.strace
@needs_strace
def test_what_we_write_is_synced(lab, tmp_path):
    """git's defaults sync neither loose objects nor references."""
    log = tmp_path / "strace"
    wrapper = tmp_path / "bin/git"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec strace -f -A -o {log} -e trace=fsync,fdatasync {shutil.which("git")} "$@"\n')
    wrapper.chmod(0o755)
    first = lab.commit({"a": "1"})
    repo = lab.open(PATH=f"{wrapper.parent}:{os.environ['PATH']}")

    def synced(act):
        log.write_text("")
        result = act()
        return log.read_text().count("sync("), result

    blobs, blob = synced(lambda: repo.write_blob(b"new"))
    trees, tree = synced(lambda: repo.write_tree({"d/f": Entry("100644", blob)}))
    commits, commit = synced(lambda: repo.write_commit(tree, [first], "x"))
    moves, _ = synced(lambda: repo.move_ref("refs/evalrepo/x", commit, None))
    assert (blobs, commits) == (1, 1)
    assert trees >= 2
    assert moves >= 1
