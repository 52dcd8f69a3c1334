"""The leak check of a commit hook on 10,000 files: read before, with twenty new ones, and for the first time."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

from ground import Ground, ground
from measure import EVALREPO, NOTHING, Case, Figure, Options, command, ratios, together

FILES, TWINS, CHANGED = 10_000, 20, 20
WORDS = 600
CONFIG = "version: 1\nsubjects:\n  style: {paths: [STYLE.md]}\n"
SCENARIO = """\
title: Number {n}
subject: style
twin: {twin}
turns:
  - prompt: "{prompt}"
expect: "{expect}"
checks: [{{id: small, axis: A, text: {{matches: done}}}}]
"""


def _text(at: Ground, words: int) -> str:
    """Words of a vocabulary as large as a project's, some far more often than others."""
    return " ".join(f"w{int(4000 * at.random.random() ** 3)}" for _ in range(words))


def _files(at: Ground) -> Iterator[tuple[str, str]]:
    yield "evalrepo.yaml", CONFIG
    yield "STYLE.md", "Be brief.\n"
    for n in range(TWINS):
        for folder, own, twin in (
            ("scenarios", f"S{n}", f"S{n}-reserve"),
            ("scenarios-reserve", f"S{n}-reserve", f"S{n}"),
        ):
            said = {"prompt": _text(at, 60), "expect": _text(at, 30)}
            wire = f"tripwire: {n:08x}-1111-4222-8333-944455556666\n" if folder == "scenarios-reserve" else ""
            yield f"{folder}/{own}.yaml", SCENARIO.format(n=n, twin=twin, **said) + wire
    for n in range(FILES):
        lines = "\n".join(_text(at, 12) for _ in range(WORDS // 12))
        yield f"src/d{n // 200:03}/f{n:05}.md", lines + "\n"


def _changing(at: Ground) -> Callable[[], None]:
    """Each call stages twenty files that were never seen."""
    state = {"round": 0}

    def change() -> None:
        state["round"] += 1
        lines = []
        for n in range(CHANGED):
            text = f"{state['round']} {n} {_text(at, WORDS)}\n"
            oid = at.git("hash-object", "-w", "--stdin", stdin=text.encode()).strip()
            lines.append(f"100644 {oid}\tsrc/d{n:03}/f{n * 200:05}.md\n")
        at.git("update-index", "--index-info", stdin="".join(lines).encode())

    return change


def figures(options: Options) -> list[Figure]:
    """`leaks --staged`: warm, with new files, cold."""
    with ground() as at:
        at.commit(dict(_files(at)))
        at.pack()
        listing = command("git", "ls-files", "-s", "-z", cwd=at.repo, env=at.env)
        nothing = command(*NOTHING, cwd=at.repo, env=at.env)
        feed = "".join(f"{oid}\n" for oid in at.git("ls-files", "-s").split()[1::4]).encode()
        contents = command("git", "cat-file", "--batch", "--buffer", cwd=at.repo, env=at.env, stdin=feed)
        leaks = command(*EVALREPO, "leaks", "--staged", cwd=at.repo, env=at.env)
        change, cache = _changing(at), at.repo / ".git" / "evalrepo"

        def cold() -> None:
            shutil.rmtree(cache, ignore_errors=True)
            leaks()

        floor = together(listing, nothing)
        cases = [
            Case("leaks", "10,000 files, warm / ls-files + python", leaks, floor, 12.0, 11),
            Case(
                "leaks",
                "10,000 files, 20 of them new / the same",
                together(change, leaks),
                together(change, floor),
                6.0,
                5,
            ),
            Case("leaks", "10,000 files, cold / + cat-file --batch", cold, together(floor, contents), 25.0, 3),
        ]
        return [ratios(case, options) for case in cases]
