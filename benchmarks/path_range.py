"""`verify --since` over 1,000 commits of a repository with 10,000 locked of 20,000 files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from ground import Ground, ground
from measure import EVALREPO, NOTHING, Case, Figure, Options, command, ratios, together

LOCKED, OTHERS, COMMITS, RESERVE = 10_000, 10_000, 1000, "scenarios-reserve"
EVENT = "event: freeze\nat: '2026-11-29T00:00:00Z'\nby: B <b@example.org>\nwhy: frozen\npaths: [scenarios-reserve]\n"


def _inline(path: str, data: bytes) -> bytes:
    return b"M 100644 inline %b\ndata %d\n%b\n" % (path.encode(), len(data), data)


def _commit(number: int, branch: str, body: bytes, *others: str) -> bytes:
    merge = b"".join(b"merge refs/heads/%b\n" % other.encode() for other in others)
    head = b"commit refs/heads/%b\ncommitter B <b@example.org> %d +0000\ndata 1\nx\n"
    return head % (branch.encode(), 1700000000 + number) + merge + body


def _stream() -> Iterator[bytes]:
    """A frozen first commit; then edits in ten branches that are merged."""
    from evalrepo.formats import lockfile
    from evalrepo.records.lock import Lock, LockLine

    lines, body = [], []
    for number in range(LOCKED):
        path, data = f"{RESERVE}/files/{number // 200:03}/f{number:05}.txt", f"file {number}\n".encode()
        oid = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        lines.append(LockLine(path, "100644", oid, hashlib.sha256(data).hexdigest()))
        body.append(_inline(path, data))
    body += [_inline(f"src/d{n // 100:03}/f{n:05}.py", f"{n}\n".encode()) for n in range(OTHERS)]
    config = b"version: 1\nsubjects:\n  one: {paths: [src/d000/**]}\n"
    own = {"evalrepo.yaml": config, "evalrepo.lock": lockfile.dump(Lock((RESERVE,), tuple(lines)))}
    body += [_inline(path, data) for path, data in own.items()]
    body.append(_inline("evalrepo.ledger/00000000000000000000000000.yaml", EVENT.encode()))
    yield _commit(0, "main", b"".join(body))
    yield b"reset refs/heads/side\nfrom refs/heads/main\n\n"
    for number in range(1, COMMITS + 1):
        edit = _inline(f"src/d{number % 100:03}/f{(number % 100) * 100:05}.py", f"{number} again\n".encode())
        if number % 10 == 0:
            yield _commit(number, "main", edit, "side")
        else:
            yield _commit(number, "side" if number % 10 == 5 else "main", edit)


def _fill(at: Ground) -> None:
    at.git("fast-import", "--quiet", stdin=b"".join(_stream()))
    at.git("read-tree", "HEAD")
    at.pack()


def figures(options: Options) -> list[Figure]:
    """The whole range, in which nothing is wrong."""
    with ground() as at:
        _fill(at)
        start = at.git("rev-list", "--max-parents=0", "main").strip()
        log = command("git", "log", "--raw", f"{start}..main", cwd=at.repo, env=at.env)
        check = command(*EVALREPO, "verify", "--since", start, cwd=at.repo, env=at.env)
        nothing = command(*NOTHING, cwd=at.repo, env=at.env)
        return [
            ratios(Case("range", "verify --since, 1,000 commits / git log --raw", check, log, 3.0), options),
            ratios(Case("range", "the same / + an empty python", check, together(log, nothing), None), options),
        ]
