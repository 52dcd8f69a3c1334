"""`verify --since REV`, fast: answers "nothing is wrong", or nothing at all.

It answers where every commit of the range, merges against each of their parents, left alone what is frozen, the lock,
the ledger and the config, and did no more to results than add some; where no subject was changed beside something that
measures it; where HEAD's frozen files are the lock's lines; and where HEAD's results were audited before, in the same
surroundings. Whatever else is so, is the full command's to say. It rests on two caches that the full command fills:
the index of the range's start and the audit of HEAD's results.

git walks and compares, in processes side by side, and Python imports meanwhile: neither models, YAML nor click.
"""

from __future__ import annotations

import os

from evalrepo.discipline.fastgit import ODD, Process, finish, piped, start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from evalrepo.store.indexing import Index

INDEX, AUDIT = ("index", 2), ("audit", 2)
"""Kind and version of the two caches: what `store.indexing` and `commands.auditing` remember."""
INDEXED = ("evalrepo.yaml", "scenarios", "scenarios-reserve", "rubrics")
AUDITED = ("AgentsReport", "evalrepo.yaml")
"""Paths whose object ids the caches' keys hold."""
REFS = ("for-each-ref", "--format=%(refname) %(objectname)")
OURS = ("evalrepo.lock", "evalrepo.yaml", "evalrepo.ledger", "scenarios-reserve", "AgentsReport/evaluation")
_HOME = ".git/evalrepo"
_CONFIG = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
"""Where a person's configuration is; every other variable of git could turn it elsewhere."""
_MOST_PATHS = 200
_DIFF = (
    "diff-tree", "--stdin", "--always", "-m", "-r", "--raw", "-z", "--root", "--no-renames", "--no-abbrev",
    "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
)  # fmt: skip
_WILD = str.maketrans(dict.fromkeys("*?[{", "\0"))


def answer(argv: list[str], environ: dict[str, str]) -> str | None:
    """The line that `verify` with exactly these arguments prints where nothing is wrong, None where that is not sure.

    Of `--since REV` alone, at the top of a work tree that is no linked one.
    """
    odd = ODD | {"GIT_DIR", "GIT_INDEX_FILE"}
    if len(argv) != 2 or argv[0] != "--since" or any(name in environ for name in odd) or not _usual():
        return None
    own = {name: value for name, value in environ.items() if not name.startswith("GIT_") or name in _CONFIG}
    try:
        return _answer(argv[1], own)
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return None


def audit_key(listing: bytes, refs: bytes, home: str | Path, hour: str) -> str:
    """What an audit of results is remembered by: it rests on nothing else.

    `listing`: git's lines of `AUDITED`; `refs`: ours, as `REFS` prints them; `home`: where the clone's name and the
    numbers that it gave are; `hour`: "" where nothing grows old.
    """
    from hashlib import sha256

    own = [_read(os.path.join(home, name)) for name in ("clone", "sequence")]  # noqa: PTH118
    return sha256(b"".join([sha256(part).digest() for part in (listing, refs, *own, hour.encode())])).hexdigest()


