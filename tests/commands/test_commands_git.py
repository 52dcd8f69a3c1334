"""The main path in every kind of repository that git can make, and beside every other user of git."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.commands.conftest import GUIDE, SCENARIO, WORLD, Repo

GUIDE_FILE = "subjects/style/GUIDE.md"
WORSE = "Never look, just edit.\n"
SLOW = SCENARIO.replace('say: "Done', 'sleep: 0.4\n      - say: "Done')


def made(top: Path, files: Mapping[str, str], *init: str) -> Repo:
    """A repository below `top` that holds these files, its scripts proven."""
    for name in ("repo", "home", "t"):
        (top / name).mkdir(parents=True)
    repo = Repo(top / "repo", top / "home")
    repo.git("init", "-q", "-b", "main", *init)
    repo.git("config", "user.name", "Test Person")
    repo.git("config", "user.email", "person@example.org")
    repo.commit(files, "the world")
    repo.run("selftest")
    return repo


def copied(source: Repo, top: Path) -> Repo:
    """The same repository below `top`, with a home of its own."""
    for name in ("home", "t"):
        (top / name).mkdir()
    shutil.copytree(source.path, top / "repo", symlinks=True)
    return Repo(top / "repo", top / "home")


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    return made(tmp_path_factory.mktemp("world"), WORLD)


@pytest.fixture(scope="module")
def slowly_proven(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    return made(tmp_path_factory.mktemp("slow"), WORLD | {"scenarios/S1-typo.yaml": SLOW})


@pytest.fixture
def repo(proven: Repo, tmp_path: Path) -> Repo:
    """WORLD, its scripts proven before."""
    return copied(proven, tmp_path)


@pytest.fixture
def slow(slowly_proven: Repo, tmp_path: Path) -> Repo:
    """WORLD with reps that take half a second."""
    return copied(slowly_proven, tmp_path)


def at(repo: Repo, path: Path) -> Repo:
    """The same home and environment in another work tree or clone."""
    return Repo(path, repo.home, dict(repo.env))


def results(repo: Repo, rev: str = "HEAD") -> list[str]:
    """Result files that a commit holds."""
    listed = repo.git("ls-tree", "-r", "-z", "--name-only", rev, "--", "AgentsReport/").split("\0")
    return [name for name in listed if name.endswith(".md")]


def measured(repo: Repo, *args: str, reps: int = 1, files: int = 1) -> str:
    """A run that must land its results on HEAD, touch nothing else, and have nothing to do when it is asked again."""
    before, tip = repo.git("status", "--porcelain", "-z"), repo.git("rev-parse", "HEAD").strip()
    said = repo.run("run", "--reps", str(reps), *args)
    assert len(results(repo)) == files, said
    assert repo.git("status", "--porcelain", "-z") == before
    assert repo.git("rev-parse", "HEAD~1").strip() == tip
    changed = repo.git("diff", "--name-only", "--no-renames", tip, "HEAD").splitlines()
    assert all(name.startswith("AgentsReport/evaluation/") for name in changed), changed
    assert "nothing to do" in repo.run("run", "--reps", str(reps), *args)
    assert_tidy(repo)
    return said


def assert_tidy(repo: Repo) -> None:
    """No lock, journal or sandbox is left, and git is whole."""
    common = (repo.path / repo.git("rev-parse", "--git-common-dir").strip()).resolve()
    assert [*common.rglob("*.lock"), *common.glob("evalrepo/journal/*.jsonl"), *common.glob("evalrepo/landing/*")] == []
    assert [p for p in (repo.home.parent / "t").iterdir() if any(p.iterdir())] == []
    assert repo.git("fsck", "--full", "--strict", "--no-dangling") == ""


@contextlib.contextmanager
def under_way(repo: Repo, *args: str) -> Iterator[subprocess.Popen[str]]:
    """A run whose first rep has started; at the end it is over."""
    process = repo.start("run", *args)
    journals = (repo.path / repo.git("rev-parse", "--git-common-dir").strip()) / "evalrepo/journal"
    until = time.monotonic() + 60
    while not any('"start"' in p.read_text(errors="replace") for p in journals.glob("*.jsonl")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)
    try:
        yield process
    finally:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=60)
        process.kill()


def ended(process: subprocess.Popen[str], exit: int = 0) -> str:  # noqa: A002
    out, err = process.communicate(timeout=90)
    assert "Traceback" not in err, err
    assert process.returncode == exit, out + err
    return out + err


# ------------------------------------------------------------------------------------------------ kinds of repository


def test_a_linked_work_tree_is_measured_and_its_results_land_on_its_own_branch(repo: Repo, tmp_path: Path):
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    main = repo.git("rev-parse", "main")
    linked = at(repo, tmp_path / "linked")
    linked.commit({GUIDE_FILE: GUIDE + "More.\n"})
    measured(linked)
    assert (repo.git("rev-parse", "main"), repo.git("status", "--porcelain")) == (main, "")
    assert len(results(repo, "side")) == 1
    measured(repo)
    assert len(results(repo, "main")) == 1
    assert [c["label"] for c in repo.json("diff", "main", "side", exit=None)["cells"]] == ["same"]


def test_a_detached_head_gets_the_results_and_no_branch_moves(repo: Repo):
    repo.git("checkout", "-q", "--detach")
    main = repo.git("rev-parse", "main")
    measured(repo)
    assert repo.git("rev-parse", "main") == main
    assert repo.git("symbolic-ref", "-q", "HEAD", check=False) == ""
    assert "S1-typo" in repo.run("status")


def test_a_sha256_repository_is_measured_frozen_and_compared(tmp_path: Path):
    reserve = f"tripwire: e5bd47f5-baf6-5717-96ff-ba66eace4b4c\n{SCENARIO}"
    repo = made(tmp_path, WORLD | {"scenarios-reserve/R1.yaml": reserve}, "--object-format=sha256")
    repo.run("freeze", "--why", "first lock")
    repo.commit({}, "freeze")
    measured(repo)
    assert len(repo.git("rev-parse", "HEAD").strip()) == 64
    repo.commit({GUIDE_FILE: WORSE}, "worse")
    repo.run("run", "--since", "HEAD~1", "--reps", "1", exit=1)
    assert next(c["label"] for c in repo.json("diff", "HEAD~2", exit=None)["cells"]) != "missing"
    repo.run("verify")
    assert_tidy(repo)


@pytest.mark.parametrize("mode", ["--cone", "--no-cone"])
@pytest.mark.parametrize("inside", [True, False], ids=["results inside", "results outside"])
def test_a_sparse_checkout_is_measured_whether_or_not_it_shows_results(repo: Repo, mode: str, inside: bool):
    repo.commit({"AgentsReport/evaluation/README.md": "results\n", "elsewhere/x.txt": "x\n", "fixtures/b/y.txt": "y\n"})
    folders = ["scenarios", "subjects", *(["AgentsReport"] if inside else [])]
    patterns = [f"/{f}/" for f in folders] + ["/evalrepo.yaml"] if mode == "--no-cone" else folders
    repo.git("sparse-checkout", "set", mode, *patterns)
    assert not (repo.path / "fixtures").exists()
    measured(repo, files=2)
    assert "elsewhere/x.txt" in repo.git("ls-tree", "-r", "--name-only", "HEAD")
    repo.git("sparse-checkout", "disable")
    assert repo.git("status", "--porcelain") == ""
    assert "nothing to do" in repo.run("run", "--reps", "1")


def test_a_shallow_clone_is_measured_and_since_fails_loudly_in_it(repo: Repo, tmp_path: Path):
    repo.commit({GUIDE_FILE: GUIDE + "More.\n"})
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{repo.path}", str(tmp_path / "clone")], check=True)
    clone = at(repo, tmp_path / "clone")
    tip = clone.git("rev-parse", "HEAD")
    clone.run("run", "--reps", "1")
    assert clone.git("rev-parse", "HEAD~1") == tip
    assert "fetch-depth: 0" in clone.run("run", "--since", "HEAD~2", exit=2)
    assert "fetch-depth: 0" in clone.run("diff", "HEAD~2", exit=2)
    assert clone.git("status", "--porcelain") == ""


def test_a_subdirectory_is_as_good_a_place_to_stand_as_the_top(repo: Repo):
    top, repo.path = repo.path, repo.path / "fixtures/app"
    said = repo.run("run", "S1", "--reps", "1") + repo.run("status") + repo.run("diff", "HEAD", "HEAD")
    assert "S1-typo" in said
    repo.path = top
    assert repo.git("status", "--porcelain") == ""
    assert len(results(repo)) == 1


@pytest.mark.parametrize("name", ["ein Weg 'mit' \"Zeichen\" ü→", "-rf", "a%20b;$(touch X)\\n", "x:y,z"])
def test_a_repository_may_lie_anywhere(proven: Repo, tmp_path: Path, name: str):
    repo = copied(proven, tmp_path)
    repo.path = repo.path.rename(tmp_path / name)
    assert "committed" in measured(repo)


# ---------------------------------------------------------------------------------------------------- names and bytes

NAMES = ["sp ace.txt", "quote\"'.txt", "new\nline.txt", "café/ü→.txt", "-rf", "tab\t.txt", "back\\slash", "%s{x}*[a]?",
         "inv\udcff\udcfealid", "trailing "]  # fmt: skip


def test_fixture_names_and_contents_of_any_bytes_reach_the_agent_and_do_not_differ_by_configuration(repo: Repo):
    for number, name in enumerate(NAMES):
        place = repo.path / "fixtures/app" / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(b"\x00\xff\xfe\x80 bytes\r\n%d\r" % number)
    listing = "find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum -z | sha256sum"
    touch = 'for f in *; do test -d "$f" || printf x >> "./$f"; done'
    repo.write({"scenarios/S1-typo.yaml": SCENARIO.replace(
        "    script:\n      - when", f"    script:\n      - run: '{listing}'\n      - run: '{touch.replace(chr(39), chr(39) * 2)}'\n      - when"
    )})  # fmt: skip
    repo.git("config", "core.autocrlf", "false")
    repo.commit({})
    expected = subprocess.run(["bash", "-c", listing], cwd=repo.path / "fixtures/app", capture_output=True, check=True)
    measured(repo)
    record = repo.records()[0]
    transcript = repo.git("show", f"refs/evalrepo/runs/{record['run']}:{record['reps'][0]['transcript']['path']}")
    assert expected.stdout.decode().split()[0] in transcript
    for key, value in (("core.autocrlf", "true"), ("core.quotePath", "true"), ("core.precomposeUnicode", "true")):
        repo.git("config", key, value)
    assert "nothing to do" in repo.run("run", "--reps", "1")
    run = repo.records()[0]["run"]
    assert repo.run("show", run)
    assert repo.run("diff", "HEAD", "HEAD")
    assert repo.git("fsck", "--full", "--strict", "--no-dangling") == ""


@pytest.mark.parametrize(
    "name", ["S2 with space", "S2-ü", "S2'\"", "S2\nx", "S2\x1b[31m", "-S2", "S2\udcff", "S2~a", "S2:b"]
)
def test_a_scenario_id_that_makes_no_file_name_is_a_finding_with_its_place(repo: Repo, name: str):
    repo.write({f"scenarios/{name}.yaml": SCENARIO})
    said = repo.run("lint", exit=1)
    assert "SCN104" in said
    said += repo.run("run", exit=2)
    assert not any(c in said for c in ("\udcff", "S2\nx", "\x1b"))


def test_under_autocrlf_nothing_is_measured_twice_and_nothing_is_seen_as_changed(repo: Repo):
    measured(repo)
    repo.git("config", "core.autocrlf", "true")
    for path in repo.git("ls-files", "-z").split("\0")[:-1]:
        (repo.path / path).unlink()
    repo.git("checkout", "-q", "--", ".")
    assert b"\r\n" in (repo.path / GUIDE_FILE).read_bytes()
    assert "nothing to do" in repo.run("run", "--reps", "1")
    assert [c["label"] for c in repo.json("diff", "HEAD", "WORKTREE", exit=0)["cells"]] == ["same"]
    repo.run("run", "--reps", "2")
    assert repo.git("status", "--porcelain") == ""
    assert [c["label"] for c in repo.json("diff", "HEAD", "WORKTREE", exit=0)["cells"]] == ["same"]


def test_a_clean_filter_decides_what_is_measured_and_runs_nowhere_else(repo: Repo, tmp_path: Path):
    log = tmp_path / "filter.log"
    repo.git("config", "filter.mend.clean", f"echo clean >> {log}; sed s/HELLO/hello/")
    repo.git("config", "filter.mend.smudge", f"echo smudge >> {log}; sed s/hello/HELLO/")
    repo.commit({".gitattributes": "fixtures/** filter=mend\n"})
    (repo.path / "fixtures/app/README.md").unlink()
    repo.git("checkout", "-q", "--", "fixtures")
    assert (repo.path / "fixtures/app/README.md").read_text() == "HELLO\n"
    log.unlink()
    measured(repo)
    assert "smudge" not in (log.read_text() if log.exists() else "")
    assert [r[4] for r in repo.reps()] == ["PASS"]


def test_replace_refs_and_grafts_change_nothing_that_is_measured(repo: Repo):
    original = repo.git("rev-parse", "HEAD:fixtures/app/README.md").strip()
    (repo.path / "other.txt").write_text("replaced\n")
    other = repo.git("hash-object", "-w", "other.txt").strip()
    (repo.path / "other.txt").unlink()
    repo.git("replace", original, other)
    measured(repo)
    assert [r[4] for r in repo.reps()] == ["PASS"]


# --------------------------------------------------------------------------------------------- hostile configuration


def hostile(repo: Repo, marker: Path) -> None:
    """Everything in a repository's own configuration that git could be made to execute."""
    trap = marker.parent / "trap.sh"
    trap.write_text(f'#!/bin/sh\necho "$0 $*" >> {marker}\n[ -t 0 ] || cat >/dev/null\nexit 1\n')
    trap.chmod(0o755)
    hooks = repo.path / "hooks-of-theirs"
    hooks.mkdir()
    names = ("pre-commit", "post-commit", "reference-transaction", "post-index-change", "commit-msg", "prepare-commit-msg",
             "post-checkout", "pre-auto-gc", "post-rewrite", "fsmonitor-watchman", "sendemail-validate")  # fmt: skip
    for folder in (hooks, repo.path / ".git/hooks"):
        folder.mkdir(exist_ok=True)
        for name in names:
            shutil.copy(trap, folder / name)
    (repo.path / "included.cfg").write_text(f"[core]\n\tfsmonitor = {trap}\n[diff]\n\texternal = {trap}\n")
    settings = {
        "core.fsmonitor": str(trap), "core.hooksPath": str(hooks), "core.pager": str(trap), "core.editor": str(trap),
        "core.sshCommand": str(trap), "core.askPass": str(trap), "core.gitProxy": str(trap), "diff.external": str(trap),
        "diff.trap.textconv": str(trap), "diff.trap.command": str(trap), "merge.trap.driver": str(trap),
        "gpg.program": str(trap), "credential.helper": f"!{trap}", "include.path": str(repo.path / "included.cfg"),
        "core.alternateRefsCommand": str(trap), "uploadpack.packObjectsHook": str(trap), "interactive.diffFilter": str(trap),
        "log.showSignature": "true", "commit.gpgSign": "true", "tag.gpgSign": "true", "status.showUntrackedFiles": "no",
        "core.untrackedCache": "true", "diff.ignoreSubmodules": "all", "core.splitIndex": "true", "log.mailmap": "true",
        "diff.renames": "copies", "color.ui": "always", "column.ui": "always", "diff.noprefix": "true",
        "status.relativePaths": "true", "core.abbrev": "4", "index.version": "4", "feature.manyFiles": "true",
        "fetch.writeCommitGraph": "true", "log.follow": "true", "diff.orderFile": "/nowhere", "transfer.hideRefs": "refs/evalrepo",
    }  # fmt: skip
    for name in ("rev-parse", "ls-files", "ls-tree", "cat-file", "add", "diff-tree", "update-ref", "commit-tree", "status",
                 "hash-object", "write-tree", "update-index", "for-each-ref", "worktree", "log", "config", "log"):  # fmt: skip
        settings[f"alias.{name}"] = f"!{trap}"
    with (repo.path / ".git/config").open("a") as config:
        for key, value in settings.items():
            section, _, rest = key.partition(".")
            middle, dot, name = rest.rpartition(".")
            config.write(f'[{section}{f" {chr(34)}{middle}{chr(34)}" if dot else ""}]\n\t{name} = "{value}"\n')


