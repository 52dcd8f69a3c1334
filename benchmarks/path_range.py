"""`verify --since` over 1,000 commits of a repository with 10,000 locked of 20,000 files, and 100 scenarios.

Every tenth commit merges and adds a result, every hundredth edits the subject, every fiftieth adds a scenario. Before
the first turn everything is in the caches, as it is after one full check; the cold figure is for information.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator

from ground import Ground, ground
from measure import EVALREPO, NOTHING, Case, Figure, Options, command, ratios, together
from path_compare import CONFIG as CELLS
from path_compare import SCENARIO, record

LOCKED, OTHERS, COMMITS, SCENARIOS, RESERVE = 10_000, 10_000, 1000, 100, "scenarios-reserve"
CONFIG = CELLS.replace("style:", "one:").replace("subjects/style/**", "src/d000/**")
EVENT = "event: freeze\nat: '2026-11-29T00:00:00Z'\nby: B <b@example.org>\nwhy: frozen\npaths: [scenarios-reserve]\n"


def _inline(path: str, data: bytes) -> bytes:
    return b"M 100644 inline %b\ndata %d\n%b\n" % (path.encode(), len(data), data)


def _commit(number: int, branch: str, body: bytes, *others: str) -> bytes:
    merge = b"".join(b"merge refs/heads/%b\n" % other.encode() for other in others)
    head = b"commit refs/heads/%b\ncommitter B <b@example.org> %d +0000\ndata 1\nx\n"
    return head % (branch.encode(), 1700000000 + number) + merge + body


def _scenario(number: int) -> bytes:
    return _inline(f"scenarios/S{number:04}.yaml", SCENARIO.replace("subject: style", "subject: one").encode())


def _result(number: int) -> tuple[str, str, bytes]:
    """A record of a clone of its own: its run, path and bytes."""
    from evalrepo.records.record import Digests

    zeros, run = "0" * 64, f"{number:08}"
    name, text = record(Digests(subject=zeros, stimulus=zeros, instrument=zeros, apparatus=zeros))
    own = text.replace("0123456789abcdef", f"{number:016x}").replace("aaaaaaaa", run).replace("S000", "S0001")
    return run, name.replace("aaaaaaaa", run).replace("S000", "S0001"), own.encode()


def _run(run: str, name: str, data: bytes) -> bytes:
    """The reference of a run, with its record and something of each rep."""
    reps = [_inline(f"transcripts/S0001/scripted-default/{rep}-1/transcript.jsonl", b"{}\n") for rep in (1, 2, 3)]
    body = _inline(f"results/{name.rpartition('/')[2]}", data) + b"".join(reps)
    head = b"commit refs/evalrepo/runs/%b\ncommitter B <b@example.org> 1800000000 +0000\ndata 1\nx\n"
    return head % run.encode() + body


def _stream() -> Iterator[bytes]:
    """A frozen first commit; then edits, some in branches that are merged."""
    from evalrepo.formats import lockfile
    from evalrepo.records.lock import Lock, LockLine

    lines, body = [], []
    for number in range(LOCKED):
        path, data = f"{RESERVE}/files/{number // 200:03}/f{number:05}.txt", f"file {number}\n".encode()
        oid = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        lines.append(LockLine(path, "100644", oid, hashlib.sha256(data).hexdigest()))
        body.append(_inline(path, data))
    body += [_inline(f"src/d{n // 100:03}/f{n:05}.py", f"{n}\n".encode()) for n in range(OTHERS)]
    body += [_scenario(number) for number in range(SCENARIOS)]
    own = {"evalrepo.yaml": CONFIG.encode(), "evalrepo.lock": lockfile.dump(Lock((RESERVE,), tuple(lines)))}
    body += [_inline(path, data) for path, data in own.items()]
    body.append(_inline("evalrepo.ledger/00000000000000000000000000.yaml", EVENT.encode()))
    yield _commit(0, "main", b"".join(body))
    for number in range(1, COMMITS + 1):
        edit = _inline(f"src/d{number % 100:03}/f{(number % 100) * 100:05}.py", f"{number} again\n".encode())
        if number % 10 == 0:
            kept = _result(number)
            yield _run(*kept)
            edit += _inline(*kept[1:]) + (_scenario(SCENARIOS + number) if number % 50 == 0 else b"")
            yield _commit(number, "main", edit, "side")
        elif number % 10 == 5:
            yield b"reset refs/heads/side\nfrom refs/heads/main\n\n" + _commit(number, "side", edit)
        else:
            yield _commit(number, "main", edit)


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

        def cold() -> None:
            shutil.rmtree(at.repo / ".git/evalrepo", ignore_errors=True)
            check()

        first = Case("range", "verify --since, 1,000 commits, nothing known / git log --raw", cold, log, None, 5)
        found = ratios(first, options)
        return [
            ratios(Case("range", "the same, known before / git log --raw", check, log, 3.0), options),
            ratios(Case("range", "the same / + an empty python", check, together(log, nothing), None), options),
            found,
        ]
