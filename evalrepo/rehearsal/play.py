"""Which answer a conversation is at: a script's steps as the answers of a model. Pure, and without a memory.

The conversation in a request says where it is. Its thread is the main one or a sub-agent's: the last user message with
a block of text that is the turn's prompt or a sub-agent's task decides; where no block is exactly that, the last one
that contains it, the longest match first (white space squeezed). The position is the number of the model's answers
after that message. So retries, resumes and parallel sub-agents all get what is theirs. A prompt that is a slash command
may be nowhere, because the CLI puts other words in its place: then they are the last thing that the user said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evalrepo.agents.speech import Rehearsable, Scene, Use
from evalrepo.errors import HarnessError
from evalrepo.records.steps import FailStep, Step
from evalrepo.rehearsal.conversation import Answer, Conversation, Fault, Message, answer_of

WAITING = "Waiting for the sub-agents to report."
"""What the model says while a sub-agent in the background has not reported."""
NEUTRAL = "Understood."
"""What it says to requests that belong to no thread of the script: titles, summaries."""
DONE = "Done."
"""The last word of a thread that has steps, and none that is said last."""
BEGUN = "I will begin with the file that"
"""What is said before a stream is cut when the script says nothing."""

TASKS = ("task", "prompt")
"""Arguments of a raw call that are handed on to a sub-agent, if its tool starts any."""

_STATUS = {"auth": 401, "rate-limit": 429, "network": 500, "permission": 403}
_TOO_LONG = ("too long", "context window", "context length")


@dataclass(frozen=True, slots=True)
class Part:
    """One turn of one rep: plain steps (`records.script.resolve`), the prompt, the places as the agent sees them.

    `tools` False: it is played without any, as judges are asked.
    """

    agent: Rehearsable
    steps: tuple[Step, ...]
    prompt: str
    work: str
    home: str
    tools: bool = True


@dataclass(frozen=True, slots=True)
class Thread:
    """What one thread of a part plays: `start` is the prompt or task, `served` the answering model ("": as asked),
    `last` what is said at the end where the steps leave nothing to say."""

    start: str
    steps: tuple[Step, ...]
    reports: str = ""
    served: str = ""
    last: str = DONE


@dataclass(frozen=True, slots=True)
class Cue:
    """Where a conversation is: its thread, the messages since the thread's start, and how many answers it has had."""

    thread: Thread
    since: tuple[Message, ...]
    position: int


def answer(part: Part, conversation: Conversation, cue: Cue | None) -> Answer:
    """The model's answer where the conversation is (`find`). LookupError when the CLI offers no tool for a step."""
    if cue is None:
        return Answer(NEUTRAL, model=conversation.model)
    scene = _scene(part, conversation, cue)
    played = _nth(_answers(part.agent, cue.thread, scene), cue.position)
    if played.last and part.agent.waiting(scene):
        return Answer(WAITING, model=cue.thread.served or conversation.model)
    return replace(played.answer, model=cue.thread.served or conversation.model)


def find(part: Part, conversation: Conversation) -> Cue | None:
    """Where the conversation is; None when it belongs to no thread, or offers no tools."""
    if part.tools and not conversation.tools:
        return None
    known = {squeezed(thread.start): thread for thread in threads(part)}
    found = _start(conversation.messages, sorted(known, key=len, reverse=True))
    if found is None and part.prompt.startswith("/"):
        found = _last(conversation.messages), squeezed(part.prompt)
    if found is None or found[0] < 0:
        return None
    index, start = found
    since = conversation.messages[index + 1 :]
    return Cue(known[start], since, _answered(since))


def threads(part: Part) -> Iterator[Thread]:
    """The main thread, and one of each sub-agent that is started, nested ones included. Where the script has no step
    for the turn, the main thread says nothing at all."""
    yield Thread(part.prompt, part.steps, last=DONE if part.steps else "")
    yield from _started(part.steps)


def check(part: Part) -> None:
    """HarnessError when a rehearsal could not play the part: threads that are alike, steps without a tool."""
    known: dict[str, Thread] = {}
    for thread in threads(part):
        start = squeezed(thread.start)
        if not start:
            raise HarnessError(
                "a rehearsal needs a prompt and tasks with words in them; one is blank",
                hint="the server knows a thread by its first words: write the prompt, and a `task` for each `spawn`",
            )
        if known.setdefault(start, thread) != thread:
            raise _twins(thread.start, main=known[start].start == part.prompt)
    for thread in threads(part):
        _speak(part, thread)