def test_nothing_that_a_repositorys_configuration_names_is_executed(repo: Repo, tmp_path: Path):
    repo.commit({".gitattributes": "* diff=trap merge=trap\n"})
    marker = tmp_path / "marker"
    hostile(repo, marker)
    for args, code in (
        (("run", "--reps", "1"), 0), (("status",), 0), (("diff", "HEAD~1", "HEAD"), None), (("gate",), None),
        (("log", "S1"), None), (("lint",), 0), (("list",), 0), (("verify",), None), (("run", "--since", "HEAD~1"), 0),
    ):  # fmt: skip
        repo.run(*args, exit=code)
    assert not marker.exists(), marker.read_text()
    assert [r[4] for r in repo.reps()] == ["PASS"]
    assert len(results(repo)) == 1


def test_a_hook_that_always_fails_does_not_stop_results_and_a_missing_signing_key_neither(repo: Repo):
    hook = repo.path / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    repo.git("config", "commit.gpgsign", "true")
    repo.git("config", "user.signingkey", "0xDEADBEEF")
    measured(repo)
    assert repo.git("commit", "-m", "x", "--allow-empty", check=False) == ""


def test_decoys_in_the_environment_turn_nothing_elsewhere(repo: Repo, tmp_path: Path):
    (tmp_path / "decoy").mkdir()
    decoy = at(repo, tmp_path / "decoy")
    decoy.git("init", "-q", "-b", "main")
    decoy.git("config", "user.name", "D")
    decoy.git("config", "user.email", "d@example.org")
    decoy.commit({"x.txt": "x\n"})

    def state() -> tuple[str, bytes, dict[str, bytes]]:
        files = {str(p): p.read_bytes() for p in (decoy.path / ".git").rglob("*") if p.is_file()}
        return decoy.git("show-ref"), (decoy.path / ".git/index").read_bytes(), files

    before, kept = state(), dict(repo.env)
    decoys = {
        "GIT_DIR": str(decoy.path / ".git"), "GIT_WORK_TREE": str(decoy.path), "GIT_INDEX_FILE": str(decoy.path / ".git/index"),
        "GIT_OBJECT_DIRECTORY": str(decoy.path / ".git/objects"), "GIT_COMMON_DIR": str(decoy.path / ".git"),
        "GIT_PREFIX": "x/", "GIT_NAMESPACE": "n", "GIT_REPLACE_REF_BASE": "refs/x", "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "true", "GIT_CONFIG_PARAMETERS": "'core.bare'='true'",
        "GIT_EXTERNAL_DIFF": "false", "GIT_TRACE": str(tmp_path / "trace"), "GIT_AUTHOR_DATE": "x", "GIT_ICASE_PATHSPECS": "1",
        "GIT_DEFAULT_HASH": "sha256", "GIT_EXEC_PATH": str(tmp_path), "GIT_SHALLOW_FILE": "/dev/null", "GIT_PAGER": "false",
    }  # fmt: skip
    repo.env |= decoys
    said = repo.run("run", "--reps", "1") + repo.run("status") + repo.run("diff", "HEAD", "HEAD")
    repo.env = kept
    assert "S1-typo" in said
    assert len(results(repo)) == 1
    assert repo.git("status", "--porcelain") == ""
    assert state() == before
    assert not (tmp_path / "trace").exists()


