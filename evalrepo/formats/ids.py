"""Names that the tool makes up: run ids and ULIDs, in Crockford's base 32."""

from __future__ import annotations

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def _digits(number: int, count: int) -> str:
    return "".join(ALPHABET[number >> 5 * place & 31] for place in reversed(range(count)))


def run_id(random: bytes) -> str:
    """Eight lower-case characters from at least five random bytes."""
    if len(random) < 5:
        raise ValueError("a run id takes five random bytes")
    return _digits(int.from_bytes(random[:5], "big"), 8).lower()


def ulid(ms: int, random: bytes) -> str:
    """26 characters: milliseconds since 1970 (48 bits) and ten random bytes; sorts by time."""
    if len(random) < 10 or not 0 <= ms < 1 << 48:
        raise ValueError("a ULID takes 48 bits of milliseconds and ten random bytes")
    return _digits(ms, 10) + _digits(int.from_bytes(random[:10], "big"), 16)
