"""Templates, copies, removal: what a rep starts from and what it leaves."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import FILES
from hypothesis import given
from hypothesis import strategies as st

from evalrepo.errors import HarnessError
from evalrepo.sandbox import paths, trees
from evalrepo.sandbox.isolation import NONE
from evalrepo.sandbox.layout import fresh, remove
from evalrepo.sandbox.snapshot import manifest
from evalrepo.sandbox.template import template

GIT = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}


def git(where: Path, *args: str, **extra: str) -> str:
    return subprocess.run(
        ["git", *args], cwd=where, env=GIT | extra, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_a_template_holds_the_files_and_one_packed_commit(fixture):
    assert {p: s.mode for p, s in manifest(fixture).items()} == {p: mode for p, (mode, _) in FILES.items()}
    assert git(fixture, "log", "--format=%an <%ae> %aI %cn %s") == (
        "dev <dev@localhost> 2024-01-01T00:00:00+00:00 dev Initial commit"
    )
    assert git(fixture, "status", "--porcelain", "--ignored") == ""
    assert git(fixture, "count-objects", "-v").splitlines()[0] == "count: 0"
    assert git(fixture, "remote") == ""
    git(fixture, "fsck", "--strict")


def test_the_same_files_give_the_same_commit_and_are_made_once(tmp_path):
    one, two = template(FILES, tmp_path / "a", "k"), template(dict(reversed(FILES.items())), tmp_path / "b", "k")
    assert git(one, "rev-parse", "HEAD") == git(two, "rev-parse", "HEAD")
    before = one.stat().st_ino
    assert template({}, tmp_path / "a", "k").stat().st_ino == before


def test_nothing_in_a_template_says_what_it_is_for(fixture):
    content = b"".join(p.read_bytes() for p in (fixture / ".git").rglob("*") if p.is_file())
    assert b"eval" not in content.lower()


def test_ignored_and_attributed_files_of_a_fixture_are_committed_as_they_are(tmp_path):
    files = {
        ".gitignore": ("100644", b"*.log\n"),
        "a.log": ("100644", b"kept\r\n"),
        ".gitattributes": ("100644", b"* text=auto eol=crlf filter=evil\n"),
        "t.txt": ("100644", b"one\n"),
    }
    made = template(files, tmp_path, "k")
    assert set(git(made, "ls-files").split()) == set(files)
    assert (made / "t.txt").read_bytes() == b"one\n"


def test_git_trusts_the_times_of_a_copy_and_reads_no_file_again(box):
    """Other bytes of the same length and time go unseen, so nothing was hashed."""
    readme = box.work / "README.md"
    about = readme.stat()
    readme.write_bytes(b"# B project\n")
    os.utime(readme, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert git(box.work, "status", "--porcelain") == ""
    readme.write_bytes(b"# C project\n")
    assert git(box.work, "status", "--porcelain") == "M README.md"


def test_an_empty_fixture_has_a_commit_too(tmp_path):
    assert git(template({}, tmp_path, "empty"), "rev-list", "--count", "HEAD") == "1"


def test_two_makers_at_once_make_one_template(tmp_path):
    results: list[Path] = []
    makers = [threading.Thread(target=lambda: results.append(template(FILES, tmp_path, "k"))) for _ in range(4)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert len(set(results)) == 1
    assert [p.name for p in tmp_path.iterdir()] == [results[0].name]


def test_what_a_dead_maker_or_an_earlier_boot_left_is_removed(tmp_path):
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    (tmp_path / f"making-{int(dead.stdout)}-1/x").mkdir(parents=True)
    (tmp_path / f"making-{os.getpid()}-99").mkdir()
    (tmp_path / "k-1-0000beef").mkdir()
    made = template(FILES, tmp_path, "k")
    assert {p.name for p in tmp_path.iterdir()} == {made.name, f"making-{os.getpid()}-99"}


@pytest.mark.parametrize(
    ("path", "mode", "content", "why"),
    [
        ("../out", "100644", b"", "leaves the tree"),
        ("/etc/x", "100644", b"", "leaves the tree"),
        ("a//b", "100644", b"", "leaves the tree"),
        ("a/./b", "100644", b"", "leaves the tree"),
        ("a/.git/config", "100644", b"", "inside of a .git"),
        (".GIT/config", "100644", b"", "inside of a .git"),
        ("sub", "160000", b"", "git mode 160000"),
        ("README.md/x", "100644", b"", "not a directory"),
        ("CLAUDE.md/x", "100644", b"", "not a directory"),
        ("l", "120000", b"/etc/passwd", "absolute path"),
        ("l", "120000", b"../x", "leaves the tree"),
        ("deep/er/l", "120000", b"../../../x", "leaves the tree"),
        ("l", "120000", b"deep/er/../../../x", "leaves the tree"),
        ("l", "120000", b"l", "goes in a circle"),
    ],
)
def test_a_fixture_that_leaves_its_tree_is_refused_before_a_file_is_written(tmp_path, path, mode, content, why):
    with pytest.raises(HarnessError, match=why):
        template(FILES | {path: (mode, content)}, tmp_path / "cache", "k")
    assert not (tmp_path / "cache").exists()


def test_a_link_that_leaves_the_tree_through_another_link_is_refused():
    files = {"a/b": ("120000", b"../c/d/e"), "c/d/e/f": ("100644", b""), "l": ("120000", b"a/b/../../../../x")}
    with pytest.raises(HarnessError, match="l is a link to"):
        paths.check(files, "fixture")
    paths.check(files | {"l": ("120000", b"a/b/../../x")}, "fixture")


@given(
    st.dictionaries(
        st.lists(st.sampled_from(["a", "b", "..", "c"]), min_size=1, max_size=3).map("/".join),
        st.lists(st.sampled_from(["a", "b", "..", ".", "c"]), min_size=1, max_size=4).map("/".join),
        max_size=4,
    )
)
def test_links_that_are_accepted_never_lead_out_of_the_tree(tmp_path_factory, links):
    files = {path: ("120000", target.encode()) for path, target in links.items()}
    try:
        paths.check(files, "fixture")
    except HarnessError:
        return
    root = tmp_path_factory.mktemp("links").resolve()
    for path, target in links.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(target)
    for path in links:
        assert Path(os.path.realpath(root / path)).is_relative_to(root)


def test_a_copy_keeps_bytes_modes_links_and_times(box, fixture):
    assert manifest(box.work) == manifest(fixture)
    for path in FILES:
        assert (box.work / path).lstat().st_mode == (fixture / path).lstat().st_mode
    assert (box.work / "README.md").stat().st_mtime_ns == (fixture / "README.md").stat().st_mtime_ns


def test_a_copy_across_file_systems_keeps_the_bytes(tmp_path):
    memory = Path("/dev/shm")
    if not memory.is_dir():
        pytest.skip("no memory file system")
    source, target = tmp_path / "s", memory / f"copy-{os.getpid()}"
    source.mkdir()
    target.mkdir()
    (source / "big").write_bytes(os.urandom(3_000_000))
    (source / "empty").touch()
    trees.copy(source, target)
    same = manifest(source) == manifest(target)
    trees.remove(target)
    assert same


def test_a_write_in_a_sandbox_does_not_reach_the_template(box, fixture):
    (box.work / "README.md").write_text("changed")
    assert (fixture / "README.md").read_bytes() == FILES["README.md"][1]


def test_sandboxes_have_neutral_names_without_dots(box, base):
    assert str(box.work.relative_to(base)) == "0001/project"
    assert fresh(base, None, NONE).root.name == "0002"
    assert box.inside(box.work / "a") == str(box.work / "a")
    assert box.outside(str(box.work / "a")) == box.work / "a"
    assert box.outside("/etc/passwd") is None
    assert box.environment()["HOME"] == str(box.home)
    assert not any("eval" in name.lower() for name in box.environment())


def test_the_path_inside_is_the_same_for_every_isolated_sandbox(cell):
    assert cell.inside(cell.work / "src" / "x.py") == "/srv/project/src/x.py"
    assert cell.outside("/home/dev/.config/x") == cell.home / ".config/x"
    assert cell.outside("/tmp") == cell.tmp
    assert cell.outside("/srv/other") is None
    assert cell.environment(path=["/opt/node/bin"])["PATH"].startswith("/opt/bin:/opt/node/bin:/usr/local/sbin")


def test_removal_copes_with_what_agents_leave(base, fixture, tmp_path):
    box = fresh(base, fixture, NONE)
    outside = base / "precious"
    outside.mkdir()
    (outside / "file").write_text("keep")
    (box.work / "link").symlink_to(outside)
    (box.work / "up").symlink_to("../../..")
    os.mkfifo(box.work / "fifo")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(box.work / "s"))
    os.link(outside / "file", box.work / "hard")
    (box.work / "locked/in").mkdir(parents=True)
    (box.work / "locked/in/f").touch()
    (box.work / "locked/in").chmod(0)
    (box.work / "locked").chmod(0o500)
    (box.work / "\udcff\n").mkdir()
    with (box.work / "sparse").open("wb") as sparse:
        sparse.truncate(1 << 40)
    remove(box)
    assert not box.root.exists()
    assert (outside / "file").read_text() == "keep"


def test_a_very_deep_directory_is_removed(base):
    box = fresh(base, None, NONE)
    here = os.getcwd()
    try:
        os.chdir(box.work)
        for _ in range(1500):
            os.mkdir("deep-directory")
            os.chdir("deep-directory")
        Path("f").touch()
    finally:
        os.chdir(here)
    remove(box)
    assert not box.root.exists()


def test_many_files_are_removed_at_once(base):
    box = fresh(base, None, NONE)
    for number in range(3000):
        (box.work / str(number)).touch()
    remove(box)
    remove(box)
    assert not box.root.exists()


def test_removal_does_not_follow_a_root_that_became_a_link(base, tmp_path):
    box = fresh(base, None, NONE)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "f").touch()
    box.root.rename(base / "moved")
    box.root.symlink_to(precious)
    with pytest.raises(OSError, match="Not a directory"):
        trees.remove(box.root)
    assert (precious / "f").exists()


def test_a_sandbox_costs_no_more_than_the_simplest_copy(base, fixture):
    def seconds(work: Callable[[], None]) -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    def ours() -> None:
        remove(fresh(base, fixture, NONE))

    def simplest() -> None:
        shutil.copytree(fixture, base / "copy", symlinks=True)
        shutil.rmtree(base / "copy")

    assert min(seconds(ours) for _ in range(15)) <= 1.5 * min(seconds(simplest) for _ in range(15))
