"""The freeze check of a commit hook: 10,000 locked files of 100,000 tracked ones."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from ground import Ground, ground
from measure import EVALREPO, NOTHING, Case, Figure, Options, command, ratios, together

TRACKED, LOCKED, CONTENTS = 100_000, 10_000, 500
RESERVE = "scenarios-reserve"
CONFIG = "version: 1\n"


def _files(at: Ground) -> Iterator[tuple[str, bytes]]:
    """Path and content: a thousand bytes for a locked file, others share their contents."""
    for number in range(LOCKED):
        text = f"file {number}\n" + "".join(f"{at.random.getrandbits(64):016x}\n" for _ in range(58))
        yield f"{RESERVE}/files/{number // 200:03}/f{number:05}.txt", text.encode()
    for number in range(TRACKED - LOCKED):
        yield f"src/d{number // 300:03}/f{number:06}.py", f"content {number % CONTENTS}\n".encode()


def _fill(at: Ground) -> None:
    """A commit by fast-import, and the index of it; only our own files are in the work tree."""
    from evalrepo.formats import lockfile
    from evalrepo.records.lock import Lock, LockLine

    stream: list[bytes] = [b"commit refs/heads/main\ncommitter B <b@example.org> 1700000000 +0000\ndata 1\nx\n"]
    lines = []
    for path, data in _files(at):
        stream.append(b"M 100644 inline %b\ndata %d\n%b\n" % (path.encode(), len(data), data))
        if path.startswith(RESERVE):
            oid = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            lines.append(LockLine(path, "100644", oid, hashlib.sha256(data).hexdigest()))
    own = {"evalrepo.yaml": CONFIG.encode(), "evalrepo.lock": lockfile.dump(Lock((RESERVE,), tuple(lines)))}
    for path, data in own.items():
        stream.append(b"M 100644 inline %b\ndata %d\n%b\n" % (path.encode(), len(data), data))
    at.git("fast-import", "--quiet", stdin=b"".join(stream))
    at.git("read-tree", "HEAD")
    at.write(own)


def figures(options: Options) -> list[Figure]:
    """`verify --staged`, and with `--deep`."""
    with ground() as at:
        _fill(at)
        oids = at.git("ls-files", "-s", "--", RESERVE).split()[1::4]
        feed = ("\n".join(oids) + "\n").encode()
        listing = command("git", "ls-files", "-s", "-z", "--", RESERVE, cwd=at.repo, env=at.env)
        nothing = command(*NOTHING, cwd=at.repo, env=at.env)
        contents = command("git", "cat-file", "--batch", "--buffer", cwd=at.repo, env=at.env, stdin=feed)
        staged = command(*EVALREPO, "verify", "--staged", cwd=at.repo, env=at.env)
        deep = command(*EVALREPO, "verify", "--staged", "--deep", cwd=at.repo, env=at.env)
        cases = [
            Case("freeze", "10,000 of 100,000 / ls-files + python", staged, together(listing, nothing), 2.0, 21),
            Case("freeze", "--deep / + cat-file --batch", deep, together(listing, contents, nothing), 1.8, 11),
        ]
        return [ratios(case, options) for case in cases]