def _read(place: str) -> bytes:
    try:
        with open(place, "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return b""


def index_key(objects: Mapping[str, str]) -> str | None:
    """What the index of a tree is remembered by, None where it has no config. `objects`: path → id, of `INDEXED`."""
    config, *folders = INDEXED
    return ".".join([objects[config], *(objects.get(name, "-") for name in folders)]) if config in objects else None


def ages(config: bytes) -> bool:
    """Whether an audit may change with time alone: claims grow old."""
    return b"claims" in config


def _usual() -> bool:
    """Whether this is the top of a usual repository in a usual state: whole, without grafts and dead runs."""
    there, journal = os.path.lexists, f"{_HOME}/journal"
    if not os.path.isdir(".git") or there(".git/shallow") or there(".git/info/grafts"):  # noqa: PTH112
        return False
    names = os.listdir(journal) if there(journal) else []  # noqa: PTH208
    return not any(name.endswith(".jsonl") for name in names)


def _answer(rev: str, environ: dict[str, str]) -> str | None:
    base, tip = _ends(rev, environ)
    walk = start(["-c", "core.commitGraph=false", "rev-list", f"{base}...{tip}"], environ)
    lock, told = _near(base, tip, environ)
    known = _outline(told["base"]) if _audited(told["tip"], told["config"], told["refs"]) else None
    if known is None:
        finish(walk)
        return None
    roots = _roots(lock)
    frozen = start(["ls-tree", "-r", "-z", tip, "--", "scenarios-reserve", *roots], environ)
    compared = _compared(walk, {*OURS, *roots, *known["m"], *_subjects(known["s"]).values()}, environ)
    locked = _locked(lock, len(roots), finish(frozen))  # while git compares
    commits, changes = _changes(finish(compared))
    if locked is None or base in commits or not _harmless(changes, known, roots):
        return None
    said = f"{_counted(locked, 'frozen file')}, as frozen" if locked else "nothing is frozen"
    return f"{_counted(len(commits), 'commit')} since {base[:12]}: {said}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _ends(rev: str, environ: dict[str, str]) -> tuple[str, str]:
    """Full ids of the commit before the range and of HEAD. ValueError where there are none, or it is all of history."""
    said = (f"{rev}^{{commit}}", "HEAD^{commit}")
    ask = ["rev-parse", "--verify", "--quiet", "--end-of-options"]
    base, tip = [finish(one) for one in [start([*ask, name], environ) for name in said]]
    if not base or not tip or base.startswith(b"^") or not rev.strip("0"):
        raise ValueError
    return base.decode("ascii").strip(), tip.decode("ascii").strip()


def _near(base: str, tip: str, environ: dict[str, str]) -> tuple[bytes, dict[str, bytes]]:
    """The lock at HEAD, and what git says of the two ends. ValueError where git fails."""
    said = {
        "lock": ["cat-file", "blob", f"{tip}:evalrepo.lock"],
        "config": ["cat-file", "blob", f"{tip}:evalrepo.yaml"],
        "base": ["ls-tree", "-z", base, "--", *INDEXED],
        "tip": ["ls-tree", "-z", tip, "--", *AUDITED],
        "refs": [*REFS, "refs/evalrepo/", "refs/replace/"],
    }
    processes = {name: start(arguments, environ) for name, arguments in said.items()}
    from evalrepo.store import cache  # noqa: F401 - while git works

    told = {name: found for name, process in processes.items() if (found := finish(process)) is not None}
    if told.keys() != said.keys():
        raise ValueError
    return told.pop("lock"), told


def _roots(lock: bytes) -> list[str]:
    from evalrepo.discipline.fastcheck import roots_of

    return list(map(os.fsdecode, roots_of(lock)))


def _subjects(globs: Iterable[str]) -> dict[str, str]:
    """What the paths of subjects begin with → the file or folder that holds all such paths, "." for everything."""
    parts = {glob: glob.translate(_WILD).partition("\0") for glob in globs}
    return {head: (head.rpartition("/")[0] or ".") if wild else glob for glob, (head, wild, _) in parts.items()}


def _compared(walk: Process, paths: set[str], environ: dict[str, str]) -> Process:
    """Every commit that is walked against each of its parents, at and below these paths."""
    if len(paths) > _MOST_PATHS:
        paths = {path.partition("/")[0] for path in paths}
    bare = {**environ, "GIT_INDEX_FILE": ".git/no-index"}  # it would read the whole index and not use it
    return piped(walk, [*_DIFF, "--", *sorted(paths)], bare)


def _changes(told: bytes | None) -> tuple[set[str], set[tuple[str, str]]]:
    """The commits, and of all changes kind (git's letter) and path. ValueError where git failed."""
    if told is None:
        raise ValueError
    words = iter(os.fsdecode(told).split("\0"))
    commits, changes = set(), set()
    for word in words:
        if word.startswith(":"):
            changes.add((word[-1], next(words)))
        elif word:
            commits.add(word)
    return commits, changes


def _harmless(changes: set[tuple[str, str]], known: dict[str, list[str]], roots: list[str]) -> bool:
    """Whether nothing of ours was changed, results were added at most, and no goal can have moved."""
    from evalrepo.discipline.places import covered, covers

    frozen = frozenset((*OURS[:-1], *roots))
    for kind, path in changes:
        if covered(frozen, path) or (covers(OURS[-1], path) and kind != "A"):
            return False
    heads, measuring = tuple(_subjects(known["s"])), frozenset(known["m"])
    if not any(path.startswith(heads) for _, path in changes):
        return True
    if known["c"]:
        return False  # a module that checks may import any other
    return not any(kind != "A" and covered(measuring, path) for kind, path in changes)


def _locked(lock: bytes, roots: int, listed: bytes | None) -> int | None:
    """How many files are locked, None where those that git lists are not the lock's lines."""
    from evalrepo.discipline.fastcheck import entries

    if listed is None:
        return None
    at = 0
    for lines in entries(lock, roots, b"", b"blob ", b"\t"):
        part = b"\0".join([*lines, b""])
        if not listed.startswith(part, at):
            return None
        at += len(part)
    return listed.count(b"\0") if at == len(listed) else None


def _audited(listing: bytes, config: bytes, refs: bytes) -> bool:
    """Whether these results were audited in these surroundings, and nothing was found."""
    if b"refs/replace/" in refs or ages(config):
        return False
    return _kept(AUDIT, audit_key(listing, refs, _HOME, "")) == "[]"


def outline(index: Index) -> str:
    """What of an index is kept beside it, to be read without JSON: a line a path, the first letter says of what."""
    subjects = [f"s{glob}" for subject in index.subjects.values() for glob in subject["paths"]]
    modules = [f"c{path}" for path, reasons in index.under.items() if "check module" in reasons]
    lines = [*subjects, *modules, *(f"m{path}" for path in index.under)]
    return "" if any("\n" in line for line in lines) else "".join(f"{line}\n" for line in lines)


def outline_key(key: str) -> str:
    """The outline's own key, of the index's."""
    return f"{key}.outline"


def _outline(listing: bytes) -> dict[str, list[str]] | None:
    """First letter → paths, as they were at the start of the range; None where it is not known."""
    rows = (line.split(b"\t", 1) for line in listing.split(b"\0") if line)
    key = index_key({os.fsdecode(path): meta.split(b" ")[2].decode("ascii") for meta, path in rows})
    found = _kept(INDEX, outline_key(key)) if key else ""
    kinds: dict[str, list[str]] = {"s": [], "c": [], "m": ["scenarios"]}
    for line in found.splitlines():
        kinds[line[0]].append(line[1:])
    return kinds if kinds["s"] else None


def _kept(kind: tuple[str, int], key: str) -> str:
    from evalrepo.store.cache import Cache

    return Cache(_HOME, *kind).get([key]).get(key, "")
