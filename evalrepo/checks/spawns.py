"""Questions about sub-agents.

Three models are three facts: the one that the call *requested*, the one that the CLI *resolved*, and those that
*served*, by the child's own log. A fact that is not known (null, or for `agent` and `task` empty) matches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from evalrepo.checks import patterns
from evalrepo.checks.calls import SHOWN, shown, wanted
from evalrepo.checks.view import Answer, View, cite, cite_call, failed, passed, vacuous
from evalrepo.records.kinds import NotNamedAgain, SpawnFacts, SpawnModel, Spawns
from evalrepo.records.record import Evidence
from evalrepo.records.transcript import Call, Spawn


class _Start(NamedTuple):
    """A sub-agent and the call that started it, perhaps beside others."""

    call: Call
    spawn: Spawn | None


def _starts(call: Call) -> list[_Start]:
    return [_Start(call, spawn) for spawn in call.spawns or (None,)] if call.kind == "spawn" else []


def _spawns(view: View) -> list[_Start]:
    return [start for call in view.calls for start in _starts(call)]


def _facts(start: _Start) -> dict[str, Any]:
    """What is known of a spawn; None is unknown."""
    spawn, given = start.spawn, start.call.canonical
    return {
        "agent": (spawn.agent if spawn else "") or given.get("agent") or None,
        "task": (spawn.task if spawn else "") or given.get("task") or None,
        "requested": spawn.requested if spawn else given.get("model"),
        "resolved": spawn.resolved if spawn else None,
        "served": spawn.served if spawn else (),
    }


def spawns(args: Spawns, view: View) -> Answer:
    """How many spawns have an agent name that `agent` finds (any, without it), and their `order`.

    `agent` and `order` are searched for in the name, ignoring case. `order`: the first start of each of these agents
    comes after the first start of the one before; one that never starts fails. Never vacuous.
    """
    found = [s for s in _spawns(view) if (args.ok is None or s.call.ok == args.ok) and _is_agent(args.agent, s)]
    if args.bounded and not args.holds(len(found)):
        return failed(cite(f"{len(found)} spawns, wanted {wanted(args)}"), *_named(found))
    if args.order:
        return _in_order(args.order, found)
    return passed(cite(f"{len(found)} spawns, wanted {wanted(args)}"), *_named(found))


def _is_agent(pattern: str | None, start: _Start) -> bool:
    return pattern is None or patterns.search(pattern, _facts(start)["agent"] or "", ignore_case=True) is not None


def _named(found: Sequence[_Start]) -> tuple[Evidence, ...]:
    return tuple(cite_call(start.call, f"starts {_facts(start)['agent'] or 'an agent'}") for start in found[:SHOWN])


def _in_order(order: Sequence[str], found: Sequence[_Start]) -> Answer:
    last = -1
    evidence: list[Evidence] = []
    for pattern in order:
        place = next((n for n, start in enumerate(found) if _is_agent(pattern, start)), None)
        if place is None:
            return failed(cite(f"no agent like {pattern!r} was started"), *evidence)
        evidence.append(cite_call(found[place].call, f"the first start of {pattern!r}"))
        if place <= last:
            return failed(cite(f"{pattern!r} was not started after the one before it in the order"), *evidence)
        last = place
    return passed(*evidence)


def spawn_model(args: SpawnModel, view: View) -> Answer:
    """Among the spawns that fit `where`: `every` one has these facts, or `any` one has.

    `served` is several models when a child was answered by several: then all of them must fit, and there must be one.
    `every` is vacuous when no spawn fits `where`; `any` never is.
    """
    chosen = [start for start in _spawns(view) if not _differs(args.where, start)]
    if args.any is not None:
        fits = [start for start in chosen if not _differs(args.any, start)]
        if fits:
            return passed(*(cite_call(start.call, _told(start)) for start in fits[:1]))
        told = [cite_call(start.call, _told(start)) for start in chosen[:SHOWN]]
        return failed(cite(f"none of {len(chosen)} spawns fits"), *told)
    if not chosen:
        return vacuous("no spawn to ask about")
    assert args.every is not None
    wrong = [(start, why) for start in chosen if (why := _differs(args.every, start))]
    if wrong:
        return failed(*(cite_call(start.call, why) for start, why in wrong[:SHOWN]))
    return passed(cite(f"all {len(chosen)} spawns fit"), *(cite_call(s.call, _told(s)) for s in chosen[:SHOWN]))


def _differs(wanted_facts: SpawnFacts, start: _Start) -> str:
    """Why the spawn does not have these facts, "" when it has."""
    if wanted_facts.ok is not None and start.call.ok != wanted_facts.ok:
        return "succeeded" if start.call.ok else "did not succeed"
    known = _facts(start)
    for name in ("agent", "task", "requested", "resolved", "served"):
        value = getattr(wanted_facts, name)
        if value is not None and not _fits(value, known[name]):
            return f"{name} is {_shown(known[name])}"
    return ""


def _fits(value: dict[str, Any] | bool, known: Any) -> bool:
    if known is None or known == ():
        return False
    each = known if isinstance(known, tuple) else (known,)
    validator = patterns.schema(value)
    return all(one is not None and validator.is_valid(one) for one in each)


def _shown(known: Any) -> str:
    if known is None or known == ():
        return "not known"
    return ", ".join(known) if isinstance(known, tuple) else f'"{known}"'


def _told(start: _Start) -> str:
    known = _facts(start)
    return ", ".join(f"{name} {_shown(known[name])}" for name in ("agent", "requested", "resolved", "served"))


def not_named_again(args: NotNamedAgain, view: View) -> Answer:
    """A file of at least `min_bytes` that the agent itself read is not named in the task of a later spawn.

    Read: a successful call of kind `read` in the main thread. Its size is that of the file in the sandbox (before or
    after the agent), or of what the agent saw, whichever is largest; reading one file twice is one file. Named: by
    its path, absolute or from any folder on, or its bare file name, as a word of its own. Never vacuous.
    """
    main = view.narrowed("main", view.turn)
    read: dict[str, tuple[int, Call]] = {}
    for call in main.calls:
        path = call.canonical.get("path")
        if call.kind == "read" and call.ok and isinstance(path, str):
            size = max(_size(path, call, view), read[path][0] if path in read else 0)
            read[path] = (size, read[path][1] if path in read else call)
        elif call.kind == "spawn":
            task = "\n".join(_facts(start)["task"] or "" for start in _starts(call))
            for name, (size, reader) in read.items():
                if size >= args.min_bytes and names(task, name, view.work):
                    again = cite_call(call, f"names {name}, which the agent had read itself")
                    return failed(again, cite_call(reader, f"{size:,} bytes"))
    large = [call for size, call in read.values() if size >= args.min_bytes]
    return passed(
        cite(f"{len(large)} files of at least {args.min_bytes:,} bytes read, none named again"), *shown(large)
    )


def _size(path: str, call: Call, view: View) -> int:
    states = [m[path].size for m in (view.before, view.after) if path in m]
    return max([call.result.size if call.result else 0, *states])


def names(text: str, path: str, work: str = "") -> bool:
    """Whether the text names the file, as a word of its own.

    By its path, by the end of its path from some folder on, by its file name alone, or by its absolute path (below
    `work`; without `work` any absolute path that ends like it).
    """
    base = path.rsplit("/", 1)[-1]
    start = text.find(base) if base else -1
    while start >= 0:
        end = start + len(base)
        if _word_ends(text, end) and _is_file(_path_before(text, start) + base, path, work):
            return True
        start = text.find(base, end)
    return False


def _word_ends(text: str, end: int) -> bool:
    after = text[end : end + 2]
    return not after or not (_of_word(after[0]) or (after[0] == "." and _of_word(after[1:])))


def _of_word(char: str) -> bool:
    return char.isalnum() or char in ("_", "-")


def _path_before(text: str, start: int) -> str:
    first = start
    while first > 0 and (_of_word(text[first - 1]) or text[first - 1] in "./~"):
        first -= 1
    return text[first:start]


def _is_file(word: str, path: str, work: str) -> bool:
    if word.startswith(("/", "~")):
        return word == path or (word == f"{work}/{path}" if work else word.endswith("/" + path))
    word = word.removeprefix("./")
    return path == word or path.endswith("/" + word)