def squeezed(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


def _twins(start: str, *, main: bool) -> HarnessError:
    other = "the turn's prompt" if main else "another sub-agent"
    return HarnessError(
        f"a rehearsal cannot tell two threads apart: one has the task of {other}, {squeezed(start)[:80]!r}",
        hint="give each sub-agent that does something else a `task` of its own",
    )


def _speak(part: Part, thread: Thread) -> None:
    """Say every step once in the CLI's own words; a scene without tools says that they are not known yet."""
    try:
        for _ in _answers(part.agent, thread, Scene(part.work, part.home)):
            pass
    except LookupError as error:
        raise HarnessError(
            f"a rehearsal cannot play a step: {sentence(error)}",
            hint="write the step with one that this agent has a tool for, or `run` a command",
        ) from None


def sentence(error: Exception) -> str:
    """What is told of an error of an agent's module: its own words, with its name unless words were meant."""
    words = str(error.args[0]) if error.args else ""
    return words if type(error) is LookupError and words else f"{type(error).__name__}: {words}"


def _started(steps: Sequence[Step]) -> Iterator[Thread]:
    """Sub-agents of `spawn` steps, and of raw calls that a tool for sub-agents takes: each reports the `result`."""
    for step in steps:
        spawn, call = step.spawn, step.call
        if spawn is not None and spawn.error is None:
            yield Thread(spawn.task, spawn.steps, spawn.reports, spawn.serves or "")
            yield from _started(spawn.steps)
        elif call is not None and call.ok:
            yield from (Thread(task, (), call.result) for task in _tasks(call.args))


def _tasks(args: Any) -> Iterator[str]:
    """What a call hands on: the texts with words in them under the keys TASKS, in lists too."""
    for key, value in args.items() if isinstance(args, dict) else ():
        if key in TASKS and isinstance(value, str) and value.strip():
            yield value
        elif isinstance(value, list):
            for item in value:
                yield from _tasks(item)


def _start(messages: Sequence[Message], starts: Sequence[str]) -> tuple[int, str] | None:
    """The message that starts the thread, by index, and which of `starts` (longest first) it holds."""
    blocks = [
        (index, squeezed(text))
        for index, message in reversed(list(enumerate(messages)))
        if message.role == "user"
        for text in message.texts
    ]
    exact = next(((index, text) for index, text in blocks if text in starts), None)
    return exact or next(((index, start) for index, text in blocks for start in starts if start in text), None)


def _last(messages: Sequence[Message]) -> int:
    """The last message that is all the user's, by index; -1 when there is none."""
    users = (i for i, m in enumerate(messages) if m.role == "user" and m.texts and not m.results)
    return max(users, default=-1)


def _answered(messages: Sequence[Message]) -> int:
    """The answers that were given; some CLIs tell the calls of one answer as several messages."""
    count, before = 0, ""
    for message in messages:
        if message.role != "assistant" or (not message.calls and message.text.strip() == WAITING):
            continue
        this = answer_of(message.calls[0]) if message.calls else ""
        count += not this or this != before
        before = this
    return count


def _scene(part: Part, conversation: Conversation, cue: Cue) -> Scene:
    return Scene(
        work=part.work,
        home=part.home,
        model=conversation.model,
        tools=conversation.tools,
        answers=tuple(text for message in cue.since for text in message.results),
        told=tuple(message.text for message in cue.since if message.role == "user" and message.texts),
    )


@dataclass(frozen=True, slots=True)
class _Played:
    answer: Answer
    last: bool = False


def _nth(played: Iterator[_Played], position: int) -> _Played:
    """The answer at a position; the last one is said again and again."""
    found = next(played)
    for _ in range(position):
        found = next(played, found)
    return found


@dataclass
class _Pending:
    """What is said and slept before the next call."""

    says: list[str] = field(default_factory=list)
    delay_s: float = 0.0

    def with_(self, uses: Sequence[Use] = (), fault: Fault | None = None, default: str = "") -> Answer:
        """The answer that takes all that is pending along."""
        text = "\n\n".join(self.says) if self.says else default
        made = Answer(text, tuple(uses), delay_s=self.delay_s, fault=fault)
        self.says, self.delay_s = [], 0.0
        return made


def _answers(agent: Rehearsable, thread: Thread, scene: Scene) -> Iterator[_Played]:
    pending = _Pending()
    known: set[str] = set()
    for group in _groups(thread.steps):
        step = group[0]
        if step.say is not None:
            pending.says.append(step.say)
        elif step.sleep is not None:
            pending.delay_s += step.sleep
        elif step.fail is not None:
            yield _Played(pending.with_(fault=_fault(step.fail), default=BEGUN))
        else:
            for uses in agent.uses(group, replace(scene, known=frozenset(known))):
                yield _Played(pending.with_(uses))
            known |= _paths(step)
    if thread.reports:
        pending.says.append(thread.reports)
    yield _Played(pending.with_(default=thread.last), last=True)


def _groups(steps: Sequence[Step]) -> Iterator[tuple[Step, ...]]:
    """Each step alone, but sub-agents that start together: all but the last are in the background."""
    together: list[Step] = []
    for step in steps:
        if together and step.spawn is None:
            yield tuple(together)
            together = []
        together.append(step)
        if step.spawn is None or not step.spawn.background:
            yield tuple(together)
            together = []
    if together:
        yield tuple(together)


def _paths(step: Step) -> set[str]:
    if step.read is not None:
        return {step.read}
    return {change.path for change in (step.edit, step.write) if change is not None}


def _fault(step: FailStep) -> Fault:
    if step.hang:
        return Fault(hang=True)
    if step.truncate:
        return Fault(cut=True)
    too_long = step.status in (None, 400) and any(words in step.error.lower() for words in _TOO_LONG)
    default = 400 if too_long else _STATUS.get(step.kind or "", 500)
    return Fault(step.status or default, step.error, too_long=too_long)
