"""Names of environment variables that would break the harness."""

from __future__ import annotations

import re

_OURS = frozenset({"HOME", "PATH", "TMPDIR", "TMP", "TEMP", "PWD", "OLDPWD", "SHELL", "USER", "LOGNAME", "IFS", "ENV"})
_PREFIXES = ("GIT_", "XDG_", "LD_", "DYLD_", "EVALREPO_", "BASH_")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def fault(name: str) -> str | None:
    """Why a scenario or an agent may not set this variable; None when it may."""
    if not _NAME.fullmatch(name):
        return "is not a name that an environment can hold"
    if name in _OURS or name.startswith(_PREFIXES):
        return "is the sandbox's own: setting it would break or open it"
    return None
