"""A judge that is a command: one process a try, the prompt on its standard input, JSON on its output.

Beside the answer's own keys the object may say which `model` answered, and under `usage` what it used:
`input_tokens`, `output_tokens`, `cost_usd`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evalrepo.errors import EvalrepoError
from evalrepo.processes import capture
from evalrepo.records.judges import command_argv, command_name
from evalrepo.scoring.judge.voting import NoReply, Reply


@dataclass(frozen=True)
class CommandJudge:
    """`env` is complete; `model` is the config's."""

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    timeout_s: float = 120.0
    model: str | None = None

    @property
    def kind(self) -> Literal["command"]:
        """A command."""
        return "command"

    def name(self, model: str | None) -> str:
        """Its argv."""
        return command_name(self.argv, model or self.model)

    def __call__(self, prompt: str, model: str | None) -> Reply:
        """One process. NoReply when it cannot be started, is late, or ends with another code than 0."""
        text = prompt.encode("utf-8", "replace")
        try:
            code, out, errors = capture(
                command_argv(self.argv, model or self.model),
                cwd=self.cwd,
                env=self.env,
                timeout_s=self.timeout_s,
                stdin=text,
            )
        except (EvalrepoError, OSError) as error:
            raise NoReply(f"the judge's command: {error}") from None
        reply = opened(out.decode("utf-8", "replace"))
        if code != 0:
            raise NoReply(
                f"the judge's command exits {code}: {errors.decode('utf-8', 'replace').strip()[-120:]}", reply
            )
        return reply


def opened(output: str) -> Reply:
    """The reply in what was printed: the object without `model` and `usage`; anything else as it is."""
    try:
        data = json.loads(output, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return Reply(output)
    if not isinstance(data, dict) or not {"model", "usage"} & set(data):
        return Reply(output)
    model, usage = data.pop("model", ""), data.pop("usage", {})
    if not isinstance(model, str) or not isinstance(usage, dict):
        return Reply(output)
    read, written, cost = (_amount(usage.get(name)) for name in ("input_tokens", "output_tokens", "cost_usd"))
    return Reply(json.dumps(data, ensure_ascii=False), model, _whole(read), _whole(written), cost)


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """ValueError for a key that is there twice: such an object is read by nobody."""
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError(pairs)
    return data


def _amount(value: Any) -> float | None:
    """A finite number that is not below 0; anything else is not known."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return None
    return float(value)
