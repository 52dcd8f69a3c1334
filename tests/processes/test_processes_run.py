"""Processes end when they should, and nothing of them is left."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalrepo.errors import HarnessError
from evalrepo.processes import Deadlines, Ended, Reason, capture, run
from evalrepo.processes.tree import end_strays

linux = pytest.mark.skipif(sys.platform != "linux", reason="orphans are found on Linux only")
ENV = {"PATH": "/usr/bin:/bin"}


@pytest.fixture
def start(tmp_path):
    def start(script: str, **options) -> Ended:
        options.setdefault("deadlines", Deadlines(wall_s=20))
        options.setdefault("env", ENV)
        return run(["/bin/sh", "-c", script], cwd=tmp_path, output=tmp_path / "out", errors=tmp_path / "err", **options)

    return start


def alive(marker: str) -> list[int]:
    """Processes whose command line holds the marker, zombies left out."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and marker.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def children() -> set[str]:
    """Our own child processes, zombies too."""
    return {pid for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()}


def test_the_exit_code_output_and_errors_are_kept(start):
    ended = start("echo said; echo wrong >&2; exit 3")
    assert (ended.code, ended.signal, ended.reason) == (3, None, Reason.EXITED)
    assert ended.output.read_bytes() == b"said\n"
    assert ended.errors.read_bytes() == b"wrong\n"
    assert not ended.lingered
    assert ended.left == ()


def test_a_signal_is_told_from_an_exit_code(start):
    ended = start("kill -9 $$")
    assert (ended.code, ended.signal, ended.reason) == (None, signal.SIGKILL, Reason.EXITED)


def test_output_and_errors_may_be_one_file(tmp_path):
    both = tmp_path / "both"
    script = ["/bin/sh", "-c", "echo a; echo b >&2; echo c"]
    run(script, cwd=tmp_path, env=ENV, output=both, errors=both, deadlines=Deadlines(wall_s=10))
    assert both.read_bytes() == b"a\nb\nc\n"


def test_only_the_given_environment_and_the_mark_reach_the_process(start, monkeypatch):
    monkeypatch.setenv("SECRET", "from the harness")
    ended = start("env", env={"PATH": "/usr/bin:/bin", "GIVEN": "yes"})
    names = {line.split("=")[0] for line in ended.output.read_text().splitlines()}
    assert names - {"PWD", "_", "SHLVL", "OLDPWD"} == {"PATH", "GIVEN", "INVOCATION_ID"}


def test_stdin_is_empty_unless_bytes_are_given(start):
    assert start("cat").output.read_bytes() == b""
    assert start("cat", stdin=b"x" * 200_000).output.read_bytes() == b"x" * 200_000


def test_a_program_that_is_not_there_is_told_and_not_raised(tmp_path):
    ended = run(
        ["no-such-program"],
        cwd=tmp_path,
        env=ENV,
        output=tmp_path / "o",
        errors=tmp_path / "e",
        deadlines=Deadlines(wall_s=1),
    )
    assert (ended.reason, ended.code) == (Reason.NOT_STARTED, None)
    assert ended.why == "no-such-program: No such file or directory"


def test_a_nul_in_an_argument_is_told_and_not_raised(tmp_path):
    ended = run(
        ["echo", "a\0b"], cwd=tmp_path, env=ENV, output=tmp_path / "o", errors=tmp_path / "e", deadlines=Deadlines(1)
    )
    assert ended.reason is Reason.NOT_STARTED


def test_the_wall_deadline_ends_a_process(start):
    ended = start("echo first; exec sleep 60", deadlines=Deadlines(wall_s=0.3))
    assert ended.reason is Reason.WALL
    assert 0.3 <= ended.seconds < 2
    assert ended.signal == signal.SIGTERM


def test_no_first_output_is_a_startup_deadline(start):
    ended = start("sleep 60", deadlines=Deadlines(wall_s=20, idle_s=15, startup_s=0.3))
    assert ended.reason is Reason.STARTUP


