"""The model server over its two sockets: the vendors' protocols, keys, faults, and that it starts and stops quickly."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evalrepo.agents.speech import Scene, Use
from evalrepo.errors import HarnessError
from evalrepo.records.steps import Step
from evalrepo.rehearsal.play import Part
from evalrepo.rehearsal.server import ModelServer

PROMPT = "Look at the parser."


class Cli:
    """The words of a command line tool with a shell, a tool that takes free text, and one that is broken."""

    def uses(self, steps: Sequence[Step], scene: Scene) -> Sequence[Sequence[Use]]:
        step = steps[0]
        if step.read is not None:
            return [[Use("read", {"path": step.read}, "files"), Use("read", {"path": "b\u00e9.py"}, "files")]]
        if step.write is not None:
            return [[Use("patch", f"*** {step.write.path}\n+{step.write.content}")]]
        if step.skill is not None and scene.tools:
            raise KeyError(step.skill)
        if step.search is not None and scene.tools:
            raise LookupError("there is no tool that searches")
        return [[Use("shell", {"command": str(step.run)})]]

    def waiting(self, scene: Scene) -> bool:
        return False


def part(*raw: dict[str, Any]) -> Part:
    steps = tuple(Step.model_validate(step) for step in raw)
    return Part(Cli(), steps, PROMPT, "/srv/project", "/home/dev")  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    with ModelServer(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> Iterator[ModelServer]:
    yield running
    running.dismiss("k")


class Unix(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=5)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(5)
        self.sock.connect(str(self.path))


def tcp(server: ModelServer, timeout: float = 5) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=timeout)


Got = tuple[int, dict[str, str], bytes]


def post(
    connection: http.client.HTTPConnection, path: str, body: Mapping[str, Any] | bytes, key: str = "k", **more: str
) -> Got:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.request("POST", path, data, {"authorization": f"Bearer {key}", **more})
    return received(connection)


def received(connection: http.client.HTTPConnection) -> Got:
    response = connection.getresponse()
    return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()


def events(body: bytes) -> list[tuple[str, Any]]:
    """Server-sent events as name and data."""
    found = []
    for block in body.decode().strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n"))
        data = lines["data"]
        found.append((lines.get("event", ""), data if data == "[DONE]" else json.loads(data)))
    return found


TOOLS: dict[str, list[dict[str, Any]]] = {
    "messages": [{"name": "shell", "input_schema": {}}],
    "chat": [{"type": "function", "function": {"name": "shell", "parameters": {}}}],
    "responses": [
        {"type": "function", "name": "shell", "parameters": {}},
        {"type": "namespace", "name": "files", "tools": [{"type": "function", "name": "read"}]},
        {"type": "custom", "name": "patch"},
        {"type": "web_search"},
    ],
}
PATHS = {"messages": "/v1/messages?beta=true", "chat": "/v1/chat/completions", "responses": "/v1/responses"}


def body(protocol: str, *messages: Any, stream: bool = False, **more: Any) -> dict[str, Any]:
    said = messages or ({"role": "user", "content": PROMPT},)
    name = "input" if protocol == "responses" else "messages"
    return {"model": "big", name: list(said), "tools": TOOLS[protocol], "stream": stream, **more}


def test_anthropic_messages_in_one_piece(server: ModelServer):
    server.admit("k", part({"say": "I run it."}, {"run": "make"}))
    status, headers, data = post(tcp(server), PATHS["messages"], body("messages"), "", **{"x-api-key": "k"})
    answer = json.loads(data)
    assert (status, headers["content-type"]) == (200, "application/json")
    assert answer["id"].startswith("msg_")
    assert answer["content"][1]["id"].startswith("toolu_")
    assert {k: answer[k] for k in ("type", "role", "model", "stop_reason", "stop_sequence")} == {
        "type": "message", "role": "assistant", "model": "big", "stop_reason": "tool_use", "stop_sequence": None,
    }  # fmt: skip
    assert answer["content"][0] == {"type": "text", "text": "I run it."}
    assert {k: answer["content"][1][k] for k in ("type", "name", "input")} == {
        "type": "tool_use", "name": "shell", "input": {"command": "make"},
    }  # fmt: skip
    assert (answer["usage"]["input_tokens"], answer["usage"]["output_tokens"]) == (100, 20)


def test_anthropic_messages_as_a_stream(server: ModelServer):
    server.admit("k", part({"say": "I run it."}, {"run": "make"}))
    status, headers, data = post(tcp(server), PATHS["messages"], body("messages", stream=True))
    told = events(data)
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert all(name == event["type"] for name, event in told)
    kinds = [name for name, _ in told if name != "content_block_delta"]
    block = ["content_block_start", "content_block_stop"]
    assert kinds == ["message_start", block[0], "ping", block[1], *block, "message_delta", "message_stop"]
    deltas = [event["delta"] for name, event in told if name == "content_block_delta"]
    assert "".join(d.get("text", "") for d in deltas) == "I run it."
    assert json.loads("".join(d.get("partial_json", "") for d in deltas)) == {"command": "make"}
    assert told[-2][1]["delta"]["stop_reason"] == "tool_use"
    assert told[-2][1]["usage"]["output_tokens"] == 20


def test_openai_chat_in_one_piece_and_as_a_stream(server: ModelServer):
    server.admit("k", part({"say": "I run it."}, {"run": "make"}))
    whole = json.loads(post(tcp(server), PATHS["chat"], body("chat"))[2])
    choice = whole["choices"][0]
    assert (whole["object"], choice["finish_reason"], whole["usage"]["total_tokens"]) == (
        "chat.completion",
        "tool_calls",
        120,
    )
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "shell", "arguments": '{"command":"make"}'}
    asked = body("chat", stream=True, stream_options={"include_usage": True})
    told = events(post(tcp(server), PATHS["chat"], asked)[2])
    chunks = [event for _, event in told[:-1]]
    assert told[-1] == ("", "[DONE]")
    assert {c["object"] for c in chunks} == {"chat.completion.chunk"}
    assert (chunks[-1]["choices"], chunks[-1]["usage"]["completion_tokens"]) == ([], 20)
    deltas = [c["choices"][0]["delta"] for c in chunks[:-1]]
    calls = [call for d in deltas for call in d.get("tool_calls", [])]
    assert "".join(d.get("content") or "" for d in deltas) == "I run it."
    assert (calls[0]["function"]["name"], "id" in calls[0]) == ("shell", True)
    assert json.loads("".join(c["function"]["arguments"] for c in calls)) == {"command": "make"}
    assert chunks[-2]["choices"][0]["finish_reason"] == "tool_calls"


def test_openai_chat_tells_the_usage_in_a_stream_only_when_asked(server: ModelServer):
    server.admit("k", part({"say": "Done."}))
    told = events(post(tcp(server), PATHS["chat"], body("chat", stream=True))[2])
    assert not any("usage" in event for _, event in told[:-1])


def test_openai_responses_as_a_stream_with_namespaces_and_parallel_calls(server: ModelServer):
    server.admit("k", part({"say": "I read."}, {"read": "a.py"}))
    told = events(post(tcp(server), PATHS["responses"], body("responses", stream=True))[2])
    assert [event["sequence_number"] for _, event in told] == list(range(len(told)))
    assert [name for name, _ in told][:2] == ["response.created", "response.in_progress"]
    done = [event["item"] for name, event in told if name == "response.output_item.done"]
    final = told[-1][1]["response"]
    assert (told[-1][0], final["status"], final["output"]) == ("response.completed", "completed", done)
    assert [(i["type"], i.get("namespace"), i.get("arguments")) for i in done] == [
        ("message", None, None),
        ("function_call", "files", '{"path":"a.py"}'),
        ("function_call", "files", '{"path":"b\\u00e9.py"}'),
    ]
    assert len({i["call_id"] for i in done[1:]}) == 2
    assert final["usage"]["total_tokens"] == 120
    assert server.asked("k")[0].tools == {"shell", "files.read", "patch", "web_search"}


def test_openai_responses_offers_tools_in_the_input_too(server: ModelServer):
    server.admit("k", part({"run": "make"}))
    tools = [{"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}]
    items = [{"type": "additional_tools", "role": "developer", "tools": tools}, {"role": "user", "content": PROMPT}]
    whole = json.loads(post(tcp(server), PATHS["responses"], {"model": "big", "input": items})[2])
    assert whole["output"][0]["arguments"] == '{"command":"make"}'
    assert server.asked("k")[0].tools == {"functions.exec"}


def test_openai_responses_calls_a_custom_tool_with_free_text(server: ModelServer):
    server.admit("k", part({"write": {"path": "a.py", "content": "1"}}))
    whole = json.loads(post(tcp(server), PATHS["responses"], body("responses"))[2])
    item = whole["output"][0]
    assert (item["type"], item["name"], item["input"]) == ("custom_tool_call", "patch", "*** a.py\n+1")
    told = events(post(tcp(server), PATHS["responses"], body("responses", stream=True))[2])
    grown = "".join(e["delta"] for name, e in told if name == "response.custom_tool_call_input.delta")
    assert grown == "*** a.py\n+1"


IDS = [f"call_0123456789abcdef0001_{n}" for n in range(2)]


def turns(protocol: str) -> list[Any]:
    """A conversation after one answer with two calls, as each protocol tells it."""
    if protocol == "messages":
        uses = [{"type": "tool_use", "id": i, "name": "shell", "input": {}} for i in IDS]
        results = [{"type": "tool_result", "tool_use_id": i, "content": "ok"} for i in IDS]
        prompt = [{"type": "text", "text": "<reminder>"}, {"type": "text", "text": PROMPT}]
        return [
            {"role": "user", "content": prompt},
            {"role": "assistant", "content": uses},
            {"role": "user", "content": results},
        ]
    if protocol == "chat":
        calls = [{"id": i, "type": "function", "function": {"name": "shell", "arguments": "{}"}} for i in IDS]
        said = {"role": "assistant", "content": None, "tool_calls": calls}
        results = [{"role": "tool", "tool_call_id": i, "content": "ok"} for i in IDS]
        return [{"role": "system", "content": "Be good."}, {"role": "user", "content": PROMPT}, said, *results]
    calls = [{"type": "function_call", "call_id": i, "name": "shell", "arguments": "{}"} for i in IDS]
    outputs = [{"type": "function_call_output", "call_id": i, "output": "ok"} for i in IDS]
    reasoning = {"type": "reasoning", "summary": []}
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}
    prompt = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": PROMPT}]}
    return [prompt, reasoning, message, calls[0], outputs[0], calls[1], outputs[1]]


@pytest.mark.parametrize("protocol", ["messages", "chat", "responses"])
def test_the_conversation_says_where_it_is(server: ModelServer, protocol: str):
    server.admit("k", part({"run": "1"}, {"run": "2"}, {"run": "3"}))
    data = post(tcp(server), PATHS[protocol], body(protocol, *turns(protocol)))[2]
    assert '"2"' in data.decode().replace("\\", "")
    assert [(a.protocol, a.thread, a.position) for a in server.asked("k")] == [(protocol, PROMPT, 1)]


def test_a_message_from_one_agent_to_another_stands_where_a_prompt_would(server: ModelServer):
    child = {"task": "Count the tests.", "reports": "Seven."}
    server.admit("k", part({"spawn": child}))
    content = [{"type": "encrypted_content", "encrypted_content": "Count the tests."}]
    history = [{"role": "user", "content": PROMPT}, {"type": "agent_message", "content": content}]
    whole = json.loads(post(tcp(server), PATHS["responses"], body("responses", *history))[2])
    assert whole["output"][0]["content"][0]["text"] == "Seven."


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("/tidy", "<command-name>/tidy</command-name>"),
        (
            "/tidy the\nwhole <house>",
            "<command-name>/tidy</command-name>\n<command-args>the\nwhole <house></command-args>\n",
        ),
    ],
)
def test_a_slash_command_is_read_as_it_was_typed(server: ModelServer, prompt: str, told: str):
    step = Step.model_validate({"say": "Tidied."})
    server.admit("k", Part(Cli(), (step,), prompt, "/srv/project", "/home/dev"))  # type: ignore[arg-type]
    blocks = [f"<command-message>tidy</command-message>\n{told}", "The skill: tidy up.\n"]
    asked = body("messages", {"role": "user", "content": [{"type": "text", "text": text} for text in blocks]})
    assert json.loads(post(tcp(server), PATHS["messages"], asked)[2])["content"][0]["text"] == "Tidied."
    assert server.asked("k")[0].thread == prompt


def test_ids_of_two_answers_are_never_the_same(server: ModelServer):
    server.admit("k", part({"run": "1"}))
    answers = [json.loads(post(tcp(server), PATHS["messages"], body("messages"))[2]) for _ in range(2)]
    assert len({a["id"] for a in answers}) == len({a["content"][0]["id"] for a in answers}) == 2
    assert [a["content"][0]["input"] for a in answers] == [{"command": "1"}] * 2


ERRORS = [
    (401, "messages", "authentication_error", "invalid x-api-key"),
    (404, "messages", "not_found_error", "model: not found"),
    (
        429,
        "messages",
        "rate_limit_error",
        "This request would exceed your account's rate limit. Please try again later.",
    ),
    (500, "messages", "api_error", "Internal server error"),
    (529, "messages", "overloaded_error", "Overloaded"),
    (401, "responses", "invalid_request_error", "Incorrect API key provided."),
    (404, "chat", "invalid_request_error", "The model does not exist or you do not have access to it."),
    (429, "responses", "requests", "Rate limit reached for requests. Please try again in 1s."),
    (500, "chat", "server_error", "The server had an error while processing your request. Sorry about that!"),
]


@pytest.mark.parametrize(("status", "protocol", "kind", "words"), ERRORS)
def test_an_error_has_the_vendors_form(server: ModelServer, status: int, protocol: str, kind: str, words: str):
    server.admit("k", part({"fail": {"status": status}}))
    got, headers, data = post(tcp(server), PATHS[protocol], body(protocol, stream=True))
    error = json.loads(data)["error"]
    assert (got, error["type"], error["message"]) == (status, kind, words)
    assert headers.get("retry-after") == ("1" if status == 429 else None)
    assert headers.get("retry-after-ms") == ("100" if status == 429 or status >= 500 else None)


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        ("messages", "prompt is too long: 210000 tokens > 200000 maximum"),
        ("chat", "Your input exceeds the context window of this model. Please adjust your input and try again."),
    ],
)
def test_a_prompt_that_is_too_long_is_refused_in_the_vendors_words(server: ModelServer, protocol: str, words: str):
    server.admit("k", part({"fail": {"error": "The prompt is too long."}}))
    status, _, data = post(tcp(server), PATHS[protocol], body(protocol, stream=True))
    assert (status, json.loads(data)["error"]["message"]) == (400, words)


def test_a_responses_stream_fails_in_the_stream_when_the_prompt_is_too_long(server: ModelServer):
    server.admit("k", part({"fail": {"error": "The prompt is too long."}}))
    told = events(post(tcp(server), PATHS["responses"], body("responses", stream=True))[2])
    assert [name for name, _ in told] == ["response.created", "response.failed"]
    assert told[1][1]["response"]["error"]["code"] == "context_length_exceeded"


def test_an_unknown_key_gets_the_vendors_answer_to_a_wrong_one(server: ModelServer):
    server.admit("k", part({"say": "Hello."}))
    server.dismiss("k")
    server.dismiss("k")
    status, _, data = post(tcp(server), PATHS["messages"], body("messages"))
    assert (status, json.loads(data)["error"]["type"]) == (401, "authentication_error")
    assert server.asked("k") == ()


@pytest.mark.parametrize("protocol", ["messages", "chat", "responses"])
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("way", ["tcp", "unix"])
def test_a_cut_answer_breaks_off_in_the_middle(server: ModelServer, protocol: str, stream: bool, way: str):
    server.admit("k", part({"say": "I begin with the parser, which is"}, {"fail": {"truncate": True}}))
    connection = tcp(server) if way == "tcp" else Unix(server.socket)
    with pytest.raises(http.client.IncompleteRead) as caught:
        post(connection, PATHS[protocol], body(protocol, stream=stream))
    text = caught.value.partial.decode()
    assert "I begin" in text if stream else len(text) > 20
    assert not stream or "which is" not in text


def test_an_answer_that_hangs_never_comes(server: ModelServer):
    server.admit("k", part({"fail": {"hang": True}}))
    with pytest.raises(TimeoutError):
        post(tcp(server, timeout=0.3), PATHS["messages"], body("messages", stream=True))
    (asked,) = server.asked("k")
    assert (asked.body["messages"], asked.headers["authorization"]) == (body("messages")["messages"], "Bearer k")


def test_a_delayed_answer_holds_no_other_up(server: ModelServer):
    server.admit("slow", part({"sleep": 1}, {"say": "Late."}))
    server.admit("k", part({"say": "At once."}))
    slow = threading.Thread(target=post, args=(tcp(server), PATHS["chat"], body("chat"), "slow"))
    begun = time.monotonic()
    slow.start()
    post(tcp(server), PATHS["chat"], body("chat"))
    quick = time.monotonic() - begun
    slow.join()
    assert quick < 0.9 < time.monotonic() - begun


def test_a_step_without_a_tool_ends_the_rep_with_its_sentence(server: ModelServer):
    server.admit("k", part({"search": "x"}))
    assert server.trouble("k") == ""
    status, _, data = post(tcp(server), PATHS["messages"], body("messages", stream=True))
    assert (status, json.loads(data)["error"]["message"]) == (400, "there is no tool that searches")
    assert server.trouble("k") == "there is no tool that searches"


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"skill": "tidy"}, "KeyError: tidy"),
        (
            {"write": {"path": "a", "content": "b"}},
            "the tool patch takes free text, for which this protocol has no call",
        ),
    ],
)
def test_a_broken_agent_module_is_told_and_breaks_nothing_else(server: ModelServer, step: dict[str, Any], words: str):
    server.admit("k", part(step))
    assert post(tcp(server), PATHS["messages"], body("messages"))[0] == 400
    assert server.trouble("k") == words


def test_a_part_that_cannot_be_played_is_not_admitted(server: ModelServer):
    with pytest.raises(HarnessError):
        server.admit("k", part({"spawn": {"task": PROMPT}}))
    assert post(tcp(server), PATHS["messages"], body("messages"))[0] == 401


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b'"text"', b"\xff"])
def test_a_body_that_is_no_json_object_is_refused(server: ModelServer, data: bytes):
    server.admit("k", part({"say": "Hello."}))
    assert post(tcp(server), PATHS["responses"], data)[0] == 400
    assert server.trouble("k") == ""


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("HEAD", "/", 200),
        ("GET", "/", 200),
        ("GET", "/v1/models", 200),
        ("GET", "/v1/models/big", 200),
        ("GET", "/v1/organizations", 404),
        ("POST", "/v1/embeddings", 404),
        ("PUT", "/v1/messages", 404),
        ("POST", "/v1/messages/count_tokens", 200),
    ],
)
def test_what_else_clients_ask_is_answered_politely(server: ModelServer, method: str, path: str, status: int):
    connection = tcp(server)
    connection.request(method, path, b"{}" if method == "POST" else None)
    assert received(connection)[0] == status


def test_a_websocket_is_refused_so_that_the_client_falls_back_at_once(server: ModelServer):
    connection = tcp(server)
    upgrade = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-key": "eA==",
        "sec-websocket-version": "13",
    }
    connection.request("GET", "/v1/responses", headers=upgrade)
    assert received(connection)[0] == 426


def test_many_clients_at_once_get_what_is_theirs(server: ModelServer):
    wrong: list[str] = []

    def ask(number: int) -> None:
        connection = tcp(server) if number % 2 else Unix(server.socket)
        for _ in range(5):
            data = post(connection, PATHS["chat"], body("chat"), f"key {number}")[2]
            text = json.loads(data)["choices"][0]["message"]["content"]
            wrong.extend([text] if text != f"I am {number}." else [])

    for number in range(12):
        server.admit(f"key {number}", part({"say": f"I am {number}."}))
    clients = [threading.Thread(target=ask, args=(n,)) for n in range(12)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert wrong == []


def test_every_user_may_connect_to_the_unix_socket(server: ModelServer):
    assert stat.S_IMODE(server.socket.stat().st_mode) == 0o666


def test_a_directory_with_a_long_name_takes_the_socket(tmp_path: Path):
    deep = tmp_path / ("d" * 90) / ("e" * 90)
    deep.mkdir(parents=True)
    with ModelServer(deep) as server:
        server.admit("k", part({"say": "Deep."}))
        directory = os.open(deep, os.O_RDONLY)
        answer = post(Unix(Path(f"/proc/self/fd/{directory}", server.socket.name)), PATHS["chat"], body("chat"))
        os.close(directory)
    assert answer[0] == 200
    assert not server.socket.exists()


def test_a_directory_that_is_not_there_is_an_error_with_its_name(tmp_path: Path):
    with pytest.raises(HarnessError, match=r"absent/model\.sock: No such file"), ModelServer(tmp_path / "absent"):
        pass


def given_up(connection: http.client.HTTPConnection) -> bool:
    """Whether the other side ended it without an answer of the model."""
    try:
        return connection.getresponse().status == 500
    except (ConnectionError, http.client.HTTPException):
        return True


def test_without_the_web_packages_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, "evalrepo.rehearsal.web", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(HarnessError, match="needs the package uvicorn") as caught, ModelServer(tmp_path):
        pass
    assert "evalrepo[rehearsal]" in caught.value.hint


def test_it_starts_and_stops_at_once_with_requests_that_hang(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    handlers = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]
    before = threading.active_count()
    begun = time.monotonic()
    with ModelServer(tmp_path) as server:
        started = time.monotonic() - begun
        server.admit("k", part({"fail": {"hang": True}}))
        server.admit("slow", part({"sleep": 60}, {"say": "Late."}))
        open_ = [tcp(server), Unix(server.socket), tcp(server)]
        for connection, key in zip(open_, ("k", "k", "slow"), strict=True):
            connection.request("POST", PATHS["chat"], json.dumps(body("chat")), {"x-api-key": key})
        while len(server.asked("k")) < 2 or not server.asked("slow"):
            time.sleep(0.01)
        assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == handlers
        begun = time.monotonic()
    stopped = time.monotonic() - begun
    assert threading.active_count() == before
    assert [given_up(connection) for connection in open_] == [True] * 3
    assert (started < 2, stopped < 1) == (True, True)
    assert capfd.readouterr() == ("", "")


LOADED_AT_ONCE = """
import importlib, threading
names = ["evalrepo.rehearsal.play", "evalrepo.rehearsal.server", "evalrepo.rehearsal.relaying"]
start, wrong = threading.Barrier(len(names)), []

def load(name):
    start.wait()
    try:
        importlib.import_module(name)
    except ImportError as error:
        wrong.append(str(error))

threads = [threading.Thread(target=load, args=(name,)) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(wrong)
"""


def test_the_first_reps_of_a_run_may_load_the_server_at_once():
    command = [sys.executable, "-c", LOADED_AT_ONCE]
    said = {subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(8)}
    assert said == {"[]\n"}
