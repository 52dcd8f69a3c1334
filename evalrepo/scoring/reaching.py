"""Which paths a tool call names, wherever they lead: from where the agent stood, through `~`, variables, links. Pure.

A shell command is read as words, not run: `cd`, assignments and `ln -s` are followed, within a call and from call to
call. What a program makes up by itself is not seen here.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalrepo.records.transcript import Call

PATHS = (
    "path",
    "file_path",
    "filePath",
    "filepath",
    "filename",
    "file",
    "notebook_path",
    "directory",
    "dir",
    "cwd",
    "workdir",
)
_ASSIGNED = re.compile(r"(?:export\s+)?([A-Za-z_]\w*)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_ENDS = frozenset({";", "&", "&&", "|", "||", "(", ")", "\n"})
_LONGEST = 4096


@dataclass(frozen=True, slots=True)
class Scene:
    """Where the agent was: its work directory and HOME as it saw them. `host`: nothing kept it from the machine.

    `real`: where a path (absolute, or `~name/…`) leads in the end, links followed; None where nobody can tell any more.
    """

    work: str = ""
    home: str = ""
    host: bool = False
    real: Callable[[str], str] | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """A path as it was written, and the absolute path that it leads to (it may hold wildcards)."""

    word: str
    path: str


@dataclass
class Walk:
    """Follows one agent from call to call."""

    scene: Scene
    links: dict[str, str] = field(default_factory=dict)
    stands: str = ""

    def named(self, call: Call) -> Iterator[Named]:
        """Every path that the call names, in order."""
        if call.kind == "spawn" and any(spawn.child for spawn in call.spawns):
            return
        if call.kind == "shell":
            for text in dict.fromkeys(texts_of({**call.args, **call.canonical})):
                yield from self._shell(text)
            return
        for word in dict.fromkeys(_words(call)):
            if "\n" not in word and len(word) < _LONGEST:
                yield from self._led(word, (self.scene.work, self.stands), {})

    def _shell(self, command: str) -> Iterator[Named]:
        at = self.stands or self.scene.work
        known = {"HOME": self.scene.home, "PWD": at, "OLDPWD": at}
        words = _split(command)
        for number, word in enumerate(words):
            assigned = _ASSIGNED.fullmatch(word)
            if assigned:
                known[assigned[1]] = _expanded(assigned[2], known)
            yield from self._led(assigned[2] if assigned else word, (at, self.scene.work), known)
            if word in ("cd", "pushd"):
                at, known["OLDPWD"] = self._moved(words[number + 1 : number + 2], at, known), at
                known["PWD"] = at
            elif word == "ln":
                self._link(words[number + 1 :], at, known)
        self.stands = at

    def _moved(self, to: list[str], at: str, known: Mapping[str, str]) -> str:
        if not to or to[0] in _ENDS or to[0] in ("~", ""):
            return self.scene.home or at
        if to[0] == "-":
            return known["OLDPWD"]
        return self._absolute(to[0], at, known) or at

    def _link(self, rest: list[str], at: str, known: Mapping[str, str]) -> None:
        """`ln -s TARGET NAME`: from here on what lies below NAME is what lies below TARGET."""
        end = next((n for n, word in enumerate(rest) if word in _ENDS), len(rest))
        names = [word for word in rest[:end] if not word.startswith("-")]
        if not names or len(names) == len(rest[:end]):
            return
        target = self._absolute(names[0], at, known)
        place = self._absolute(names[1] if len(names) > 1 else posixpath.basename(names[0].rstrip("/")), at, known)
        if target and place:
            self.links[place] = target
            self.links[posixpath.join(place, posixpath.basename(target))] = target

    def _led(self, word: str, bases: tuple[str, ...], known: Mapping[str, str]) -> Iterator[Named]:
        """Where a word leads, seen from each base; an option's value is a word of its own."""
        value = word.partition("=")[2] if word.startswith("-") and "=" in word else word
        value = value.removeprefix("file://").lstrip("@<>")
        for base in dict.fromkeys(base for base in bases if base) or ("",):
            path = self._absolute(value, base, known)
            for place in dict.fromkeys((path, self._real(path), *([self._linked(path)] if path else []))):
                if place:
                    yield Named(word, place)

    def _absolute(self, word: str, base: str, known: Mapping[str, str]) -> str:
        """The path that a word is, "" when it is none."""
        path = _expanded(word, known)
        if path == "~" or path.startswith("~/"):
            path = self.scene.home + path[1:]
        elif path.startswith("~"):
            return self.scene.real(path) if self.scene.real is not None else ""
        if not path or "\0" in path:
            return ""
        return posixpath.normpath(posixpath.join(base, path))

    def _linked(self, path: str) -> str:
        for _ in range(8):
            found = next((name for name in self.links if path == name or path.startswith(name + "/")), None)
            if found is None:
                break
            path = posixpath.normpath(self.links[found] + path[len(found) :])
        return path

    def _real(self, path: str) -> str:
        return self.scene.real(path) if path and self.scene.real is not None and not set(path) & set("*?[") else ""


def _split(command: str) -> list[str]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.commenters = ""
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return re.split(r"[\s'\"`;|&()<>]+", command)


def _expanded(word: str, known: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: known.get(found[1] or found[2], found.group()), word)


def _words(call: Call) -> Iterator[str]:
    """The texts of a call that can be paths: not what it writes, nor the words that it looks for in files."""
    every = {**call.args, **call.canonical}
    if call.kind in ("write", "edit"):
        yield from (value for name in PATHS if isinstance(value := every.get(name), str))
    elif call.kind == "search" and not any(part in call.tool.lower() for part in ("glob", "find")):
        yield from texts_of({name: value for name, value in every.items() if name not in ("pattern", "query", "regex")})
    else:
        yield from texts_of(every)


def texts_of(value: Any) -> Iterator[str]:
    """Every text in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for below in value.values():
            yield from texts_of(below)
    elif isinstance(value, list | tuple):
        for below in value:
            yield from texts_of(below)
