"""`home: inherit`: the files that hold a user's login are copied into a rep's private HOME, nothing else is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evalrepo.agents.base import Box, place
from evalrepo.errors import HarnessError

SHORTEST = 12
"""Characters of a value that may be a secret."""


def lend(home: str, names: Sequence[str], box: Box) -> None:
    """Copy what is there of the files `names` (relative to HOME). HarnessError when none is, or one cannot be read."""
    found = {name: data for name in names if (data := _read(home, name)) is not None}
    if names and not found:
        raise HarnessError(
            f"`home: inherit`, and there is no login: none of {', '.join('~/' + n for n in names)}",
            hint="log in with the CLI itself once, or name the variable with its key in `env:`",
        )
    for name, data in found.items():
        place(box, name, data)


def secrets(home: str, names: Sequence[str]) -> dict[str, str]:
    """Every value in the login files that may be a secret, under `FILE:KEY`; the whole text of one that is not JSON."""
    found: dict[str, str] = {}
    for name in names:
        data = _read(home, name)
        if data is not None:
            found |= dict(_values(name, data.decode("utf-8", "replace")))
    return found


def _read(home: str, name: str) -> bytes | None:
    if not home:
        return None
    try:
        return Path(home, name).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HarnessError(f"~/{name} cannot be read: {error.strerror}", hint="log in again, or use `env:`") from None


def _values(name: str, text: str) -> Iterator[tuple[str, str]]:
    try:
        yield from _texts(name, json.loads(text))
    except ValueError:
        yield name, text


def _texts(place: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str) and len(value) >= SHORTEST:
        yield place, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(f"{place}:{key}", inner)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(f"{place}:{number}", inner)
