"""A walk through reps at the terminal: what happened, what earns a score, then 0-3 and evidence for each metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from evalrepo.commands.sheets import Anchors, Desk, Sheet
    from evalrepo.store.drafts import Draft

KEYS = "0-3, - unset, t whole transcript, a anchors, b back, q stop"


class Stopped(Exception):  # noqa: N818 - a wish, not a fault
    """The person stops here; what was given is kept."""


@dataclass(frozen=True)
class Step:
    """One metric of one rep."""

    sheet: Sheet
    metric: str


def walk(desk: Desk, drafts: Sequence[Draft]) -> None:
    """Ask for every open metric of every rep; each answer is kept in the rep's draft at once. `Stopped` on q, Ctrl-C
    and the end of input. `drafts`: one a sheet."""
    steps = [(Step(s, m), d) for s, d in zip(desk.sheets, drafts, strict=True) for m in s.open]
    at, shown = _first_open(steps), None
    while at < len(steps):
        step, draft = steps[at]
        if shown is not step.sheet:
            _show(step.sheet)
            shown = step.sheet
        anchors = desk.anchors[step.sheet.record.scenario, step.metric]
        _ask(step, anchors)
        at = max(0, at + _answer(step, draft, anchors))
    click.echo("every metric has an answer")


def _first_open(steps: Sequence[tuple[Step, Draft]]) -> int:
    """Where an earlier walk stopped."""
    given = [step.metric in draft.reps.get(step.sheet.rep.rep, {}) for step, draft in steps]
    done = given.index(False) if False in given else len(given)
    if done:
        click.echo(f"{done} of {len(given)} answers from before are kept; b goes back to them")
    return done


def _show(sheet: Sheet) -> None:
    from evalrepo.render.safe import wrapped
    from evalrepo.render.told import told

    assert sheet.transcript is not None
    rep = sheet.rep
    click.echo("\n" + "\n".join(wrapped(f"{sheet.name} · {rep.verdict}{_status(sheet)}", then="  ")))
    click.echo("\n".join(told(sheet.transcript)))
    checks = [f"{c.axis} {c.id} {c.outcome}" for c in rep.checks]
    click.echo("\n".join(wrapped(", ".join(checks) or "none", first="checks: ", then="  ")))
    known = [f"{n} {m.score} ({m.source})" for n, m in rep.metrics.items() if n not in sheet.open]
    if known:
        click.echo("\n".join(wrapped(", ".join(known), first="scored already: ", then="  ")))


def _status(sheet: Sheet) -> str:
    return f" · says {sheet.rep.status}" if sheet.rep.status else ""


def _answer(step: Step, draft: Draft, anchors: Anchors) -> int:
    """Ask until there is an answer; how many steps to go on: 1, or -1 back."""
    while True:
        word = line(f"{step.metric} ({KEYS}):").strip().lower()
        match word:
            case "q":
                raise Stopped
            case "b":
                return -1
            case "t":
                whole(step.sheet)
            case "a":
                _ask(step, anchors)
            case "-" | "–":
                draft.put(step.sheet.rep.rep, step.metric, None, "")
                return 1
            case "0" | "1" | "2" | "3":
                if text := evidence(step.sheet):
                    draft.put(step.sheet.rep.rep, step.metric, int(word), text)
                    return 1
            case _:
                click.echo(f"  {word[:20]!r} is no score")


def _ask(step: Step, anchors: Anchors) -> None:
    from evalrepo.render.safe import wrapped

    click.echo("")
    click.echo("\n".join(wrapped(f"{step.metric} {anchors.ask}".rstrip(), then="   ")))
    for score, meaning in anchors.scale.items():
        click.echo("\n".join(wrapped(meaning, first=f"  {score}  ", then="     ")))
    if not anchors.scale:
        click.echo("  no rubric has anchors for it: 3 is good, 0 is bad")


def evidence(sheet: Sheet) -> str:
    """Ask until it is sound; "" for an empty line, which goes back."""
    from evalrepo.commands.scoring import trouble
    from evalrepo.render.safe import wrapped

    while text := line("  evidence (line N, a file, a “quotation”; empty: back):").strip():
        why = trouble(text, sheet)
        if not why:
            return text
        click.echo("\n".join(wrapped(why, first="  ", then="  ")))
    return ""


def whole(sheet: Sheet) -> None:
    """Page through all that happened in a rep."""
    from evalrepo.render.told import told

    assert sheet.transcript is not None
    click.echo_via_pager("\n".join(told(sheet.transcript, whole=True)) + "\n")


def line(prompt: str) -> str:
    """One answer; `Stopped` on Ctrl-C and at the end of input."""
    try:
        answer: str = click.prompt(prompt, default="", show_default=False, prompt_suffix=" ")
    except (click.Abort, EOFError):
        click.echo("")
        raise Stopped from None
    return answer
