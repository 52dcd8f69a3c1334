"""What happened in a rep, a line an event, each with its line in the raw log: for a person who judges it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalrepo.records.transcript import Call, Event, Prompt, Result, Said, Transcript
from evalrepo.render.safe import wrapped

SHOWN = 40
"""Most calls of a summary."""
TEXT = 400
"""Most characters of one text in it."""
ARGUMENTS = ("path", "command", "pattern", "agent", "skill", "task")


def told(transcript: Transcript, *, whole: bool = False) -> list[str]:
    """Lines of at most 80 columns. `whole`: every text and result to its end; otherwise a summary."""
    events = transcript.events
    calls = [event for event in events if isinstance(event, Call)]
    dropped = set() if whole or len(calls) <= SHOWN else {id(c) for c in calls[SHOWN // 2 : -SHOWN // 2]}
    out: list[str] = []
    said = False
    for event in events:
        if id(event) in dropped:
            if not said:
                out.append(f"       … {len(dropped)} more calls")
            said = True
        else:
            out += _event(event, whole=whole)
    for key, child in transcript.children.items():
        out += [f"       sub-agent {key}:", *(f"  {line}" for line in told(child, whole=whole))]
    return out


def _event(event: Event, *, whole: bool) -> Iterator[str]:
    number = f"{event.at.line:>5}  "
    match event:
        case Prompt():
            yield from _text(number, "asked: ", event.text, whole=whole)
        case Said():
            yield from _text(number, "says: ", event.text, whole=whole)
        case Call():
            yield from _lines(number, [f"{_called(event)}{_ended(event)}"])
        case Result() if whole or not event.ok:
            yield from _text(number, "got: " if event.ok else "error: ", event.text, whole=whole)


def _text(number: str, what: str, text: str, *, whole: bool) -> Iterator[str]:
    shown = text if whole or len(text) <= TEXT else f"{text[: TEXT // 2]} […] {text[-TEXT // 2 :]}"
    yield from _lines(number, (what + shown).rstrip().split("\n"))


def _lines(number: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield from wrapped(line.replace("\t", "    "), first=number, then="         ")
        number = "       "


def _called(call: Call) -> str:
    by = "" if call.by == "main" else f" by {call.by}"
    named = [f" {call.canonical[key]}" for key in ARGUMENTS if call.canonical.get(key)]
    return f"{call.kind or call.tool}{by}{' '.join(named)[:TEXT]}".replace("\n", " ")


def _ended(call: Call) -> str:
    if call.result is None:
        return "  → no result"
    return "" if call.result.ok else "  → error"