# --------------------------------------------------------------------------------------------- others are at work too


def test_a_branch_that_is_switched_during_a_run_leaves_the_results_to_the_branch_it_began_on(slow: Repo):
    slow.git("branch", "other")
    with under_way(slow, "--reps", "3", "--jobs", "1") as process:
        slow.git("checkout", "-q", "other")
        slow.commit({"theirs.txt": "x\n"}, "other work")
        ended(process)
    assert (len(results(slow, "main")), len(results(slow, "other"))) == (1, 0)
    assert slow.git("status", "--porcelain") == ""
    assert slow.git("log", "-1", "--format=%s", "other") == "other work\n"
    slow.git("checkout", "-q", "main")
    assert slow.git("status", "--porcelain") == ""
    assert [r[4] for r in slow.reps()] == ["PASS"] * 3
    assert_tidy(slow)


def test_a_branch_that_is_deleted_during_a_run_loses_no_rep(slow: Repo):
    slow.git("checkout", "-q", "-b", "doomed")
    with under_way(slow, "--reps", "2", "--jobs", "1") as process:
        slow.git("checkout", "-q", "main")
        slow.git("branch", "-qD", "doomed")
        ended(process)
    assert slow.git("branch", "--list", "doomed") == ""
    assert len(results(slow, "main")) == 1
    assert slow.git("status", "--porcelain") == ""
    assert "nothing to do" in slow.run("run", "--reps", "2")
    assert_tidy(slow)


