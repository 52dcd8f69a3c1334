"""Ctrl-C and SIGTERM while reps run: the first asks to stop, the second stops."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def signals(cancel: threading.Event) -> Iterator[None]:
    """SIGTERM is Ctrl-C: both set `cancel`, and raise KeyboardInterrupt when it was set already."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()

    old = {s: signal.signal(s, stop) for s in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
