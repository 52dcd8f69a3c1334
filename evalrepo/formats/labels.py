"""`rubrics/NAME.labels.yaml` and `rubrics/NAME.votes.yaml`: YAML that is written by the tool, one entry a line.

A line a entry keeps a merge of two people's labels a union of lines.
"""

from __future__ import annotations

import json
from typing import TypeVar

from evalrepo.errors import DataError
from evalrepo.formats.yaml import load
from evalrepo.records.labels import Label, Labels, Voted, Votes

_HEAD = "# Written by evalrepo {command}: add to it with that command.\n"
M = TypeVar("M", Labels, Votes)


def labels_file(text: bytes, file: str) -> Labels:
    """Labels; raises DataError as every YAML of the repository does."""
    return _read(Labels, text, file, "labels")


def votes_file(text: bytes, file: str) -> Votes:
    """Votes; raises DataError."""
    return _read(Votes, text, file, "votes")


def _read(model: type[M], text: bytes, file: str, kind: str) -> M:
    try:
        return load(model, text, file, "RUB")
    except DataError as error:
        hint = f"evalrepo schema {kind} shows what is allowed here"
        raise DataError([f if f.hint else f._replace(hint=hint) for f in error.findings]) from None


def dump_labels(labels: Labels) -> bytes:
    """The whole file."""
    return _dumped("score --label", "labels", labels.labels)


def dump_votes(votes: Votes) -> bytes:
    """The whole file."""
    return _dumped("calibrate", "votes", votes.votes)


def _dumped(command: str, key: str, entries: tuple[Label, ...] | tuple[Voted, ...]) -> bytes:
    if not entries:
        return f"{_HEAD.format(command=command)}{key}: []\n".encode()
    lines = (f"  - {json.dumps(e.model_dump(mode='json', exclude_defaults=True))}\n" for e in entries)
    return "".join([_HEAD.format(command=command), f"{key}:\n", *lines]).encode()
