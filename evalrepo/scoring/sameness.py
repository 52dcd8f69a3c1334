"""Whether reps are independent: a live model hardly says and does the very same thing twice. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from evalrepo.records.record import Rep
from evalrepo.records.transcript import Call, Said, Transcript


def conversation(transcript: Transcript, work: str) -> str:
    """SHA-256 of what the agent said and called, sub-agents included; "" when it did neither.

    Ids, times, results and the place of the sandbox (`work`) are left out: they differ between reps that are copies.
    """
    lines = list(_lines(transcript))
    if not lines:
        return ""
    spelled = "\n".join(lines)
    return sha256((spelled.replace(work, ".") if work else spelled).encode("utf-8", "replace")).hexdigest()


def _lines(transcript: Transcript) -> Iterator[str]:
    for event in transcript.events:
        if isinstance(event, Said):
            yield f"said {' '.join(event.text.split())}"
        elif isinstance(event, Call):
            yield f"called {event.kind or event.tool} {_spelled(event.canonical or event.args)}"
    for child in transcript.children.values():
        yield from (f"  {line}" for line in _lines(child))


def _spelled(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def repeated(reps: Iterable[Rep]) -> str:
    """A sentence where valid reps are word for word the same, "" where none are."""
    counts = Counter(rep.conversation for rep in reps if rep.valid and rep.conversation)
    same = [n for n in counts.values() if n > 1]
    if not same:
        return ""
    return (
        f"reps are not independent: {sum(same)} of {sum(counts.values())} say and do the very same, as from a cache or "
        "a model without chance; they are fewer observations than they seem"
    )
