"""The model server's HTTP: requests go to the protocol's module, its answers become responses, faults break them."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from evalrepo.errors import HarnessError
from evalrepo.rehearsal import chat, messages, play, responses
from evalrepo.rehearsal.book import Asked, Book, Entry
from evalrepo.rehearsal.conversation import Answer, Conversation, Event, Fault, encoded

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

WITHIN_S = 10.0
"""The longest that starting and stopping may take."""
_EVENTS = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Protocol:
    """One vendor protocol's functions."""

    name: str
    read: Callable[[Mapping[str, Any]], Conversation]
    reply: Callable[[Answer, str], dict[str, Any]]
    events: Callable[[Answer, str, Conversation], Iterator[Event]]
    error: Callable[[Fault, str], dict[str, Any]]


MESSAGES = Protocol("messages", messages.read, messages.reply, messages.events, messages.error)
CHAT = Protocol("chat", chat.read, chat.reply, chat.events, chat.error)
RESPONSES = Protocol("responses", responses.read, responses.reply, responses.events, responses.error)

PROTOCOLS = {"/messages": MESSAGES, "/chat/completions": CHAT, "/responses": RESPONSES}
"""The end of a path → who speaks there; clients differ in what stands before it."""


class Running(uvicorn.Server):
    """Serves the book on sockets, which become its own, in a thread of its own; no signal handlers, no log."""

    def __init__(self, book: Book, sockets: list[socket.socket]) -> None:
        super().__init__(
            uvicorn.Config(
                _application(book),
                loop="asyncio",
                http="h11",
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level="critical",
                access_log=False,
                timeout_graceful_shutdown=0,
            )
        )
        self._sockets = sockets
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._work, name="model-server", daemon=True)

    def start(self) -> None:
        """Returns when connections are taken. HarnessError when that does not come to be."""
        self._thread.start()
        if not self._ready.wait(WITHIN_S) or not self.started:
            self.stop()
            raise HarnessError("the model server did not start", hint="see whether sockets can be opened on loopback")

    def stop(self) -> None:
        """Close every connection, also those that wait for an answer."""
        self.should_exit = self.force_exit = True
        self._thread.join(WITHIN_S)

    def _work(self) -> None:
        try:
            self.run(self._sockets)
        finally:
            self._ready.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Tells the starting thread."""
        await super().startup(sockets)
        self._ready.set()


def _application(book: Book) -> Starlette:
    async def handle(request: Request) -> Response:
        path = request.url.path
        if "upgrade" in request.headers:
            return _error(_vendor(request), Fault(426, "This server speaks HTTP only."))
        if request.method in ("GET", "HEAD"):
            return _looked_up(request)
        if path.endswith("/messages/count_tokens"):
            return JSONResponse(messages.count())
        protocol = next((known for end, known in PROTOCOLS.items() if path.endswith(end)), None)
        if protocol is None or request.method != "POST":
            return _error(_vendor(request), Fault(404, "Not found"))
        entry = book.get(_key(request))
        return await _respond(entry, protocol, request) if entry else _error(protocol, Fault(401))

    methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    return Starlette(routes=[Route("/{path:path}", handle, methods=methods)])


def _key(request: Request) -> str:
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
    return request.headers.get("x-api-key") or bearer.strip()


def _vendor(request: Request) -> Protocol:
    """Whom the client takes us for."""
    return MESSAGES if "anthropic-version" in request.headers else CHAT


def _looked_up(request: Request) -> Response:
    """What is asked without a key: whether somebody is there, and the models, of which any name will do."""
    before, found, after = request.url.path.partition("/models")
    if not found:
        root = before.strip("/") in ("", "v1")
        return JSONResponse({}) if root else _error(_vendor(request), Fault(404, "Not found"))
    if name := after.strip("/"):
        times = {"created": chat.CREATED, "created_at": "2023-11-14T22:13:20Z", "owned_by": "system"}
        return JSONResponse({"id": name, "object": "model", "type": "model", "display_name": name, **times})
    return JSONResponse({"object": "list", "data": [], "models": [], "has_more": False})


async def _respond(entry: Entry, protocol: Protocol, request: Request) -> Response:
    raw, seed = await request.body(), entry.seed()
    try:
        conversation = protocol.read(json.loads(raw))
    except (ValueError, AttributeError):
        return _error(protocol, Fault(400, "The request's body is not a JSON object."), seed)
    cue = play.find(entry.part, conversation)
    where = (cue.thread.start, cue.position) if cue else ("", -1)
    about = (protocol.name, conversation.model, conversation.tools)
    entry.asked.append(Asked(*about, *where, dict(request.headers), raw))
    try:
        answer = play.answer(entry.part, conversation, cue)
        response = _response(protocol, conversation, answer, seed)
    except Exception as error:  # noqa: BLE001 - the rep shall end with these words, whatever an agent's module did
        entry.trouble = entry.trouble or play.sentence(error)
        return _error(protocol, Fault(400, entry.trouble), seed)
    await asyncio.sleep(answer.delay_s)
    return response


def _response(protocol: Protocol, conversation: Conversation, answer: Answer, seed: str) -> Response:
    fault = answer.fault
    if fault is None:
        return _whole(protocol, conversation, answer, seed)
    if fault.cut:
        return _cut(protocol, conversation, answer, seed)
    if fault.hang:
        return _Hang()
    if fault.too_long and protocol is RESPONSES and conversation.stream:
        return _stream(responses.failed(answer, fault, seed), seed)
    return _error(protocol, fault, seed)


def _whole(protocol: Protocol, conversation: Conversation, answer: Answer, seed: str) -> Response:
    if conversation.stream:
        return _stream(protocol.events(answer, seed, conversation), seed)
    return JSONResponse(protocol.reply(answer, seed), headers=_ids(seed))


def _cut(protocol: Protocol, conversation: Conversation, answer: Answer, seed: str) -> Response:
    """The first half."""
    if conversation.stream:
        events = [encoded(event) for event in protocol.events(answer, seed, conversation)]
        return _Cut(b"".join(events[: len(events) // 2]), _EVENTS)
    whole = json.dumps(protocol.reply(answer, seed)).encode()
    return _Cut(whole[: len(whole) // 2], "application/json")


def _stream(events: Iterator[Event], seed: str) -> Response:
    told = [encoded(event) for event in events]

    async def one_by_one() -> AsyncIterator[bytes]:
        for data in told:
            yield data

    return StreamingResponse(one_by_one(), media_type=_EVENTS, headers={"cache-control": "no-cache", **_ids(seed)})


_SOON_MS = "100"
"""opencode's retries cannot be turned down, but it waits only as long as it is told: seconds, not minutes."""


def _error(protocol: Protocol, fault: Fault, seed: str = "0") -> Response:
    wait = {"retry-after": "1"} if fault.status == 429 else {}
    if fault.status >= 500 or fault.status == 429:
        wait["retry-after-ms"] = _SOON_MS
    return JSONResponse(protocol.error(fault, seed), fault.status, headers={**wait, **_ids(seed)})


def _ids(seed: str) -> dict[str, str]:
    return {"request-id": f"req_{seed}", "x-request-id": f"req_{seed}"}


class _Hang(Response):
    """Never answers; ends when the client gives up."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        while (await receive())["type"] != "http.disconnect":
            pass


class _Cut(Response):
    """Begins to answer, and closes the connection."""

    def __init__(self, begun: bytes, media_type: str) -> None:
        super().__init__(media_type=media_type)
        self._begun = begun

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        headers = [(b"content-type", str(self.media_type).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": self._begun, "more_body": True})
        raise ConnectionAbortedError
