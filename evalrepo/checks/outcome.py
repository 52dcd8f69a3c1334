"""Questions about what is left in the sandbox.

Files are compared by mode, size and SHA-256 with the sandbox as it was after setup and install. Their text is read as
UTF-8 (wrong bytes become U+FFFD); expressions over files and output are case-sensitive, `^` and `$` also match at line
ends. None of these kinds is ever vacuous, and a check's scope and turn change nothing: there is one sandbox, and it is
looked at once, at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalrepo.checks import patterns
from evalrepo.checks.calls import wanted
from evalrepo.checks.view import Answer, View, broken, cite, decided, failed, passed
from evalrepo.records import globs
from evalrepo.records.kinds import Changes, Command, FaultFired, FileCheck
from evalrepo.records.outcome import changed
from evalrepo.records.record import Evidence

SHOWN = 5
"""Paths that are cited as evidence where many fit."""


def file(args: FileCheck, view: View) -> Answer:
    """Some file that fits `path` (a name, a folder or a glob) is there after the agent and has all that is asked.

    `exists: false`: no such file is there. `unchanged`: the same mode and content as before the agent (false: not the
    same, or new). `appended`: there before, and now the old content with something behind it.
    """
    found = sorted(p for p in view.after if globs.matches(args.path, p))
    if not args.exists:
        return decided(not found, *_cited(found or [args.path], "is there" if found else "is not there"))
    if not found:
        return failed(_cite_file(args.path, "is not there"))
    objections = []
    for path in found:
        why = _objection(args, path, view)
        if not why:
            return passed(_cite_file(path, "fits"))
        objections.append(_cite_file(path, why))
    return failed(*objections[:SHOWN])


def _cite_file(path: str, text: str) -> Evidence:
    return cite(f"{path}: {text}").model_copy(update={"file": path})


def _cited(paths: Sequence[str], text: str) -> tuple[Evidence, ...]:
    return tuple(_cite_file(path, text) for path in paths[:SHOWN])


def _objection(args: FileCheck, path: str, view: View) -> str:
    size = view.after[path].size
    if args.min_bytes is not None and size < args.min_bytes:
        return f"has {size:,} bytes, at least {args.min_bytes:,} wanted"
    if args.max_bytes is not None and size > args.max_bytes:
        return f"has {size:,} bytes, at most {args.max_bytes:,} wanted"
    return _history(args, path, view) or _content(args.matches, args.must_not, path, view)


def _history(args: FileCheck, path: str, view: View) -> str:
    if args.unchanged is not None and args.unchanged != (same := _same(path, view)):
        return "is unchanged" if same else "is not as it was before the agent"
    if args.appended is not None and args.appended != (grown := _appended(path, view)):
        return "has only been appended to" if grown else "is not its old content with something behind it"
    return ""


def _same(path: str, view: View) -> bool:
    old, new = view.before.get(path), view.after[path]
    if old == new and not new.sha256:
        raise ValueError(f"{path} is too large to be compared")
    return old == new


def _appended(path: str, view: View) -> bool:
    if path not in view.before or view.before[path].size >= view.after[path].size:
        return False
    return view.read(path).startswith(view.original(path))


def _content(matches: Sequence[str], must_not: Sequence[str], path: str, view: View) -> str:
    if not matches and not must_not:
        return ""
    return _wrong(matches, must_not, view.read(path).decode("utf-8", "replace"))


def _wrong(matches: Sequence[str], must_not: Sequence[str], text: str) -> str:
    """Which expression is not satisfied, "" when all are."""
    for pattern in must_not:
        if (hit := patterns.search(pattern, text)) is not None:
            line = text.count("\n", 0, hit.start()) + 1
            return f"{patterns.quoted(pattern)} is found in line {line}: {hit.group()[:80]}"
    for pattern in matches:
        if patterns.search(pattern, text) is None:
            return f"{patterns.quoted(pattern)} is not found"
    return ""


def changes(args: Changes, view: View) -> Answer:
    """What differs from the sandbox before the agent, added, modified or removed; the agents' known litter left out.

    `none`: nothing. `only`: nothing but paths that fit one of these globs. `includes`: for each of these globs a path.
    """
    paths = changed(view.before, view.after, view.litter).paths
    if args.none:
        return decided(not paths, *(_cited(paths, "is changed") or (cite("nothing is changed"),)))
    if args.only is not None:
        outside = [p for p in paths if not any(globs.matches(g, p) for g in args.only)]
        if outside:
            return failed(*_cited(outside, "is changed, and should not be"))
    for glob in args.includes:
        if not any(globs.matches(glob, p) for p in paths):
            return failed(cite(f"nothing like {glob} is changed"), *_cited(paths, "is changed"))
    return passed(*(_cited(paths, "is changed") or (cite("nothing is changed"),)))


def command(args: Command, view: View) -> Answer:
    """A command, run in a copy of the sandbox with the hidden files in it, exits as wanted and prints what is wanted.

    Expressions look at standard output and standard error together. A command whose time is over fails.
    """
    if view.shell is None:
        return broken("no sandbox was kept to run a command in")
    ran = view.shell(args)
    tail = cite(f"its output ends: {ran.output[-200:]}") if ran.output.strip() else cite("it printed nothing")
    if ran.code is None:
        return failed(cite(f"`{args.run}` was not done after {args.timeout_s:g} s"), tail)
    if ran.code != args.exit:
        return failed(cite(f"`{args.run}` exits {ran.code}, wanted {args.exit}"), tail)
    why = _wrong(args.matches, args.must_not, ran.output)
    return decided(not why, cite(f"`{args.run}` exits {ran.code}" + (f", but {why}" if why else "")), tail)


def fault(args: FaultFired, view: View) -> Answer:
    """A planted fault was met as often as wanted. A fault that was never planted is an error of the check."""
    if args.command not in view.fired:
        return broken(f"no fault is planted for `{args.command}`")
    count = view.fired[args.command]
    return decided(
        args.holds(count), cite(f"the fault of `{args.command}` was met {count} times, wanted {wanted(args)}")
    )
