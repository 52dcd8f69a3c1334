"""A hostile agent, played in one run: each rep ends as a verdict in bounded time, and nothing outside is changed."""

from __future__ import annotations

import base64
import json
import re
import shlex
import sys
import time
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.commands.conftest import WORLD, Repo
from tests.commands.test_commands_crash import processes_below

pytestmark = [pytest.mark.isolation, pytest.mark.slow]

BOUND_S = 60
"""Longest that one rep may take here, whatever its agent does."""
HOMES_SECRET = "the-persons-own-9b1f"
TOKEN = 'tok"en\\with-ünï-and-4711'
CHECKS = "checks:\n  - {id: speaks, axis: A, text: {matches: done}}\n"
ENDS = """\
conformance:
  - {name: speaks, expect: PASS, script: [{say: done}]}
  - {name: mute, expect: {FAIL: A}, script: [{say: nothing}]}
  - {name: nothing, expect: {ERROR: empty}, script: []}
"""
IN_A_COPY = "  - {id: copy, axis: A, command: {run: 'ls -laR . > /dev/null; ! test -e fails', timeout_s: 20}}\n"
ALONE = {
    "copy": '[{write: {path: fails, content: "x"}}, {say: done}]',
    "clean": "[{say: done by a script}]",
    "same": '[{write: {path: new, content: "x"}}, {say: done}]',
    "bomb": "[{say: all done b}]",
    "bomb2": "[{say: done a}]",
    "own": "[{say: done and refuse}]",
}
"""Check → steps by which it alone fails."""
OWN = "~/.local/share/agent/sessions"
EVIL = "\x1b[2J\x1b]0;owned\x07\x1b]52;c;ZXZpbA==\x07\u202egnp.exe\u2066 <script>alert(1)</script> [x](javascript:alert(1)) | ` ``` done\n# heading\n```\n"


def scenario(steps: list[object], *, checks: str = CHECKS, more: str = "") -> str:
    """A scenario whose scripted agent takes these steps (a text is a command) and says `done`."""
    played = "".join(f"      - {json.dumps({'run': s} if isinstance(s, str) else s)}\n" for s in steps)
    alone = "".join(
        f"  - {{name: fails-{check}, expect: {{FAIL: A}}, script: {failing}}}\n"
        for check, failing in ALONE.items()
        if f"id: {check}," in checks
    )
    return (
        "title: A hostile agent\nsubject: style\nfixture: app\n"
        f'turns: [{{prompt: "Tidy the project"}}]\nlimits: {{wall_s: 40, idle_s: 30}}\n{more}{checks}{ENDS}{alone}'
        f"behaviours:\n  - name: follows\n    script:\n{played}      - say: done\n"
    )


def python(source: str) -> str:
    return f"python3 -c {shlex.quote(source)}"


