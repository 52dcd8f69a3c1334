"""The console blocks of README.md and docs/comparing.md, played: each holds what the commands really print.

`python docs/tour.py` writes the pages, `--check` compares and exits 1 when a block tells another story. Ids, dates and
seconds may differ; progress (standard error) is left out. Each page is played in a repository of its own.
"""
# ruff: noqa: T201, TID251 - it prints, and starts what a reader would type

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from difflib import unified_diff
from pathlib import Path

TOP = Path(__file__).parent.parent
PAGES = (TOP / "README.md", TOP / "docs" / "comparing.md")
BLOCK = re.compile(r"(?ms)^```console\n(.*?)^```$")
VARIES = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b"), "UUID"),
    (re.compile(r"(?<=runs/)[0-9a-z]{8}|(?<=\brun `)[0-9a-z]{8}|(?<=\brun )[0-9a-z]{8}"), "RUN"),
    (re.compile(r"(?<=show )[0-9a-z]{8}(?= )|(?<=_)[0-9a-z]{8}(?=\.md)"), "RUN"),
    (re.compile(r"\b[0-9a-f]{7,40}\b"), "ID"),
    (re.compile(r"\d{4}-\d\d(-\d\d)?( \d\d:\d\d(:\d\d)?)?"), "DATE"),
    (re.compile(r"\d+(\.\d+)? s\b|(?<=\| )\d+\.\d(?= \|$)", re.MULTILINE), "N s"),
    (re.compile(r"\b(bwrap|none)\b"), "LEVEL"),
)


def main(argv: list[str]) -> int:
    """Play the blocks of each page in order, in one fresh repository a page."""
    return max(_page(page, check=argv == ["--check"]) for page in PAGES)


def _page(page: Path, *, check: bool) -> int:
    text = page.read_text("utf-8")
    with tempfile.TemporaryDirectory(prefix="tour-") as folder:
        played = _play(text, Path(folder))
    if check:
        return _check(page.name, text, played)
    page.write_text(played, "utf-8")
    return 0


def _play(text: str, folder: Path) -> str:
    for name in ("work", "home"):
        (folder / name).mkdir()
    tools = folder / "bin"
    tools.mkdir()
    script = tools / "evalrepo"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m evalrepo "$@"\n', "utf-8")
    script.chmod(0o755)
    (folder / "home" / ".gitconfig").write_text(
        "[user]\nname = A Reader\nemail = reader@example.org\n[init]\ndefaultBranch = main\n", "utf-8"
    )
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "XDG_", "EVALREPO_"))}
    env = {
        **kept,
        "HOME": str(folder / "home"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "PATH": f"{tools}{os.pathsep}{kept['PATH']}",
        "COLUMNS": "80",
    }
    return BLOCK.sub(lambda found: f"```console\n{_block(found[1], folder / 'work', env)}```", text)


def _block(block: str, cwd: Path, env: dict[str, str]) -> str:
    commands = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{_said(command, cwd, env)}" for command in commands)


def _said(command: str, cwd: Path, env: dict[str, str]) -> str:
    argv = ["/bin/sh", "-c", command]
    done = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode not in (0, 1):
        print(f"{command}: exit {done.returncode}\n{done.stderr}", file=sys.stderr)
    shown = "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")
    return (f"{shown}\n" if shown else "") + (f"[exit {done.returncode}]\n" if done.returncode else "")


def _check(name: str, old: str, new: str) -> int:
    before, after = (_plain(text).splitlines(keepends=True) for text in (old, new))
    differs = list(unified_diff(before, after, name, "what the commands print", n=1))
    if differs:
        print("".join(differs) + f"\n{name} tells another story than the commands: python docs/tour.py", end="")
        print()
    return 1 if differs else 0


def _plain(text: str) -> str:
    for pattern, word in VARIES:
        text = pattern.sub(word, text)
    return text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
