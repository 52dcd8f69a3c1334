"""Questions that a function of the repository answers.

The function returns true or false, or `{"outcome": …, "evidence": …}` where outcome is pass, fail, vacuous or ambiguous
and evidence a sentence or a list of them. Anything else, an exception and a function that does not come back are errors
of the check.
"""

from __future__ import annotations

from typing import Any

from evalrepo.checks.view import Answer, View, broken, cite, decided
from evalrepo.records.kinds import Python
from evalrepo.records.record import Outcome

ALLOWED = (Outcome.PASS, Outcome.FAIL, Outcome.VACUOUS, Outcome.AMBIGUOUS)


def python(args: Python, view: View) -> Answer:
    """What the function says."""
    if view.python is None:
        return broken(f"{args.call} cannot be run here")
    return parsed(args.call, view.python(args, view))


def parsed(call: str, value: Any) -> Answer:
    """The answer that a returned JSON value means."""
    if isinstance(value, bool):
        return decided(value, cite(f"{call} says {'yes' if value else 'no'}"))
    if not isinstance(value, dict) or not {"outcome"} <= value.keys() <= {"outcome", "evidence"}:
        return broken(f"{call} returned {value!r}, wanted true, false or an outcome with evidence")
    sentences = value.get("evidence", [])
    sentences = [sentences] if isinstance(sentences, str) else sentences
    if value["outcome"] not in ALLOWED or not _texts(sentences):
        return broken(f"{call} returned {value!r}, wanted an outcome of {', '.join(ALLOWED)} and text as evidence")
    evidence = tuple(cite(s) for s in sentences) or (cite(f"{call} says {value['outcome']}"),)
    return Answer(Outcome(value["outcome"]), evidence)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
