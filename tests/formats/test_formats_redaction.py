"""Redaction: nothing of a secret stays, JSON stays JSON, and what is no secret stays byte for byte."""

from __future__ import annotations

import base64
import json
import time
import urllib.parse

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalrepo.formats.redaction import Redactor

SECRET = 'pa$$w"rd/é\\n&+ k'
ENCODERS = {
    "as it is": lambda s: s,
    "json": lambda s: json.dumps(s)[1:-1],
    "json, not ascii": lambda s: json.dumps(s, ensure_ascii=False)[1:-1],
    "json in json": lambda s: json.dumps(json.dumps(s))[3:-3],
    "json of go": lambda s: json.dumps(s)[1:-1].replace("&", "\\u0026").replace("/", "\\/"),
    "url": lambda s: urllib.parse.quote(s, safe=""),
    "url, lower case": lambda s: "".join(c.lower() if "%" in c else c for c in _percents(urllib.parse.quote(s))),
    "form": urllib.parse.quote_plus,
    "hexadecimal": lambda s: s.encode().hex().upper(),
    "base64": lambda s: base64.b64encode(s.encode()).decode(),
    "base64 of more": lambda s: base64.b64encode(b"user:" + s.encode() + b"\n").decode(),
    "base64 for urls": lambda s: base64.urlsafe_b64encode(b"x" + s.encode()).decode(),
}

# Built from halves, so that this file holds no token.
TOKENS = {
    "anthropic-key": "sk-ant-" + "api03-" + "A1b2C3d4" * 5,
    "openai-key": "sk-" + "proj-" + "A1b2C3d4" * 5,
    "github-token": "ghp_" + "A1b2C3d4" * 5,
    "gitlab-token": "glpat-" + "A1b2C3d4" * 3,
    "aws-key-id": "AKIA" + "ABCDEFGH12345678",
    "google-key": "AIza" + "A1b2C3d" * 5,
    "slack-token": "xoxb-" + "123456789012-abcdef",
    "npm-token": "npm_" + "A1b2C3" * 6,
    "huggingface-token": "hf_" + "A1b2C3" * 6,
    "pypi-token": "pypi-" + "AgE" + "A1b2C3d4" * 6,
    "stripe-key": "sk_" + "live_" + "A1b2C3d4" * 3,
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJ" + "zdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "bearer-token": "Authorization: " + "Bearer " + "abcdefghijklmnop1234",
    "basic-auth": "Authorization: " + "Basic " + "dXNlcjpwYXNzd29yZDEyMw==",
    "api-key-header": "x-api-key: " + "abcdefghijklmnop1234",
    "url-password": "https://user:" + "hunter2" + "@example.org/x",
    "private-key": "-----{} RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1b2C3d4\nabc=\n-----{} RSA PRIVATE KEY-----".format(
        "BEGIN", "END"
    ),
}


def _percents(text: str) -> list[str]:
    out, at = [], 0
    while at < len(text):
        size = 3 if text[at] == "%" else 1
        out.append(text[at : at + size])
        at += size
    return out


@pytest.mark.parametrize("encoding", ENCODERS)
@pytest.mark.parametrize("secret", [SECRET, "abcdef123456", "correct horse battery", "ünïcödé-päss"])
def test_a_secret_value_is_found_in_every_form(encoding, secret):
    text = f"before {ENCODERS[encoding](secret)} after".encode()
    redactor = Redactor({"MY_TOKEN": secret}, [])
    assert redactor.refuse(text) == "MY_TOKEN"
    out, count = redactor.redact(text)
    assert (count, redactor.refuse(out)) == (1, None)
    assert b"[REDACTED:MY_TOKEN]" in out
    assert out.startswith(b"before ")
    assert out.endswith(b" after")


secrets = st.text(
    st.sampled_from('aZ09_-./+="\\ \n&é%:,u') | st.characters(exclude_categories=("Cs",)), min_size=6, max_size=20
).filter(lambda s: len(s.strip()) >= 6 and s.strip() not in "[REDACTED:KEY] [REDACTED:secret]")
around = st.text(st.sampled_from('abcnu"\\ \n0{}é') | st.characters(exclude_categories=("Cs",)), max_size=12)


@given(secrets, around, around, st.sampled_from(sorted(ENCODERS)))
@settings(max_examples=150, deadline=None)
@example("nabcdef", "\n", "", "as it is")
@example("0041bcde", "\x00", "", "as it is")
@example("abcdef\\", "", '"', "as it is")
@example('a","b":1', "", "", "as it is")
def test_no_form_of_a_secret_remains_at_any_place_of_a_json_line(secret, before, after, encoding):
    inner = before + ENCODERS[encoding](secret.strip()) + after
    line = json.dumps({"type": "text", inner: 1, "deep": [{"text": inner}, 5]}).encode()
    data = b'{"a": 1}\n' + line + b"\n" + b"not json " + inner.encode() + b"\n"
    redactor = Redactor({"KEY": secret}, [])
    out, count = redactor.redact(data)
    assert count >= 1
    assert redactor.refuse(out) is None
    assert secret.strip().encode() not in out
    assert out.startswith(b'{"a": 1}\n')
    assert json.loads(out.split(b"\n")[1])["type"] == "text"