def test_garbage_collections_that_prune_at_once_lose_no_rep_and_every_lost_transcript_is_told(slow: Repo):
    with under_way(slow, "--reps", "4", "--jobs", "1") as process:
        [journal] = slow.path.glob(".git/evalrepo/journal/*.jsonl")
        while journal.read_text().count('"line":"end"') < 2:
            slow.git("gc", "-q", "--prune=now", check=False)
        slow.git("gc", "-q", "--prune=now", check=False)
        out, err = process.communicate(timeout=90)
    assert process.returncode in (0, 2), out + err  # 2: an object was gone when it was needed; the journal has the reps
    slow.run("run", "--reps", "4")
    assert [r[4] for r in slow.reps()] == ["PASS"] * 4
    [record] = slow.records()
    lost = [n for n in record.get("notes", ()) if "was lost" in n]
    told = [rep["transcript"] for rep in record["reps"] if rep["transcript"]]
    assert len(lost) + len(told) == 4
    for transcript in told:
        assert "Fix the typo" in slow.git("show", f"refs/evalrepo/runs/{record['run']}:{transcript['path']}")
    assert slow.git("status", "--porcelain") == ""
    assert_tidy(slow)


def test_an_index_that_somebody_holds_for_a_while_is_waited_for(repo: Repo):
    lock = repo.path / ".git/index.lock"
    lock.write_bytes(b"")
    threading.Timer(6.0, lock.unlink).start()
    repo.run("run", "--reps", "1")
    assert len(results(repo)) == 1
    assert not lock.exists()
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.slow
def test_an_index_that_somebody_never_lets_go_moves_nothing_and_the_next_run_lands_what_was_measured(repo: Repo):
    lock = repo.path / ".git/index.lock"
    lock.write_bytes(b"theirs")
    tip = repo.git("rev-parse", "HEAD")
    said = repo.run("run", "--reps", "1", exit=2)
    assert "index.lock" in said
    assert "nothing was moved" in said
    assert (lock.read_bytes(), repo.git("rev-parse", "HEAD")) == (b"theirs", tip)
    assert repo.records() == []
    assert "S1-typo" in repo.run("status", exit=None)
    lock.unlink()
    said = repo.run("run", "--reps", "1")
    assert "its one rep is recorded, 0 ERROR(interrupted)" in said
    assert "nothing to do" in said
    assert [r[2:] for r in repo.reps()] == [(1, 1, "PASS")]
    assert_tidy(repo)


