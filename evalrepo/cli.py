"""The parser and the error boundary. Clock, environment and random numbers enter here.

Hook commands and `--version` are answered before click is imported; a sub-command's module is imported when it is
called.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # typing is slow to import
if TYPE_CHECKING:
    from typing import Any, NoReturn

    import click

    from evalrepo.errors import EvalrepoError
    from evalrepo.world import World

COMMANDS: dict[str, str] = {
    "init": "scaffold a repository that runs",
    "new": "write a scenario from a template",
    "import": "make scenarios and results of documents from elsewhere",
    "lint": "find everything that is wrong in the files",
    "list": "say what there is",
    "schema": "print the JSON Schema of a file kind",
    "freeze": "lock files by content",
    "thaw": "open frozen files, with a reason",
    "tune": "hold the run-set still while wording is tuned",
    "ledger": "list what was decided, by whom and why",
    "acknowledge": "say of a finding that it may stay",
    "waive": "excuse a metric's drop until a day",
    "budget": "allow more looks at a reserve",
    "retire": "take scenarios out of the reserve",
    "verify": "check what is frozen against git",
    "leaks": "find text of the reserve where it must not stand",
    "selftest": "prove scenarios' checks without a model",
    "doctor": "say whether the agents can be used here",
    "run": "measure cells and commit the results",
    "status": "say what is fresh, stale, missing",
    "show": "explain one record",
    "log": "follow a cell or a suite over time",
    "plan": "say what more reps would tell",
    "diff": "compare the scores of two commits",
    "gate": "decide about a release",
    "bisect": "find the commit that changed a behaviour",
    "calibrate": "compare a judge with people's labels",
    "rescore": "judge stored transcripts by today's checks",
    "score": "give the metrics that are people's",
    "note": "write a note beside a result",
    "correct": "declare a rep bad that the harness spoilt",
    "transcripts": "push, fetch and prune what runs keep",
    "export": "write recorded transcripts and reps for other tools",
}
"""Sub-command → its line in `--help`. The module is `evalrepo.commands.NAME` (`NAME_` for a word that is Python's), the
click command in it `command`."""


def world() -> World:
    """The surroundings of this process."""
    from datetime import UTC, datetime
    from pathlib import Path

    from evalrepo.world import World

    return World(cwd=Path.cwd(), environ=dict(os.environ), now=lambda: datetime.now(UTC), random=os.urandom)


def main(argv: list[str] | None = None) -> NoReturn:
    """Run one command line and exit by the table of exit codes."""
    args = sys.argv[1:] if argv is None else argv
    if args == ["--version"]:
        from evalrepo import __version__

        print(f"evalrepo {__version__}")
        sys.exit(0)
    if sys.platform == "win32":
        print("evalrepo: Windows is not supported; use Linux, WSL or macOS", file=sys.stderr)
        sys.exit(2)
    sys.exit(_fast(args) if args[:1] == ["verify"] else _click(args))


def _fast(args: list[str]) -> int:
    """The stdlib paths of the freeze check: they answer only "clean"; everything else falls through."""
    if args[1:2] == ["--since"]:
        from evalrepo.store.fastrange import answer

        said = answer(args[1:], dict(os.environ))
        return _click(args) if said is None else _line(said)
    from evalrepo.discipline.fastcheck import clean

    return 0 if clean(args[1:], dict(os.environ)) else _click(args)


def _line(text: str) -> int:
    try:
        print(text, flush=True)
    except BrokenPipeError as error:
        return _said(error)
    return 0


def _click(args: list[str]) -> int:
    try:
        outcome = _group().main(args, prog_name="evalrepo", standalone_mode=False, obj=world())
        return int(outcome) if isinstance(outcome, int) else 0
    except SystemExit:  # click's answer to a reader that went away, as `head` does
        return _said(BrokenPipeError())
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the boundary
        return _said(error)


def _said(error: BaseException) -> int:
    """Say what went wrong, and give the exit code."""
    import click

    from evalrepo.errors import EvalrepoError, Exit

    code: int = Exit.CANNOT
    match error:
        case click.exceptions.Exit():
            code = error.exit_code
        case click.ClickException():
            error.show()
        case click.Abort() | KeyboardInterrupt():
            _say("interrupted")
            code = Exit.INTERRUPTED
        case EvalrepoError():
            _explain(error)
            code = error.exit
        case BrokenPipeError():
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = Exit.YES
        case OSError() if error.errno in _machine():
            _say(f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror))
            _say("nothing that was recorded is lost; put the disk right, then run it again", "  hint: ")
        case _:
            code = _bug(error)
    return code


def _machine() -> frozenset[int]:
    """Errors of the machine that may meet any file: a full, broken or read-only disk, a limit that is used up."""
    import errno

    return frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM})


def _group() -> click.Group:
    import click

    from evalrepo.errors import EXIT_MEANING

    class Lazy(click.Group):
        """Lists the commands from `COMMANDS`; imports one when it is called."""

        def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
            return list(COMMANDS)

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
            return _command(cmd_name) if cmd_name in COMMANDS else None

        def resolve_command(
            self, ctx: click.Context, args: list[str]
        ) -> tuple[str | None, click.Command | None, list[str]]:
            if args[0] not in COMMANDS:
                from difflib import get_close_matches

                near = get_close_matches(args[0], COMMANDS, 2)
                if near:
                    ctx.fail(f"No such command '{args[0]}'. Did you mean {' or '.join(near)}?")
            return super().resolve_command(ctx, args)

        def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
            with formatter.section("Commands"):
                formatter.write_dl(list(COMMANDS.items()))
            with formatter.section("Exit codes"):
                formatter.write_dl([(str(int(code)), text) for code, text in EXIT_MEANING.items()])

    options: list[Any] = [click.Option(["--version"], is_flag=True, help="Print the version.")]
    settings = {"help_option_names": ["-h", "--help"]}
    about = "Evals as data in git."
    return Lazy("evalrepo", params=options, help=about, callback=_version, context_settings=settings)


def _command(name: str) -> click.Command:
    import importlib
    from keyword import iskeyword

    found: click.Command = importlib.import_module(f"evalrepo.commands.{name}{'_' * iskeyword(name)}").command
    return found


def _version(*, version: bool) -> None:
    if version:
        from evalrepo import __version__

        print(f"evalrepo {__version__}")


def _say(text: str, head: str = "evalrepo: ") -> None:
    """A message, with whatever a file name or an agent put into it made inert."""
    from evalrepo.render.safe import safe_lines

    print(head + safe_lines(text), file=sys.stderr)


def _explain(error: EvalrepoError) -> None:
    from evalrepo.errors import DataError

    if isinstance(error, DataError):
        for finding in error.findings:
            _say(str(finding), "")
    _say(str(error))
    if error.hint:
        _say(error.hint, "  hint: ")


def _bug(error: BaseException) -> int:
    from evalrepo.errors import Exit

    if os.environ.get("EVALREPO_DEBUG"):
        import traceback

        traceback.print_exc()
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place else "?"
    _say(f"bug: {type(error).__name__}: {error} ({where})")
    print("  hint: run it again with EVALREPO_DEBUG=1 and report what it prints", file=sys.stderr)
    return Exit.BUG
