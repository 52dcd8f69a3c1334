"""Installing, faults, setup, and reading what an agent left."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import subprocess
import threading

import pytest

from evalrepo.errors import HarnessError, Interrupted
from evalrepo.records.config import Install
from evalrepo.records.outcome import FileState, changed
from evalrepo.records.record import ErrorKind
from evalrepo.records.scenario import Fault, SetupStep
from evalrepo.records.transcript import At, Call, Result, Transcript
from evalrepo.sandbox.faults import fired, plant
from evalrepo.sandbox.install import install, located
from evalrepo.sandbox.isolation import NONE, wrap
from evalrepo.sandbox.layout import fresh
from evalrepo.sandbox.setup import SetupError, deterministic, run_setup
from evalrepo.sandbox.snapshot import manifest, read_file

NOTHING = Transcript("scripted")
SUBJECT = {
    "agents/lead.md": ("100644", b"lead"),
    "agents/scout.md": ("100644", b"scout"),
    "SKILL.md": ("100644", b"skill"),
    "run.sh": ("100755", b"#!/bin/sh\n"),
}


def test_a_subject_is_installed_in_the_project_and_in_the_home(box):
    plan = Install(copy={"agents": ".claude/agents", "SKILL.md": ".claude/"}, home={"run.sh": ".local/bin/go"})
    assert install(box, SUBJECT, plan) == [
        ".claude/SKILL.md",
        ".claude/agents/lead.md",
        ".claude/agents/scout.md",
        "~/.local/bin/go",
    ]
    assert (box.work / ".claude/agents/lead.md").read_bytes() == b"lead"
    assert os.access(box.home / ".local/bin/go", os.X_OK)


def test_the_whole_subject_can_go_to_the_top_or_to_the_home(box):
    assert install(box, SUBJECT, Install(copy={".": "."})) == sorted(SUBJECT)
    assert install(box, SUBJECT, Install(copy={"./": "~/.pi/skill"}))[0] == "~/.pi/skill/SKILL.md"


def test_a_file_of_the_fixture_is_replaced(box):
    install(box, SUBJECT, Install(copy={"SKILL.md": "README.md"}))
    assert (box.work / "README.md").read_bytes() == b"skill"


@pytest.mark.parametrize(
    ("copy", "why"),
    [
        ({"SKILL.md": "../x"}, "leaves the tree"),
        ({"SKILL.md": "/etc/x"}, "leaves the tree"),
        ({"SKILL.md": "~/../x"}, "leaves the tree"),
        ({"SKILL.md": ".git/hooks/post-checkout"}, "inside of a .git"),
        ({"nothing": "x"}, "the subject has no 'nothing'"),
        ({"SKILL.md": "CLAUDE.md/x"}, "would go through CLAUDE.md"),
        ({"SKILL.md": "README.md/x"}, "would go through README.md"),
        ({"SKILL.md": "deep/er"}, "is a directory of the fixture"),
        ({"SKILL.md": "a", "run.sh": "a/b"}, "not a directory"),
    ],
)
def test_a_target_that_cannot_be_is_refused_before_a_file_is_written(box, copy, why):
    before = manifest(box.work)
    with pytest.raises(HarnessError, match=re.escape(why)):
        install(box, SUBJECT, Install(copy={"agents": "fine", **copy}))
    assert manifest(box.work) == before


def test_an_installed_file_replaces_a_link_and_not_what_it_points_to(box):
    install(box, SUBJECT, Install(copy={"SKILL.md": "CLAUDE.md"}))
    assert not (box.work / "CLAUDE.md").is_symlink()
    assert (box.work / "AGENTS.md").read_bytes() == b"Be brief.\n"


def shell(box, script: str) -> subprocess.CompletedProcess[str]:
    launch = wrap(NONE, box, ["/bin/sh", "-c", script], box.environment())
    return subprocess.run(launch.argv, cwd=box.work, env=launch.env, capture_output=True, text=True, check=False)


def test_a_missing_command_is_found_on_no_path_and_all_others_are(box):
    plant(box, [Fault(command="cp", missing=True), Fault(command="sort", missing=True)])
    done = shell(
        box, "cp README.md x; echo $?; command -v cp sort; env cp; echo $?; command -v mv && ls README.md | wc -l"
    )
    assert done.stdout.splitlines()[:2] == ["127", "127"]
    assert done.stdout.splitlines()[2].endswith("/mv")
    assert done.stdout.splitlines()[3].strip() == "1"
    assert "cp: not found" in done.stderr
    assert not [line for line in done.stdout.splitlines() if line.endswith(("/cp", "/sort"))]


@pytest.mark.parametrize(
    ("command", "output", "times"),
    [
        ("cp README.md x; cp", "", 2),
        ("command -v cp || which cp", "", 2),
        ("LC_ALL=C cp a b && echo yes", "sh: 1: cp: not found", 1),
        ("if ! cp a b; then exit 1; fi", "", 1),
        ("bash -lc 'cp a b'", "bash: line 1: cp: command not found", 1),
        ("sudo -n env cp a b\n  cp c d", "", 2),
        ("npm run build", "sh: 1: cp: not found", 1),
        ("npm run build", "zsh: command not found: cp", 1),
        ("scp a b; cat cp; echo cp; ./cp x; cp.py; grep -c cp README.md", "cp: the copy", 0),
    ],
)
def test_how_often_a_missing_command_was_called_or_looked_for_is_told_by_the_log(box, command, output, times):
    at = At("log", 1)
    result = Result("c1", ok=False, text=output, size=len(output), turn=1, at=at)
    call = Call("c1", "Bash", "shell", {}, {"command": command}, 1, at, result=result)
    child = Transcript("scripted", events=(call,))
    faults = [Fault(command="cp", missing=True)]
    assert fired(box, faults, Transcript("scripted", children={"a": child})) == {"cp": times}
    assert fired(box, faults, Transcript("scripted")) == {"cp": 0}


def test_a_command_fails_the_first_times_and_then_is_the_real_one(box):
    faults = [Fault(command="wc", fail_first=2, exit=9, stdout="it's %s", stderr='"half" $HOME\n')]
    plant(box, faults)
    done = shell(box, "wc -c README.md; echo $?; wc -c README.md; echo $?; wc -c README.md; echo $?")
    assert done.stdout == "it's %s9\nit's %s9\n12 README.md\n0\n"
    assert done.stderr == '"half" $HOME\n' * 2
    assert fired(box, faults, NOTHING) == {"wc": 2}


def test_calls_side_by_side_fail_exactly_so_often(box):
    faults = [Fault(command="true", fail_first=3)]
    plant(box, faults)
    done = shell(box, "for i in 1 2 3 4 5 6 7 8; do (command true || env true || exit 0) & done; wait")
    assert done.returncode == 0
    shell(box, "for i in 1 2 3 4; do env true & done; wait")
    assert fired(box, faults, NOTHING) == {"true": 3}


def test_an_isolated_agent_cannot_see_or_empty_what_faults_note(within, cell):
    faults = [Fault(command="wc", fail_first=1), Fault(command="cp", missing=True)]
    plant(cell, faults)
    _, output, _ = within(
        "wc -c README.md || echo failed; wc -c README.md; cp; command -v cp; rm -f /opt/var/*; ls /opt/var; rm /opt/bin/wc"
    )
    assert output == "failed\n12 README.md\n"
    assert fired(cell, faults, NOTHING)["wc"] == 1 or os.getuid() != 0


def test_a_manifest_tells_modes_sizes_hashes_and_leaves_git_out(box):
    found = manifest(box.work)
    assert list(found) == sorted(found)
    assert found["bin/tool"] == FileState("100755", 20, hashlib.sha256(b"#!/bin/sh\necho tool\n").hexdigest())
    assert found["CLAUDE.md"] == FileState("120000", 9, hashlib.sha256(b"AGENTS.md").hexdigest())
    assert not any(".git" in path.split("/") for path in found)


def test_a_manifest_does_not_hang_on_what_is_no_file_and_follows_no_link(box):
    os.mkfifo(box.work / "fifo")
    (box.work / "loop").symlink_to(".")
    (box.work / "out").symlink_to("/etc")
    with (box.work / "sparse").open("wb") as sparse:
        sparse.truncate(1 << 40)
    (box.work / "\udcff").write_bytes(b"x")
    found = manifest(box.work)
    assert found["fifo"] == FileState("special", 0, "")
    assert found["loop"].mode == found["out"].mode == "120000"
    assert found["sparse"] == FileState("100644", 1 << 40, "")
    assert found["\udcff"].size == 1
    assert not any(path.startswith(("loop/", "out/")) for path in found)


def test_a_directory_that_is_too_deep_is_special(box):
    (box.work / "/".join(["d"] * 250)).mkdir(parents=True)
    found = manifest(box.work)
    assert found["/".join(["d"] * 201)].mode == "special"


def test_a_file_is_read_only_below_its_root_and_through_no_link(box, tmp_path):
    assert read_file(box.work, "deep/er/data.bin", 1000) == bytes(range(256))
    (box.work / "way").symlink_to("deep")
    os.mkfifo(box.work / "fifo")
    for path, error in [
        ("CLAUDE.md", OSError),
        ("way/er/data.bin", OSError),
        ("fifo", OSError),
        ("../base", OSError),
        ("/etc/passwd", OSError),
        ("deep/er/data.bin", OSError),
        ("absent", FileNotFoundError),
    ]:
        with pytest.raises(error):
            read_file(box.work, path, 255)


def test_links_that_are_swapped_while_reading_neither_hang_nor_leak(box, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "f").write_bytes(b"SECRET")
    (box.work / "d").mkdir()
    (box.work / "d/f").write_bytes(b"own")
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            (box.work / "d").rename(box.work / "kept")
            (box.work / "d").symlink_to(secret)
            (box.work / "d").unlink()
            (box.work / "kept").rename(box.work / "d")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for _ in range(300):
            with contextlib.suppress(OSError):
                assert read_file(box.work, "d/f", 100) == b"own"
            assert manifest(box.work).get("d/f", FileState("", 3, "")).size == 3
    finally:
        over.set()
        swapper.join()


def test_setup_runs_with_fixed_dates_and_must_make_what_it_says(box):
    steps = [
        SetupStep(run="echo 1 > made; mkdir logs; touch logs/x; git add -A; git commit -qm setup", creates="logs/**")
    ]
    run_setup(box, steps, NONE)
    assert (box.work / "made").read_text() == "1\n"
    assert shell(box, "git log -1 --format=%an,%cI").stdout == "dev,2024-01-01T00:00:00+00:00\n"
    with pytest.raises(SetupError, match="made nothing that fits 'other/\\*\\*'"):
        run_setup(box, [SetupStep(run="true", creates=["other/**"])], NONE)


def test_a_failing_setup_step_is_told_with_what_it_said(box):
    with pytest.raises(SetupError, match=r"setup step .* failed with exit code 3: no such generator") as caught:
        run_setup(box, [SetupStep(run="echo no such generator >&2; exit 3")], NONE)
    assert caught.value.kind is ErrorKind.SETUP


def test_a_setup_step_that_does_not_end_is_ended(box):
    with pytest.raises(SetupError, match="was ended: wall"):
        run_setup(box, [SetupStep(run="sleep 60")], NONE, timeout_s=0.2)
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Interrupted):
        run_setup(box, [SetupStep(run="sleep 60")], NONE, cancel=cancel)


def test_setup_is_isolated_and_what_it_makes_belongs_to_the_agent(isolation, cell):
    run_setup(cell, [SetupStep(run="id -u > who; pwd >> who; grep -c : /proc/net/dev >> who")], isolation)
    uid, place, interfaces = (cell.work / "who").read_text().split()
    assert (place, interfaces) == ("/srv/project", "1")
    assert int(uid) == (cell.work / "who").stat().st_uid != 0


def test_setup_that_differs_between_two_sandboxes_is_found_and_named(base, fixture):
    def prepare(script: str):
        return lambda box: run_setup(box, [SetupStep(run=script)], NONE)

    deterministic(lambda: fresh(base, fixture, NONE), prepare("date +%Y > /dev/null; echo same > a"))
    with pytest.raises(SetupError, match=r"not deterministic: b$"):
        deterministic(lambda: fresh(base, fixture, NONE), prepare("echo same > a; date +%N > b"))
    assert list(base.iterdir()) == []


def test_what_changed_is_seen_without_git(box):
    before = manifest(box.work)
    shell(box, "echo x >> README.md; rm bin/tool; mkdir -p n; echo y > n/new; git add -A; git commit -qm all")
    difference = changed(before, manifest(box.work))
    assert (difference.added, difference.modified, difference.removed) == (("n/new",), ("README.md",), ("bin/tool",))


def test_what_a_cli_is_told_by_name_is_put_into_home_where_it_is_a_path_of_the_subject(box):
    plan = Install(plugin_dir=".", skill="./agents/", extension="bundled:subagent")
    place = "~/.local/share/extras/team"
    found = located("team", SUBJECT, plan)
    assert (found.plugin_dir, found.skill, found.extension) == (place, f"{place}/agents", "bundled:subagent")
    assert install(box, SUBJECT, plan, "team") == sorted(f"{place}/{path}" for path in SUBJECT)
    assert (box.home / ".local/share/extras/team/SKILL.md").read_bytes() == SUBJECT["SKILL.md"][1]


def test_a_place_of_the_sandbox_stays_what_it_is(box):
    plan = Install(copy={".": "~/skills/x"}, skill="~/skills/x", plugin_dir="plugins/own")
    assert located("team", SUBJECT, plan) == plan
    assert all(path.startswith("~/skills/x/") for path in install(box, SUBJECT, plan, "team"))
