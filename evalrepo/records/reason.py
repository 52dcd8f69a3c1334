"""Whether the reason of an event says something. Pure."""

from __future__ import annotations

import re

FROZEN = "frozen"
"""What a freeze says when nobody said more: that it froze is all there is to know."""

_WORD = re.compile(r"[^\W_]+")
_FILLER = re.compile(
    "a|an|and|as|because|bugfix|changed?|changes|do|done|fix(ed|es|ing)?|foo|is|it|just|misc|needed|none|now|ok|please|"
    "reason|see|so|stuff|temp|test|that|the|this|tmp|todo|tweak|updated?|wip"
)


def hollow(why: str, kind: str = "") -> str:
    """What is wrong with the reason of an event of this kind, "" for one that says something.

    It says something when two different words, at least six letters together, are left after filler such as "fix" or
    "the"; of a script that does not space its words four letters are enough.
    """
    if (kind, why) == ("freeze", FROZEN):
        return ""
    words = {word.casefold() for word in _WORD.findall(why)}
    if not words:
        return "it is empty"
    letters = sum(map(len, words))
    if any(not word.isascii() for word in words) and letters >= 4:
        return ""
    if all(map(_FILLER.fullmatch, words)) or len(words) < 2 or letters < 6:
        return f'"{why.strip()[:40]}" says nothing that a reviewer could judge'
    return ""
