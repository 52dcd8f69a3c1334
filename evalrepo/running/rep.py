"""One attempt at one rep: sandbox, setup, turns, transcript, verdict. A bad rep is data, never an exception."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from evalrepo.agents.base import ReadError
from evalrepo.checks.view import View
from evalrepo.errors import EvalrepoError, Interrupted
from evalrepo.records.outcome import Manifest
from evalrepo.records.record import ErrorKind, Rep, StoredTranscript, Timing, UsageRecord
from evalrepo.records.transcript import Prompt, Transcript
from evalrepo.running.artefacts import artefacts
from evalrepo.running.judging import Hearing
from evalrepo.running.logins import lend
from evalrepo.running.turns import Played, play, seen_by
from evalrepo.running.views import PythonCheck, Shell, asks_of_originals, reader
from evalrepo.sandbox import faults, trees
from evalrepo.sandbox.install import install
from evalrepo.sandbox.isolation import readable_python
from evalrepo.sandbox.layout import fresh, remove
from evalrepo.sandbox.setup import run_setup
from evalrepo.sandbox.snapshot import manifest, read_file
from evalrepo.scoring.facts import Facts, Trouble, Wanted, preconditions
from evalrepo.scoring.leaks import leaks, own_reads
from evalrepo.scoring.reaching import Scene
from evalrepo.scoring.sameness import conversation
from evalrepo.scoring.verdict import Scored, score

if TYPE_CHECKING:
    from evalrepo.records.config import Prove
    from evalrepo.records.record import Evidence
    from evalrepo.running.bench import Bench, Prepared
    from evalrepo.sandbox.layout import Sandbox

TRANSCRIPT_LIMIT = 200_000_000
"""Bytes of all native files of one rep; more is ERROR(transcript)."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """Which attempt this is: rep and attempt from 1, and the UTC time of its start."""

    rep: int
    attempt: int
    start: str


@dataclass(frozen=True)
class Done:
    """A rep's result, and its redacted files by path below the rep's folder in the run's tree."""

    rep: Rep
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Log:
    """The agent's native files, redacted; `trouble` when they cannot be had or must not be stored."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    redactions: int = 0
    trouble: Trouble | None = None


def execute(bench: Bench, cell: Prepared, attempt: Attempt, folder: str, cancel: threading.Event) -> Done:
    """Play one attempt. `folder`: where its files will be in the run's tree."""
    began = time.monotonic()
    box = None
    try:
        box = fresh(bench.base, cell.template, bench.isolation)
        return _in_box(bench, cell, attempt, folder, (box, cancel, began))
    except (EvalrepoError, OSError) as error:
        kind = ErrorKind.INTERRUPTED if isinstance(error, Interrupted) else getattr(error, "kind", ErrorKind.SETUP)
        scored = score(cell.scenario, Facts(None, trouble=(Trouble(str(kind), _sentence(error)),)))
        return Done(_rep(attempt, scored, _timing(attempt, began), isolation=bench.isolation.level))
    finally:
        if box is not None:
            remove(box)


def _sentence(error: BaseException) -> str:
    return " ".join(str(error).split())[:500]


def _timing(attempt: Attempt, began: float, played: Played | None = None) -> Timing:
    ended = played.ended if played else ()
    return Timing(
        start=attempt.start,
        seconds=round(time.monotonic() - began, 3),
        longest_gap_s=round(max(e.longest_gap_s for e in ended), 3) if ended else None,
        timed_out=any(str(e.reason) == "wall" for e in ended),
        lingered=any(e.lingered for e in ended),
    )