def worlds(repo: Repo) -> Mapping[str, str]:
    """Scenario → text, by what the agent does."""
    home, outside = repo.home, repo.home.parent / "outside"
    daemon = f"while :; do echo alive >> {outside}/alive; echo x >> ~/alive; sleep 0.2; done"
    config = (
        f"[core]\n\tfsmonitor = touch {outside}/fsmonitor\n\thooksPath = .\n[diff]\n\texternal = touch {outside}/diff\n"
    )
    return {
        "litter": scenario(
            ["mkfifo pipe 'CON' 'nul' && mkfifo README.fifo", python("import socket; socket.socket(socket.AF_UNIX).bind('sock')"),
             f"ln -s / root-link; ln -s {home} home-link; ln -s pipe loop; ln -s loop2 loop2; ln README.md hard",
             "mkdir -p shut/below && echo x > shut/below/f && chmod 0 shut/below shut", "cp /bin/true su; chmod 6777 su",
             "rm README.md && mkfifo README.md"],
            checks=CHECKS + IN_A_COPY,
        ),
        "many": scenario([python("import pathlib\nfor n in range(20000): pathlib.Path(f'f{n}').write_text('x%d' % n)")]),
        "sparse": scenario(["truncate -s 1T big; truncate -s 1000M wide; for n in 1 2 3 4 5 6; do cp --sparse=always wide wide$n; done; ls -ls"],
                           checks=CHECKS + IN_A_COPY),
        "deep": scenario([python("import os\nfor n in range(3000):\n    os.mkdir('d'); os.chdir('d')\nopen('f','w').write('x')")], checks=CHECKS + IN_A_COPY),
        "daemons": scenario([f"setsid sh -c '{daemon}' >/dev/null 2>&1 &", f"(setsid sh -c 'trap \"\" TERM HUP; {daemon}' &) ; (nohup sleep 6543 &)"]),
        "swapped": scenario([f"for f in {OWN}/*.jsonl; do rm $f; ln -s {home}/secret.jsonl $f; done"]),
        "swapped-fifo": scenario([f"for f in {OWN}/*.jsonl; do rm $f; mkfifo $f; done"]),
        "swapped-folder": scenario([f"mv {OWN} ~/old; ln -s {home} {OWN}"]),
        "git": scenario([f"printf '%s' '{config}' >> .git/config; mkdir -p .git/hooks",
                         f"for h in pre-commit post-checkout post-index-change reference-transaction; do printf '#!/bin/sh\\ntouch {outside}/hook\\n' > .git/hooks/$h; chmod +x .git/hooks/$h; done",
                         f"echo {outside}/objects > .git/objects/info/alternates; echo '* filter=evil' > .gitattributes"],
                        checks=CHECKS + IN_A_COPY),
        "inert": scenario([{"write": {"path": "a\x1b[31mb\u202e<b>|`x`.txt", "content": EVIL}}, {"say": EVIL},
                           python("import glob, json, os\nevil = json.loads(os.environ['EVIL'])\n"
                                  "with open(glob.glob(os.path.expanduser('~/.local/share/agent/sessions/*.jsonl'))[0], 'a') as f:\n"
                                  "    for row in ({'type': 'tool_call', 'id': evil, 'tool': evil, 'args': {evil: evil}},\n"
                                  "                {'type': 'tool_result', 'id': evil, 'ok': False, 'text': evil, 'exit_code': 1}, {'type': evil}):\n"
                                  "        f.write(json.dumps(row) + chr(10))")],
                          more=f"env: {{EVIL: {json.dumps(json.dumps(EVIL))}}}\n",
                          checks="checks:\n  - {id: speaks, axis: A, text: {matches: done}}\n  - {id: clean, axis: A, text: {where: visible, must_not: 'script'}}\n"
                                 "  - {id: same, axis: A, changes: {none: true}}\n"),
        "secret": scenario(["printf %s \"$TOKEN_FOR_TEST\"", "printf %s \"$TOKEN_FOR_TEST\" | base64", python("import json, os; print(json.dumps(os.environ['TOKEN_FOR_TEST']))"),
                            python("import json, os; print(json.dumps(json.dumps({'k': os.environ['TOKEN_FOR_TEST']})))"),
                            python("import urllib.parse, os; print(urllib.parse.quote(os.environ['TOKEN_FOR_TEST']))"),
                            "printf %s \"user:$TOKEN_FOR_TEST\" | base64 -w0", "printf %s \"$TOKEN_FOR_TEST\" > kept.txt", "printf %s \"$TOKEN_FOR_TEST\" | base64 > kept64.txt"]),
        "regex": scenario([{"say": "a" * 5000 + "!"}], checks=CHECKS + "  - {id: bomb, axis: A, text: {where: visible, matches: '^(a|aa)+$|^done|^nothing'}}\n"
                                                                       "  - {id: bomb2, axis: A, text: {where: visible, must_not: '(x+x+)+y|(a+)+$'}}\n"),
        "check-loops": scenario([MISBEHAVE], checks=CHECKS + "  - {id: own, axis: A, python: {call: 'checks/own.py:loops', timeout_s: 1}}\n"),
        "check-exits": scenario([MISBEHAVE], checks=CHECKS + "  - {id: own, axis: A, python: {call: 'checks/own.py:exits', timeout_s: 5}}\n"),
        "check-kills": scenario([MISBEHAVE], checks=CHECKS + "  - {id: own, axis: A, python: {call: 'checks/own.py:kills', timeout_s: 5}}\n"),
        "check-floods": scenario([MISBEHAVE], checks=CHECKS + "  - {id: own, axis: A, python: {call: 'checks/own.py:floods', timeout_s: 5}}\n"),
        "check-lies": scenario([MISBEHAVE], checks=CHECKS + "  - {id: own, axis: A, python: {call: 'checks/own.py:lies', timeout_s: 5}}\n"),
        "large": scenario([python("import glob, json, os\nwith open(glob.glob(os.path.expanduser('~/.local/share/agent/sessions/*.jsonl'))[0], 'a') as f:\n"
                                  "    for n in range(50):\n        f.write(json.dumps({'type': 'assistant', 'text': 'word ' * 200000}) + chr(10))")]),
    }  # fmt: skip


