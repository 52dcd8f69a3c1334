"""The speed goals, as ratios measured in one run: `make bench`, or `python benchmarks/run.py [PATH…]`."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from measure import Figure, Options, lines

PATHS = {
    "startup": "evalrepo --version and --help",
    "freeze": "the freeze check of a hook, and --deep",
    "leaks": "the leak check of a hook, warm and cold",
    "range": "verify --since over 1,000 commits",
    "since": "what run --since selects",
    "compare": "diff A B, warm and cold",
    "rescore": "a check repaired, asked of 200 stored reps",
    "rep": "a rep that does nothing, and what isolation adds",
    "memory": "1,000 reps against 10",
    "transcript": "20 MB of a session's log",
    "claude": "20 MB of Claude Code's log",
}
"""Path → what it is; each is a module `path_NAME` beside this file with `figures(options)`."""


def main() -> int:
    """Measure, print, and with --strict exit 1 when a goal is missed."""
    asked = _arguments()
    options = Options(large=asked.large, rounds=asked.rounds)
    figures: list[Figure] = []
    for path in asked.path or PATHS:
        if asked.json is None:
            print(f"{path}: {PATHS[path]} …", file=sys.stderr, flush=True)
        figures += importlib.import_module(f"path_{path}").figures(options)
    if asked.json is None:
        print("\n".join(lines(figures)))
        print(f"\n{_missed(figures)}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    else:
        text = json.dumps([{**asdict(figure), "ok": figure.ok} for figure in figures], indent=2)
        print(text) if asked.json == "-" else Path(asked.json).write_text(text + "\n")
    return int(asked.strict and not all(figure.ok for figure in figures))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/run.py", description=__doc__)
    parser.add_argument("path", nargs="*", choices=[*PATHS, []], help=f"of {', '.join(PATHS)}; default: all")
    parser.add_argument("--large", action="store_true", help="the cases of 100,000 results too (minutes)")
    parser.add_argument("--rounds", type=int, help="turns of candidate and floor")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a goal is missed")
    parser.add_argument("--json", metavar="FILE", help="JSON into a file, `-` for standard output")
    return parser.parse_args()


def _missed(figures: list[Figure]) -> str:
    missed = [figure for figure in figures if not figure.ok]
    return f"{len(missed)} of {len(figures)} goals missed" if missed else "every goal is met"


if __name__ == "__main__":
    sys.exit(main())
