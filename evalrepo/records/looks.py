"""The words for a look at the reserve."""

from __future__ import annotations


def look_text(number: int, allowed: int, *, masked: bool) -> str:
    """What every report that rests on the reserve says: `held-out, look 2 of 3, 1 look preceded it`."""
    claim = "held-out" if masked else "budgeted comparison (isolation none)"
    before = {0: "no look", 1: "1 look"}.get(number - 1, f"{number - 1} looks")
    return f"{claim}, look {number} of {allowed}, {before} preceded it"
