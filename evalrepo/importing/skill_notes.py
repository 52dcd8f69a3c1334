"""A page about the eval of a skill whose prompts stand in a `prompt_set.json` beside it: criteria, limits, findings."""

from __future__ import annotations

import re
from dataclasses import replace

from evalrepo.importing import writing
from evalrepo.importing.found import Asked, Imported, Left
from evalrepo.importing.markdown import page

FORMAT = "skill-notes"
PROMPTS = "prompt_set.json"

_COUNT = re.compile(r"\b(\d{1,4})\s+(?:cases|prompts)\b")
_GAP = re.compile(r"\*\*No coverage of (.+?)\*\*")
_CRITERIA = re.compile(r"(?i)criteri")


def fits(text: str) -> bool:
    """Whether the document is one."""
    return PROMPTS in text and any(block.kind == "heading" for block in page(text).blocks)


def read(text: str, asked: Asked) -> Imported:  # noqa: ARG001
    """No file: the page has no prompts. `counted` is what it says of their number; gaps are lines for the config."""
    found = page(text)
    gaps: dict[str, str] = {}
    for block in found.blocks:
        if (match := _GAP.match(block.text)) and (name := writing.name(match[1])) and name not in gaps:
            gaps[name] = re.sub(r"\*\*", "", block.text)
            found.take(block)
    counts = [int(match[1]) for match in _COUNT.finditer(text)]
    lines = "".join(f"  - id: {name}\n    {writing.entry('why', why)}" for name, why in gaps.items())
    return Imported(
        FORMAT,
        left=tuple(_told(one) for one in found.left()),
        counted=counts[0] if counts else 0,
        config="uncovered:\n" + lines if lines else "",
    )


def _told(one: Left) -> Left:
    """With what can be done about it."""
    if _CRITERIA.search(one.section) and one.text.startswith("**"):
        return replace(one, why="a rule in words: write it as a check, in `defaults` where it holds for every case")
    if re.search(r"(?i)prompt set", one.section):
        return replace(one, why=f"the prompts are not in this document: evalrepo import {PROMPTS}")
    return one
