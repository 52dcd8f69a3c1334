"""The rows of one session or sub-agent of Claude Code, told to a `Thread`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from evalrepo.agents.canonical import relative_path
from evalrepo.agents.claude import faults, known, texts
from evalrepo.agents.claude.tools import LAUNCHED, canonical
from evalrepo.agents.jsonl import Row, amount_of, cleaned, count_of, sized, text_of
from evalrepo.agents.thread import Thread
from evalrepo.records.transcript import At, EndReason, Result

_CONTEXT_HOOKS = ("SessionStart", "UserPromptSubmit")
"""Hooks whose plain output the model sees."""

LONGEST = 60
"""Characters kept of a name that is not known."""

_ENDS = frozenset(("end_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded"))
_HIDDEN = frozenset(("thinking", "redacted_thinking"))
_TOKENS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}


class Rows:
    """Feeds a thread. `cost` in USD with sub-agents, None where it is not known; `identity`: the model it was told."""

    def __init__(self, thread: Thread, work: str) -> None:
        self.thread, self.work = thread, work
        self.cwd = work
        self.cost: float | None = None
        self.identity = ""
        self._open: bool | None = None
        self._told = False
        self._answer = ""
        self._results: list[tuple[Row, Row, int]] = []
        self._used: dict[str, Any] = {}
        self._launched: dict[str, tuple[int, str, int]] = {}
        self._take: dict[str, Callable[[Row, int], None]] = {
            "user": self._user,
            "assistant": self._assistant,
            "attachment": self._attachment,
            "system": self._system,
            "cost-state": self._cost,
            "agent-setting": self._primary,
        }
        self._attached: dict[str, Callable[[Any, int], None]] = {
            "queued_command": self._queued,
            "hook_additional_context": self._context,
            "hook_success": self._hook,
            "skill_listing": self._skills,
            "agent_listing_delta": self._agents,
            "instructions": self._instructions,
            "nested_memory": self._memory,
            "model": self._model,
            "max_turns_reached": self._turns,
            "unknown_command_fallback": self._unknown_command,
        }

    def feed(self, lines: Iterable[tuple[int, Row]]) -> None:
        """Every row in its order."""
        for line, row in lines:
            kind = _kind(row)
            take = self._take.get(kind)
            if take is not None:
                take(row, line)
            elif kind not in known.ROWS:
                self.thread.unknown[kind] += 1
        self._finish()

    def _finish(self) -> None:
        """Usage once an answer, sub-agents that never reported, and whether it ended in the middle of something."""
        self._answered()
        used = [usage for usage in self._used.values() if isinstance(usage, dict)]
        for name, own in _TOKENS.items():
            counts = [n for usage in used if (n := count_of(usage.get(own))) is not None]
            self.thread.use({name: sum(counts)} if counts else {})
        for ident, (index, text, line) in self._launched.items():
            call = self.thread.calls[ident]
            clean, size = sized(text)
            call.result = Result(ident, True, clean, size, call.turn, At(self.thread.file, line))
            self.thread.events[index] = call.result
        if self._open and self.thread.end is not EndReason.ERROR:
            self.thread.end = EndReason.CUT

    # What the user, a tool, or the CLI in their place says

    def _user(self, row: Row, line: int) -> None:
        message = row.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        self.thread.version = self.thread.version or text_of(row.get("version"))
        if isinstance(content, str):
            self._says(row, text_of(content), line)
            return
        said = []
        for block in content if isinstance(content, list) else ():
            if _kind(block) == "tool_result":
                self._results.append((row, block, line))
            else:
                said.append(texts.block_text(block))
        if said:
            self._says(row, "\n".join(said), line)

    def _answered(self) -> None:
        """The results of an answer's calls: logged at any time, seen by the model when its answer is whole."""
        for row, block, line in self._results:
            self._result(row, block, line)
        self._results.clear()

    def _says(self, row: Row, text: str, line: int) -> None:
        self._answered()
        origin = row.get("origin")
        kind = origin.get("kind") if isinstance(origin, dict) else None
        if text.startswith(texts.INTERRUPTED):
            self._open = True
        elif kind == "task-notification" or text.startswith(texts.NOTIFICATION):
            self._notified(text, line)
        elif row.get("isMeta") is True and texts.is_reminder(text):
            return
        elif (output := texts.printed(text)) is not None:
            self._printed(output, line)
        elif row.get("isMeta") is True or row.get("isCompactSummary") is True or kind not in (None, "human"):
            self._prompt(text, line, synthetic=True)
        else:
            self._prompt(texts.typed(text), line, synthetic=False)

    def _prompt(self, text: str, line: int, *, synthetic: bool) -> None:
        """A main session's prompt begins a turn; a sub-agent's first is its task, all later ones are made up."""
        if self.thread.parent:
            synthetic = synthetic or self._told
            self._told = self._told or not synthetic
        elif not synthetic:
            if self._open:  # the turn before was cut, and what it had started with it
                self.thread.pending.clear()
            self.thread.begin_turn(self.thread.turn + 1)
        self.thread.prompt(text, line, synthetic=synthetic)
        self._open = True

    def _printed(self, text: str, line: int) -> None:
        """What a command printed that the CLI itself did, without the model."""
        self.thread.prompt(text, line, synthetic=True)
        self._open = False
        unknown = texts.unknown_command(text)
        if unknown:
            self.thread.failed(*faults.unknown_command(unknown))
        else:
            self.thread.ended(EndReason.DONE)

    def _notified(self, text: str, line: int) -> None:
        """The report of a sub-agent in the background is its call's result; of anything else it is told."""
        ident, well = texts.notified(text)
        self._open = True
        if self._launched.pop(ident, None) is None:
            self.thread.prompt(text, line, synthetic=True)
            return
        self.thread.pending.discard(ident)
        self.thread.answered(ident, well, text, line)

    def _result(self, row: Row, block: Row, line: int) -> None:
        ident, failed, text = text_of(block.get("tool_use_id")), block.get("is_error") is True, texts.content(block)
        facts, call = row.get("toolUseResult"), self.thread.calls.get(ident)
        self._open = True
        code = None
        if call is not None:
            self._denials(row, call.tool)
            code = texts.exit_code(facts, text, failed=failed) if call.kind == "shell" else None
            if call.kind == "spawn" and isinstance(facts, dict):
                call.child, call.resolved = text_of(facts.get("agentId")), text_of(facts.get("resolvedModel")) or None
            if call.kind == "spawn" and not failed and text.startswith(LAUNCHED):
                self._launched[ident] = (len(self.thread.events), text, line)
                self.thread.events.append(None)
                self.thread.pending.add(ident)
                return
        self.thread.answered(ident, not failed, text, line, code)

    def _denials(self, row: Row, tool: str) -> None:
        """A refusal for want of a permission; not by a hook, nor by a rule that somebody wrote down."""
        decision = row.get("permissionDecision")
        if not isinstance(decision, dict) or decision.get("decision") != "reject":
            return
        if decision.get("source") != "hook" and not text_of(decision.get("reasonCode")).startswith("rule:"):
            self.thread.denied.append(tool)

    # What the model says

    def _assistant(self, row: Row, line: int) -> None:
        message = row.get("message")
        if type(message) is not dict:
            self.thread.unknown["assistant (no message)"] += 1
            return
        ident, model = text_of(message.get("id")), message.get("model")
        if model == "<synthetic>":
            self._made_up(row, message)
            return
        if ident != self._answer:
            self._answered()
            self._answer = ident
            self.thread.model(text_of(model))
            self.cwd = text_of(row.get("cwd")) or self.cwd
            self.cost = None
        content = message.get("content")
        for block in content if isinstance(content, list) else ({"type": "text", "text": content},):
            self._block(block, line)
        if usage := message.get("usage"):  # each row of an answer repeats it; the last one has it all
            self._used[ident] = usage
        stop = text_of(message.get("stop_reason"))
        self._open = stop not in _ENDS if stop else None
        if self._open is False:
            self.thread.ended(EndReason.DONE)

    def _block(self, block: Any, line: int) -> None:
        kind = _kind(block)
        if kind == "text":
            self.thread.said(text_of(block.get("text")), line)
        elif kind == "tool_use":
            tool, args = text_of(block.get("name")), cleaned(block.get("input"))
            own, given = canonical(tool, args, self.work, self.cwd)
            self.thread.called(text_of(block.get("id")), tool, own, args, given, line)
        elif kind not in _HIDDEN:
            self.thread.unknown[f"assistant {kind}"] += 1

    def _made_up(self, row: Row, message: Row) -> None:
        """An answer that the CLI made up because a request failed; its "No response requested." says nothing."""
        self._answered()
        if row.get("isApiErrorMessage") is True:
            self.thread.failed(*faults.of_answer(row, text_of(texts.content(message))))

    # What else the CLI notes

    def _system(self, row: Row, line: int) -> None:
        kind = _kind(row, "subtype")
        if kind == "local_command":
            output = texts.printed(text_of(row.get("content")))
            if output is not None:
                self._printed(output, line)
        elif kind not in known.NOTICES:
            self.thread.unknown[f"system {kind}"] += 1

    def _primary(self, row: Row, line: int) -> None:  # noqa: ARG002
        self._loads("agent", [row.get("agentSetting")])

    def _cost(self, row: Row, line: int) -> None:  # noqa: ARG002
        """Of all that the session cost, turns before this one included."""
        self.cost = None if row.get("hasUnknownModelCost") is True else amount_of(row.get("totalCostUSD"))

    def _attachment(self, row: Row, line: int) -> None:
        attached = row.get("attachment")
        kind = _kind(attached)
        take = self._attached.get(kind)
        if take is not None:
            take(attached, line)
        elif kind not in known.ATTACHMENTS:
            self.thread.unknown[f"attachment {kind}"] += 1

    def _queued(self, row: Row, line: int) -> None:
        """A message that came while the model worked: it belongs to the turn that is under way."""
        self._answered()
        given = row.get("prompt")
        text = text_of(given) if isinstance(given, str) else texts.content({"content": given})
        if row.get("commandMode") == "task-notification" or text.startswith(texts.NOTIFICATION):
            self._notified(text, line)
        else:
            self.thread.prompt(text, line, synthetic=row.get("commandMode") != "prompt")
            self._open = True

    def _context(self, row: Row, line: int) -> None:  # noqa: ARG002
        content = row.get("content")
        self._loads(f"hook {text_of(row.get('hookEvent'))}:", content if isinstance(content, list) else [content])

    def _hook(self, row: Row, line: int) -> None:  # noqa: ARG002
        event = text_of(row.get("hookEvent"))
        if event in _CONTEXT_HOOKS:
            self._loads(f"hook {event}:", [row.get("content")])

    def _skills(self, row: Row, line: int) -> None:  # noqa: ARG002
        names = row.get("names")
        self._loads("skill", names if isinstance(names, list) else texts.listed(text_of(row.get("content"))))

    def _agents(self, row: Row, line: int) -> None:  # noqa: ARG002
        """Agents that the CLI does not bring itself."""
        added, own = row.get("addedTypes"), row.get("builtInTypes")
        brought = own if isinstance(own, list) else []
        self._loads("agent", [name for name in added if name not in brought] if isinstance(added, list) else [])

    def _instructions(self, row: Row, line: int) -> None:  # noqa: ARG002
        files = row.get("files")
        self._loads("instructions", [self._path(file) for file in files] if isinstance(files, list) else [])

    def _memory(self, row: Row, line: int) -> None:  # noqa: ARG002
        self._loads("instructions", [self._path(row)])

    def _path(self, file: Any) -> str:
        path = text_of(file.get("path")) if isinstance(file, dict) else ""
        return relative_path(path, self.work) if path else ""

    def _loads(self, what: str, names: list[Any]) -> None:
        self.thread.loaded += [f"{what} {text_of(name)}" for name in names if text_of(name).strip()]

    def _model(self, row: Row, line: int) -> None:  # noqa: ARG002
        identity = row.get("identity")
        self.identity = text_of(identity.get("modelId")) if isinstance(identity, dict) else ""

    def _turns(self, row: Row, line: int) -> None:  # noqa: ARG002
        self.thread.failed(*faults.of_turns(row.get("maxTurns")))

    def _unknown_command(self, row: Row, line: int) -> None:  # noqa: ARG002
        """The model is given the prompt as text and may well answer; it is not what was to be measured."""
        self.thread.broke = self.thread.broke or faults.unknown_command(text_of(row.get("commandName")))


def _kind(row: Any, name: str = "type") -> str:
    """What kind of row or block it is, by the name of the field that says so; "None" when none does."""
    kind = row.get(name) if isinstance(row, dict) else None
    return kind if type(kind) is str and len(kind) < LONGEST and kind.isascii() else text_of(str(kind)[:LONGEST])
