from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from evalrepo.errors import GitError


def work(lab):
    return lab.open().tree("WORKTREE")


def left(lab):
    scratch = lab.top / ".git/evalrepo/scratch"
    return sorted(path.name for path in scratch.iterdir()) if scratch.exists() else []


def test_it_holds_what_add_all_would_store(lab):
    lab.commit(
        {
            "kept": "1",
            "edited": "1",
            "deleted": "1",
            "moved": "long enough to be seen as moved",
            ".gitignore": "*.log\n",
        }
    )
    (lab.top / "deleted").unlink()
    (lab.top / "moved").rename(lab.top / "here")
    (lab.top / "kept").chmod(0o755)
    lab.write({"edited": "2", "new/file": "3", "x.log": "ignored", "sub/.gitignore": "y", "sub/y": "ignored"})
    lab.write({".git/info/exclude": "excluded\n", "excluded": "1"})
    tree = work(lab)
    found = dict(tree.entries())
    lab.git("add", "-A")
    assert dict(lab.open().tree("INDEX").entries()) == found
    assert list(found) == [".gitignore", "edited", "here", "kept", "new/file", "sub/.gitignore"]
    assert found["kept"].mode == "100755"
    assert tree.read("edited") == b"2"


def test_nothing_of_the_users_is_touched(lab):
    lab.commit({"a": "1", "b": "1"})
    lab.write({"a": "staged"})
    lab.git("add", "a")
    lab.write({"a": "disk", "new": "1"})
    os.utime(lab.top / "b", (1, 1))
    before = lab.state()
    index = (lab.top / ".git/index").stat()
    tree = work(lab)
    assert {path: tree.read(path) for path in tree.entries()} == {"a": b"disk", "b": b"1", "new": b"1"}
    assert lab.state() == before
    after = (lab.top / ".git/index").stat()
    assert (after.st_mtime_ns, after.st_ino) == (index.st_mtime_ns, index.st_ino)
    assert lab.git("diff", "--cached", "--name-only") == "a"


def test_a_split_index_stays_as_it_is(lab):
    lab.git("config", "core.splitIndex", "true")
    lab.commit({"a": "1", "b": "1"})
    lab.git("update-index", "--split-index")
    lab.write({"a": "2"})
    before = lab.state()
    assert any("sharedindex" in name for name in before)
    assert work(lab).read("a") == b"2"
    assert lab.state() == before


def test_an_edit_in_the_same_instant_and_of_the_same_size_is_seen(lab):
    for number in range(20):
        lab.commit({"a": f"{number:04}"})
        lab.write({"a": f"{number:04}"[::-1]})
        assert work(lab).read("a") == f"{number:04}"[::-1].encode()


def test_the_users_filters_and_line_ends_apply(lab):
    lab.git("config", "--file", str(lab.config), "core.autocrlf", "true")
    lab.git("config", "--file", str(lab.config), "filter.up.clean", "tr a-z A-Z")
    lab.commit(
        {".gitattributes": "*.up filter=up\n*.bin -text\n", "a.txt": "x\r\ny\r\n", "b.up": "shout", "c.bin": "x\r\n"}
    )
    lab.git("config", "--file", str(lab.config), "core.safecrlf", "true")
    lab.write({"a.txt": "x\ny\n"})
    tree = work(lab)
    assert (tree.read("a.txt"), tree.read("b.up"), tree.read("c.bin")) == (b"x\ny\n", b"SHOUT", b"x\r\n")
    assert tree.entries() == lab.open().tree("HEAD").entries()


def test_a_filter_sees_the_users_locale(lab):
    lab.git("config", "filter.locale.clean", 'printf "%s %s" "$LC_ALL" "$LANG"')
    lab.write({".gitattributes": "a filter=locale\n", "a": "x"})
    assert lab.open(LC_ALL="C.UTF-8").tree("WORKTREE").read("a") == b"C.UTF-8 C.UTF-8"
    lab.write({"a": "xy"})
    assert work(lab).read("a") == b" C.UTF-8"


def test_a_filter_that_fails_is_said(lab):
    lab.git("config", "filter.bad.clean", "false")
    lab.git("config", "filter.bad.required", "true")
    lab.write({".gitattributes": "a filter=bad\n", "a": "x"})
    with pytest.raises(GitError, match=r"work tree cannot be read: git add: .*a: clean filter 'bad' failed"):
        work(lab).entries()


def test_type_changes_are_seen(lab):
    lab.commit({"file": "x", "folder/x": "1", "was": "1"})
    (lab.top / "file").unlink()
    (lab.top / "file").symlink_to("was")
    (lab.top / "folder/x").unlink()
    (lab.top / "folder").rmdir()
    lab.write({"folder": "now a file"})
    (lab.top / "was").unlink()
    lab.write({"was/inside": "1"})
    entries = work(lab).entries()
    assert {path: entry.mode for path, entry in entries.items()} == {
        "file": "120000",
        "folder": "100644",
        "was/inside": "100644",
    }