def _in_box(
    bench: Bench, cell: Prepared, attempt: Attempt, folder: str, now: tuple[Sandbox, threading.Event, float]
) -> Done:
    box, cancel, began = now
    furnish(bench, cell, box, cancel)
    before = cell.before(box.work)
    if asks_of_originals(cell.scenario):
        (box.root / "before").mkdir()
        trees.copy(box.work, box.root / "before", -1)
    ready = View(Transcript(cell.name), before, before, reader(box.work), shell=Shell(bench, box))
    asked = preconditions(cell.scenario, ready)
    unmet = any(str(r.outcome) != "pass" for r in asked)
    played = Played() if unmet else play(bench, cell, box, cancel)
    log = _log(bench, cell, box) if played.ended else Log()
    view, why = _view(bench, cell, box, before, log)
    facts = Facts(
        view,
        read_error=why,
        trouble=(*played.trouble, *((log.trouble,) if log.trouble else ())),
        ends=_prompts(cell, played, view),
        denied=view.transcript.denied if view else (),
        wanted=tuple(w for s in cell.subjects if s.install.prove for w in _wanted(s.install.prove)),
        leaks=_leaks(bench, box, view.transcript, played) if view else (),
        over_limit=played.over_limit,
        preconditions=asked,
    )
    scored = score(cell.scenario, facts)
    timing = _timing(attempt, began, played)
    rep = _rep(attempt, scored, timing, isolation=bench.isolation.level, played=played)
    rep = rep.model_copy(update={"notes": notes(cell, view.transcript, played) if view else ()})
    if view and cell.tier.script is None:  # what a script plays is the same by nature
        rep = rep.model_copy(update={"conversation": conversation(view.transcript, box.inside(box.work))})
    kept = {} if log.trouble else dict(log.files)
    done = _stored(bench, rep, view, log, (folder, kept, box.inside(box.work)), furnished=cell.furnished)
    return replace(done, rep=_unpriced(done.rep)) if cell.rehearsed else done


def _leaks(bench: Bench, box: Sandbox, transcript: Transcript, played: Played) -> tuple[Evidence, ...]:
    """What the agent saw that it must not see; its own sandbox and install are its own."""
    places = (box.work, box.home, box.tmp, box.bin, box.var)
    own = (*map(box.inside, places), *(() if box.isolated else (str(box.root),)))
    host = not box.isolated
    scene = Scene(box.inside(box.work), box.inside(box.home), host=host, real=_real if host else None)
    return leaks(transcript, bench.forbidden, bench.tripwires, (*played.readable, *own), scene)


def _real(path: str) -> str:
    """Where a path of an agent that nothing kept from the machine leads, now that it has ended."""
    return os.path.realpath(os.path.expanduser(path))  # noqa: PTH111 - `~name` too


def furnish(bench: Bench, cell: Prepared, box: Sandbox, cancel: threading.Event | None = None) -> None:
    """Login, subject, setup and faults, in this order. HarnessError, its `kind` an ErrorKind where setup failed."""
    lend(bench.world.environ.get("HOME", ""), cell.logins, seen_by(box))
    for subject in cell.subjects:
        install(box, subject.files, subject.install, subject.name)
    if cell.scenario.setup:
        run_setup(
            box,
            cell.scenario.setup,
            bench.isolation,
            env=cell.scenario.env,
            readable=readable_python()[1],
            cancel=cancel,
        )
    if cell.scenario.faults:
        faults.plant(box, cell.scenario.faults)


def _log(bench: Bench, cell: Prepared, box: Sandbox) -> Log:
    files: dict[str, bytes] = {}
    count = size = 0
    for name, path in cell.played.native(cell.agent, seen_by(box)).items():
        try:
            data = native_file(box, path, TRANSCRIPT_LIMIT - size)
        except OSError as error:
            return Log(trouble=Trouble(ErrorKind.TRANSCRIPT, f"{name} cannot be kept: {error.strerror or error}"))
        size += len(data)
        if size >= TRANSCRIPT_LIMIT:
            return Log(
                trouble=Trouble(ErrorKind.TRANSCRIPT, f"the agent's log has more than {TRANSCRIPT_LIMIT:,} bytes")
            )
        files[name], found = bench.redactor.redact(data)
        count += found
        rule = bench.redactor.refuse(files[name])
        if rule is not None:
            return Log(trouble=Trouble(ErrorKind.REDACTION, f"{name} still matches the rule {rule} after redaction"))
    return Log(files, count)


def native_file(box: Sandbox, path: Path, room: int) -> bytes:
    """A file that the agent wrote, read without following any link that it may have laid."""
    root = next((r for r in (box.home, box.work, box.out, box.tmp) if path.is_relative_to(r)), None)
    if root is None:
        raise PermissionError(errno.EACCES, "it is outside of the sandbox")
    return read_file(root, path.relative_to(root).as_posix(), room)


