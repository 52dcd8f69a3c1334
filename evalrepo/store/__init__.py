"""A Tree of the repository → config, scenarios, rubrics, lock, ledger; cached by blob id.

The names below are looked up when they are used: an index that is warm needs neither YAML nor models.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing is slow to import
if TYPE_CHECKING:
    from typing import Any

    from evalrepo.store.choose import select_ids
    from evalrepo.store.indexing import Index, index, touched
    from evalrepo.store.loading import Loaded, LoadedScenario, events, load, lock, usable

_WHERE = {
    "Loaded": "loading",
    "LoadedScenario": "loading",
    "events": "loading",
    "load": "loading",
    "lock": "loading",
    "usable": "loading",
    "select_ids": "choose",
    "Index": "indexing",
    "index": "indexing",
    "touched": "indexing",
}

__all__ = ["Index", "Loaded", "LoadedScenario", "events", "index", "load", "lock", "select_ids", "touched", "usable"]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(name)
    import importlib

    return getattr(importlib.import_module(f"evalrepo.store.{_WHERE[name]}"), name)