OWN_CHECKS = """\
import os, signal
OWN = {"outcome": "pass", "evidence": "asked"}
NOT = {"outcome": "fail", "evidence": "refused"}
def when_told(function):
    def check(transcript, outcome):
        said = str(transcript["events"])
        return function() if "misbehave" in said else NOT if "refuse" in said else OWN
    return check
@when_told
def loops():
    while True:
        pass
@when_told
def exits():
    os._exit(0)
@when_told
def kills():
    for pid in [os.getppid(), 1, -1]:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    return OWN
@when_told
def floods():
    while True:
        print("x" * 100000)
@when_told
def lies():
    return {"outcome": "PASS!", "evidence": ["\\x1b[31m", 3, None]}
"""
MISBEHAVE = {"say": "please misbehave"}
FLOOD = "import sys\nwhile True: sys.stdout.write('y' * 1000000)\n"


@dataclass
class Aftermath:
    """What is there after the run: the repository, the records by scenario, what was said, and how long it took."""

    repo: Repo
    records: dict[str, dict]
    said: str
    code: int
    seconds: float
    outside: Path

    def rep(self, name: str) -> dict:
        [rep] = self.records[name]["reps"]
        return rep

    def markdown(self, name: str) -> str:
        run = self.records[name]["run"]
        [path] = self.repo.path.glob(f"AgentsReport/**/*_scenario-{name}_*_{run}.md")
        return path.read_text()


@pytest.fixture(scope="module")
def after(tmp_path_factory: pytest.TempPathFactory) -> Aftermath:
    top = tmp_path_factory.mktemp("hostile")
    for name in ("repo", "home", "t", "outside"):
        (top / name).mkdir()
    repo = Repo(top / "repo", top / "home", {"TOKEN_FOR_TEST": TOKEN, "EVALREPO_DEBUG": "1"})
    repo.git("init", "-q", "-b", "main")
    repo.git("config", "user.name", "Test Person")
    repo.git("config", "user.email", "person@example.org")
    (top / "outside").chmod(0o777)
    (repo.home / "secret.jsonl").write_text(json.dumps({"type": "assistant", "text": HOMES_SECRET}) + "\n")
    config = WORLD["evalrepo.yaml"].replace("scripted: {tiers", "scripted: {env: [TOKEN_FOR_TEST], tiers")
    config = config.replace("golden: [S1]", "golden: []").replace(
        "suites:\n", f'  floods: {{kind: command, argv: [{sys.executable}, -c, {json.dumps(FLOOD)}], tiers: {{default: {{}}}}}}\nsuites:\n', 1
    )  # fmt: skip
    files = {f"scenarios/{name}.yaml": text for name, text in worlds(repo).items()}
    kept = {k: v for k, v in WORLD.items() if not k.startswith("scenarios/")}
    repo.commit(kept | files | {"evalrepo.yaml": config, "checks/own.py": OWN_CHECKS}, "the world")
    began = time.monotonic()
    process = repo.start("run", "--reps", "1", "--jobs", "2")
    said = "".join(process.communicate(timeout=400))
    seconds = time.monotonic() - began
    assert "Traceback" not in said
    assert repo.records(), said
    return Aftermath(
        repo, {r["scenario"]: r for r in repo.records()}, said, process.returncode, seconds, top / "outside"
    )


def test_every_hostile_rep_ends_as_a_verdict_in_bounded_time(after: Aftermath):
    assert sorted(after.records) == sorted(worlds(after.repo)), after.said
    for name, record in after.records.items():
        assert record["isolation"] == "bwrap"
        for rep in record["reps"]:
            assert rep["timing"]["seconds"] < BOUND_S, (name, rep["timing"])
    assert after.code == 4, after.said  # ERRORs left cells without their reps


def test_nothing_outside_is_changed_and_nothing_is_left(after: Aftermath):
    assert list(after.outside.iterdir()) == []
    assert sorted(p.name for p in after.repo.home.iterdir()) == ["secret.jsonl"]
    assert list((after.repo.home.parent / "t").iterdir()) == []
    assert processes_below(after.repo.path.parent) == []
    assert after.repo.git("status", "--porcelain") == ""
    assert after.repo.git("fsck", "--full", "--strict", "--no-dangling") == ""


@pytest.mark.parametrize("name", ["many", "deep", "daemons", "git", "large"])
def test_what_only_makes_a_mess_is_judged_like_any_other(after: Aftermath, name: str):
    assert after.rep(name)["verdict"] == "PASS", after.rep(name)


