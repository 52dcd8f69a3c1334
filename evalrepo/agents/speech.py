"""A model's part in a CLI's own words: how the steps of a script become tool calls, for rehearsals."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from evalrepo.agents.base import AgentModule
from evalrepo.records.steps import CallStep, RunStep, Search, Step


@dataclass(frozen=True, slots=True)
class Use:
    """A tool call as a model makes it: `input` is an object, or free text for a tool that takes it (codex's custom
    tools). `namespace`: of the tool, for the one protocol that has such a thing."""

    name: str
    input: Mapping[str, Any] | str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """What the model knows when it is asked.

    `work` and `home` as the agent sees them; `model` that was asked; `tools` that the request offers, by name
    (`namespace.name` where there is one; empty: not known yet); `known`: paths that earlier steps of this thread read
    or wrote, as the script writes them; `answers`: texts of all tool results since the prompt, in order; `told`: user
    messages since then.
    """

    work: str
    home: str
    model: str = ""
    tools: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    answers: tuple[str, ...] = ()
    told: tuple[str, ...] = ()

    def place(self, path: str) -> str:
        """A path of a script as a model writes it: relative to the work directory, absolute below HOME."""
        return self.home + path[1:] if path.startswith("~/") else path

    def absolute(self, path: str) -> str:
        """The same for a tool that takes absolute paths."""
        return posixpath.normpath(posixpath.join(self.work, self.place(path)))


Made = TypeVar("Made")


def made(step: Step, makers: Mapping[str, Callable[[Any, Scene], Made]], scene: Scene, who: str) -> Made:
    """What the maker for the step's kind makes of what it asks for, a `run` and a `search` written out.

    LookupError when there is none: `who` has no such tool.
    """
    make = makers.get(step.kind)
    if make is None:
        raise LookupError(f"{who} has no tool for a `{step.kind}` step")
    asked = getattr(step, step.kind)
    if isinstance(asked, str) and step.kind == "run":
        asked = RunStep(command=asked)
    elif isinstance(asked, str) and step.kind == "search":
        asked = Search(pattern=asked)
    return make(asked, scene)


def grep(pattern: str, place: str) -> str:
    """A search by shell, as the player does it: below `place` without git's own files, and none found is no failure."""
    words = f"grep -rnE --exclude-dir=.git -e {shlex.quote(pattern)} -- {shlex.quote(place)}"
    return f"{words} || [ $? -eq 1 ]"


def called(step: CallStep, scene: Scene) -> Use:  # noqa: ARG001 - a maker like any other
    """A `call` step as it stands: the tool by its own name, its arguments as they are."""
    return Use(step.tool, dict(step.args))


class Rehearsable(AgentModule, Protocol):
    """An agent whose real CLI can be rehearsed."""

    def uses(self, steps: Sequence[Step], scene: Scene) -> Sequence[Sequence[Use]]:
        """One step that is a tool call, or several `spawn`s that start together, as the CLI's own tool calls.

        One inner sequence is one answer of the model; the calls in it run in parallel. How many answers there are must
        not depend on `answers` and `told`; what stands in them may. A step that the CLI has no tool for is done by
        shell where that gives the same outcome (a search), otherwise LookupError with a sentence.
        """

    def waiting(self, scene: Scene) -> bool:
        """Whether sub-agents that were started in the background have not reported yet, so that it is too early for
        the last word."""
