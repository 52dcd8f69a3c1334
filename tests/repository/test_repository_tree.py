from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalrepo.errors import GitError
from evalrepo.repository.objects import object_id
from evalrepo.repository.tree import Entry, unusable

STRANGE = [
    "-n",
    "--output=x",
    ":(top)x",
    ":!y",
    "*",
    "[ab]",
    "sp ace",
    'quo"te',
    "back\\slash",
    "ca\u0301fe",
    "日本/語",
    "tab\tname",
    "new\nline/new\nline",
    "u2028\u2028x",
    "d/-x/ y",
    os.fsdecode(b"latin-\xe9"),
    os.fsdecode(b"\xff/\xfe"),
]


@pytest.mark.parametrize("kind", ["HEAD", "INDEX", "WORKTREE"])
def test_names_arrive_as_they_are(lab, kind):
    files = {name: name.encode("utf-8", "surrogateescape") for name in STRANGE}
    lab.commit(files)
    tree = lab.open().tree(kind)
    assert list(tree.entries()) == sorted(STRANGE, key=os.fsencode)
    assert dict(tree.read_many(STRANGE)) == files
    for name in STRANGE:
        assert list(lab.open().tree(kind).under(name)) == [name]
    assert tree.tree_oid("") == lab.git("rev-parse", "HEAD^{tree}")
    assert tree.tree_oid("new\nline") == lab.git("rev-parse", "HEAD:new\nline")
    assert list(tree.children("d/-x")) == [" y"]


def test_a_revision_is_resolved_whatever_it_is_called(lab):
    first = lab.commit({"a": "1"})
    second = lab.commit({"a": "2"})
    lab.git("update-ref", "refs/heads/-evil", first)
    lab.git("update-ref", "refs/heads/--output=x", first)
    lab.git("tag", "-a", "-m", "x", "v1", first)
    repo = lab.open()
    for rev, commit in {
        "-evil": first,
        "--output=x": first,
        "v1": first,
        "HEAD~1": first,
        ":/a commit": second,
        second[:10]: second,
        "main@{0}": second,
    }.items():
        assert repo.resolve(rev) == commit
    assert not (lab.top / "x").exists()


@pytest.mark.parametrize(
    ("rev", "says"),
    [
        ("", "an empty revision"),
        ("a\0b", "NUL"),
        ("nothing", 'unknown revision "nothing"'),
        ("--all", 'unknown revision "--all"'),
        ("--output=x", 'unknown revision "--output=x"'),
        ("HEAD..HEAD", "unknown revision"),
        ("^HEAD", "unknown revision"),
        ("HEAD:a", 'revision "HEAD:a" is a blob, not a commit'),
        ("HEAD^{tree}", "is a tree, not a commit"),
        ("1" * 40, "unknown revision"),
    ],
)
def test_what_is_no_commit_is_said(lab, rev, says):
    lab.commit({"a": "1"})
    with pytest.raises(GitError, match=says.replace("^", r"\^")):
        lab.open().resolve(rev)


def test_an_ambiguous_id_is_said(lab):
    tree = lab.git("mktree")
    seen: set[str] = set()
    stamp = 0
    while (commit := _commit_id(tree, stamp))[:4] not in seen:
        seen.add(commit[:4])
        stamp += 1
    twin = next(n for n in range(stamp) if _commit_id(tree, n)[:4] == commit[:4])
    for number in (twin, stamp):
        lab.git(
            "commit-tree", tree, "-m", "x", GIT_AUTHOR_DATE=f"@{number} +0000", GIT_COMMITTER_DATE=f"@{number} +0000"
        )
    with pytest.raises(GitError, match="ambiguous"):
        lab.open().resolve(commit[:4])


def _commit_id(tree: str, stamp: int) -> str:
    who = f"Ada <ada@example.org> {stamp} +0000"
    return object_id("commit", f"tree {tree}\nauthor {who}\ncommitter {who}\n\nx\n".encode(), "sha1")


def test_under_takes_whole_directories_and_single_files(lab):
    lab.commit(dict.fromkeys(["a/x", "a/y/z", "a-b/x", "a.b", "ab", "b"], "1"))
    for name in ("HEAD", "INDEX", "WORKTREE"):
        tree = lab.open().tree(name)
        assert list(tree.under("a")) == ["a/x", "a/y/z"]
        assert list(tree.under("a/")) == ["a/x", "a/y/z"]
        assert list(tree.under("a/x", "b", "a")) == ["a/x", "a/y/z", "b"]
        assert list(tree.under("gone", "a/gone", "b/x")) == []
        assert list(tree.under("")) == list(tree.under(".")) == list(tree.entries())


