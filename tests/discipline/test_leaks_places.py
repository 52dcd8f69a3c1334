"""`evalrepo leaks` on real repositories: where reserve text must not stand, what is shared by design, what is said."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from frozen_repo import Repo, new

from evalrepo.formats.yaml import dump_event
from evalrepo.records.event import Event

WIRE = "0c4e7d21-77aa-4b1c-8d52-2f6e90b3a1f4"
PROMPT = (
    "Every gardener has taken the spring plan home. Rewrite all seven beds so that tall plants stand behind low ones, "
    "and note under each bed which of its plants must be watered twice."
)
EXPECT = "A few sub-agents that share the files among themselves, and a short report that counts what was changed."
ASK = "Does the report say how many of the partners were moved, and which of them could not be?"
HIDDEN = "import json, pathlib\nfor place in pathlib.Path('partners').glob('*.json'):\n    assert json.loads(place.read_text())['v'] == 2, place\n"
SHARED = "{id: small, axis: A, text: {matches: 'done, and nothing else in any of the files was changed by me'}}"
PAIR = """\
title: {title}
subject: style
fixture: box
twin: {twin}
turns:
  - prompt: "{prompt}"
expect: "{expect}"
checks: [{checks}]
"""
HIDDEN_CHECK = (
    "{id: hidden, axis: B, command: {run: python check.py, files: {check.py: scenarios-reserve/files/check.py}}}"
)
JUDGED = "{id: judged, axis: C, judge: {rubric: moved, question: counted}}"
FILES = {
    "evalrepo.yaml": "version: 1\nsubjects:\n  style: {paths: [STYLE.md]}\n",
    "STYLE.md": "Be brief.\n",
    "README.md": "A project.\n",
    "fixtures/box/NOTE.md": "Partners sign what they send with a header that names the algorithm and a key of theirs.\n",
    "rubrics/moved.md": f"---\ntitle: Moved\nquestions:\n  counted: {{ask: '{ASK}'}}\n---\nJudge the report alone.\n",
    "scenarios/S1.yaml": PAIR.format(
        title="Edits are handed out",
        twin="S1-reserve",
        prompt="The retry policy changes for every destination: two more attempts, and a tenth of the timeout as delay.",
        expect="Several sub-agents with some files each.",
        checks=SHARED,
    ),
    "scenarios-reserve/S1-reserve.yaml": PAIR.format(
        title="Held out, edits are handed out",
        twin="S1",
        prompt=PROMPT,
        expect=EXPECT,
        checks=f"{SHARED}, {HIDDEN_CHECK}, {JUDGED}",
    )
    + f"tripwire: {WIRE}\n",
    "scenarios-reserve/files/check.py": HIDDEN,
}
SECRETS = (PROMPT, EXPECT, ASK, HIDDEN, WIRE)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, environ: dict[str, str]) -> Path:
    repo = new(tmp_path_factory.mktemp("leaks") / "repo", environ)
    repo.commit(FILES, "begin")
    repo.freeze()
    return repo.root


@pytest.fixture
def repo(made: Path, tmp_path: Path, environ: dict[str, str]) -> Repo:
    return Repo(Path(shutil.copytree(made, tmp_path / "repo", symlinks=True)), environ)


def found(repo: Repo, *args: str) -> list[tuple[str, int, str]]:
    """File, line and code of every leak, and whether exit code, text and JSON agree; nothing of the reserve is said."""
    code, said = repo.run("leaks", *args, "--format", "json")
    data = json.loads(said)
    open_ = [leak for leak in data["leaks"] if not leak["acknowledged"]]
    assert code == bool(open_)
    text_code, text = repo.run("leaks", *args)
    assert text_code == code
    for secret in SECRETS:
        for four in zip(*(secret.split()[at:] for at in range(min(4, len(secret.split())))), strict=False):
            assert " ".join(four) not in said + text
    assert all(f"{leak['file']}:{leak['line']}" in text.replace("\n", "") for leak in open_ if leak["line"])
    return [(leak["file"], leak["line"], leak["code"]) for leak in open_]


def test_a_reserve_that_stands_where_it_belongs_leaks_nothing(repo):
    assert found(repo) == []
    assert "nothing of 1 reserve scenario in" in repo.run("leaks")[1]


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("README.md", f"A project.\n\nFor example:\n> {PROMPT}\n", 4),
        ("STYLE.md", f"Be brief. {PROMPT.upper()}\n", 1),
        ("STYLE.md", "\n".join(["Be brief."] + [f"# {w}" for w in PROMPT.split()]), 2),  # a word a line
        ("docs/notes.txt", f"we hope for: {EXPECT}", 1),
        (
            "scenarios/S2.yaml",
            FILES["scenarios/S1.yaml"].replace("The retry", PROMPT + " The retry").replace("twin: S1-reserve\n", ""),
            5,
        ),
        (
            "scenarios/S1.yaml",
            FILES["scenarios/S1.yaml"].replace("Several sub-agents with some files each.", EXPECT),
            7,
        ),
        ("src/check.py", HIDDEN, 1),
        ("rubrics/other.md", FILES["rubrics/moved.md"].replace("title: Moved", "title: Other"), 3),
        ("AgentsReport/evaluation/2026-11/2026-11-29_scenario-S1_x-y_0abcdef1.notes.md", f"It failed on: {EXPECT}", 1),
        ("data.json", json.dumps({"prompt": PROMPT.replace(". ", ".\n")}), 1),
        ("notes-utf16.txt", PROMPT.encode("utf-16"), 1),
        ("evalrepo.yaml", FILES["evalrepo.yaml"] + f"uncovered: [{{id: X, why: '{EXPECT}'}}]\n", 4),
    ],
)
def test_text_of_the_reserve_is_found_in_every_kind_of_file(repo, path, text, line):
    repo.write({path: text})
    assert found(repo) == [(path, line, "LEK002")]
    assert found(repo, "--staged") == []
    repo.git("add", "-A")
    assert found(repo, "--staged") == [(path, line, "LEK002")]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("README.md", "Rewrite all seven beds so that tall plants stand behind."),  # ten words of a prompt
        (
            "README.md",
            "Each gardener took a spring plan home. All seven beds are rewritten, with tall plants behind the low.",
        ),
        ("README.md", SHARED),  # the twins have it in common
        ("docs/format.md", FILES["fixtures/box/NOTE.md"]),
        ("scenarios/S1.yaml", FILES["scenarios/S1.yaml"].replace("checks: [", f"checks: [{HIDDEN_CHECK}, ")),
        ("docs/title.md", "Held out, edits are handed out"),
        ("picture.png", b"\x89PNG\0\0" + PROMPT.encode()),
    ],
)
def test_what_is_near_shared_by_design_or_no_text_is_no_leak(repo, path, text):
    repo.write({path: text})
    assert found(repo) == []


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("STYLE.md", f"Be brief.\nid {WIRE}\n", 2),
        ("STYLE.md", WIRE.upper(), 1),
        ("STYLE.md", f"id={WIRE.replace('-', '')};", 1),
        ("STYLE.md", f"x{WIRE}x", 1),
        ("blob.bin", b"\0\0\0" + WIRE.encode() + b"\0", 1),
    ],
)
def test_a_tripwire_is_found_in_whatever_form_and_file(repo, path, text, line):
    repo.write({path: text})
    assert found(repo) == [(path, line, "LEK001")]


def test_a_tripwire_in_a_files_name_is_found(repo):
    repo.write({f"docs/{WIRE}.md": "nothing"})
    (leak,) = json.loads(repo.run("leaks", "--format", "json")[1])["leaks"]
    assert (leak["file"], leak["code"]) == (f"docs/{WIRE}.md", "LEK001")


def test_the_words_of_a_twin_are_too_near_when_most_of_them_are_the_reserves(repo):
    near = FILES["scenarios/S1.yaml"].replace("The retry policy", PROMPT[:-20] + " The retry policy")
    repo.commit({"scenarios/S1.yaml": near})
    assert found(repo) == [("scenarios/S1.yaml", 6, "LEK003")]
    repo.commit({"evalrepo.yaml": FILES["evalrepo.yaml"] + "reserve: {overlap: 1}\n"})
    assert found(repo) == []


def test_what_the_base_did_not_share_is_no_design_of_today(repo):
    base = repo.git("rev-parse", "HEAD").strip()
    copied = FILES["scenarios/S1.yaml"].replace("Several sub-agents with some files each.", EXPECT)
    repo.commit({"scenarios/S1.yaml": copied, "README.md": EXPECT})
    assert found(repo) == []  # seen from HEAD the pair has it in common
    assert found(repo, "--since", base) == [("README.md", 1, "LEK002"), ("scenarios/S1.yaml", 7, "LEK002")]


def test_a_message_and_a_file_that_came_and_went_are_found_in_the_range(repo):
    base = repo.git("rev-parse", "HEAD").strip()
    repo.commit({"a.txt": "x"}, f"Say it better\n\nThe reserve asks: {PROMPT}")
    told = repo.git("rev-parse", "--short=12", "HEAD").strip()
    repo.commit({"b.txt": f"\n{EXPECT}"})
    shown = repo.git("rev-parse", "--short=12", "HEAD").strip()
    repo.commit({"b.txt": "nothing to see"}, f"Id {WIRE}")
    tripped = repo.git("rev-parse", "--short=12", "HEAD").strip()
    assert found(repo) == []
    assert sorted(found(repo, "--since", base)) == sorted(
        [
            (f"{shown}:b.txt", 2, "LEK002"),
            (f"the message of {told}", 3, "LEK002"),
            (f"the message of {tripped}", 0, "LEK001"),
        ]
    )
    assert found(repo, "--since", "HEAD") == []


def test_a_merge_that_brings_reserve_text_is_found_in_the_range(repo):
    base = repo.git("rev-parse", "HEAD").strip()
    repo.git("switch", "-qc", "side")
    repo.commit({"side.md": PROMPT})
    repo.git("switch", "-q", "main")
    repo.commit({"main.md": "x"})
    repo.git("merge", "-q", "--no-commit", "side")
    repo.write({"evil.md": EXPECT})
    repo.git("rm", "-qf", "side.md")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "merge", "--no-verify")
    repo.commit({"evil.md": "gone"})
    places = {file.partition(":")[2] for file, _, _ in found(repo, "--since", base)}
    assert places == {"side.md", "evil.md"}


def test_a_history_that_is_cut_off_is_no_answer(repo, tmp_path, environ):
    base = repo.git("rev-parse", "HEAD").strip()
    for n in range(4):
        repo.commit({"n.txt": str(n)})
    subprocess.run(
        ["git", "clone", "-q", "--depth", "2", f"file://{repo.root}", str(tmp_path / "cut")], env=environ, check=True
    )
    cut = Repo(tmp_path / "cut", environ)
    for since in (base, "HEAD~3", "HEAD~1"):
        code, said = cut.run("leaks", "--since", since)
        assert (code, "shallow" in said or "fetch" in said) == ((2, True) if since != "HEAD~1" else (0, False)), said


def test_an_acknowledged_exception_is_no_leak_and_more_text_in_the_same_file_is(repo):
    repo.commit({"README.md": EXPECT})
    _, said = repo.run("leaks", "--format", "json")
    (leak,) = json.loads(said)["leaks"]
    assert leak["share"] == 1.0
    event = Event(
        event="acknowledge",
        at="2026-11-30T00:00:00Z",
        by="Ada <a@b.c>",
        why="quoted on purpose in the docs",
        hashes=(leak["hash"],),
    )
    repo.commit({"evalrepo.ledger/01KB9Z1Q0000000000000000AA.yaml": dump_event(event)})
    assert found(repo) == []
    assert "1 leak acknowledged" in repo.run("leaks")[1]
    repo.write({"docs/copy.md": EXPECT})
    assert found(repo) == [("docs/copy.md", 1, "LEK002")]
    repo.write({"docs/copy.md": "", "README.md": f"{EXPECT}\n{PROMPT}\n"})
    assert found(repo) == [("README.md", 1, "LEK002")]


def test_other_languages_leak_too(repo):
    chinese = "请把计费模块里所有忽略重试策略的地方找出来逐一写进报告文件不要改动任何代码也不要运行测试"
    reserve = FILES["scenarios-reserve/S1-reserve.yaml"].replace(PROMPT, chinese)
    russian = "Найди все места, где политика повторов не соблюдается, и запиши их по одному в файл отчёта"
    repo.commit({"scenarios-reserve/S1-reserve.yaml": reserve.replace(EXPECT, russian)})
    repo.write({"README.md": f"例如：{chinese[:20]}", "docs/ru.md": russian[:40]})
    assert found(repo) == []
    repo.write({"README.md": f"例如：\n{chinese[3:-2]}。", "docs/ru.md": f"**{russian.upper()}**"})
    assert found(repo) == [("README.md", 2, "LEK002"), ("docs/ru.md", 1, "LEK002")]
    repo.write({"README.md": json.dumps({"x": chinese}), "docs/ru.md": ""})
    assert found(repo) == [("README.md", 1, "LEK002")]


def test_boilerplate_of_the_run_set_is_nobodys_secret(repo):
    every = "End your report with one line that says COMPLETE, PARTIAL or BLOCKED and nothing after it at all."
    reserve = FILES["scenarios-reserve/S1-reserve.yaml"].replace(PROMPT, f"{PROMPT} {every}")
    repo.commit({"scenarios-reserve/S1-reserve.yaml": reserve, "README.md": every})
    assert found(repo) == [("README.md", 1, "LEK002")]
    others = FILES["scenarios/S1.yaml"].replace("twin: S1-reserve\n", "").replace("as delay.", f"as delay. {every}")
    repo.commit({f"scenarios/S{n}.yaml": others for n in (2, 3, 4)})
    assert found(repo) == []


def test_a_repository_without_a_reserve_has_nothing_to_leak(empty):
    empty.commit({"evalrepo.yaml": "version: 1\n", "README.md": PROMPT})
    assert empty.run("leaks") == (0, "there is no reserve, so there is nothing to leak\n")
    assert empty.run("leaks", "--staged")[0] == 0
    assert empty.run("leaks", "--since", "HEAD")[0] == 0


def test_a_reserve_that_cannot_be_read_is_no_answer(repo):
    repo.write({"scenarios-reserve/S9-reserve.yaml": "title: [\n"})
    code, said = repo.run("leaks")
    assert code == 2
    assert "scenarios-reserve/S9-reserve.yaml" in said
    assert "cannot be looked for" in said


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--staged", "--since", "HEAD"), "different things"),
        (("--since", "nowhere"), 'unknown revision "nowhere"'),
        (("--message", "no-such-file"), "No such file"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_with_a_sentence(repo, args, words):
    code, said = repo.run("leaks", *args)
    assert code == 2
    assert words in said


def test_real_hooks_stop_a_commit_and_a_message(repo):
    hooks = repo.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name, args in (("pre-commit", "--staged"), ("commit-msg", '--message "$1"')):
        (hooks / name).write_text(f"#!/bin/sh\nexec {sys.executable} -m evalrepo leaks {args}\n")
        (hooks / name).chmod(0o755)
    repo.write({"STYLE.md": f"Be brief.\n{PROMPT}\n"})
    repo.git("add", "-A")
    assert repo.code("commit", "-qm", "more") == 1
    repo.write({"STYLE.md": "Be very brief.\n"})
    repo.git("add", "-A")
    assert repo.code("commit", "-qm", f"Be very brief, for {EXPECT}") == 1
    assert repo.code("commit", "-qm", "Be very brief") == 0
    repo.write({"STYLE.md": f"{PROMPT}\n"})  # on disk only: the commit holds something else
    repo.write({"README.md": "x"})
    repo.git("add", "README.md")
    assert repo.code("commit", "-qm", "Say less") == 0
    assert repo.code("commit", "-qam", "Say more") == 1  # -a hands the hook an index of its own


def test_caches_that_are_damaged_or_gone_change_no_answer(repo):
    repo.commit({"README.md": PROMPT})
    before = found(repo)
    for name in ("leaks", "guard"):
        cache = repo.root / ".git" / "evalrepo" / "cache" / f"{name}.sqlite"
        cache.write_bytes(b"nonsense")
    assert found(repo) == before == [("README.md", 1, "LEK002")]
    shutil.rmtree(repo.root / ".git" / "evalrepo" / "cache")
    assert found(repo) == before
    repo.commit(
        {
            "scenarios-reserve/S1-reserve.yaml": FILES["scenarios-reserve/S1-reserve.yaml"].replace(
                PROMPT, "Something else."
            )
        }
    )
    assert found(repo) == []
