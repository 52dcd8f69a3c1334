"""Whether an agent's reader was tested with the version of the CLI that is there."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = re.compile(r"\d+(\.\d+)*")


def was_tested(version: str, known: Sequence[str]) -> bool:
    """Whether `version`, as the CLI says it, is among `known` (`2.1` stands for `2.1.*`); True for none known."""
    found = _NUMBER.search(version)
    number = found[0] if found else version
    return not known or any(number == one or number.startswith(f"{one}.") for one in known)
