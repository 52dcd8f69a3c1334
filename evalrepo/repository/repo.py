"""The user's repository: where it is, what its revisions are called, and the few things that we write to it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evalrepo.errors import GitError
from evalrepo.repository import refs
from evalrepo.repository.objects import Entry, Objects
from evalrepo.repository.runner import Git, failure
from evalrepo.repository.tree import CommitTree, IndexTree, Tree
from evalrepo.world import World

if TYPE_CHECKING:
    from evalrepo.repository.history import CommitInfo
    from evalrepo.repository.writer import BlobWriter

INDEX, WORKTREE = "INDEX", "WORKTREE"
"""The words that `Repository.tree` takes beside revisions."""

BEGINNING = "0" * 40
"""What git's hooks and CI call the commit before a new branch: a range that begins with it is the whole history."""

NOBODY = ("evalrepo", "evalrepo@localhost")
"""Author of commits where the repository has no identity."""

FETCH_ALL = "the clone is shallow: fetch the whole history (in CI: fetch-depth: 0; here: git fetch --unshallow)"

_IN_PROGRESS = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply/applying": "am",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "sequencer": "cherry-pick",
    "BISECT_LOG": "bisect",
}


class Repository:
    """One repository with a work tree.

    `top` is the work tree, `git_dir` its own git directory, `common_dir` the one that linked work trees share, `home`
    our folder in it (made on the first write), `objects_dir` and `index_file` where git keeps those.
    """

    def __init__(self, world: World, facts: Mapping[str, str], *, hook: bool = False) -> None:
        self.world = world
        self.top = Path(facts["top"])
        self.git_dir = Path(facts["git_dir"])
        self.common_dir = Path(facts["common_dir"])
        self.objects_dir = Path(facts["objects"])
        self.index_file = Path(facts["index"])
        self.home = self.common_dir / "evalrepo"
        self.object_format = facts["object_format"]
        self.shallow = facts["shallow"] == "true"
        self.git = Git(self.top, world.environ, hook=hook, extra=self._pinned(world) if hook else None)
        self.objects = Objects(self.git, self.objects_dir, self.object_format, self.home)
        self._commits: set[str] = set()

    def _pinned(self, world: World) -> dict[str, str]:
        """A hook's relative places made absolute, since our directory is the top."""
        places = {"GIT_DIR": self.git_dir, "GIT_WORK_TREE": self.top, "GIT_INDEX_FILE": self.index_file}
        return {name: str(path) for name, path in places.items() if name in world.environ or "GIT_DIR" in world.environ}

    @classmethod
    def open(cls, world: World, *, hook: bool = False) -> Repository:
        """The repository around `world.cwd`. With `hook`, the one and the index that git handed to the hook.

        GitError when there is none, when it is bare, when it belongs to somebody else.
        """
        return cls(world, _facts(Git(world.cwd, world.environ, hook=hook)), hook=hook)

    def resolve(self, rev: str) -> str:
        """The full commit id of a revision, whatever it looks like. GitError when there is no such commit."""
        if not rev or "\0" in rev:
            raise GitError("an empty revision" if not rev else "a revision cannot hold a NUL character")
        if rev in self._commits:  # git takes a full id for itself, whatever else has that name
            return rev
        if found := self._parsed(f"{rev}^{{commit}}"):
            self._commits.add(found)
            return found
        if rev.startswith(":/") and (found := self._parsed(rev)):  # there the suffix would be part of the text
            return found
        raise self._unknown(rev)

    def _parsed(self, rev: str) -> str | None:
        code, out, _ = self.git.code("rev-parse", "--verify", "--quiet", "--end-of-options", rev)
        found = out.decode("ascii").strip()
        return found if code == 0 and not found.startswith("^") else None

    def _unknown(self, rev: str) -> GitError:
        code, out, errors = self.git.code("rev-parse", "--verify", "--end-of-options", rev)
        if b"ambiguous" in errors:
            return GitError(f'revision "{rev}" is ambiguous', hint="give more characters of the commit id")
        if code == 0:
            kind = self.git.code("cat-file", "-t", out.decode("ascii").strip())[1].decode("ascii").strip()
            if kind and kind != "tag":
                return GitError(f'revision "{rev}" is a {kind}, not a commit')
        if self.shallow:
            return GitError(f'unknown revision "{rev}"', hint=FETCH_ALL)
        if self.head() is None:
            return GitError(
                f'unknown revision "{rev}": the repository has no commit yet', hint="commit something first"
            )
        return GitError(f'unknown revision "{rev}"', hint="git log and git branch -a say what there is")

    def tree(self, rev: str) -> Tree:
        """The files of a revision, of the INDEX or of the WORKTREE."""
        if rev == INDEX:
            return IndexTree(self.git, INDEX, self.object_format)
        if rev == WORKTREE:
            return self._work_tree()
        return CommitTree(self.git, rev, self.object_format, self.resolve(rev))

    def _work_tree(self) -> Tree:
        from evalrepo.repository.worktree import WorkTree

        return WorkTree(
            self.git,
            self.object_format,
            home=self.home,
            index=self.index_file,
            objects=self.objects_dir,
            keep=self.write_blob,
        )

    def head(self) -> str | None:
        """The commit that HEAD stands on, None before the first one."""
        code, out, _ = self.git.code("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if code and self.git.code("rev-parse", "--verify", "--quiet", "HEAD")[0] == 0:
            raise GitError("HEAD names a commit that is missing or broken", hint="git fsck says what is broken")
        return out.decode("ascii").strip() if code == 0 else None

    def branch(self) -> str | None:
        """The branch that HEAD is on as a full reference (it need not have a commit), None when detached."""
        return refs.symbolic(self.git, "HEAD")

    def default_branch(self) -> str | None:
        """The main branch as a full reference that exists: local if it can be, else of a remote; None when unknown."""
        return refs.default_branch(self.git)

    def merge_base(self, a: str, b: str) -> str | None:
        """The best common ancestor of two revisions, None when histories are unrelated. GitError in a clone that is
        too shallow to tell."""
        code, out, errors = self.git.code("merge-base", self.resolve(a), self.resolve(b))
        if code not in (0, 1):
            raise failure(("merge-base",), code, errors)
        if code and self.shallow:
            raise GitError(f"no common ancestor of {a} and {b} is at hand", hint=FETCH_ALL)
        return out.decode("ascii").split("\n")[0] or None

    def is_ancestor(self, a: str, b: str) -> bool:
        """Whether `a` is `b` or one of its ancestors. GitError where a shallow clone cannot tell."""
        code, _, errors = self.git.code("merge-base", "--is-ancestor", self.resolve(a), self.resolve(b))
        if code not in (0, 1):
            raise failure(("merge-base",), code, errors)
        if code and self.shallow:
            raise GitError(f"whether {a} is an ancestor of {b} cannot be told", hint=FETCH_ALL)
        return code == 0

    def identity(self) -> tuple[str, str] | None:
        """Name and e-mail address that a person configured, None when nobody did (git would make one up)."""
        return refs.identity(self.git, self.world.environ)

    def alternates(self) -> list[Path]:
        """Other object stores that this one borrows from, directly."""
        try:
            lines = (self.objects_dir / "info" / "alternates").read_text("utf-8", "surrogateescape").splitlines()
        except OSError:
            return []
        return [(self.objects_dir / line).resolve() for line in lines if line and not line.startswith("#")]

    def busy(self) -> str | None:
        """What git is in the middle of: "merge", "rebase", "cherry-pick", …"""
        return next((what for name, what in _IN_PROGRESS.items() if (self.git_dir / name).exists()), None)

    def first_parents(self, rev: str) -> Iterator[CommitInfo]:
        """The commits from `rev` back along first parents, newest first."""
        from evalrepo.repository.history import first_parents

        return first_parents(self, self.resolve(rev))

    def commit(self, rev: str) -> CommitInfo:
        """One commit's parents, author, date, subject line and trailers."""
        from evalrepo.repository.history import first_parents

        return next(first_parents(self, self.resolve(rev), 1))

    def refs(self, prefix: str) -> dict[str, str]:
        """Reference → object id (of an annotated tag: what it tags) below a prefix such as `refs/tags/`, sorted."""
        return refs.listed(self.git, prefix)

    def changed(self, a: str, b: str) -> list[str]:
        """Paths that differ between two revisions, renames as a removal and an addition."""
        out = self.git(
            "diff", "--name-only", "--no-renames", "--no-relative", "--no-ext-diff", "--no-textconv",
            "--ignore-submodules=none", "-z", self.resolve(a), self.resolve(b), "--",
        )  # fmt: skip
        return [os.fsdecode(name) for name in out.split(b"\0") if name]

    def write_blob(self, data: bytes) -> str:
        """Store bytes; the blob's id. On disk when it returns."""
        return self.objects.blob(data)

    def blob_writer(self, held: Path) -> BlobWriter:
        """The same as `write_blob` for many blobs and threads, without a process for each; see `writer`."""
        from evalrepo.repository.writer import BlobWriter

        return BlobWriter(self.objects, held)

    def write_tree(self, entries: Mapping[str, Entry], *, base: str | None = None) -> str:
        """Store the tree of these files, over those of `base` (a tree or commit id) if given; the tree's id."""
        return self.objects.tree(entries, base)

    def write_commit(self, tree: str, parents: Sequence[str], message: str) -> str:
        """Store a commit by the configured person, else by evalrepo, dated by the world's clock; its id."""
        name, email = self.identity() or NOBODY
        at = f"@{int(self.world.now().timestamp())} +0000"
        who = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", name), ("EMAIL", email), ("DATE", at))
        }
        return self.objects.commit(tree, parents, message, who)

    def move_ref(self, ref: str, new: str, old: str | None, message: str = "evalrepo") -> None:
        """Set a reference from `old` (None: it must not exist) to `new`. `refs.LostRace`, a GitError, when somebody
        else was quicker. `message` goes to the reflogs of branches and HEAD."""
        refs.move(self.git, ref, new, old or "0" * len(new), message)