# ------------------------------------------------------------------------------------------- history is rewritten


@pytest.mark.parametrize("how", ["squash", "rebase", "deleted", "amended"])
def test_scores_of_both_contents_are_found_after_history_was_rewritten(repo: Repo, how: str):
    repo.run("run", "--reps", "3")
    repo.git("tag", "base")
    repo.git("checkout", "-qb", "wording")
    repo.commit({GUIDE_FILE: WORSE}, "worse")
    repo.run("run", "--reps", "3", exit=1)
    if how == "squash":
        repo.git("checkout", "-q", "main")
        repo.commit({"notes.txt": "x\n"}, "main goes on")
        repo.git("merge", "-q", "--squash", "wording")
        repo.git("commit", "-qm", "squashed")
        repo.git("branch", "-qD", "wording")
    elif how == "rebase":
        repo.git("checkout", "-q", "main")
        repo.commit({"notes.txt": "x\n"}, "main goes on")
        repo.git("checkout", "-q", "wording")
        repo.git("rebase", "-q", "main")
    elif how == "deleted":
        repo.git("rm", "-rq", "AgentsReport")
        repo.git("commit", "-qm", "no results here")
    else:
        repo.git("reset", "-q", "--soft", "base")
        repo.git("commit", "-qm", "one commit of it")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    cells = repo.json("diff", "base", "HEAD", exit=1)["cells"]
    assert [c["label"] for c in cells] == ["suspect"]
    gate = repo.json("gate", exit=4 if how == "deleted" else 1)
    removed = [r["kind"] for r in gate["reasons"] if r["code"] == "results-removed"]
    assert (gate["answer"], removed) == (("invalid", ["invalid"]) if how == "deleted" else ("block", []))
    assert "nothing to do" in repo.run("run", "--reps", "3", exit=1)  # below its bar, and measured


