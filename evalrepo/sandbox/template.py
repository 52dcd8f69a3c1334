"""A fixture with a git repository of its own, made once and copied for every rep.

The repository has one commit by `dev` with fixed dates, packed, no remote, no alternates, nothing of ours. git is
started here as an ordinary program, with an environment of its own, and only before an agent touches anything.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
from pathlib import Path

from evalrepo import processes
from evalrepo.errors import HarnessError
from evalrepo.sandbox import paths, trees

_numbers = itertools.count()
VERSION = 1
"""Of what is made from the same files; part of the directory's name."""
DATE = "2024-01-01T00:00:00Z"
_MTIME = 1_704_067_200
GIT_ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "dev",
    "GIT_AUTHOR_EMAIL": "dev@localhost",
    "GIT_AUTHOR_DATE": DATE,
    "GIT_COMMITTER_NAME": "dev",
    "GIT_COMMITTER_EMAIL": "dev@localhost",
    "GIT_COMMITTER_DATE": DATE,
}
"""Fixed names and dates: the same files give the same commit id."""
_CONFIG = """[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = false
\ttrustctime = false
\tcheckStat = minimal
[user]
\tname = dev
\temail = dev@localhost
[gc]
\tauto = 0
"""
_STEPS = (
    ("init", "-q", "-b", "main", "--template="),
    ("add", "-A", "-f"),
    ("commit", "-q", "--allow-empty", "--no-verify", "-m", "Initial commit"),
    ("repack", "-a", "-d", "-q"),
    ("prune-packed", "-q"),
    ("pack-refs", "--all"),
)


def template(files: paths.Files, cache: Path, key: str) -> Path:
    """The directory that holds the files and their repository; made below `cache` unless it is there.

    `key` names the content (a digest). A template does not outlive a restart of the machine, so a half-written one
    cannot. Raises HarnessError for files that cannot be used, and when git is missing.
    """
    place = cache / f"{re.sub(r'[^A-Za-z0-9]', '-', key)}-{VERSION}-{_boot()}"
    if place.is_dir():
        return place
    paths.check(files, "fixture")
    making = cache / f"making-{os.getpid()}-{next(_numbers)}"
    try:
        _forget_dead(cache, place)
        making.mkdir(parents=True)
        _write(files, making)
        _commit(making, cache)
        with contextlib.suppress(FileExistsError, OSError):
            making.rename(place)
    except OSError as error:
        raise HarnessError(f"{cache}: the fixture cannot be prepared: {error.strerror or error}") from None
    finally:
        trees.remove(making)
    if not place.is_dir():
        raise HarnessError(f"{place}: the fixture cannot be put here")
    return place


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
    except OSError:
        return "0"


def _forget_dead(cache: Path, place: Path) -> None:
    """Remove this template of an earlier boot, and what processes left that died while they made one."""
    same = place.name.rpartition("-")[0] + "-"
    for other in cache.iterdir() if cache.is_dir() else ():
        owner = re.fullmatch(r"making-(\d+)-\d+", other.name)
        dead = owner is not None and not _alive(int(owner[1]))
        if dead or (other.name.startswith(same) and other != place):
            trees.remove(other)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _write(files: paths.Files, root: Path) -> None:
    for path, (mode, content) in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if mode == "120000":
            place.symlink_to(os.fsdecode(content))
        else:
            place.write_bytes(content)
            place.chmod(paths.MODES[mode])
        os.utime(place, (_MTIME, _MTIME), follow_symlinks=False)


def _commit(root: Path, home: Path) -> None:
    environment = {
        **GIT_ENVIRONMENT,
        "HOME": str(home),
        "PATH": os.defpath + ":/usr/local/bin:/opt/homebrew/bin",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(root.parent),
        "LC_ALL": "C",
    }
    for step in _STEPS:
        argv = ["git", "-c", "core.hooksPath=" + os.devnull, "-c", "core.autocrlf=false", *step]
        code, _, errors = processes.capture(argv, cwd=root, env=environment, timeout_s=600)
        if code:
            raise HarnessError(f"git {step[0]} of the fixture failed: {errors.decode(errors='replace').strip()}")
        if step[0] == "init":
            (root / ".git/config").write_text(_CONFIG)
    for unneeded in ("description", "COMMIT_EDITMSG", "hooks", "info", "branches", "logs", "objects/info"):
        shutil.rmtree(root / ".git" / unneeded, ignore_errors=True)
        (root / ".git" / unneeded).unlink(missing_ok=True)
