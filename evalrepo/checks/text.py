"""Questions about what the agent says to people, never its hidden reasoning.

The *final* text is the last thing that the agent's main thread says: the last message and those right before it with no
call and no prompt between. The *visible* text is everything said in scope and turn. Expressions ignore case; `^` and
`$` also match at line ends; `.` does not cross lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evalrepo.checks import patterns
from evalrepo.checks.selectors import Matcher
from evalrepo.checks.view import Answer, View, cite, decided, failed, passed
from evalrepo.records.kinds import TextCheck
from evalrepo.records.record import Evidence, Outcome
from evalrepo.records.selectors import Selector
from evalrepo.records.transcript import At, Call, Event, Prompt, Said

GAP = "\n\n"
AROUND = 60
"""Characters of context on each side of a match in its evidence."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """Said pieces, joined by an empty line."""

    pieces: tuple[Said, ...]

    @property
    def text(self) -> str:
        """All of it."""
        return GAP.join(piece.text for piece in self.pieces)

    def at(self, offset: int) -> At | None:
        """Where the piece that holds this character of `text` stands."""
        end = 0
        for piece in self.pieces:
            end += len(piece.text) + len(GAP)
            if offset < end:
                return piece.at
        return self.pieces[-1].at if self.pieces else None


def final(events: Sequence[Event]) -> Spoken:
    """The last group of said pieces."""
    group: list[Said] = []
    for event in reversed(events):
        if isinstance(event, Said):
            group.append(event)
        elif group and isinstance(event, Call | Prompt):
            break
    return Spoken(tuple(reversed(group)))


def visible(events: Sequence[Event]) -> Spoken:
    """Everything said."""
    return Spoken(tuple(e for e in events if isinstance(e, Said)))


def text(args: TextCheck, view: View) -> Answer:
    """All of `matches` are found, none of `must_not`, at most `words_max` words.

    With `after`, only what is said behind the first call that matches; without such a call that is nothing. Ambiguous
    when something of `matches` is not found, a pattern of `ambiguous` is, and nothing else is wrong. Never vacuous.
    """
    events: Sequence[Event] = view.main if args.where == "final" else view.events
    if args.after is not None:
        events = _behind(args.after, events)
    spoken = final(events) if args.where == "final" else visible(events)
    words = spoken.text
    forbidden = _found(args.must_not, words, spoken)
    if forbidden:
        return failed(*forbidden)
    count = len(words.split())
    if args.words_max is not None and count > args.words_max:
        return failed(cite(f"{count} words, at most {args.words_max} wanted", spoken.at(0)))
    return _matched(args, words, spoken)


def _matched(args: TextCheck, words: str, spoken: Spoken) -> Answer:
    missing = [p for p in args.matches if patterns.search(p, words, ignore_case=True) is None]
    if not missing:
        found = _found(args.matches, words, spoken)
        return passed(*(found or (cite(f"nothing unwanted in {len(words.split())} words", spoken.at(0)),)))
    unclear = _found(args.ambiguous, words, spoken)
    if unclear:
        return Answer(Outcome.AMBIGUOUS, unclear)
    where = f"the {args.where} text of {len(words.split())} words"
    return failed(*(cite(f"{patterns.quoted(p)} is not found in {where}", spoken.at(0)) for p in missing))


def _found(wanted: Sequence[str], words: str, spoken: Spoken) -> tuple[Evidence, ...]:
    out = []
    for pattern in wanted:
        match = patterns.search(pattern, words, ignore_case=True)
        if match is not None:
            start, end = match.span()
            around = words[max(0, start - AROUND) : min(len(words), end + AROUND)]
            out.append(cite(f"{patterns.quoted(pattern)} is found: …{around}…", spoken.at(start)))
    return tuple(out)


def _behind(after: Selector, events: Sequence[Event]) -> Sequence[Event]:
    matcher = Matcher(after)
    for number, event in enumerate(events):
        if isinstance(event, Call) and matcher(event):
            return events[number + 1 :]
    return ()


LABELLED = re.compile(r"(?<![\w-])status\b[\s*_`:=>|-]{0,12}(complete|partial|blocked)(?![\w-])", re.IGNORECASE)
BARE = re.compile(r"(?<![\w-])(COMPLETE|PARTIAL|BLOCKED)(?![\w-])")


def stated(view: View) -> tuple[str, At | None] | None:
    """The status that the final text states, with its place, or None.

    The last `Status: X` (any case, with or without markdown around it); when there is none, the last COMPLETE, PARTIAL
    or BLOCKED in capitals as a word of its own. INCOMPLETE is another word.
    """
    spoken = final(view.main)
    found = list(LABELLED.finditer(spoken.text)) or list(BARE.finditer(spoken.text))
    if not found:
        return None
    return found[-1].group(1).upper(), spoken.at(found[-1].start(1))


def status(args: Sequence[str], view: View) -> Answer:
    """The final text states one of these statuses. Never vacuous: no status is none of them."""
    found = stated(view)
    if found is None:
        return failed(cite(f"the final text states no status, wanted {' or '.join(args)}"))
    return decided(found[0] in args, cite(f"states {found[0]}, wanted {' or '.join(args)}", found[1]))
