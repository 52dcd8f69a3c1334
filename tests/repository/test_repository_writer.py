"""Many blobs without a process for each."""

from __future__ import annotations

import threading

import pytest

from evalrepo.errors import GitError
from evalrepo.repository.objects import object_id
from evalrepo.repository.writer import restore


def loose(lab, oid):
    return lab.top / ".git/objects" / oid[:2] / oid[2:]


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_blobs_are_what_git_says_they_are(bare_lab, form):
    lab = bare_lab.init("--object-format", form)
    repo = lab.open()
    writer = repo.blob_writer(repo.home / "held")
    for data in (b"", b"x", b"\0\r\n" * 100_000):
        oid = writer.write(data)
        assert oid == lab.git("hash-object", "--stdin", stdin=data)
        assert dict(repo.git.blobs([oid])) == {oid: data}
        assert loose(lab, oid).stat().st_mode & 0o777 == 0o444
    assert lab.sound()
    assert not list((lab.top / ".git/objects").rglob("tmp_obj_*"))


def test_an_empty_or_wrong_file_that_was_there_before_is_written_again(lab):
    repo = lab.open()
    oid, other = repo.write_blob(b"content"), repo.write_blob(b"other")
    for wrong in (b"", loose(lab, other).read_bytes()):
        loose(lab, oid).chmod(0o644)
        loose(lab, oid).write_bytes(wrong)
        assert repo.blob_writer(repo.home / "held").write(b"content") == oid
        assert dict(repo.git.blobs([oid])) == {oid: b"content"}
    assert lab.sound()


def test_in_a_shared_repository_git_gives_the_modes(lab):
    lab.git("config", "core.sharedRepository", "group")
    oid = lab.open().blob_writer(lab.top / ".git/evalrepo/held").write(b"shared")
    assert loose(lab, oid).stat().st_mode & 0o777 == 0o440 | 0o004
    assert loose(lab, oid).parent.stat().st_mode & 0o2070 == 0o2070


def test_many_threads_may_write_the_same_and_other_blobs(lab):
    repo = lab.open()
    writer = repo.blob_writer(repo.home / "held")
    texts = [b"text %d" % (n % 40) for n in range(200)]
    found: dict[bytes, set[str]] = {}

    def write(mine: list[bytes]) -> None:
        for data in mine:
            found.setdefault(data, set()).add(writer.write(data))

    threads = [threading.Thread(target=write, args=(texts[n::4],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {data: {object_id("blob", data, "sha1")} for data in texts}
    assert lab.sound()


def test_a_store_that_cannot_be_written_is_an_error_with_git_s_own_words(lab):
    repo = lab.open()
    writer = repo.blob_writer(repo.home / "held")
    oid = object_id("blob", b"nowhere", "sha1")
    (lab.top / ".git/objects" / oid[:2]).write_text("in the way")
    with pytest.raises(GitError):
        writer.write(b"nowhere")


def test_what_a_collection_pruned_before_a_reference_held_it_is_put_back(lab):
    repo = lab.open()
    held = repo.home / "held"
    oid = repo.blob_writer(held).write(b"nobody names me")
    lab.git("gc", "-q", "--prune=now")
    assert not repo.objects.loose(oid).exists()
    restore(repo.objects, held)
    assert lab.git("cat-file", "blob", oid) == "nobody names me"
    restore(repo.objects, held)