# ------------------------------------------------------------------------------------------- a results folder that is odd


def test_a_results_folder_that_is_a_symlink_is_refused_and_nothing_is_lost(repo: Repo, tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (repo.path / "AgentsReport").symlink_to(tmp_path / "elsewhere")
    said = repo.run("run", "--reps", "1", exit=2)
    assert "AgentsReport" in said
    assert "replace the link" in said
    assert list((tmp_path / "elsewhere").iterdir()) == []
    (repo.path / "AgentsReport").unlink()
    repo.run("run", "--reps", "1")
    assert [r[2:] for r in repo.reps()] == [(1, 1, "PASS")]
    assert_tidy(repo)


@pytest.mark.parametrize("where", [".gitignore", ".git/info/exclude"])
def test_an_ignore_rule_that_hides_results_is_a_finding_before_the_first_rep(repo: Repo, where: str):
    (repo.path / where).write_text("AgentsReport/\n")
    tip = repo.commit({})
    said = repo.run("run", "--reps", "1", exit=2)
    assert f"{where}:1: RES101" in said
    assert repo.git("rev-parse", "HEAD").strip() == tip
    assert repo.git("for-each-ref", "refs/evalrepo") == ""


def test_what_stands_in_the_way_of_results_is_named_and_kept(repo: Repo):
    (repo.path / "AgentsReport").write_text("a file of mine\n")
    said = repo.run("run", "--reps", "1", exit=2)
    assert "AgentsReport" in said
    assert (repo.path / "AgentsReport").read_text() == "a file of mine\n"
    (repo.path / "AgentsReport").unlink()
    repo.run("run", "--reps", "1")
    assert [r[2:] for r in repo.reps()] == [(1, 1, "PASS")]


# ------------------------------------------------------------------------------------------- bits of the index


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
def test_bits_that_hide_an_edit_from_git_hide_it_from_the_measurement_and_survive_it(repo: Repo, bit: str):
    repo.git("update-index", bit, "fixtures/app/README.md")
    repo.write({"fixtures/app/README.md": "something else\n"})
    flags = repo.git("ls-files", "-v")
    measured(repo)
    assert [r[4] for r in repo.reps()] == ["PASS"]
    assert repo.git("ls-files", "-v", "--", "fixtures", "evalrepo.yaml", "scenarios", "subjects") == flags
    assert (repo.path / "fixtures/app/README.md").read_text() == "something else\n"


def test_a_file_that_is_only_intended_stays_intended(repo: Repo):
    repo.write({"later.txt": "later\n", "fixtures/app/later.txt": "later\n"})
    repo.git("add", "-N", "later.txt", "fixtures/app/later.txt")
    measured(repo)
    assert repo.git("diff", "--cached", "--name-only") == ""
    assert repo.git("ls-tree", "-r", "--name-only", "HEAD").count("later.txt") == 0
    repo.git("commit", "-qam", "later")
    assert "nothing to do" in repo.run("run", "--reps", "1")


def test_a_submodule_outside_of_what_is_measured_is_left_alone(repo: Repo, tmp_path: Path):
    (tmp_path / "lib").mkdir()
    lib = at(repo, tmp_path / "lib")
    lib.git("init", "-q", "-b", "main")
    lib.git("config", "user.name", "D")
    lib.git("config", "user.email", "d@example.org")
    lib.commit({"x.txt": "x\n"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(lib.path), "vendor/lib")
    repo.git("commit", "-qm", "a submodule")
    (repo.path / "vendor/lib/x.txt").write_text("dirty\n")
    measured(repo)
    assert repo.git("ls-tree", "HEAD", "vendor/lib").startswith("160000 commit")
    subprocess.run(["git", "init", "-q", str(repo.path / "nested")], check=True, env=repo.environment())
    repo.run("run", "--reps", "2")
    assert "nested" not in repo.git("ls-tree", "-r", "--name-only", "HEAD")
