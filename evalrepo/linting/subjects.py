"""Files under test: they are there, they can be installed, and somebody looks at them from both sides."""

from __future__ import annotations

from collections.abc import Iterator

from evalrepo.errors import Finding
from evalrepo.linting.ground import Ground
from evalrepo.records.config import Install
from evalrepo.repository.digests import subject_files
from evalrepo.repository.tree import unusable


def paths(ground: Ground) -> Iterator[Finding]:
    """Each path of a subject matches a file, and git holds its content."""
    for name, subject in ground.config.subjects.items():
        for at, glob in enumerate(subject.paths):
            place = ground.in_config("subjects", name, "paths", at)
            files = ground.tree.match(glob)
            if not files:
                hint = "** crosses directories, * does not; git add new files" if "*" in glob else "git add it"
                yield Finding(place, "SUB101", f'no file matches "{glob}"', hint)
            for path, why in unusable(ground.tree, files):
                yield Finding(place, "SUB103", f"{path} {why}", "store the file itself")


def installs(ground: Ground) -> Iterator[Finding]:
    """What is installed is there, and where it goes is inside the sandbox or its HOME."""
    for name, subject in ground.config.subjects.items():
        files = tuple(subject_files(ground.tree, subject))
        for agent, install in subject.install.items():
            yield from _install(ground, ("subjects", name, "install", agent), install, files)


def _install(ground: Ground, keys: tuple[str, ...], install: Install, files: tuple[str, ...]) -> Iterator[Finding]:
    for key, places in (("copy", install.copy_), ("home", install.home)):
        for source, target in places.items():
            place = ground.in_config(*keys, key, source)
            if _leaves(target):
                hint = "write a path in the sandbox, or ~/… for its private HOME"
                yield Finding(place, "CFG110", f'"{target}" is outside the sandbox', hint)
            if _leaves(source) or source.startswith("~"):
                hint = "paths are relative to the subject: the folder before the first wildcard"
                yield Finding(place, "CFG110", f'"{source}" is outside the subject', hint)
            elif files and source.strip("/") not in ("", ".") and not _holds(files, source):
                hint = f"it holds {', '.join(files[:4])}{' …' if len(files) > 4 else ''}"
                yield Finding(place, "SUB104", f'the subject holds no "{source}"', hint)


def _leaves(path: str) -> bool:
    inner = path.removeprefix("~/") if path != "~" else "."
    return inner.startswith(("/", "~")) or "\\" in inner or ".." in inner.split("/") or inner == ""


def _holds(files: tuple[str, ...], source: str) -> bool:
    clean = source.removeprefix("./").rstrip("/")
    return any(path == clean or path.startswith(clean + "/") for path in files)


def measured(ground: Ground) -> Iterator[Finding]:
    """A subject has scenarios, and among them one in which the behaviour must not appear."""
    for name in ground.config.subjects:
        own = [one for one in ground.scenarios if name in one.scenario.subject]
        place = ground.in_config("subjects", name)
        if not own:
            if not ground.broken:
                hint = f"evalrepo new ID --subject {name}"
                yield Finding(place, "SUB105", f"no scenario measures {name}", hint, True)
        elif not any(one.scenario.polarity == "negative" or one.scenario.should_trigger is False for one in own):
            hint = "add a scenario with polarity: negative, in which the behaviour must not appear"
            yield Finding(place, "SUB102", f"{name} has no negative control", hint, True)


RULES = (paths, installs, measured)