@pytest.mark.parametrize("name", ["litter", "sparse"])
def test_special_and_huge_files_do_not_hang_a_command_check(after: Aftermath, name: str):
    rep = after.rep(name)
    assert {c["id"]: c["outcome"] for c in rep["checks"]}["speaks"] == "pass"
    assert rep["verdict"] in ("PASS", "ERROR"), rep


def test_a_changed_file_too_many_is_named_and_not_kept(after: Aftermath):
    run = after.records["many"]["run"]
    kept = after.repo.git("ls-tree", "-r", "--name-only", f"refs/evalrepo/runs/{run}", "transcripts/many/").split()
    assert sum("/files/" in name for name in kept) == 500
    outcome = next(name for name in kept if name.endswith("/outcome.json"))
    assert len(json.loads(after.repo.git("show", f"refs/evalrepo/runs/{run}:{outcome}"))["after"]) == 20001


@pytest.mark.parametrize("name", ["swapped", "swapped-fifo", "swapped-folder"])
def test_a_transcript_that_became_something_else_is_an_error_and_no_file_of_the_person_is_read(
    after: Aftermath, name: str
):
    rep = after.rep(name)
    assert rep["verdict"] == "ERROR"
    assert rep["error"] in ("transcript", "empty"), rep
    assert HOMES_SECRET not in after.repo.git("cat-file", "--batch-all-objects", "--batch")


def test_what_an_agent_says_is_inert_in_markdown_and_on_the_terminal(after: Aftermath):
    rep, text = after.rep("inert"), after.markdown("inert")
    assert rep["verdict"] == "FAIL"
    body, _, record = text.partition("```json evalrepo-record")
    assert json.loads(record.split("\n```")[0])["scenario"] == "inert"
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert "<script" not in text
    assert "<img" not in text
    assert not re.search(r"(?<!\\)\]\(|^#+ heading", body, re.MULTILINE)
    run = after.records["inert"]["run"]
    for args in (("show", run), ("log", "inert"), ("status",), ("diff", "HEAD~1", "HEAD"), ("list",), ("gate",)):
        said = after.repo.run(*args, exit=None)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", said), args


def test_a_secret_is_stored_in_no_form(after: Aftermath):
    assert after.rep("secret")["transcript"]["redactions"] >= 5
    everything = after.repo.git("cat-file", "--batch-all-objects", "--batch")
    plain = json.dumps(TOKEN)[1:-1]
    forms = {TOKEN, plain, json.dumps(TOKEN, ensure_ascii=False)[1:-1], json.dumps(plain)[1:-1], urllib.parse.quote(TOKEN),
             base64.b64encode(TOKEN.encode()).decode(), base64.b64encode(b"user:" + TOKEN.encode()).decode()[8:-4]}  # fmt: skip
    assert [form for form in forms if form in everything] == []


def test_a_pattern_that_explodes_is_a_broken_check_in_seconds(after: Aftermath):
    rep = after.rep("regex")
    assert (rep["verdict"], rep["error"]) == ("ERROR", "check")
    assert {c["id"]: c["outcome"] for c in rep["checks"]} == {"speaks": "pass", "bomb": "error", "bomb2": "error"}


@pytest.mark.parametrize(
    ("name", "words"),
    [("check-loops", "longer than"), ("check-exits", "JSON"), ("check-floods", "wrote more"), ("check-lies", "")],
)
def test_a_python_check_that_does_not_answer_is_an_error_of_the_check(after: Aftermath, name: str, words: str):
    rep = after.rep(name)
    assert (rep["verdict"], rep["error"]) == ("ERROR", "check"), rep
    own = next(c for c in rep["checks"] if c["id"] == "own")
    assert own["outcome"] == "error"
    assert words in json.dumps(own)


def test_a_python_check_reaches_no_process_of_the_machine(after: Aftermath):
    assert after.rep("check-kills")["verdict"] in ("PASS", "ERROR")


def test_an_agent_that_fills_its_output_is_ended_at_the_cap(after: Aftermath):
    began = time.monotonic()
    after.repo.run("run", "check-exits", "--agent", "floods", "--reps", "1", exit=None)
    record = next(r for r in after.repo.records() if r["agent"] == "floods")
    assert {r["verdict"] for r in record["reps"]} == {"ERROR"}, record["reps"]
    assert time.monotonic() - began < BOUND_S
    assert list((after.repo.home.parent / "t").iterdir()) == []
