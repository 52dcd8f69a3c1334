"""A script as the answers of a model: where a conversation is, what comes next, and what cannot be played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalrepo.agents.speech import Scene, Use
from evalrepo.errors import HarnessError
from evalrepo.records.steps import Step
from evalrepo.rehearsal import play
from evalrepo.rehearsal.conversation import Answer, Conversation, Fault, Message, call_id
from evalrepo.rehearsal.play import DONE, NEUTRAL, WAITING, Part, check

PROMPT = "Look at the parser,\n  please."


class Cli:
    """The words of a command line tool that knows five tools; a change of a file that was not read reads it first."""

    def uses(self, steps: Sequence[Step], scene: Scene) -> Sequence[Sequence[Use]]:
        first = steps[0]
        if first.spawn is not None:
            return [[Use("Spawn", {"prompt": s.spawn.task, "wait": not s.spawn.background}) for s in steps if s.spawn]]
        if first.read is not None:
            return [[Use("Read", {"path": f"{scene.work}/{first.read}"})]]
        if first.edit is not None:
            change = Use("Edit", {"path": f"{scene.work}/{first.edit.path}"})
            unseen = [[Use("Read", {"path": f"{scene.work}/{first.edit.path}"})]]
            return [*(unseen if first.edit.path not in scene.known else []), [change]]
        if first.run is not None:
            return [[Use("Shell", {"command": str(first.run), "after": len(scene.answers)})]]
        if first.call is not None:
            return [[Use(first.call.tool, first.call.args)]]
        raise LookupError(f"this tool cannot {first.kind}")

    def waiting(self, scene: Scene) -> bool:
        return len(scene.told) < sum(text == "launched" for text in scene.answers)


def steps(*raw: dict[str, Any]) -> tuple[Step, ...]:
    return tuple(Step.model_validate(step) for step in raw)


def part(*raw: dict[str, Any], prompt: str = PROMPT) -> Part:
    return Part(Cli(), steps(*raw), prompt, "/srv/project", "/home/dev")  # type: ignore[arg-type]


def asked(*messages: Message, model: str = "big", tools: Sequence[str] = ("Read", "Spawn")) -> Conversation:
    return Conversation(model, messages, frozenset(tools))


def user(text: str) -> Message:
    return Message("user", (text,))


def answer(played: Part, *messages: Message, **about: Any) -> Answer:
    conversation = asked(*messages, **about)
    return play.answer(played, conversation, play.find(played, conversation))


def call(answer: int, number: int) -> str:
    return call_id("call", f"0123456789abcdef{answer:04}", number)


def said(given: Answer, number: int) -> Message:
    """An answer as the next request tells it."""
    texts = (given.text,) if given.text else ()
    return Message("assistant", texts, calls=tuple(call(number, n) for n in range(len(given.uses))))


def conversation_of(
    played: Part, start: str, results: str = "ok", most: int = 50
) -> tuple[list[Answer], list[Message]]:
    """All answers up to the first without a call, as a CLI gets them that runs every call."""
    messages, answers = [user(start)], []
    while len(answers) < most:
        given = answer(played, *messages)
        answers.append(given)
        messages.append(said(given, len(answers)))
        if not given.uses:
            break
        messages.append(Message("user", results=(results,) * len(given.uses)))
    return answers, messages


def test_what_is_said_before_a_call_stands_in_the_answer_that_makes_it():
    played = part({"say": "I look."}, {"say": "Here."}, {"read": "a.py"}, {"run": "make"}, {"say": "All is well."})
    assert conversation_of(played, PROMPT)[0] == [
        Answer("I look.\n\nHere.", (Use("Read", {"path": "/srv/project/a.py"}),), "big"),
        Answer("", (Use("Shell", {"command": "make", "after": 1}),), "big"),
        Answer("All is well.", model="big"),
    ]


def test_a_script_that_says_nothing_at_the_end_is_done():
    assert [a.text for a in conversation_of(part({"read": "a.py"}), PROMPT)[0]] == ["", DONE]


def test_a_script_without_a_step_says_nothing():
    assert [a.text for a in conversation_of(part(), PROMPT)[0]] == [""]


def test_a_call_that_takes_two_answers_takes_what_was_said_along_in_the_first():
    played = part({"say": "I change it."}, {"edit": {"path": "a.py", "old": "1", "new": "2"}})
    answers = conversation_of(played, PROMPT)[0]
    assert [(a.text, [u.name for u in a.uses]) for a in answers] == [
        ("I change it.", ["Read"]),
        ("", ["Edit"]),
        (DONE, []),
    ]


def test_a_file_that_the_thread_has_read_or_written_is_known_to_later_steps():
    change = {"edit": {"path": "a.py", "old": "1", "new": "2"}}
    names = [u.name for a in conversation_of(part({"read": "a.py"}, change, change), PROMPT)[0] for u in a.uses]
    assert names == ["Read", "Edit", "Edit"]


def test_sleep_delays_the_answer_that_follows():
    played = part({"sleep": 0.5}, {"read": "a.py"}, {"sleep": 2}, {"sleep": 1}, {"say": "Done at last."})
    assert [a.delay_s for a in conversation_of(played, PROMPT)[0]] == [0.5, 3]


def test_the_last_answer_is_given_again_past_the_end():
    played = part({"say": "The end."})
    _, messages = conversation_of(played, PROMPT)
    assert answer(played, *messages, user("And now?")).text == "The end."


def test_sub_agents_in_the_background_start_together_with_the_one_that_follows():
    def task(name: str, **more: Any) -> dict[str, Any]:
        return {"spawn": {"task": name, **more}}

    played = part(
        task("one", background=True), task("two", background=True), task("three"), task("four"), {"run": "ls"}
    )
    answers = conversation_of(played, PROMPT)[0]
    assert [[u.input.get("prompt") for u in a.uses] for a in answers] == [["one", "two", "three"], ["four"], [None], []]  # type: ignore[union-attr]


def test_a_sub_agent_plays_its_own_steps_and_reports_with_the_model_that_serves_it():
    child = {"task": "Read the\ntests.", "steps": [{"read": "t.py"}], "reports": "Two tests.", "serves": "small-2"}
    played = part({"spawn": child}, {"say": "Thanks."})
    answers, _ = conversation_of(played, "Task: Read the tests.  Report.")
    assert [(a.text, a.model) for a in answers] == [("", "small-2"), ("Two tests.", "small-2")]
    assert [a.model for a in conversation_of(played, PROMPT)[0]] == ["big", "big"]


def test_while_sub_agents_have_not_reported_the_last_word_waits():
    spawn = {"spawn": {"task": "Read the tests.", "background": True}}
    played = part(spawn, {"sleep": 1}, {"say": "Both reported."})
    started, messages = conversation_of(played, PROMPT, results="launched")
    assert started[-1] == Answer(WAITING, model="big")
    assert answer(played, *messages, user("<note>it has reported</note>")).text == "Both reported."


def test_a_thread_is_known_by_a_block_that_is_its_start_before_one_that_only_holds_it():
    played = part({"spawn": {"task": "Read", "background": True, "steps": [{"run": "ls"}]}}, {"say": "Main."})
    spawned = said(answer(played, user(PROMPT)), 1)
    told = user("Read: reported")
    assert answer(played, Message("user", ("Be careful.", PROMPT)), spawned, told).text == "Main."


def test_the_longest_start_that_a_message_holds_decides():
    played = part({"spawn": {"task": f"{PROMPT} All of it.", "reports": "Child."}}, {"say": "Main."})
    assert answer(played, user(f"Task: {PROMPT} All of it. Go.")).text == "Child."


def test_a_prompt_that_came_before_counts_from_where_it_came_last():
    played = part({"run": "make"}, {"say": "Again done."})
    earlier = [user(PROMPT), Message("assistant", ("Done.",))]
    assert answer(played, *earlier, user(PROMPT)).uses[0].name == "Shell"


def test_calls_of_one_answer_that_are_told_one_by_one_count_once():
    played = part({"say": "a"}, {"run": "1"}, {"run": "2"}, {"say": "end"})
    one, two = Message("assistant", calls=(call(1, 0),)), Message("assistant", calls=(call(1, 1),))
    result = Message("user", results=("ok",))
    assert answer(played, user(PROMPT), one, result, two, result).uses == (Use("Shell", {"command": "2", "after": 2}),)


def test_answers_with_ids_that_the_cli_made_itself_are_told_apart():
    played = part({"run": "1"}, {"run": "2"}, {"say": "end"})
    messages = [user(PROMPT)]
    for n in range(2):
        messages += [Message("assistant", calls=(f"call_{n}",)), Message("user", results=("ok",))]
    assert answer(played, *messages).text == "end"


def test_a_slash_command_that_the_cli_replaced_is_the_last_thing_that_the_user_said():
    played = part({"run": "make"}, {"say": "Tidied."}, prompt="/tidy the house")
    before = [user("Earlier."), Message("assistant", ("Yes.",)), user("Tidy up: the house")]
    assert answer(played, *before).uses[0].name == "Shell"
    assert (
        answer(played, *before, said(answer(played, *before), 1), Message("user", ("note",), ("ok",))).text == "Tidied."
    )
    assert answer(played).text == NEUTRAL


def test_requests_without_tools_or_without_a_thread_get_a_neutral_text():
    played = part({"run": "make"})
    assert answer(played, user(f"Write a title: {PROMPT}"), tools=()).text == NEUTRAL
    assert answer(played, user("Something else")).text == NEUTRAL


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ({"status": 418, "error": "I am a teapot"}, Fault(418, "I am a teapot")),
        ({"kind": "auth"}, Fault(401)),
        ({"kind": "rate-limit", "error": "slow down"}, Fault(429, "slow down")),
        ({}, Fault(500)),
        ({"error": "prompt is too long"}, Fault(400, "prompt is too long", too_long=True)),
        ({"status": 500, "error": "prompt is too long"}, Fault(500, "prompt is too long")),
        ({"hang": True}, Fault(hang=True)),
        ({"truncate": True}, Fault(cut=True)),
    ],
)
def test_a_fail_step_breaks_every_request_at_its_place(step: dict[str, Any], fault: Fault):
    played = part({"run": "make"}, {"say": "I was"}, {"fail": step})
    _, messages = conversation_of(played, PROMPT)
    assert [answer(played, *messages[:3]).fault for _ in range(2)] == [fault, fault]
    assert answer(played, *messages[:3]).text == "I was"


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ([{"spawn": {"task": " Look at the parser, please. "}}], "the turn's prompt, 'Look at the parser, please.'"),
        ([{"spawn": {"task": "A", "reports": "1"}}, {"spawn": {"task": "A"}}], "another sub-agent, 'A'"),
        ([{"spawn": {"task": "A", "steps": [{"spawn": {"task": "A"}}]}}], "another sub-agent, 'A'"),
        (
            [{"spawn": {"task": "A"}}, {"call": {"tool": "Fan", "args": {"task": "A"}, "result": "1"}}],
            "another sub-agent",
        ),
        ([{"call": {"tool": "Fan", "args": {"task": PROMPT}}}], "the turn's prompt"),
        ([{"spawn": {"task": " "}}], "one is blank"),
        ([{"skill": "tidy"}], "this tool cannot skill"),
        ([{"spawn": {"task": "A", "steps": [{"skill": "tidy"}]}}], "this tool cannot skill"),
    ],
)
def test_what_cannot_be_played_is_found_before_it_is(raw: list[dict[str, Any]], words: str):
    with pytest.raises(HarnessError) as caught:
        check(part(*raw))
    assert words in str(caught.value)
    assert caught.value.hint


def test_sub_agents_that_do_the_same_and_those_that_never_start_may_have_one_task():
    same = {"spawn": {"task": "A", "reports": "1"}}
    played = part(same, same, {"spawn": {"task": "A", "error": "no such agent"}})
    check(played)
    assert {answer(played, user("A")).text for _ in range(2)} == {"1"}


def test_sub_agents_that_a_raw_call_starts_report_its_result():
    args = {"tasks": [{"agent": "w", "task": "Say red"}, {"agent": "w", "task": "Say blue"}], "note": {"task": " "}}
    fan = {"call": {"tool": "Fan", "args": args, "result": "a colour"}}
    lone = {"call": {"tool": "Fan", "args": {"prompt": "Count the tests"}}}
    refused = {"call": {"tool": "Fan", "args": {"task": "Say red"}, "ok": False, "result": "one mode, please"}}
    played = part(refused, {"spawn": {"task": "Lead", "steps": [fan]}}, lone)
    check(played)
    assert [answer(played, user(f"Task: {t}")).text for t in ("Say red", "Say blue")] == ["a colour"] * 2
    assert answer(played, user("Count the tests")).text == DONE
    assert answer(played, user("Task: Say green")).text == NEUTRAL


WORDS = st.text("abc xyz\n", min_size=1, max_size=12).filter(str.strip)
CALLS = st.one_of(
    st.builds(lambda w: {"read": w.strip()}, st.text("abc", min_size=1, max_size=5)),
    st.builds(lambda w: {"run": w}, WORDS),
    st.builds(lambda w: {"edit": {"path": w, "old": "1", "new": "2"}}, st.sampled_from(["a", "b"])),
)
PLAIN = st.lists(st.one_of(CALLS, st.builds(lambda w: {"say": w}, WORDS)), max_size=8)


def alone(played: Part) -> list[Answer]:
    """All answers of the main thread, one after the other, by the steps alone."""
    says: list[str] = []
    expected: list[tuple[str, list[str]]] = []
    seen: set[str] = set()
    for step in played.steps:
        if step.say is not None:
            says.append(step.say)
            continue
        names = {"read": ["Read"], "run": ["Shell"], "edit": ["Edit"], "spawn": ["Spawn"]}[step.kind]
        if step.edit is not None and step.edit.path not in seen:
            names = ["Read", "Edit"]
        seen |= {step.read or ""} | ({step.edit.path} if step.edit else set())
        for name in names:
            expected.append(("\n\n".join(says), [name]))
            says = []
    return [*expected, ("\n\n".join(says) or (DONE if played.steps else ""), [])]  # type: ignore[list-item]


@given(PLAIN)
@settings(max_examples=60, deadline=None)
def test_the_nth_request_gets_the_nth_answer_of_any_script(raw: list[dict[str, Any]]):
    played = part(*raw)
    answers = conversation_of(played, PROMPT)[0]
    assert [(a.text, [u.name for u in a.uses]) for a in answers] == alone(played)


@given(PLAIN, st.data())
@settings(max_examples=60, deadline=None)
def test_asking_again_gives_the_same_and_never_goes_on(raw: list[dict[str, Any]], data: st.DataObject):
    played = part(*raw)
    answers, messages = conversation_of(played, PROMPT)
    upto = data.draw(st.integers(0, len(answers) - 1))
    before = messages[: 1 + 2 * upto]
    assert [answer(played, *before) for _ in range(3)] == [answers[upto]] * 3


@given(PLAIN, PLAIN, PLAIN, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_threads_that_run_at_once_play_as_if_each_were_alone(
    main: list[dict[str, Any]], one: list[dict[str, Any]], two: list[dict[str, Any]], random: Any
):
    children = [{"spawn": {"task": f"task {n}", "background": True, "steps": s}} for n, s in enumerate((one, two))]
    played = part(*children, *main)
    starts = [PROMPT, "task 0", "task 1"]
    alone_ = {start: conversation_of(played, start)[0] for start in starts}
    told = {start: [user(start)] for start in starts}
    heard: dict[str, list[Answer]] = {start: [] for start in starts}
    while left := [s for s in starts if len(heard[s]) < len(alone_[s])]:
        start = random.choice(left)
        given_ = answer(played, *told[start])
        heard[start].append(given_)
        told[start] += [said(given_, len(heard[start])), Message("user", results=("ok",) * len(given_.uses))]
    assert heard == alone_
