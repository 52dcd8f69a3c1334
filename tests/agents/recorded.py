"""Recordings of real CLIs, trimmed: the files of `golden/`."""

from __future__ import annotations

from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def files_of(prefix: str, case: str) -> dict[str, bytes]:
    """The files of a case, by what stands behind its name."""
    start = f"{prefix}{case}."
    return {path.name.removeprefix(start): path.read_bytes() for path in sorted(GOLDEN.glob(f"{start}*"))}
