"""A repository with a frozen reserve, its rubric, hidden file and fixture, a subject, and a run-set: `base` is tagged."""

from __future__ import annotations

import json
import os
from pathlib import Path

from frozen_repo import Repo

from evalrepo.store.fastrange import answer

R1, R2, S1 = "scenarios-reserve/R1.yaml", "scenarios-reserve/R2.yaml", "scenarios/S1.yaml"
RULES, TONE, BOX = "subjects/rules/RULES.md", "rubrics/tone.md", "fixtures/box"
LOCK, CONFIG, LEDGER = "evalrepo.lock", "evalrepo.yaml", "evalrepo.ledger"


def scenario(title: str, *, reserve: bool = True) -> str:
    number = sum(map(ord, title))
    twin = f"twin: S1\ntripwire: {number:08}-0000-4000-8000-000000000000\n" if reserve else "twin: R1\n"
    return (
        f"title: {title}\nsubject: rules\nfixture: box\n{twin}turns:\n  - prompt: Write the {title} note.\nchecks:\n"
        "  - {id: a, axis: A, command: {run: sh c.sh, files: {c.sh: scenarios/files/R1/c.sh}}}\n"
        "  - {id: b, axis: A, judge: {rubric: tone, question: kind}}\n"
    )


WORLD: dict[str, str | bytes] = {
    CONFIG: "version: 1\nsubjects:\n  rules: {paths: [subjects/rules/**]}\ndiscipline: {moved_goal: error}\n",
    ".gitattributes": "fixtures/** -text\nevalrepo.lock -text\n",
    RULES: "be brief\n",
    R1: scenario("one"),
    R2: scenario("two"),
    S1: scenario("open", reserve=False),
    TONE: "---\ntitle: t\nquestions: {kind: {ask: kind?}}\n---\n",
    "scenarios/files/R1/c.sh": "true\n",
    f"{BOX}/README.md": "box\n",
    f"{BOX}/crlf.txt": b"one\r\ntwo\r\n",
    f"{BOX}/caf\u00e9.txt": "coffee\n",
    "docs/page.md": "page\n",
}


def build(repo: Repo) -> None:
    """WORLD frozen in the second commit, and one harmless commit after the tag `base`."""
    repo.git("config", "core.precomposeUnicode", "false")
    repo.commit(WORLD)
    repo.freeze()
    repo.git("tag", "base")
    repo.commit({"docs/page.md": "harmless\n"})


def sha(repo: Repo, rev: str = "HEAD") -> str:
    return repo.git("rev-parse", rev).strip()


def save(repo: Repo, message: str = "x") -> str:
    """Everything, past the hooks; the commit."""
    repo.git("add", "-A")
    repo.git("commit", "-q", "--no-verify", "--allow-empty", "-m", message)
    return sha(repo)


def put(repo: Repo, files: dict[str, str | bytes], message: str = "x") -> str:
    repo.write(files)
    return save(repo, message)


def relock(repo: Repo, path: str) -> None:
    """The lock's line of a staged file written by hand, so that it fits again."""
    from hashlib import sha256

    oid = repo.git("rev-parse", f":{path}").strip()
    total = sha256((repo.root / path).read_bytes()).hexdigest()
    lines = (repo.root / LOCK).read_text().splitlines(keepends=True)
    done = [f"100644 {oid} {total} {path}\n" if line.endswith(f" {path}\n") else line for line in lines]
    (repo.root / LOCK).write_text("".join(done))


def without_line(repo: Repo, path: str) -> None:
    lines = (repo.root / LOCK).read_text().splitlines(keepends=True)
    (repo.root / LOCK).write_text("".join(line for line in lines if not line.endswith(f" {path}\n")))


def thaw(repo: Repo, *paths: str) -> None:
    code, said = repo.run("thaw", *paths, "--why", "a wrong word in it", "--kind", "repair")
    assert code == 0, said


def freeze(repo: Repo) -> None:
    code, said = repo.run("freeze")
    assert code == 0, said


def renew(repo: Repo, path: str, text: str) -> str:
    """Thaw, edit and freeze, as it should be, in one commit."""
    thaw(repo, path)
    repo.write({path: text})
    repo.git("add", "-A")
    freeze(repo)
    return save(repo, "a new generation")


def event(repo: Repo, number: int = 0) -> Path:
    return sorted((repo.root / LEDGER).iterdir())[number]


def branch(repo: Repo, name: str, start: str = "HEAD") -> None:
    repo.git("checkout", "-q", "-b", name, start)


def merge_by_hand(repo: Repo, *others: str, **files: str) -> str:
    """A merge commit of HEAD and others whose tree is HEAD's with these files (`path=text`, as keywords)."""
    repo.write(files)
    repo.git("add", "-A")
    tree = repo.git("write-tree").strip()
    parents = [word for rev in ("HEAD", *others) for word in ("-p", sha(repo, rev))]
    made = repo.git("commit-tree", tree, *parents, "-m", "merge").strip()
    repo.git("reset", "-q", "--hard", made)
    return made


def fast(repo: Repo, rev: str = "base") -> str | None:
    """What the fast path says of the range."""
    before = Path.cwd()
    os.chdir(repo.root)
    try:
        return answer(["--since", rev], dict(repo.environ))
    finally:
        os.chdir(before)


def since(repo: Repo, rev: str = "base", *more: str) -> list[dict]:
    """The findings of `verify --since`, that its exit code is theirs, and that the fast path answers nothing else."""
    code, said = repo.run("verify", "--since", rev, *more, "--format", "json")
    assert code in (0, 1), said
    data = json.loads(said)
    assert data["intact"] == (code == 0)
    assert data["intact"] == all(f["severity"] == "warning" for f in data["findings"])
    if not more and (line := fast(repo, rev)) is not None:
        assert data["findings"] == []
        assert line.startswith(f"{data['commits']} commit")
        assert f" since {data['start'][:12]}: {data['locked']} frozen file" in line
    return data["findings"]
