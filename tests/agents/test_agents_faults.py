"""One cause is one kind of error and one piece of advice, whichever CLI it breaks."""

from __future__ import annotations

from typing import Any

import pytest

from evalrepo.agents import faults
from evalrepo.agents.claude import faults as claude
from evalrepo.agents.codex import faults as codex
from evalrepo.agents.opencode import faults as opencode
from evalrepo.agents.pi import faults as pi


def by_claude(said: str, status: int) -> tuple[str, str]:
    return claude.of_answer({"apiErrorStatus": status or None, "error": "unknown"}, said)


def by_opencode(said: str, status: int) -> tuple[str, str]:
    data: dict[str, Any] = {"message": said, **({"statusCode": status} if status else {})}
    return opencode.fault({"name": "APIError", "data": data})


def by_pi(said: str, status: int) -> tuple[str, str]:
    return pi.of_answer(f"{status} {said}" if status else said)


def by_codex(said: str, status: int) -> tuple[str, str]:
    info = {"http_connection_failed": {"http_status_code": status}} if status else "other"
    return codex.fault({"message": said, "codex_error_info": info})


CLIS = (by_claude, by_opencode, by_pi, by_codex)
CAUSES = [
    (401, "invalid x-api-key", "auth", "put a valid key"),
    (403, "Forbidden", "auth", "put a valid key"),
    (402, "Payment required", "auth", "see its billing"),
    (400, "Your credit balance is too low", "auth", "see its billing"),
    (0, "Not logged in", "auth", "name its key in the agent's `env`"),
    (404, "model: not found", "agent", "correct the tier's `model`"),
    (413, "Request too large", "limit", "does not fit"),
    (400, "prompt is too long: 401 tokens > 400 maximum", "limit", "does not fit"),
    (0, "Your input exceeds the context window of this model.", "limit", "does not fit"),
    (429, "slow down", "rate-limit", "fewer `--jobs`"),
    (529, "Overloaded", "rate-limit", "fewer `--jobs`"),
    (0, "You exceeded your current quota", "rate-limit", "fewer `--jobs`"),
    (500, "boom", "network", "try again later"),
    (503, "The service is overloaded", "network", "try again later"),
    (0, "Connection refused", "network", "cannot be reached"),
    (0, "getaddrinfo ENOTFOUND example.com", "network", "cannot be reached"),
    (0, "Connection reset by server", "truncated", "broke off"),
    (0, "stream closed before it was complete", "truncated", "broke off"),
    (0, "Unknown command: /x:y", "not-loaded", "part of the subject"),
    (400, "max_tokens must not be more than 500", "agent", ""),
]


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize(("status", "said", "kind", "advice"), CAUSES)
def test_a_cause_has_one_kind_and_says_what_happened_and_then_what_to_do(
    cli: Any, status: int, said: str, kind: str, advice: str
):
    found, message = cli(said, status)
    what, _, rest = message.partition(" (")
    assert (found, said in what, advice in rest, message.endswith(")")) == (kind, True, True, bool(advice))


@pytest.mark.parametrize(("status", "said", "kind", "advice"), CAUSES)
def test_the_log_of_any_other_agent_is_understood_alike(status: int, said: str, kind: str, advice: str):
    if not status:
        assert faults.error_kind("", said) == kind
        assert faults.error_kind(kind.replace("-", "_"), "whatever") == kind


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('{"error": {"message": "No."}}', "No."),
        ('{"type": "error", "message": "Yes."}', "Yes."),
        ('{"error": "plain"}', "plain"),
        ('{"error": {}}', '{"error": {}}'),
        (" as it is ", "as it is"),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_a_vendors_sentence_is_taken_out_of_its_json(said: str, expected: str):
    assert faults.plain(said) == expected


def test_a_cli_says_its_own_variable_and_its_own_list_of_models():
    assert claude.DIALECT.key in by_claude("Not logged in", 0)[1]
    assert "`env: [CODEX_API_KEY]`" in by_codex("Missing environment variable: `CODEX_API_KEY`.", 0)[1]
    assert "`pi --list-models`" in by_pi("The model does not exist.", 404)[1]
    assert "`opencode models`" in by_opencode("model: not found", 404)[1]
