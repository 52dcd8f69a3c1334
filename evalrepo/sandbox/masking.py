"""Commands that are not there: each folder of PATH that has one gives way to a folder of links to all but these.

So `command -v`, `which` and whatever else looks along PATH find nothing, as on a machine without the command. An
absolute path still leads to it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalrepo.sandbox.layout import Sandbox


def hide(box: Sandbox, commands: Sequence[str]) -> None:
    """Hide these commands from every process that is started in the sandbox from now on."""
    if commands:
        box.hidden.write_text("".join(f"{name}\n" for name in commands))


def masked(box: Sandbox, env: Mapping[str, str]) -> dict[str, str]:
    """An environment as a process of the sandbox is to see it: no folder of its PATH has a hidden command."""
    if "PATH" not in env:
        return dict(env)
    try:
        names = frozenset(box.hidden.read_text().split())
    except FileNotFoundError:
        return dict(env)
    places = env["PATH"].split(":")
    seen = [_without(box, names, place) if _has(place, names) else place for place in places]
    return {**env, "PATH": ":".join(seen)}


def _has(place: str, names: frozenset[str]) -> bool:
    return any(os.path.lexists(os.path.join(place, name)) for name in names)  # noqa: PTH118 - six folders a process


def _without(box: Sandbox, names: frozenset[str], place: str) -> str:
    """Where the links of a folder are, as the agent sees it; made once. Folders that are one have one."""
    real = Path(place).resolve()
    mirror = box.bin / f"{real.parent.name}.{real.name}"
    if not mirror.is_dir():
        mirror.mkdir(mode=0o755)
        for name in os.listdir(real):  # noqa: PTH208 - names alone, some thousand of them
            if name not in names:
                os.symlink(f"{place}/{name}", f"{mirror}/{name}")  # noqa: PTH211 - as above
    return box.inside(mirror)