def test_match_crosses_directories_with_two_stars_only(lab):
    lab.commit(dict.fromkeys(["s/a.md", "s/b/a.md", "s/b/c.txt", "t/a.md", "a.md"], "1"))
    tree = lab.open().tree("HEAD")
    assert list(tree.match("s/*.md")) == ["s/a.md"]
    assert list(tree.match("s/**")) == ["s/a.md", "s/b/a.md", "s/b/c.txt"]
    assert list(tree.match("**/a.md")) == ["a.md", "s/a.md", "s/b/a.md", "t/a.md"]
    assert list(tree.match("t/*", "a.md", "s/b")) == ["a.md", "s/b/a.md", "s/b/c.txt", "t/a.md"]
    assert tree.match("*.txt", "S/**") == {}


def test_a_file_that_is_not_there_is_named(lab):
    lab.commit({"a/b": "1"})
    for name in ("HEAD", "INDEX", "WORKTREE"):
        tree = lab.open().tree(name)
        with pytest.raises(GitError, match=f"a/c: no such file in {name}"):
            tree.read("a/c")
        with pytest.raises(GitError, match="a: no such file"):
            tree.read("a")
        assert ("a/b" in tree, "a" in tree, tree.tree_oid("a/b"), tree.tree_oid("gone")) == (True, False, None, None)


def test_unmerged_paths_are_named(lab):
    lab.commit({"a": "0", "b": "0"})
    lab.git("checkout", "-q", "-b", "side")
    lab.commit({"a": "1", "b": "1"})
    lab.git("checkout", "-q", "main")
    lab.commit({"a": "2", "b": "2"})
    lab.git("merge", "side", check=False)
    repo = lab.open()
    with pytest.raises(GitError, match=r"unmerged paths: a, b$"):
        repo.tree("INDEX").entries()
    assert repo.busy() == "merge"
    assert b"<<<<<<<" in repo.tree("WORKTREE").read("a")


def test_what_is_only_intended_to_be_added_is_left_out_and_said(lab):
    lab.commit({"a": "1", "empty": "", "new\nempty": ""})
    lab.write({"intended": "2", "in\ntended": "2"})
    lab.git("add", "--intent-to-add", "intended", "in\ntended")
    tree = lab.open().tree("INDEX")
    assert list(tree.entries()) == ["a", "empty", "new\nempty"]
    assert tree.left_out == ("in\ntended", "intended")
    assert tree.tree_oid("") == lab.git("rev-parse", "HEAD^{tree}")
    assert lab.open().tree("WORKTREE").read("intended") == b"2"


def test_intended_files_are_found_among_many_empty_ones(lab):
    lab.commit(dict.fromkeys([f"e/{n}" for n in range(250)], ""))
    lab.write({"intended": "2"})
    lab.git("add", "-N", "intended")
    tree = lab.open().tree("INDEX")
    assert (len(tree.entries()), tree.left_out) == (250, ("intended",))


def test_modes_links_and_submodules_are_kept(lab):
    lab.write({"run": "1", "plain": "1"})
    (lab.top / "run").chmod(0o755)
    (lab.top / "link").symlink_to("plain")
    lab.commit()
    tree = lab.open().tree("HEAD")
    assert [tree.entries()[name].mode for name in ("link", "plain", "run")] == ["120000", "100644", "100755"]
    assert tree.read("link") == b"plain"


def test_pointers_and_submodules_are_unusable(lab, make_lab):
    part = make_lab("part")
    inner = part.commit({"x": "1"})
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n"
    lab.write({"big": pointer, "doc.md": pointer + "x" * 2000, "a": "1", "empty": ""})
    lab.git("add", "-A")
    lab.git("update-index", "--add", "--cacheinfo", f"160000,{inner},part")
    tree = lab.open().tree("INDEX")
    found = unusable(tree, ["part", "big", "doc.md", "a", "empty", "gone"])
    assert [path for path, _ in found] == ["part", "big"]
    assert "submodule" in found[0][1]
    assert "LFS" in found[1][1]
    with pytest.raises(GitError, match="part: a submodule"):
        tree.read("part")


def test_references_are_listed_and_tags_peeled(lab):
    first = lab.commit({"a": "1"})
    lab.git("tag", "-a", "-m", "x", "v1")
    lab.git("tag", "light")
    assert lab.open().refs("refs/tags/") == {"refs/tags/light": first, "refs/tags/v1": first}


def test_history_follows_first_parents_with_what_commits_say(lab):
    lab.commit({"a": "1"}, "one")
    lab.git("checkout", "-q", "-b", "side")
    side = lab.commit({"b": "1"}, "side")
    lab.git("checkout", "-q", "main")
    two = lab.commit(
        {"a": "2"}, "two: é\n\nbody: not a trailer here\nmore\n\nRun: abc\nRun: def\nSubject-Digest: 1\n 2\n"
    )
    lab.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    repo = lab.open()
    seen = list(repo.first_parents("HEAD"))
    assert [c.subject for c in seen] == ["merge", "two: é", "one"]
    assert seen[0].parents == (two, side)
    assert (seen[1].author, seen[1].trailers) == (
        "Ada <ada@example.org>",
        {"Run": ("abc", "def"), "Subject-Digest": ("1 2",)},
    )
    assert seen[1].date.endswith("Z")