def test_silence_after_output_is_an_idle_deadline(start):
    ended = start("echo first; sleep 60", deadlines=Deadlines(wall_s=20, idle_s=0.4, startup_s=10))
    assert ended.reason is Reason.IDLE
    assert ended.longest_gap_s >= 0.4


def test_growth_of_a_watched_file_that_appears_later_is_activity(start, tmp_path):
    log = tmp_path / "session.jsonl"
    script = "for i in 1 2 3 4 5 6; do sleep 0.15; echo $i >> session.jsonl; done"
    ended = start(script, deadlines=Deadlines(wall_s=20, idle_s=0.6, startup_s=0.6), watch=[log])
    assert (ended.reason, ended.code) == (Reason.EXITED, 0)
    assert 0.1 < ended.longest_gap_s < 0.6


def test_watched_files_may_be_found_by_a_function(start, tmp_path):
    script = "mkdir d; for i in 1 2 3 4 5 6; do sleep 0.15; echo $i >> d/$i.jsonl; done"
    deadlines = Deadlines(wall_s=20, idle_s=0.6, startup_s=0.6)
    assert start(script, deadlines=deadlines, watch=lambda: tmp_path.glob("d/*.jsonl")).reason is Reason.EXITED


def test_errors_alone_are_no_activity(start):
    script = "while :; do echo retry >&2; sleep 0.05; done"
    assert start(script, deadlines=Deadlines(wall_s=20, startup_s=0.3)).reason is Reason.STARTUP


def test_stop_cuts_a_run_at_what_it_sees(start, tmp_path):
    ended = start("sleep 0.2; touch report; sleep 60", stop=(tmp_path / "report").exists)
    assert ended.reason is Reason.STOPPED
    assert ended.seconds < 2


def test_an_error_of_stop_is_raised_after_the_tree_was_ended(start):
    def broken() -> bool:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        start("sleep 61.125; true", stop=broken)
    assert alive("61.125") == []


def test_cancel_is_seen_at_once_and_shortens_the_grace(start):
    cancel = threading.Event()
    threading.Timer(0.2, cancel.set).start()
    ended = start("trap '' TERM; while :; do sleep 0.1; done", cancel=cancel, deadlines=Deadlines(20, grace_s=30))
    assert ended.reason is Reason.CANCELLED
    assert ended.seconds < 1.9


def test_sigterm_gives_the_process_time_to_finish(start, tmp_path):
    script = "trap 'echo bye > farewell; exit 0' TERM; while :; do sleep 0.05; done"
    ended = start(script, deadlines=Deadlines(wall_s=0.3, grace_s=5))
    assert (tmp_path / "farewell").read_text() == "bye\n"
    assert (ended.code, ended.seconds < 2) == (0, True)


def test_too_much_output_is_a_limit(start):
    ended = start("yes", output_limit=1_000_000)
    assert ended.reason is Reason.LIMIT


@linux
def test_resource_limits_reach_the_process(start):
    ended = start("sleep 0.1; ulimit -n", rlimits={resource.RLIMIT_NOFILE: 77, resource.RLIMIT_CORE: 0})
    assert ended.output.read_text() == "77\n"


@linux
def test_a_child_that_ignores_sigterm_and_its_grandchild_in_another_session_are_gone(start):
    script = """
    trap '' TERM
    setsid sh -c "trap '' TERM; sleep 62.125; true" &
    (setsid env -i /bin/sh -c '/bin/sleep 62.250 & /bin/sleep 62.375' &)
    echo ready
    while :; do sleep 0.1; done
    """
    ended = start(script, deadlines=Deadlines(wall_s=0.5, grace_s=0.2))
    assert ended.signal == signal.SIGKILL
    assert ended.left == ()
    assert [alive(f"62.{n}") for n in (125, 250, 375)] == [[], [], []]
    assert ended.seconds < 3


