"""`rubrics/NAME.labels.yaml` and `rubrics/NAME.votes.yaml`: YAML that is written by the tool, one entry a line.

A line a entry keeps a merge of two people's labels a union of lines.
"""

from __future__ import annotations

import json

from evalrepo.formats.yaml import load
from evalrepo.records.base import Model
from evalrepo.records.labels import Labels, Votes

_HEAD = "# Written by evalrepo {command}: add to it with that command.\n"


def labels_file(text: bytes, file: str) -> Labels:
    """Labels; raises DataError as every YAML of the repository does."""
    return load(Labels, text, file, "RUB")


def votes_file(text: bytes, file: str) -> Votes:
    """Votes; raises DataError."""
    return load(Votes, text, file, "RUB")


def dump_labels(labels: Labels) -> bytes:
    """The whole file."""
    return _dumped("score --label", "labels", labels.labels)


def dump_votes(votes: Votes) -> bytes:
    """The whole file."""
    return _dumped("calibrate", "votes", votes.votes)


def _dumped(command: str, key: str, entries: tuple[Model, ...]) -> bytes:
    if not entries:
        return f"{_HEAD.format(command=command)}{key}: []\n".encode()
    lines = (f"  - {json.dumps(e.model_dump(mode='json'), ensure_ascii=True)}\n" for e in entries)
    return "".join([_HEAD.format(command=command), f"{key}:\n", *lines]).encode()
