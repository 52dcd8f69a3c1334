"""Setup steps: shell commands before the agent, in the sandbox, without network, with fixed dates."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from evalrepo import processes
from evalrepo.errors import HarnessError, Interrupted
from evalrepo.records.globs import matches
from evalrepo.records.outcome import changed
from evalrepo.records.record import ErrorKind
from evalrepo.records.scenario import SetupStep
from evalrepo.sandbox import isolation as isolating
from evalrepo.sandbox import snapshot
from evalrepo.sandbox.layout import Sandbox, remove
from evalrepo.sandbox.template import GIT_ENVIRONMENT

FIXED = {**GIT_ENVIRONMENT, "SOURCE_DATE_EPOCH": "1704067200", "PYTHONHASHSEED": "0"}
"""Added to the environment of setup steps."""
_TAIL = 2000


class SetupError(HarnessError):
    """A setup step failed, did not make what it should, or is not deterministic."""

    kind = ErrorKind.SETUP


def run_setup(
    box: Sandbox,
    steps: Sequence[SetupStep],
    isolation: isolating.Isolation,
    *,
    env: Mapping[str, str] | None = None,
    readable: Sequence[Path] = (),
    timeout_s: float = 300,
    cancel: threading.Event | None = None,
) -> None:
    """Run the steps in order; each must end with 0 within `timeout_s` and make what it says. Raises SetupError.

    Raises Interrupted when `cancel` is set.
    """
    for number, step in enumerate(steps, 1):
        argv = ["/bin/sh", "-c", step.run]
        environment = box.environment({**FIXED, **(env or {})})
        output = box.out / f"setup-{number}"
        with isolating.wrap(isolation, box, argv, environment, readable=readable) as launch:
            ended = processes.run(
                launch.argv,
                cwd=box.work,
                env=launch.env,
                output=output,
                errors=output,
                deadlines=processes.Deadlines(wall_s=timeout_s, grace_s=1),
                cancel=cancel,
                pass_fds=launch.pass_fds,
                rlimits=isolating.RLIMITS,
            )
        _judge(step, ended)
    _created(box, steps)


def _judge(step: SetupStep, ended: processes.Ended) -> None:
    if ended.reason is processes.Reason.CANCELLED:
        raise Interrupted("interrupted during setup")
    if ended.reason is not processes.Reason.EXITED:
        raise SetupError(f"setup step {step.run!r} was ended: {ended.why or ended.reason.value}")
    if ended.code != 0:
        said = snapshot.read_file(ended.output.parent, ended.output.name, 1 << 30)[-_TAIL:]
        how = f"exit code {ended.code}" if ended.code is not None else f"signal {ended.signal}"
        text = said.decode(errors="replace").strip() or "it printed nothing"
        raise SetupError(f"setup step {step.run!r} failed with {how}: {text}")


def _created(box: Sandbox, steps: Sequence[SetupStep]) -> None:
    wanted = [(step, pattern) for step in steps for pattern in step.creates]
    if not wanted:
        return
    there = snapshot.manifest(box.work, cap=0)
    for step, pattern in wanted:
        if not any(matches(pattern, path) for path in there):
            raise SetupError(f"setup step {step.run!r} made nothing that fits {pattern!r}")


def deterministic(make: Callable[[], Sandbox], prepare: Callable[[Sandbox], None]) -> None:
    """Prepare two new sandboxes and compare them; SetupError names the paths that differ. Both are removed."""
    states = []
    for _ in range(2):
        box = make()
        try:
            prepare(box)
            states.append(snapshot.manifest(box.work))
        finally:
            remove(box)
    differ = changed(states[0], states[1]).paths
    if differ:
        named = ", ".join(differ[:5]) + (f" and {len(differ) - 5} more" if len(differ) > 5 else "")
        raise SetupError(
            f"setup is not deterministic: {named}", hint="no dates, random numbers or hash order in what setup writes"
        )