@linux
def test_a_daemon_that_outlives_its_parent_is_ended_and_told(start):
    ended = start("(setsid env -i /bin/sleep 63.125 &) ; sleep 0.1; exit 5")
    assert (ended.code, ended.reason, ended.lingered) == (5, Reason.EXITED, True)
    assert alive("63.125") == []


@linux
def test_a_daemon_that_holds_the_output_open_does_not_delay_the_end(start):
    ended = start("(setsid sleep 64.125 &); echo done")
    assert ended.output.read_text() == "done\n"
    assert ended.seconds < 1


@linux
def test_a_helper_that_ends_by_itself_a_moment_later_is_no_lingerer(start):
    assert not start("(sleep 0.03 &); exit 0").lingered


@linux
def test_runs_side_by_side_end_only_their_own(tmp_path):
    ended: dict[int, Ended] = {}

    def one(number: int) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        wall = 0.3 if number % 2 else 20
        script = f"(setsid env -i /bin/sh -c 'sleep 0.9; echo late > {folder}/late' &); sleep 1.2; echo end"
        ended[number] = run(
            ["/bin/sh", "-c", script],
            cwd=folder,
            env=ENV,
            output=folder / "out",
            errors=folder / "err",
            deadlines=Deadlines(wall_s=wall, grace_s=0.2),
        )

    threads = [threading.Thread(target=one, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(0.8)
    for number in range(8):
        cut = bool(number % 2)
        assert ended[number].reason is (Reason.WALL if cut else Reason.EXITED)
        assert (tmp_path / str(number) / "late").exists() is not cut


@linux
def test_a_process_of_somebody_else_in_this_program_is_left_alone(start):
    import subprocess

    with subprocess.Popen(["/bin/sleep", "65.125"], start_new_session=True) as other:
        start("(setsid sleep 65.250 &)")
        assert other.poll() is None
        other.kill()


@linux
def test_no_zombie_and_no_descriptor_is_left(start):
    start("true")
    before = len(os.listdir("/proc/self/fd")), children()
    for _ in range(5):
        start("(sleep 0.01 &); (setsid sleep 66 &)")
    assert (len(os.listdir("/proc/self/fd")), children()) == before


def test_without_pidfd_waiting_works_too(start, monkeypatch):
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    assert start("exit 6").code == 6
    assert start("sleep 60", deadlines=Deadlines(wall_s=0.2)).reason is Reason.WALL


@linux
def test_what_a_dead_harness_left_is_found_by_its_place(tmp_path):
    import subprocess

    place = tmp_path / "base"
    (place / "home").mkdir(parents=True)
    home = subprocess.Popen(["/bin/sleep", "68.125"], env={"HOME": f"{place}/home"})
    inside = subprocess.Popen(["/bin/sleep", "68.25"], env={}, cwd=place)
    other = subprocess.Popen(["/bin/sleep", "68.5"], env={"HOME": f"{place}-other/home"})
    time.sleep(0.1)
    assert end_strays(place) == sorted([home.pid, inside.pid])
    assert (home.wait(), inside.wait(), other.poll()) == (-9, -9, None)
    other.kill()
    other.wait()


HARNESS = """
import sys
from pathlib import Path
from evalrepo.processes import Deadlines, run
here = Path(sys.argv[1])
script = "trap '' TERM INT; (setsid sleep 69.125 &); echo up; sleep 69.25; true"
run(["/bin/sh", "-c", script], cwd=here, env={"PATH": "/usr/bin:/bin"}, output=here / "o", errors=here / "e",
    deadlines=Deadlines(60, grace_s=30))
"""


@linux
def test_ctrl_c_in_the_main_thread_ends_the_tree_at_once(tmp_path):
    import subprocess

    harness = subprocess.Popen([sys.executable, "-c", HARNESS, str(tmp_path)], stderr=subprocess.PIPE)
    while not (tmp_path / "o").exists() or not (tmp_path / "o").read_bytes():
        time.sleep(0.02)
    pressed = time.monotonic()
    harness.send_signal(signal.SIGINT)
    _, errors = harness.communicate(timeout=10)
    assert b"KeyboardInterrupt" in errors
    assert time.monotonic() - pressed < 2
    assert (alive("69.125"), alive("69.25")) == ([], [])


def test_without_what_only_linux_has_it_still_runs(tmp_path):
    """What macOS lacks is taken away; the reduced promises hold."""
    import subprocess

    code = """
import os, resource, sys
sys.platform = "darwin"
for module, names in ((os, ("pidfd_open", "memfd_create", "copy_file_range", "waitid")), (resource, ("prlimit",))):
    for name in names:
        delattr(module, name)
from datetime import UTC, datetime
from pathlib import Path
from evalrepo.processes import Deadlines, run
from evalrepo.sandbox.layout import base_directory, fresh, remove
from evalrepo.sandbox.isolation import RLIMITS, wrap
from evalrepo.sandbox.probe import probe
from evalrepo.sandbox.template import template
from evalrepo.world import World
world = World(Path("/"), {"PATH": os.environ["PATH"], "TMPDIR": sys.argv[1]}, lambda: datetime.now(UTC), os.urandom)
isolation = probe(world, [])
base = base_directory(world)
box = fresh(base, template({"a": ("100644", b"1")}, base / "templates", "k"), isolation)
launch = wrap(isolation, box, ["/bin/sh", "-c", "cat a; (sleep 60 &); exit 3"], box.environment())
ended = run(launch.argv, cwd=box.work, env=launch.env, output=box.out / "o", errors=box.out / "e",
            deadlines=Deadlines(10), rlimits=RLIMITS)
print(isolation.level, ended.code, ended.reason, ended.output.read_bytes())
remove(box)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False, timeout=30
    )
    assert (done.stdout, done.stderr) == ("none 3 exited b'1'\n", "")


def test_waiting_adds_little(start):
    times = sorted(start("true").seconds for _ in range(20))
    assert times[10] < 0.05


def test_capture_gives_code_output_and_errors(tmp_path):
    assert capture(["/bin/sh", "-c", "cat; echo e >&2; exit 4"], cwd=tmp_path, env=ENV, stdin=b"in") == (
        4,
        b"in",
        b"e\n",
    )


def test_capture_refuses_what_takes_too_long_says_too_much_or_is_missing(tmp_path):
    with pytest.raises(HarnessError, match=r"sleep took longer than 0\.2 seconds"):
        capture(["sleep", "67"], cwd=tmp_path, env=ENV, timeout_s=0.2)
    with pytest.raises(HarnessError, match="wrote more than 1000 bytes"):
        capture(["/bin/sh", "-c", "head -c 5000 /dev/zero"], cwd=tmp_path, env=ENV, limit=1000)
    with pytest.raises(HarnessError, match="cannot start no-such-program: No such file"):
        capture(["no-such-program"], cwd=tmp_path, env=ENV)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=5000))
def test_any_bytes_pass_through_capture_unchanged(tmp_path, data):
    assert capture(["cat"], cwd=tmp_path, env=ENV, stdin=data) == (0, data, b"")


def test_programs_that_threads_start_at_once_do_not_end_each_other(tmp_path):
    codes = []

    def work() -> None:
        codes.extend(capture(["/bin/true"], cwd=tmp_path, env=ENV)[0] for _ in range(60))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0] * 240


def test_a_process_whose_log_is_complete_is_ended_when_it_forgets_to_end(start, tmp_path):
    done = lambda: "finished" in (tmp_path / "out").read_text()  # noqa: E731
    ended = start("echo finished; sleep 60", done=done, deadlines=Deadlines(wall_s=20, grace_s=1, linger_s=0.3))
    assert (ended.reason, ended.lingered) == (Reason.DONE, True)
    assert ended.seconds < 5


def test_a_process_whose_log_is_not_complete_is_waited_for(start):
    ended = start("sleep 0.5; exit 3", done=lambda: False, deadlines=Deadlines(wall_s=20, linger_s=0.1))
    assert (ended.reason, ended.code) == (Reason.EXITED, 3)