@given(st.integers(100000, 10**9), st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_a_secret_inside_a_number_leaves_json_behind(number, extra):
    line = json.dumps({"n": [int(f"{'1' * extra}{number}2"), -1.5], "x": True}).encode()
    out, count = Redactor({"PIN": str(number)}, []).redact(line)
    assert count == 1
    assert (
        json.loads(out) == {"n": ["[REDACTED:PIN]" if not extra else "1" * extra + "[REDACTED:PIN]2", -1.5], "x": True}
        or str(number) not in out.decode()
    )


@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_of_a_known_make_is_found_without_its_value(kind):
    redactor = Redactor({}, [])
    for text in (f"x {TOKENS[kind]} y", json.dumps({"text": f"x\n{TOKENS[kind]}\ny"})):
        assert redactor.refuse(text.encode()) == kind
        out, count = redactor.redact(text.encode())
        assert (count, redactor.refuse(out)) == (1, None)
        assert f"[REDACTED:{kind}]" in out.decode()
        if text.startswith("{"):
            assert json.loads(out)["text"].endswith("y")


@pytest.mark.parametrize(
    "text",
    [
        "a task-oriented-approach-to-something-long-enough 0123456789",
        "commit 3f2a91c03f2a91c03f2a91c03f2a91c03f2a91c0 and uuid 123e4567-e89b-12d3-a456-426614174000",
        "https://example.org:8080/a@b and git@github.com:owner/name.git",
        "the bearer of this letter is authorised; basic functionality is tested",
        "toolu_01A09q90qw90lq917835lq9",
        "sk-learn is not a key, nor is risk-averse",
    ],
)
def test_ordinary_text_is_left_alone(text):
    assert Redactor({"SHORT": "ab"}, []).redact(text.encode()) == (text.encode(), 0)


def test_signatures_stay_byte_for_byte():
    signature = "EqQB" + TOKENS["openai-key"].replace("-", "+") + "/" + "AKIA" + "ABCDEFGH12345678" + "=="
    line = json.dumps({"type": "thinking", "signature": signature, "thoughtSignature": signature}).encode()
    redactor = Redactor({}, [])
    assert redactor.redact(line) == (line, 0)
    assert redactor.refuse(line) is None
    assert Redactor({"K": signature[4:30]}, []).redact(line)[1] == 2


def test_patterns_of_the_config_redact_as_well():
    redactor = Redactor({}, [r"CUST-\d{4}", "[A-Z]{6,}"])
    out, count = redactor.redact(b'{"a": "CUST-1234 and WONDERS"}')
    assert (out, count) == (b'{"a": "[REDACTED:pattern-1] and [REDACTED:pattern-2]"}', 2)
    assert redactor.refuse(out) is None
    assert redactor.redact(out) == (out, 0)


def test_a_pattern_over_line_ends_leaves_the_lines():
    data = b'{"a": "KEYX"}\n"KEYX"\nplain KEYX\nKEYX\n\nKEYX'
    out, count = Redactor({}, [r"\s*KEYX"]).redact(data)
    mark = b"[REDACTED:pattern-1]"
    assert out == b'{"a": "%s"}\n"%s"\nplain%s\n%s\n\n%s' % ((mark,) * 5)
    assert count == 5


def test_what_looks_like_our_mark_is_no_hiding_place():
    token = TOKENS["github-token"]
    assert Redactor({}, []).refuse(f"[REDACTED:{token}]".encode()) == "github-token"


def test_the_longer_of_two_secrets_gives_the_name():
    out, _ = Redactor({"SHORT": "abcdef", "LONG": "abcdef-ghijkl"}, []).redact(b"abcdef-ghijkl abcdef")
    assert out == b"[REDACTED:LONG] [REDACTED:SHORT]"


def test_a_private_key_over_several_lines_goes_as_one():
    text = f"a\n{TOKENS['private-key']}\nb\n".encode()
    assert Redactor({}, []).redact(text) == (b"a\n[REDACTED:private-key]\nb\n", 1)


def test_data_without_a_secret_comes_back_as_the_same_bytes():
    data = b'{"a": "\\u00e9", "b": 1.10}\r\n\xff\xfe\n'
    assert Redactor({"K": "abcdefgh"}, []).redact(data) == (data, 0)


def test_a_large_transcript_is_quick():
    line = json.dumps({"type": "assistant", "text": "def f(x): return x + 1  # nothing here\n" * 20}).encode() + b"\n"
    data = line * 2500
    redactor = Redactor({"A": "abcdef123456", "B": "zyxwvu654321"}, [])
    start = time.perf_counter()
    assert redactor.redact(data)[1] == 0
    assert time.perf_counter() - start < 5