def test_a_link_out_of_the_tree_is_a_link(lab):
    (lab.base / "outside").mkdir()
    (lab.base / "outside/secret").write_text("s")
    (lab.top / "link").symlink_to("../outside")
    assert list(work(lab).entries()) == ["link"]


def test_pipes_and_sockets_are_not_files(lab):
    lab.commit({"a": "1"})
    os.mkfifo(lab.top / "pipe")
    assert list(work(lab).entries()) == ["a"]


def test_a_repository_inside_is_a_gitlink_and_an_empty_one_is_left_out_and_named(lab):
    lab.commit({"a": "1"})
    lab.git("init", "-q", "fixtures/inner")
    tree = work(lab)
    assert list(tree.entries()) == ["a"]
    assert tree.left_out == ("fixtures/inner",)
    lab.git(
        "-c",
        "user.name=x",
        "-c",
        "user.email=x",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "x",
        cwd=lab.top / "fixtures/inner",
    )
    assert work(lab).entries()["fixtures/inner"].mode == "160000"


def test_it_is_what_was_there_at_the_first_read(lab):
    lab.write({"a": "1"})
    tree = work(lab)
    assert tree.read("a") == b"1"
    lab.write({"a": "2"})
    assert tree.read("a") == b"1"
    assert work(lab).read("a") == b"2"


def test_threads_read_one_state(lab):
    lab.commit({f"d/{n}": str(n) for n in range(30)})
    lab.write({"d/0": "changed"})
    tree = work(lab)
    seen: list[dict[str, bytes]] = []
    threads = [threading.Thread(target=lambda: seen.append(dict(tree.read_many(tree.under("d"))))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 6
    assert all(found == seen[0] for found in seen)
    assert len(left(lab)) == 2


def test_the_private_store_goes_with_the_tree(lab):
    lab.write({"a": "1"})
    tree = work(lab)
    tree.entries()
    assert len(left(lab)) == 2
    del tree
    gc.collect()
    assert left(lab) == []


CHILD = """
import os, sys, time
from datetime import UTC, datetime
from pathlib import Path
from evalrepo.repository.repo import Repository
from evalrepo.world import World
tree = Repository.open(World(Path.cwd(), dict(os.environ), lambda: datetime.now(UTC), os.urandom)).tree("WORKTREE")
tree.entries()
print("ready", flush=True)
time.sleep(float(sys.argv[1]))
"""


def child(lab, seconds):
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(seconds)], cwd=lab.top, env=lab.env, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"ready\n"
    return process


def test_what_a_killed_process_left_goes_with_the_next_and_a_living_one_keeps_its_own(lab):
    lab.write({"a": "1"})
    dead, alive = child(lab, 30), child(lab, 30)
    dead.send_signal(signal.SIGKILL)
    dead.wait()
    try:
        tree = work(lab)
        tree.entries()
        names = left(lab)
        assert len(names) == 4
    finally:
        alive.send_signal(signal.SIGKILL)
        alive.wait()
    work(lab).entries()
    assert len(left(lab)) <= 4
    ended = child(lab, 0)
    assert ended.wait() == 0
    del tree
    gc.collect()
    assert left(lab) == []


def test_a_git_directory_that_cannot_be_written_is_still_read(lab, monkeypatch, tmp_path):
    lab.write({"a": "1"})
    (lab.top / ".git/evalrepo").write_text("in the way")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tree = work(lab)
    assert tree.read("a") == b"1"
    del tree
    gc.collect()
    assert list(tmp_path.glob("evalrepo-*")) == []


def test_persist_brings_what_is_needed_into_the_real_store(lab):
    lab.commit({"old": "1"})
    lab.write({"new": "2", "other": "3"})
    tree = work(lab)
    new, other = tree.entries()["new"].oid, tree.entries()["other"].oid
    assert tree.persist(["old", "new", "new"]) == 1
    assert lab.git("cat-file", "blob", new) == "2"
    assert lab.git("cat-file", "-e", other, check=False) == ""
    assert lab.open().git.sizes([other]) == {other: None}
    assert tree.persist(["old", "new"]) == 0
    with pytest.raises(GitError, match="gone"):
        tree.persist(["gone"])
    assert lab.git("fsck", "--full", "--strict", "--no-dangling") == ""


def test_an_assumed_unchanged_file_is_read_as_git_would_add_it(lab):
    lab.commit({"a": "1"})
    lab.git("update-index", "--assume-unchanged", "a")
    lab.write({"a": "22"})
    assert work(lab).read("a") == b"1"


def test_it_is_quick_when_little_changed(lab):
    lab.commit({f"d{n % 50}/f{n}": str(n) for n in range(3000)})
    time.sleep(0.02)
    lab.git("update-index", "--refresh")
    lab.write({"d1/f1": "changed"})
    tree = work(lab)
    start = time.monotonic()
    tree.entries()
    spent = time.monotonic() - start
    written = [path for path in (lab.top / ".git/evalrepo/scratch").rglob("*") if len(path.name) == 38]
    assert len(written) == 1
    assert spent < 2