def _view(bench: Bench, cell: Prepared, box: Sandbox, before: Manifest, log: Log) -> tuple[View | None, str]:
    """The rep as checks see it; None and why when there is no transcript that could be read."""
    if not log.files:
        return None, "the agent left no transcript"
    try:
        transcript = cell.played.read(cell.agent, log.files, box.inside(box.work))
    except ReadError as error:
        return None, str(error)
    original = box.root / "before"
    view = View(
        transcript,
        before,
        manifest(box.work),
        reader(box.work),
        reader(original if original.exists() else cell.template),
        litter=cell.litter,
        fired=faults.fired(box, cell.scenario.faults, transcript),
        shell=Shell(bench, box),
        python=PythonCheck(bench),
        ask=_hearing(bench, log),
    )
    return view, ""


def _hearing(bench: Bench, log: Log) -> Hearing | None:
    if bench.court is None:
        return None
    return Hearing(bench.court, sha256(next(iter(log.files.values()))).hexdigest())


def _prompts(cell: Prepared, played: Played, view: View | None) -> tuple:  # type: ignore[type-arg]
    """The turns' ends, with whether each prompt stands in the log; an agent whose log has no prompts cannot show it."""
    if view is None:
        return played.ends
    said: dict[int, list[str]] = {}
    for event in view.transcript.events:
        if isinstance(event, Prompt) and not event.synthetic:
            said.setdefault(event.turn, []).append(_squeezed(event.text))
    if not said and cell.agent.kind == "command":
        return played.ends
    wanted = [_squeezed(t.prompt) for t in cell.scenario.turns]
    return tuple(replace(end, prompt_seen=wanted[n - 1] in said.get(n, [])) for n, end in enumerate(played.ends, 1))


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def notes(cell: Prepared, transcript: Transcript, played: Played) -> tuple[str, ...]:
    """What a reader of the result should know beside the verdict: an unproven subject, the agent's own files read."""
    silent = [subject.name for subject in cell.subjects if cell.traces and not subject.install.prove]
    unproven = [f"subject {name} is not proven to be loaded: its install has no `prove`" for name in silent]
    own = [f"read the agent's own files below {place}" for place in own_reads(transcript, played.readable)]
    return (*unproven, *own)


def _wanted(prove: Prove) -> list[Wanted]:
    return [Wanted(kind, text) for kind, text in prove if text]


def _rep(attempt: Attempt, scored: Scored, timing: Timing, *, isolation: str, played: Played | None = None) -> Rep:
    codes = [e.exit_code for e in played.ends] if played else []
    return Rep(
        rep=attempt.rep,
        attempt=attempt.attempt,
        verdict=scored.verdict,
        error=scored.error,
        message=scored.message,
        checks=scored.checks,
        metrics=scored.metrics,
        status=scored.status,  # type: ignore[arg-type]
        spawns=scored.spawns,
        models=scored.models,
        timing=timing,
        exit_code=codes[-1] if codes else None,
        isolation=isolation,
    )


def _stored(
    bench: Bench,
    rep: Rep,
    view: View | None,
    log: Log,
    kept: tuple[str, dict[str, bytes], str],
    *,
    furnished: bool,
) -> Done:
    folder, files, work = kept
    transcript = None
    if files:
        main = next(iter(files))
        digest = sha256(files[main]).hexdigest()
        size = sum(map(len, files.values()))
        path = f"{folder}/{main}"
        transcript = StoredTranscript(sha256=digest, path=path, size=size, redactions=log.redactions, work=work)
    extra = artefacts(view, bench.redactor, always=furnished) if view is not None and not log.trouble else {}
    hearing = view.ask if view is not None and isinstance(view.ask, Hearing) else None
    update: dict[str, object] = {"transcript": transcript}
    if view is not None:
        update |= {"usage": _usage(view.transcript), "unknown_rows": dict(view.transcript.unknown)}
    if hearing is not None:
        update["judged"] = tuple(hearing.judged)
        extra |= hearing.files
    return Done(rep.model_copy(update=update), {f"{folder}/{n}": d for n, d in {**files, **extra}.items()})


def _unpriced(rep: Rep) -> Rep:
    """A rehearsal cost nothing; what the CLI makes of its price list is no cost."""
    return rep.model_copy(update={"usage": rep.usage.model_copy(update={"cost_usd": None})})


def _usage(transcript: Transcript) -> UsageRecord:
    used = transcript.usage
    return UsageRecord(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cache_read_tokens,
        cache_write_tokens=used.cache_write_tokens,
        cost_usd=used.cost_usd,
        tool_calls=used.tool_calls,
        agents=used.agents,
    )
