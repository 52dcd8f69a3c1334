"""A walk through reps at the terminal: what happened, what earns a score, then 0-3 and evidence for each metric."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from evalrepo.commands.sheets import Anchors, Desk, Sheet
    from evalrepo.store.drafts import Draft

Answer = tuple[int | None, str]
"""A score, None for unset, and its evidence."""

KEYS = "0-3, - unset, t whole transcript, a anchors, b back, q stop"


class Stopped(Exception):  # noqa: N818 - a wish, not a fault
    """The person stops here; what was given is kept."""


@dataclass(frozen=True)
class Step:
    """One metric of one rep. `which`: its place among all, for a person."""

    sheet: Sheet
    metric: str
    draft: Draft
    anchors: Anchors
    which: str

    def earlier(self, by: str) -> Answer | None:
        """What this person gave in this walk, in one that stopped, or in a record."""
        from evalrepo.scoring.people import rating

        kept = self.draft.reps.get(self.sheet.rep.rep, {}).get(self.metric)
        recorded = rating(self.sheet.rep.metrics[self.metric], by)
        return kept or (None if recorded is None else (recorded.score, recorded.evidence))

    def put(self, answer: Answer) -> None:
        """Keep it."""
        self.draft.put(self.sheet.rep.rep, self.metric, *answer)


def walk(desk: Desk, drafts: Sequence[Draft], by: str) -> None:
    """Ask for every open metric of every rep; each answer is kept in the rep's draft at once. `Stopped` on q, Ctrl-C
    and the end of input. `drafts`: one a sheet."""
    pairs = [(s, m, d) for s, d in zip(desk.sheets, drafts, strict=True) for m in s.open]
    steps = [
        Step(s, m, d, desk.anchors[s.record.scenario, m], f"{n} of {len(pairs)} · {s.record.scenario} rep {s.rep.rep}")
        for n, (s, m, d) in enumerate(pairs, 1)
    ]
    at, shown = _first_open(steps), None
    while at < len(steps):
        step = steps[at]
        if shown is not step.sheet:
            _show(step.sheet)
            shown = step.sheet
        _ask(step, by)
        at = max(0, at + _answer(step, by))
    click.echo("every metric has an answer")


def _first_open(steps: Sequence[Step]) -> int:
    """Where an earlier walk stopped."""
    given = [step.metric in step.draft.reps.get(step.sheet.rep.rep, {}) for step in steps]
    done = given.index(False) if False in given else len(given) - 1
    if any(given):
        click.echo(f"{sum(given)} of {len(given)} answers from before are kept; b goes back to them")
    return done


def _show(sheet: Sheet) -> None:
    from evalrepo.records.unset import score_word
    from evalrepo.render.safe import wrapped
    from evalrepo.render.told import told

    assert sheet.transcript is not None
    rep = sheet.rep
    click.echo("\n" + "\n".join(wrapped(f"{sheet.name} · {rep.verdict}{_status(sheet)}", then="  ")))
    click.echo("\n".join(told(sheet.transcript)))
    checks = [f"{c.axis} {c.id} {c.outcome}" for c in rep.checks]
    click.echo("\n".join(wrapped(", ".join(checks) or "none", first="checks: ", then="  ")))
    known = [f"{n} {score_word(m.score)} ({m.source})" for n, m in rep.metrics.items() if n not in sheet.open]
    if known:
        click.echo("\n".join(wrapped(", ".join(known), first="scored already: ", then="  ")))


def _status(sheet: Sheet) -> str:
    return f" · says {sheet.rep.status}" if sheet.rep.status else ""


def _answer(step: Step, by: str) -> int:
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
                _ask(step, by)
            case "" if (answer := step.earlier(by)) is not None:
                step.put(answer)
                return 1
            case "-" | "–":
                step.put((None, ""))
                return 1
            case "0" | "1" | "2" | "3":
                if text := evidence(step.sheet):
                    step.put((int(word), text))
                    return 1
            case _:
                from evalrepo.render.safe import safe

                click.echo(f"  “{safe(word[:20])}” is no score: 0, 1, 2 or 3; - leaves it unset")


def _ask(step: Step, by: str) -> None:
    from evalrepo.render.safe import wrapped

    click.echo("")
    click.echo("\n".join(wrapped(step.which, then="  ")))
    click.echo("\n".join(wrapped(f"{step.metric} {step.anchors.ask}".rstrip(), then="   ")))
    for score, meaning in step.anchors.scale.items():
        click.echo("\n".join(wrapped(meaning, first=f"  {score}  ", then="     ")))
    if not step.anchors.scale:
        click.echo("  no rubric has anchors for it: 3 is good, 0 is bad")
    if (answer := step.earlier(by)) is not None:
        said = "you left it unset" if answer[0] is None else f"you gave {answer[0]}: {answer[1]}"
        click.echo("\n".join(wrapped(f"{said} (Enter keeps it)", first="  ", then="     ")))


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
    """One answer, which arrow keys may edit at a terminal; `Stopped` on Ctrl-C and at the end of input."""
    with suppress(ImportError):
        import readline  # noqa: F401 - `input` edits with it once it is there
    while True:
        try:
            return input(f"{prompt} ")
        except (KeyboardInterrupt, EOFError):
            click.echo("")
            raise Stopped from None
        except UnicodeDecodeError:
            click.echo("  that is not UTF-8; type it again")
