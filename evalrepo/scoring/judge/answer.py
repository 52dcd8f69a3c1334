"""How a judge's word is read: one answer of those that are offered, reasoned first, with evidence that is there.

Everything else is no answer: prose around the object, a key too many, too few or twice, an answer that is not offered
(a number, `true`, NaN), one that stands before its reason or contradicts it, evidence that names a piece which was not
shown or words that are not in it. What is no answer is asked again and never guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evalrepo.checks.view import line
from evalrepo.records.record import Evidence
from evalrepo.scoring.judge.shown import Shown, harmless

_KEYS = ("reason", "evidence", "answer")
_FENCED = re.compile(r"\A```(?:json)?[ \t]*\n(.*)\n```\Z", re.DOTALL)
LONGEST = 100_000
"""Most characters of a reply that is read at all."""


class Unusable(Exception):  # noqa: N818 - said to a person in these words
    """A reply that is no answer, with the reason."""


@dataclass(frozen=True, slots=True)
class Word:
    """A usable answer. `places`: the pieces that decide it, as the judge names them; `evidence`: where they are."""

    answer: str
    reason: str
    places: tuple[str, ...]
    evidence: tuple[Evidence, ...]


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with every key it had, twice when it stood twice, in their order."""


def parse(reply: str, offered: Sequence[str], shown: Shown) -> Word:
    """The answer in a reply. `Unusable` for everything that is not exactly one."""
    given = _object(reply)
    answer, reason = given["answer"], given["reason"]
    if not isinstance(answer, str) or answer not in offered:
        raise Unusable(f"the answer {_short(answer)} is not one of {', '.join(offered)}")
    if not isinstance(reason, str) or not reason.strip():
        raise Unusable("the answer has no reason")
    other = contradicted(reason, answer, offered, shown)
    if other is not None:
        raise Unusable(f'the reason says "{line(other)}" and the answer is {answer}')
    return Word(answer, reason, *_evidence(given["evidence"], shown))


def reason_of(reply: str) -> str:
    """The reason of a reply that was an answer, on one line; "" of any other."""
    try:
        reason = _object(reply)["reason"]
    except Unusable:
        return ""
    return line(reason) if isinstance(reason, str) else ""


def _object(reply: str) -> dict[str, Any]:
    if len(reply) > LONGEST:
        raise Unusable(f"a reply of {len(reply):,} characters is no answer")
    text = reply.strip()
    fenced = _FENCED.match(text)
    try:
        pairs = json.loads(fenced[1] if fenced else text, object_pairs_hook=_Pairs, parse_constant=_constant)
    except (ValueError, RecursionError):
        raise Unusable(f"not one JSON object: {_short(text)}") from None
    if not isinstance(pairs, _Pairs) or sorted(key for key, _ in pairs) != sorted(_KEYS):
        raise Unusable(f"not an object with exactly reason, evidence and answer: {_short(text)}")
    if [key for key, _ in pairs if key != "evidence"] != ["reason", "answer"]:
        raise Unusable("the answer stands before its reason")
    return dict(pairs)


def _constant(word: str) -> Any:
    raise ValueError(word)


def contradicted(reason: str, answer: str, offered: Sequence[str], shown: Shown) -> str | None:
    """The last statement of a verdict in the reason, when it is another than the answer; None otherwise.

    Words that stand in the data are quoted from it, and are nobody's statement.
    """
    values = "|".join(sorted(map(re.escape, offered), key=len, reverse=True))
    said = re.compile(
        rf"\b(?:answer|verdict|score|grade|rating)\b\s*(?:is|:|=|should be|must be)?\s*[\"'`*]*({values})\b(?![.,]?\d)",
        re.IGNORECASE,
    )
    data = _plain(shown.text)
    own = [found for found in said.finditer(reason) if _plain(found[0]) not in data]
    return own[-1][0] if own and own[-1][1].casefold() != answer.casefold() else None


def _evidence(given: Any, shown: Shown) -> tuple[tuple[str, ...], tuple[Evidence, ...]]:
    if not isinstance(given, list) or isinstance(given, _Pairs) or not given:
        raise Unusable("the answer has no evidence")
    found = [_checked(item, shown) for item in given]
    return tuple(dict.fromkeys(place for place, _ in found)), tuple(evidence for _, evidence in found)


def _checked(item: Any, shown: Shown) -> tuple[str, Evidence]:
    """A piece that was shown, and words that stand in it."""
    if not isinstance(item, _Pairs) or sorted(key for key, _ in item) != ["place", "quote"]:
        raise Unusable(f"evidence is a place and a quote, got {_short(item)}")
    place, quote = dict(item)["place"], dict(item)["quote"]
    piece = shown.piece(place) if isinstance(place, str) else None
    if piece is None:
        raise Unusable(f"the evidence names {_short(place)}, which was not shown")
    if not isinstance(quote, str) or not quote.strip():
        raise Unusable(f"the evidence quotes nothing from {place}")
    if _plain(quote) not in _plain(f"{piece.head}\n{piece.text}"):
        raise Unusable(f"the evidence quotes {_short(quote)} from {place}, and it is not there")
    return piece.place, piece.at.model_copy(update={"text": line(harmless(quote))})


def _plain(text: str) -> str:
    return " ".join(re.sub(r"(?m)^\| ?", "", harmless(text)).split()).casefold()


def _short(value: Any) -> str:
    return line(repr(value))[:120]
