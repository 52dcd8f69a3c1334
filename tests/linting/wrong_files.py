"""A sound little repository, and some eighty ways in which one of its files can be wrong.

Each way is a few paths with their content (None takes the file away), the finding that it must give, and the line where
it stands. `lint` exits 1 on each, and `run` exits 2.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Link:
    """A symlink."""

    to: str


@dataclass(frozen=True)
class Swap:
    """The sound file with one piece of its text replaced."""

    old: str
    new: str


Content = str | bytes | Link | Swap | None

CONFIG = """\
version: 1
subjects:
  style:
    paths: [subjects/style/**]
    on_change: quick
    agents: [scripted]
    install:
      scripted: {copy: {.: ~/style}}
agents:
  scripted:
    tiers:
      follows: {script: follows}
suites:
  quick: {scenarios: [S1, S2]}
gate:
  suites: [quick]
  golden: [S1]
uncovered:
  - {id: S9, why: later}
"""

S1 = """\
title: A note is written
subject: style
twin: S1-note-reserve
fixture: plain
turns:
  - prompt: Write the note.
checks:
  - id: written
    axis: A
    file: {path: note.txt, matches: done}
  - id: tidy
    axis: B
    needs: written
    command: {run: sh check.sh, files: {check.sh: scenarios/files/S1-note/check.sh}}
metrics:
  M1:
    ladder:
      - {score: 3, if: written}
      - {score: 0}
conformance:
  - name: good
    expect: PASS
    script:
      - write: {path: note.txt, content: done}
  - name: silent
    expect: {FAIL: [A]}
    script:
      - say: nothing to do
  - name: untidy
    expect: {FAIL: [B]}
    script:
      - write: {path: note.txt, content: done!}
  - name: says-nothing
    expect: {ERROR: empty}
    script: []
behaviours:
  - name: follows
    script:
      - when: {subject: STYLE.md, contains: be brief}
        then: [{write: {path: note.txt, content: done}}]
"""

S2 = """\
title: A question needs no file
polarity: negative
subject: style
turns:
  - prompt: What is two and two?
checks:
  - id: no-file
    axis: A
    changes: {none: true}
conformance:
  - name: good
    expect: PASS
    script:
      - say: four
  - name: writes
    expect: {FAIL: [A]}
    script:
      - write: {path: x, content: y}
  - name: says-nothing
    expect: {ERROR: empty}
    script: []
"""

RESERVE = (
    S1.replace("twin: S1-note-reserve", "twin: S1-note\ntripwire: 0b1f7a2e-6d5a-4f0e-9f0e-3f6d3c1a2b4c")
    .replace("A note is written", "A letter is written")
    .replace("prompt: Write the note.", "prompt: Put one line into note.txt.")
    .replace(
        "metrics:\n  M1:\n    ladder:\n",
        "metrics:\n  M4: {judge: {rubric: tone, question: M4}}\n  M1:\n    ladder:\n",
    )
)

RUBRIC = """\
---
title: Tone
questions:
  kind: {ask: Is it kind?}
  like: {ask: Is it like this one?, reference: true}
metrics:
  M4: {ask: How kind is it?, scale: {0: rude, 1: cold, 2: polite, 3: kind}}
---
Read the note.
"""

GOOD: Mapping[str, Content] = {
    "evalrepo.yaml": CONFIG,
    "scenarios/S1-note.yaml": S1,
    "scenarios/S2-question.yaml": S2,
    "scenarios/files/S1-note/check.sh": "grep -qx done note.txt\n",
    "scenarios-reserve/S1-note-reserve.yaml": RESERVE,
    "rubrics/tone.md": RUBRIC,
    "fixtures/plain/README.md": "plain\n",
    "subjects/style/STYLE.md": "be brief\n",
}
S1_PATH, S2_PATH, CONF, RES = (
    "scenarios/S1-note.yaml",
    "scenarios/S2-question.yaml",
    "evalrepo.yaml",
    "scenarios-reserve/S1-note-reserve.yaml",
)


@dataclass(frozen=True)
class Wrong:
    """`name` for the test; `files` over the sound ones; the finding's code and place (line 0: any)."""

    name: str
    files: Mapping[str, Content]
    code: str
    file: str
    line: int = 0


def swap(name: str, path: str, old: str, new: str, code: str, line: int = 0, file: str = "") -> Wrong:
    """One piece of a sound file replaced."""
    return Wrong(name, {path: Swap(old, new)}, code, file or path, line)


BOMB = "a: &a [x, x, x, x]\nb: &b [*a, *a, *a, *a]\nc: [*b, *b, *b, *b]\n"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12\n"

WRONG: tuple[Wrong, ...] = (
    # text and syntax
    swap("unknown key", S1_PATH, "fixture: plain", "fixtur: plain", "SCN001", 4),
    swap("unknown key in a check", S1_PATH, "    axis: A", "    axis: A\n    gateing: false", "SCN001", 10),
    swap("unknown key in the config", CONF, "version: 1", "version: 1\nsubject: {}", "CFG001", 2),
    swap("missing key", S2_PATH, "title: A question needs no file\n", "", "SCN002", 1),
    swap("missing axis", S2_PATH, "    axis: A\n", "", "SCN002", 7),
    swap("wrong type", S1_PATH, "fixture: plain", "fixture: [plain]", "SCN003", 4),
    swap("text for a number", S2_PATH, "turns:", "limits: {wall_s: 10m}\nturns:", "SCN003", 4),
    swap("text for a mapping", CONF, "  quick: {scenarios: [S1, S2]}", "  quick: S1", "CFG003", 14),
    swap("a word for a boolean", S2_PATH, "    axis: A", "    axis: A\n    gating: no", "SCN003", 9),
    swap("a date-like id is text, so a date-like number of reps is not", CONF, "version: 1", "version: 1\nreps: 2026-07-06", "CFG003", 2),
    swap("number out of range", CONF, "version: 1", "version: 1\nreps: 0", "CFG004", 2),
    swap("more passes than reps", CONF, "version: 1", "version: 1\nbar: {passes: 4, of: 3}", "CFG005", 2),
    swap("unknown word", S2_PATH, "polarity: negative", "polarity: neutral", "SCN004", 2),
    swap("duplicate key", S1_PATH, "fixture: plain", "fixture: plain\nfixture: plain", "YML009", 5),
    swap("tab indent", S1_PATH, "  - prompt: Write", "\t- prompt: Write", "YML008", 6),
    Wrong("alias bomb", {"scenarios/S3.yaml": BOMB}, "YML011", "scenarios/S3.yaml", 1),
    Wrong("depth bomb", {"scenarios/S3.yaml": "title: " + "[" * 3000 + "]" * 3000}, "YML004", "scenarios/S3.yaml", 1),
    Wrong("size bomb", {"scenarios/S3.yaml": "title: " + "x" * 1_100_000}, "YML003", "scenarios/S3.yaml"),
    Wrong("empty file", {"scenarios/S3.yaml": ""}, "YML005", "scenarios/S3.yaml", 1),
    Wrong("not UTF-8", {"scenarios/S3.yaml": b"title: \xff\n"}, "YML001", "scenarios/S3.yaml", 1),
    Wrong("control character", {"scenarios/S3.yaml": "title: a\x1bb\n"}, "YML002", "scenarios/S3.yaml", 1),
    swap("tag", S1_PATH, "title: A note", "title: !!python/object/apply:os.system A note", "YML010", 1),
    swap("merge key", S1_PATH, "fixture: plain", "fixture: plain\n<<: {x: 1}", "YML012", 5),
    swap("lost tail", S1_PATH, "Write the note.", "fix issue #12 now", "YML016", 6),
    swap("colon in text", S1_PATH, "Write the note.", "Fix: the bug", "YML018", 6),
    swap("unclosed bracket", S1_PATH, "expect: {FAIL: [A]}", "expect: {FAIL: [A}", "YML007", 0),
    swap("a list instead of a mapping", CONF, CONFIG, "- version: 1\n", "CFG003", 1),
    # values
    swap("bad regex", S1_PATH, "matches: done", "matches: '(done'", "SCN004", 10),
    swap("bad JSON Schema", S2_PATH, "changes: {none: true}", "every_call: {tool: x, args: {type: nothing}}", "SCN004", 9),
    swap("bad JMESPath", S2_PATH, "changes: {none: true}", "total: {tool: x, of: 'a[', min: 1}", "SCN004", 9),
    swap("path that leaves the tree", S1_PATH, "path: note.txt, matches", "path: ../note.txt, matches", "SCN004", 10),
    swap("two kinds in one check", S2_PATH, "changes: {none: true}", "changes: {none: true}\n    status: COMPLETE", "SCN005", 7),
    swap("no kind in a check", S2_PATH, "    changes: {none: true}\n", "", "SCN005", 7),
    swap("no prompt", S2_PATH, "  - prompt: What is two and two?", "  - session: fresh", "SCN002", 5),
    swap("two steps in one", S2_PATH, "      - say: four", "      - say: four\n        read: x", "SCN005", 14),
    swap("redaction pattern", CONF, "version: 1", "version: 1\nredact: {patterns: ['(']}", "CFG004", 2),
    # names of files
    Wrong("suffix yml", {"scenarios/S3.yml": S2}, "SCN102", "scenarios/S3.yml"),
    Wrong("scenario in a sub-folder", {"scenarios/more/S3.yaml": S2}, "SCN102", "scenarios/more/S3.yaml"),
    Wrong("scenario as a link", {"scenarios/S3.yaml": Link("S2-question.yaml")}, "SCN103", "scenarios/S3.yaml"),
    Wrong("file name that is no id", {"scenarios/S 3.yaml": S2}, "SCN104", "scenarios/S 3.yaml"),
    Wrong("one id in both sets", {"scenarios-reserve/S2-question.yaml": S2}, "SCN105", "scenarios-reserve/S2-question.yaml"),
    Wrong("ids that differ in case", {"scenarios/s2-Question.yaml": S2}, "SCN106", "scenarios/s2-Question.yaml", 1),
    # references
    swap("unknown subject", S2_PATH, "subject: style", "subject: stile", "SCN108", 3),
    swap("missing fixture", S1_PATH, "fixture: plain", "fixture: plane", "FIX101", 4),
    Wrong("fixture is a file", {"fixtures/plain/README.md": None, "fixtures/plain": "x\n"}, "FIX107", S1_PATH, 4),
    swap("missing hidden file", S1_PATH, "S1-note/check.sh}", "S1-note/chek.sh}", "SCN118", 11),
    swap("missing check module", S2_PATH, "changes: {none: true}", "python: {call: 'checks/x.py:f'}", "SCN119", 7),
    swap("missing rubric", S2_PATH, "changes: {none: true}", "judge: {rubric: tune, question: kind}", "RUB101", 7),
    swap("missing question", RES, "question: M4", "question: M5", "RUB102", 0),
    swap("answer that is none", S2_PATH, "changes: {none: true}", "judge: {rubric: tone, question: kind, pass_when: maybe}", "RUB103", 7),
    swap("rubric without head", "rubrics/tone.md", RUBRIC, "Be kind.\n", "RUB006", 1),
    swap("judge that is no agent", CONF, "version: 1", "version: 1\njudge: {agent: scribted}", "CFG119", 2),
    swap("judge at a tier that is not there", CONF, "version: 1", "version: 1\njudge: {agent: scripted, tier: deep}", "CFG119", 2),
    swap("judge of no provider", CONF, "version: 1", "version: 1\njudge: {model: sonnet}", "CFG119", 2),
    swap("judge of two kinds", CONF, "version: 1", "version: 1\njudge: {agent: scripted, command: [x]}", "CFG005", 2),
    Wrong("rubric that asks nothing", {"rubrics/tone.md": "---\ntitle: Tone\n---\nBe kind.\n"}, "RUB005", "rubrics/tone.md", 2),
    swap("scale without its ends", "rubrics/tone.md", "3: kind}", "}", "RUB005", 7),
    swap("scale with another value", "rubrics/tone.md", "3: kind}", "3: kind, 4: too kind}", "RUB005", 7),
    swap("answers beside a scale", "rubrics/tone.md", "kind is it?,", "kind is it?, answers: [a, b],", "RUB005", 7),
    swap("metric named as a question", "rubrics/tone.md", "  like: {", "  M4: {", "RUB005", 2),
    swap("even votes of a rubric", "rubrics/tone.md", "title: Tone", "title: Tone\njudge: {votes: 4}", "RUB005", 3),
    swap("metric by a question without a scale", RES, "question: M4", "question: kind", "RUB104", 0),
    swap("answer that no score is", S2_PATH, "changes: {none: true}", "judge: {rubric: tone, question: M4}", "RUB103", 7),
    swap("reference that is missing", S2_PATH, "changes: {none: true}", "judge: {rubric: tone, question: like}", "RUB105", 7),
    swap("reference that nobody reads", S2_PATH, "changes: {none: true}", "judge: {rubric: tone, question: kind, reference: so}", "RUB106", 7),
    swap("people's rubric that is not there", S1_PATH, "metrics:\n", "rubric: tune\nmetrics:\n", "RUB101", 15),
    swap("people's metric without anchors", S1_PATH, "metrics:\n", "rubric: tone\nmetrics:\n  M7: human\n", "RUB102", 0),
    swap("twin that is not there", S1_PATH, "twin: S1-note-reserve", "twin: S1-nota-reserve", "SCN109", 3),
    swap("twin that points elsewhere", RES, "twin: S1-note\n", "twin: S2-question\n", "SCN110", 3, S1_PATH),
    swap("twin in the same set", S2_PATH, "polarity: negative", "twin: S1-note", "SCN111", 2),
    swap("needs an unknown check", S1_PATH, "needs: written", "needs: writen", "SCN112", 13),
    swap("check that waits for itself", S1_PATH, "needs: written", "needs: tidy", "SCN113", 13),
    swap("ladder with an unknown check", S1_PATH, "if: written", "if: writen", "SCN114", 18),
    swap("resolves an unknown check", S2_PATH, "changes: {none: true}", "judge: {rubric: tone, question: kind, resolves: x}", "SCN115", 7),
    swap("two checks of one id", S1_PATH, "id: tidy", "id: written", "SCN116", 8),
    swap("environment of the sandbox", S2_PATH, "turns:", "env: {HOME: /tmp}\nturns:", "SCN117", 4),
    swap("environment of git", S2_PATH, "turns:", "env: {GIT_DIR: x}\nturns:", "SCN117", 4),
    swap("turn that is not there", S2_PATH, "    axis: A", "    axis: A\n    turn: 2", "SCN126", 9),
    swap("script with too many turns", S2_PATH, "    script: []", "    turns: [[], []]", "SCN126", 19),
    swap("words of a file that is not there", S1_PATH, "subject: STYLE.md", "subject: STIL.md", "SCN132", 37),
    # conformance
    swap("no script", S2_PATH, S2[S2.index("conformance:") :], "conformance: []\n", "SCN121", 10),
    swap("no script that passes", S2_PATH, "expect: PASS", "expect: {FAIL: [A]}", "SCN122", 10),
    swap("axis without a script", S1_PATH, "expect: {FAIL: [B]}", "expect: {FAIL: [A, B]}", "SCN123", 20),
    swap("no empty script", S2_PATH, "    script: []", "    script: [{say: hm}]", "SCN124", 10),
    swap("axis that is not there", S2_PATH, "expect: {FAIL: [A]}", "expect: {FAIL: [A, C]}", "SCN125", 16),
    swap("two scripts of one name", S2_PATH, "name: writes", "name: good", "SCN128", 11),
    swap("nothing decides", S2_PATH, "    axis: A", "    axis: A\n    gating: false", "SCN127", 6),
    # fixtures
    Wrong("fixture link to an absolute path", {"fixtures/plain/p": Link("/etc/passwd")}, "FIX103", "fixtures/plain/p"),
    Wrong("fixture link that leaves the tree", {"fixtures/plain/d/p": Link("../../x")}, "FIX103", "fixtures/plain/d/p"),
    Wrong("fixture with a git-lfs pointer", {"fixtures/plain/big.bin": POINTER}, "FIX102", "fixtures/plain/big.bin"),
    Wrong("fixture with a repository", {"fixtures/plain/sub/.git/HEAD": "x"}, "FIX105", "fixtures/plain/sub"),
    # config
    swap("unknown agent", CONF, "  scripted:\n    tiers:", "  skripted:\n    tiers:", "CFG102", 10),
    swap("tier without a script", CONF, "{script: follows}", "{model: small}", "CFG113", 12),
    swap("tier with an unknown script", CONF, "{script: follows}", "{script: folows}", "CFG114", 12),
    swap("suite that matches nothing", CONF, "[S1, S2]", '[S1, "X*"]', "CFG103", 14),
    swap("suite with an unknown scenario", CONF, "[S1, S2]", "[S1, S22]", "CFG103", 14),
    swap("gate with an unknown suite", CONF, "suites: [quick]", "suites: [quik]", "CFG104", 16),
    swap("golden scenario that is not there", CONF, "golden: [S1]", "golden: [S7]", "CFG105", 17),
    swap("subject with an unknown agent", CONF, "agents: [scripted]", "agents: [claud]", "CFG106", 6),
    swap("suite with an unknown tier", CONF, "[S1, S2]}", "[S1, S2], tiers: [x]}", "CFG107", 14),
    swap("on_change without a suite", CONF, "on_change: quick", "on_change: quik", "CFG108", 5),
    swap("install for an unknown agent", CONF, "      scripted: {copy", "      skripted: {copy", "CFG109", 8),
    swap("install that leaves the sandbox", CONF, "~/style", "../style", "CFG110", 8),
    swap("install to an absolute path", CONF, "~/style", "/etc/style", "CFG110", 8),
    swap("install of what is not there", CONF, "{.: ~/style}", "{agents: ~/style}", "SUB104", 8),
    swap("agent sets PATH", CONF, "  scripted:\n    tiers:", "  scripted:\n    set: {PATH: /}\n    tiers:", "CFG112", 11),
    swap("subject without files", CONF, "subjects/style/**", "subjects/stile/**", "SUB101", 4),
    swap("frozen file that is not there", CONF, "version: 1", "version: 1\nfrozen: {also: [docs/x.md]}", "CFG118", 2),
    Wrong("no config", {CONF: None}, "CFG101", CONF),
    # reserve, ledger, results
    swap("no tripwire", RES, "tripwire: 0b1f7a2e-6d5a-4f0e-9f0e-3f6d3c1a2b4c\n", "", "SCN129", 1),
    Wrong("event of another name", {"evalrepo.ledger/one.yaml": "event: thaw\n"}, "LED101", "evalrepo.ledger/one.yaml"),
    Wrong("event without a reason", {"evalrepo.ledger/01M8MPF4BDVMA42P6FAXXGZAFD.yaml": "event: thaw\n"}, "LED002", "evalrepo.ledger/01M8MPF4BDVMA42P6FAXXGZAFD.yaml", 1),
    Wrong("lock that is none", {"evalrepo.lock": "frozen\n"}, "LCK001", "evalrepo.lock", 1),
    Wrong("lock that covers nothing", {"evalrepo.lock": "evalrepo-lock 1 sha1\n"}, "LCK101", "evalrepo.lock"),
    Wrong("result without a record", {"AgentsReport/evaluation/2026-11/2026-11-01_scenario-S1_scripted-x_abcdefgh.md": "# x\n"}, "RES001", "AgentsReport/evaluation/2026-11/2026-11-01_scenario-S1_scripted-x_abcdefgh.md"),
    Wrong("results that git ignores", {".gitignore": "*.log\nAgentsReport/\n"}, "RES101", ".gitignore", 2),
)  # fmt: skip


def write(root: Path, files: Mapping[str, Content]) -> None:
    """Write files below `root`; None takes one away, a `Swap` works on the sound file."""
    for path, content in files.items():
        target = root / path
        if content is None or (target.is_dir() and not isinstance(content, Swap)):
            _remove(target)
        if content is None:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Link):
            target.unlink(missing_ok=True)
            target.symlink_to(content.to)
            continue
        if isinstance(content, Swap):
            sound = GOOD[path]
            assert isinstance(sound, str)
            assert content.old in sound, f"{path} holds no {content.old!r}"
            target.write_text(sound.replace(content.old, content.new, 1))
            continue
        target.write_bytes(content.encode() if isinstance(content, str) else content)


def _remove(target: Path) -> None:
    if target.is_dir():
        target.rmdir()
    else:
        target.unlink()


def make(root: Path, environ: Mapping[str, str]) -> Path:
    """A new git repository with the sound files in one commit."""
    root.mkdir(parents=True, exist_ok=True)
    for command in (
        ("init", "-q", "-b", "main"),
        ("config", "user.name", "Ada"),
        ("config", "user.email", "a@example.org"),
    ):
        subprocess.run(["git", *command], cwd=root, env=dict(environ), check=True)
    write(root, GOOD)
    for command in (("add", "-A"), ("commit", "-q", "-m", "sound")):
        subprocess.run(["git", *command], cwd=root, env=dict(environ), check=True)
    return root