_ASKED = (
    "--is-bare-repository",
    "--is-inside-git-dir",
    "--is-shallow-repository",
    "--show-object-format",
    "--absolute-git-dir",
    "--git-common-dir",
    "--git-path objects",
    "--git-path index",
    "--show-toplevel",
)
_NAMES = ("bare", "inside", "shallow", "object_format", "git_dir", "common_dir", "objects", "index", "top")


def _facts(git: Git) -> dict[str, str]:
    """What git says of the repository around its directory, by `_NAMES`."""
    args = [word for asked in _ASKED for word in asked.split(" ")]
    code, out, errors = git.code("rev-parse", "--path-format=absolute", *args)
    lines = os.fsdecode(out).removesuffix("\n").split("\n")
    if code:
        raise _not_here(lines, errors, git.directory)
    if len(lines) != len(_NAMES):  # a path holds a newline
        lines = [git.line("rev-parse", "--path-format=absolute", *asked.split(" ")) for asked in _ASKED]
    return dict(zip(_NAMES, lines, strict=True))


def _not_here(lines: list[str], errors: bytes, directory: Path) -> GitError:
    error = failure(("rev-parse",), 128, errors)
    if b"not a git repository" in errors:
        return GitError(f"not a git repository: {directory}", hint="git init, then evalrepo init")
    if b"dubious ownership" in errors:
        hint = f"if you trust it: git config --global --add safe.directory {directory}"
        return GitError("the repository belongs to another user", hint=hint)
    if lines[:1] == ["true"]:
        return GitError("a bare repository has no work tree", hint="clone it, and work in the clone")
    if lines[1:2] == ["true"]:
        return GitError("this is the inside of a git directory", hint="go to the work tree")
    return error
