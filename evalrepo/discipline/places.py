"""Where the discipline's files lie, and which paths lie below which. Pure, without imports."""

from __future__ import annotations

CONFIG = "evalrepo.yaml"
LOCK = "evalrepo.lock"
LEDGER = "evalrepo.ledger"
RESERVE = "scenarios-reserve"


def covers(root: str, path: str) -> bool:
    """Whether `path` is `root` or lies below it, by components."""
    return path == root or path.startswith(root + "/")


def covered(roots: tuple[str, ...] | frozenset[str], path: str) -> bool:
    """Whether one of the roots covers the path; one look-up for each of the path's parents when `roots` is a set."""
    if isinstance(roots, tuple):
        return any(covers(root, path) for root in roots)
    return path in roots or any(path[:at] in roots for at, letter in enumerate(path) if letter == "/")


def outermost(roots: frozenset[str] | set[str] | tuple[str, ...]) -> tuple[str, ...]:
    """The roots without those that another one covers, sorted."""
    known = frozenset(roots)
    inner = {r for r in known if any(r[:at] in known for at, letter in enumerate(r) if letter == "/")}
    return tuple(sorted(known - inner))