def test_gitpython_and_git_say_the_same_of_commits(lab):
    from evalrepo.repository.history import by_log, first_parents

    lab.commit({"a": "1"}, "one\n\nKey: value")
    lab.git("config", "i18n.commitEncoding", "ISO-8859-1")
    lab.git("commit", "-q", "--allow-empty", "-F", "-", stdin="größer\n\nwith a body\n".encode("latin-1"))
    lab.git("config", "--unset", "i18n.commitEncoding")
    lab.git(
        "commit",
        "-q",
        "--allow-empty",
        "--allow-empty-message",
        "-m",
        "",
        GIT_AUTHOR_NAME="É",
        GIT_AUTHOR_DATE="@86399 +0900",
    )
    repo = lab.open()
    ours = list(first_parents(repo, repo.head()))
    assert ours == list(by_log(repo, repo.head()))
    assert [c.subject for c in ours] == ["", "größer", "one"]
    assert (ours[0].author, ours[0].date) == ("É <ada@example.org>", "1970-01-01T23:59:59Z")


def test_what_changed_between_commits_is_named_with_both_sides_of_a_rename(lab):
    lab.commit({"a\nb": "1" * 100, "c": "1"})
    lab.git("mv", "a\nb", "é")
    lab.commit({"c": "2"})
    assert lab.open().changed("HEAD~1", "HEAD") == ["a\nb", "c", "é"]


def test_the_default_branch_is_what_the_remote_says(lab, tmp_path):
    lab.commit({"a": "1"})
    lab.git("branch", "-m", "trunk")
    lab.git("clone", "-q", str(lab.top), str(tmp_path / "clone"), cwd=tmp_path)
    assert lab.open(tmp_path / "clone").default_branch() == "refs/heads/trunk"
    lab.git("checkout", "-q", "-b", "work", cwd=tmp_path / "clone")
    lab.git("branch", "-q", "-D", "trunk", cwd=tmp_path / "clone")
    assert lab.open(tmp_path / "clone").default_branch() == "refs/remotes/origin/trunk"
    assert lab.open().default_branch() is None


def test_unrelated_histories_have_no_merge_base(lab):
    first = lab.commit({"a": "1"})
    other = lab.git("commit-tree", "-m", "x", f"{first}^{{tree}}")
    repo = lab.open()
    assert repo.merge_base(first, other) is None
    assert repo.merge_base(first, "HEAD") == first
    assert (repo.is_ancestor(first, first), repo.is_ancestor(first, other)) == (True, False)


SEGMENT = st.one_of(
    st.text('ab-. \n"\\é日*', min_size=1, max_size=4),
    st.binary(min_size=1, max_size=3).filter(lambda b: b"/" not in b and b"\0" not in b).map(os.fsdecode),
).filter(lambda name: name not in (".", "..") and name.lower() != ".git")
PATH = st.lists(SEGMENT, min_size=1, max_size=3).map("/".join)
CONTENT = st.one_of(st.binary(max_size=30), st.sampled_from([b"a\r\nb\r\n", b"a\nb\n", b""]))


def fits(files: dict[str, object]) -> bool:
    """No file stands where another has a folder, and no name is an ignore or attributes file."""
    folders = {"/".join(p.split("/")[:n]) for p in files for n in range(1, len(p.split("/")))}
    return not folders & files.keys()


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(PATH, st.tuples(CONTENT, st.sampled_from(["file", "run", "link"])), max_size=6).filter(fits),
    st.sampled_from(["false", "true", "input"]),
)
def test_law_commit_index_and_work_tree_agree(bare_lab, files, autocrlf):
    with tempfile.TemporaryDirectory() as base:
        lab = type(bare_lab)(Path(base)).init()
        lab.git("config", "core.autocrlf", autocrlf)
        for name, (content, kind) in files.items():
            path = lab.top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if kind == "link":
                path.symlink_to(os.fsdecode(content.replace(b"\0", b"") or b"x"))
            else:
                path.write_bytes(content)
                path.chmod(0o755 if kind == "run" else 0o644)
        work = lab.open().tree("WORKTREE")
        before = dict(work.entries())
        lab.commit()
        trees = [lab.open().tree(name) for name in ("HEAD", "INDEX", "WORKTREE")]
        for tree in trees:
            assert dict(tree.entries()) == before
            assert list(tree.entries()) == sorted(files, key=os.fsencode)
            assert tree.tree_oid("") == lab.git("rev-parse", "HEAD^{tree}")
        assert len({tuple(tree.read_many(before)) for tree in [work, *trees]}) == 1


def test_entries_compare_by_value():
    assert Entry("100644", "a") == Entry("100644", "a")
    assert Entry("100644", "a") != Entry("100755", "a")
