"""What is kept of a rep's sandbox: which files changed, and their content where it is small."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evalrepo.records.outcome import changed
from evalrepo.running.views import outcome

if TYPE_CHECKING:
    from evalrepo.checks.view import View
    from evalrepo.formats.redaction import Redactor

ONE = 256_000
"""Bytes of a changed file that is kept."""
ALL = 2_000_000
"""Bytes of all changed files of a rep that are kept."""
MOST = 500
"""Changed files of a rep that are kept: each is an object of its own in git."""


def artefacts(view: View, redactor: Redactor, *, always: bool = False) -> dict[str, bytes]:
    """`outcome.json` and `files/PATH`, redacted; nothing when the agent changed nothing and no fault fired, unless
    `always`: what was there before cannot be told from the fixture.

    A file that is too large, one too many, cannot be read, or still matches a redaction rule is named in
    `outcome.json` alone.
    """
    moved = changed(view.before, view.after, view.litter)
    if not always and not moved.paths and not any(view.fired.values()):
        return {}
    out: dict[str, bytes] = {}
    room = ALL
    for path in (*moved.modified, *moved.added):
        data = _content(view, path, room) if len(out) < MOST else None
        if data is not None:
            clean, _ = redactor.redact(data)
            if redactor.refuse(clean) is None:
                out[f"files/{path}"] = clean
                room -= len(clean)
    about = outcome(view) | {"kept": sorted(out)}
    clean, _ = redactor.redact(json.dumps(about, sort_keys=True).encode())
    return {"outcome.json": clean, **out}


def _content(view: View, path: str, room: int) -> bytes | None:
    state = view.after[path]
    if not state.sha256 or state.mode not in ("100644", "100755") or state.size > min(ONE, room):
        return None
    try:
        return view.read(path)
    except (OSError, ValueError):
        return None
