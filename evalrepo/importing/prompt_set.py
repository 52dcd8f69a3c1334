"""Prompts with the names of the checks that each must pass, as JSON: `[{id, prompt, should_trigger, expected_checks}]`.

Names of checks that are known become checks, see `known_checks.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evalrepo.errors import UsageError
from evalrepo.importing import writing
from evalrepo.importing.found import Asked, Imported, Left, NewFile
from evalrepo.importing.known_checks import CHECKS, FIRST, TRIGGER

FORMAT = "prompt-set"
KEYS = frozenset(("id", "prompt", "should_trigger", "expected_checks"))
_BETWEEN = re.compile(r"[\s,]*")
_STAND_IN = re.compile(r"<[a-z_-]+>|\{[A-Z_]+\}")


@dataclass(frozen=True)
class _Case:
    """A case as YAML, and which of the counted fields it has."""

    id: str
    text: str
    checked: bool


def fits(text: str) -> bool:
    """Whether the document is one: a list of objects of which one at least has an id and a prompt."""
    if not text.lstrip().startswith("["):
        return False
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(rows, list) and any(isinstance(r, dict) and {"id", "prompt"} <= set(r) for r in rows)


def read(text: str, asked: Asked) -> Imported:
    """One prompt set; what a case says beyond KEYS is left, with the line where the case begins."""
    left: list[Left] = []
    cases: dict[str, _Case] = {}
    for row, line in _elements(text, left, asked):
        case = _case(row, line, left)
        if case is not None and case.id.lower() in cases:
            left.append(Left(line, json.dumps(row, ensure_ascii=False), "a second case of this id"))
        elif case is not None:
            cases[case.id.lower()] = case
    if not cases:
        raise UsageError(f"{asked.source} holds no case with an id and a prompt", hint="each is {id, prompt, …}")
    known = any(case.checked for case in cases.values()) or TRIGGER in text
    if not known:
        left.append(Left(1, "should_trigger", "which tool is meant is not said: `trigger: {tool: spawn}` is a guess"))
    return Imported(FORMAT, (_file(list(cases.values()), asked, known=known),), tuple(sorted(left)), _filled(cases))


def _elements(text: str, left: list[Left], asked: Asked) -> Iterator[tuple[Any, int]]:
    """Each element of the list, and the 1-based line where it begins; of a key that is there twice the last counts."""
    twice: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                twice.append(f"{key}: {json.dumps(found[key], ensure_ascii=False)}")
            found[key] = value
        return found

    decoder = json.JSONDecoder(object_pairs_hook=once)
    at, line, counted = text.index("[") + 1, 1, 0
    while text[at := _next(text, at)] != "]":
        line, counted = line + text.count("\n", counted, at), at
        row, at = decoder.raw_decode(text, at)
        _whole(row, asked)
        left += [Left(line, said, "the key is there twice, and the last one counts") for said in twice]
        twice.clear()
        yield row, line


def _next(text: str, at: int) -> int:
    """Where the next element, or the end of the list, is."""
    match = _BETWEEN.match(text, at)
    return match.end() if match else at


def _whole(row: Any, asked: Asked) -> None:
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        hint = "write the character itself, or both halves of its escape"
        raise UsageError(f"{asked.source} holds half of a character (a lone surrogate)", hint=hint) from None


def _case(row: Any, line: int, left: list[Left]) -> _Case | None:
    ident, prompt = (row.get("id"), row.get("prompt")) if isinstance(row, dict) else (None, None)
    if not isinstance(ident, str) or not isinstance(prompt, str) or not prompt.strip():
        left.append(Left(line, json.dumps(row, ensure_ascii=False), "no case: it has no id, or no prompt"))
        return None
    name = ident if writing.is_name(ident) else writing.name(ident)
    if not name:
        left.append(Left(line, json.dumps(row, ensure_ascii=False), "no id can be made of this one"))
        return None
    if name != ident:
        left.append(Left(line, ident, f"ids are letters, digits, '.', '_' and '-': it is called {name}"))
    if _STAND_IN.search(prompt):
        left.append(Left(line, f"{ident}: {prompt}", "seems to stand for something that the runner put in"))
    triggers = _triggers(row, ident, line, left)
    checks = _checks(row, ident, line, left)
    for key in sorted(set(row) - KEYS):
        shown = f"{ident}: {key}: {json.dumps(row[key], ensure_ascii=False)}"
        left.append(Left(line, shown, "a key that this format is not known to have"))
    return _Case(name, _yaml(name, prompt, triggers, checks), bool(checks))


def _triggers(row: Mapping[str, Any], ident: str, line: int, left: list[Left]) -> bool:
    said = row.get("should_trigger")
    if not isinstance(said, bool):
        left.append(
            Left(line, f"{ident}: should_trigger: {json.dumps(said)}", "neither true nor false: true is a guess")
        )
        return True
    return said


def _checks(row: Mapping[str, Any], ident: str, line: int, left: list[Left]) -> list[str]:
    """Names of known checks; the others are left."""
    said = row.get("expected_checks", [])
    known = []
    for name in dict.fromkeys(map(str, said)) if isinstance(said, list) else [json.dumps(said)]:
        if name in CHECKS:
            known.append(name)
        elif name != TRIGGER or row.get("should_trigger") is not False:
            left.append(Left(line, f"{ident}: {name}", "a check of the runner's own code: write it as a check"))
        if name in FIRST:
            left.append(Left(line, f"{ident}: {name}", "was asked of the first such call, and is now of any"))
    return known


def _yaml(name: str, prompt: str, triggers: bool, checks: list[str]) -> str:
    text = f"  - {writing.entry('id', name)}" + ("" if triggers else "    polarity: negative\n")
    text += f"    should_trigger: {str(triggers).lower()}\n" + writing.prompts([(prompt, "")], "    ")
    text += "    checks:\n" if checks else ""
    for check in checks:
        axis, lines = CHECKS[check]
        text += f"      - id: {check}\n        axis: {axis}\n"
        text += "".join(f"        {row}\n" for row in lines)
    return text


def _file(cases: list[_Case], asked: Asked, *, known: bool) -> NewFile:
    stem = asked.subject or "prompt-set"
    text = writing.comment(f"From {asked.source}. Each case needs `conformance`: scripts that prove its checks.")
    text += writing.entry("title", f"Prompts of {asked.source.rpartition('/')[2]}") + writing.entry("subject", stem)
    text += f"trigger: {{tool: {'subagent' if known else 'spawn'}}}\ncases:\n"
    text += "\n".join(case.text for case in cases)
    return NewFile(f"scenarios/{stem}.yaml", text, tuple(f"{stem}/{case.id}" for case in cases))


def _filled(cases: Mapping[str, _Case]) -> dict[str, int]:
    count = len(cases)
    return {"title": count, "polarity": count, "turns": count, "checks": sum(c.checked for c in cases.values())}
