"""What a hostile agent tries, and is denied."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import make_world

from evalrepo import processes
from evalrepo.processes import Deadlines, Reason
from evalrepo.sandbox.isolation import Launch, readable_python, wrap
from evalrepo.sandbox.layout import base_directory, fresh, remove
from evalrepo.sandbox.probe import probe

pytestmark = pytest.mark.isolation
PYTHON = readable_python()[0]


def test_the_agent_is_nobody_and_holds_no_capability(within):
    _, output, _ = within("id -u; grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs)' /proc/self/status")
    uid, *status = output.split("\n")
    values = dict(line.split(":\t") for line in status if line)
    assert uid != "0"
    assert values.pop("NoNewPrivs") == "1"
    assert {int(v, 16) for v in values.values()} == {0}


def test_paths_and_environment_are_the_same_for_every_rep_and_say_nothing(within, cell):
    _, output, _ = within(
        "pwd; echo $HOME; hostname; whoami; env; cat /proc/self/mountinfo /proc/1/cmdline; ls -R /etc"
    )
    assert output.splitlines()[:4] == ["/srv/project", "/home/dev", "dev", "dev"]
    body = output.replace(str(cell.root), "")
    assert "eval" not in body.lower()
    assert "reserve" not in body
    assert "INVOCATION_ID" not in body


def test_a_readable_path_below_a_temporary_directory_or_the_home_is_there(isolation, cell, tmp_path):
    tool = tmp_path / "cli" / "tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho works\n")
    tool.chmod(0o755)
    with wrap(isolation, cell, [str(tool)], cell.environment(), readable=[tool.parent]) as launch:
        done = processes.capture(launch.argv, cwd=cell.work, env=launch.env, pass_fds=launch.pass_fds)
    assert done == (0, b"works\n", b"")


def test_limits_hold_from_the_start(within):
    _, output, _ = within("ulimit -c; ulimit -n; ulimit -f; grep -c . /proc/self/limits")
    assert output.splitlines()[:2] == ["0", "4096"]
    assert int(output.splitlines()[2]) * 512 == 1 << 30


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="an ordinary user's own processes count too")
def test_a_fork_bomb_is_bounded_and_ends(isolation, cell):
    """Under a user of its own: the limit counts all processes of one, those of reps in other tests too."""
    isolation = replace(isolation, uid=isolation.uid - 1)
    script = """if True:
        import os, time
        made = 0
        try:
            while made < 3000:
                if os.fork() == 0:
                    time.sleep(60)
                made += 1
        except OSError:
            print("refused", flush=True)
    """
    with wrap(isolation, cell, [PYTHON, "-c", script], cell.environment(), readable=readable_python()[1]) as launch:
        done = processes.capture(launch.argv, cwd=cell.work, env=launch.env, pass_fds=launch.pass_fds)
    assert done == (0, b"refused\n", b"")


def test_the_eval_repository_and_its_objects_are_not_there(within, eval_repo):
    script = 'cat "$1/scenarios-reserve/R1.yaml"; cat "$1/.git/objects/aa/bb"; ls "$1"'
    code, output, _ = within(script, str(eval_repo))
    assert (code != 0, output) == (True, "")


def test_a_masked_directory_below_a_readable_one_is_empty(isolation, cell, eval_repo):
    argv = ["/bin/sh", "-c", 'ls -a "$1"; cat "$1/scenarios-reserve/R1.yaml"; mkdir "$1/x"', "sh", str(eval_repo)]
    with wrap(isolation, cell, argv, cell.environment(), readable=[eval_repo.parent]) as launch:
        code, output, _ = processes.capture(launch.argv, cwd=cell.work, env=launch.env, pass_fds=launch.pass_fds)
    assert code != 0
    assert b"held out" not in output
    assert b"scenarios" not in output


def test_the_runner_its_environment_and_process_one_are_out_of_reach(within):
    environ = f"/proc/{os.getpid()}/environ"
    _, output, _ = within(f"cat {environ}; ls /proc | grep -c '^[0-9]'; cat /proc/1/environ | tr '\\0' '\\n'")
    assert int(output.splitlines()[0]) < 10
    assert {line.split("=")[0] for line in output.splitlines()[1:]} <= {
        "HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "TMPDIR", "PATH", "USER",
        "LOGNAME", "SHELL", "LANG", "TZ", "GIT_CEILING_DIRECTORIES", "INVOCATION_ID",
    }  # fmt: skip
    assert "PYTEST_CURRENT_TEST" not in output


def test_process_one_cannot_be_traced_and_other_memory_not_be_read(within):
    script = f"""{PYTHON} - <<'END'
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.ptrace(16, 1, 0, 0), ctypes.get_errno())
print(libc.ptrace(0x4206, 1, 0, 0), ctypes.get_errno())
for path in ("/proc/1/mem", "/proc/1/root/etc", "/proc/1/cwd/x"):
    try:
        open(path, "rb").read(1)
        print("read", path)
    except OSError:
        pass
END"""
    code, output, errors = within(script)
    assert (code, errors) == (0, "")
    assert output.splitlines() == ["-1 1", "-1 1"]


def test_the_kernel_cannot_be_changed(within):
    """Opened for writing, never written."""
    script = f"""{PYTHON} - <<'END'
import os
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/sys/power/state"):
    try:
        os.close(os.open(path, os.O_WRONLY))
        print("open", path)
    except OSError:
        pass
END"""
    assert within(script) == (0, "", "")


def test_no_new_user_namespace_no_mount_no_capability_comes_back(within):
    script = "unshare -U true; unshare -Ur true; mount -t tmpfs none /srv; setpriv --reuid 0 true; su -c true; echo end"
    _, output, errors = within(script)
    assert output == "end\n"
    assert errors.count("not permitted") + errors.count("denied") + errors.count("must be") >= 3


def test_key_rings_are_out_of_reach(within):
    script = f"{PYTHON} -c 'import ctypes; print(ctypes.CDLL(None).syscall(250, 0, -3, 0))'"
    if os.uname().machine == "x86_64":
        assert within(script)[1] == "-1\n"


def test_threads_and_processes_still_work(within):
    script = f"""{PYTHON} - <<'END'
import subprocess, threading
t = threading.Thread(target=print, args=("thread",)); t.start(); t.join()
print(subprocess.run(["echo", "child"], capture_output=True, text=True).stdout, end="")
END"""
    assert within(script) == (0, "thread\nchild\n", "")


def test_the_real_home_and_other_sandboxes_are_not_there(within, base, fixture, isolation):
    other = fresh(base, fixture, isolation)
    (other.work / "secret").write_text("of another rep")
    real = Path("~").expanduser()
    _, output, _ = within('cat "$1/secret"; ls "$2"; ls -A ~; echo ~', str(other.work), str(base))
    assert output == "/home/dev\n"
    inside = within('ls -A "$1" 2>/dev/null', str(real))[1].split()
    allowed = {p.relative_to(real).parts[0] for p in readable_python()[1] if p.is_relative_to(real)}
    assert set(inside) <= allowed
    remove(other)


def test_what_the_harness_keeps_is_not_there(within, cell):
    (cell.out / "notes").write_text("of the harness")
    assert within('cat "$1"/notes; ls /srv; ls /opt', str(cell.out))[1].split() == [
        "project",
        "bin",
        "var",
    ]


def test_there_is_no_network_unless_it_is_asked_for(within):
    script = f"""{PYTHON} - <<'END'
import socket
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen(); print("own loopback")
for address in (("127.0.0.1", PORT), ("169.254.169.254", 80)):
    try:
        socket.create_connection(address, 5 if address[1] == PORT else 0.2); print("reached", address)
    except OSError:
        pass
for name in ("\\0test-abstract-PORT",):
    try:
        socket.socket(socket.AF_UNIX).connect(name); print("reached abstract")
    except OSError:
        pass
END"""
    import socket

    with socket.socket() as listening, socket.socket(socket.AF_UNIX) as abstract:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        abstract.bind(f"\0test-abstract-{port}")
        abstract.listen()
        assert within(script.replace("PORT", str(port)))[1] == "own loopback\n"
        assert "reached ('127.0.0.1'" in within(script.replace("PORT", str(port)), network=True)[1]


def test_a_model_server_is_reached_by_its_socket(isolation, cell, tmp_path):
    import socket

    place = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        place.chmod(0o666)
        server.listen()
        script = "import socket; socket.socket(socket.AF_UNIX).connect('/run/model'); print('connected')"
        argv, (_, prefixes) = [PYTHON, "-c", script], readable_python()
        with wrap(isolation, cell, argv, cell.environment(), readable=prefixes, server=place) as launch:
            done = processes.capture(launch.argv, cwd=cell.work, env=launch.env, pass_fds=launch.pass_fds)
    assert done == (0, b"connected\n", b"")


def test_the_agent_writes_its_own_directories_and_no_others(within, cell):
    script = """for d in /srv/project /home/dev /tmp /opt/bin /opt/var /opt /srv /usr /etc / /dev /dev/shm; do
      (echo x > $d/made) 2>/dev/null && echo $d
    done"""
    assert within(script)[1].split() == ["/srv/project", "/home/dev", "/tmp", "/opt/var", "/dev/shm"]
    assert (cell.work / "made").read_text() == "x\n"
    assert (cell.tmp / "made").exists()


def test_git_works_in_the_sandbox_and_finds_nothing_but_its_one_commit(within):
    script = """git status --porcelain; git log --all --format='%an %ad %s' --date=iso; git remote
      git fsck --lost-found; cat .git/objects/info/alternates; git reflog; echo more >> README.md; git commit -qam more
      git log --format=%an -1"""
    _, output, errors = within(script)
    assert output.splitlines() == ["dev 2024-01-01 00:00:00 +0000 Initial commit", "dev"]
    assert "No such file" in errors


def test_a_tree_that_ignores_sigterm_and_left_its_session_is_gone(isolation, cell, tmp_path):
    script = "trap '' TERM; (setsid env -i sh -c \"trap '' TERM; sleep 71.125; true\" &); while :; do sleep 0.1; done"
    with wrap(isolation, cell, ["/bin/sh", "-c", script], cell.environment()) as launch:
        ended = processes.run(
            launch.argv,
            cwd=cell.work,
            env=launch.env,
            output=cell.out / "o",
            errors=cell.out / "e",
            deadlines=Deadlines(wall_s=0.5, grace_s=0.3),
            pass_fds=launch.pass_fds,
        )
    assert (ended.reason, ended.left) == (Reason.WALL, ())
    lines = [p.read_bytes() for p in Path("/proc").glob("[0-9]*/cmdline") if p.exists()]
    assert not any(b"71.125" in line for line in lines)
    assert ended.seconds < 3


def test_sigterm_reaches_the_agent_through_bubblewrap(isolation, cell):
    script = "trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.05; done"
    with wrap(isolation, cell, ["/bin/sh", "-c", script], cell.environment()) as launch:
        ended = processes.run(
            launch.argv,
            cwd=cell.work,
            env=launch.env,
            output=cell.out / "o",
            errors=cell.out / "e",
            deadlines=Deadlines(wall_s=0.5, grace_s=5),
            pass_fds=launch.pass_fds,
        )
    assert (ended.output.read_bytes(), ended.code) == (b"up\nbye\n", 7)


def test_reps_side_by_side_are_separate_and_all_end(isolation, base, fixture):
    outputs: dict[int, bytes] = {}

    def one(number: int) -> None:
        box = fresh(base, fixture, isolation)
        argv = ["/bin/sh", "-c", f"echo {number} > /tmp/n; sleep 0.2; cat /tmp/n; ls / | wc -l"]
        with wrap(isolation, box, argv, box.environment()) as launch:
            outputs[number] = processes.capture(launch.argv, cwd=box.work, env=launch.env, pass_fds=launch.pass_fds)[
                1
            ].split()[:1]
        remove(box)

    threads = [threading.Thread(target=one, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outputs == {n: [str(n).encode()] for n in range(6)}
    assert list(base.iterdir()) == []


def test_the_death_of_the_runner_ends_the_sandbox(isolation, cell, tmp_path):
    with wrap(isolation, cell, ["sleep", "72.125"], cell.environment()) as launch:
        runner = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import subprocess,sys; subprocess.Popen(sys.argv[1:], close_fds=False).wait()",
                *launch.argv,
            ],
            pass_fds=launch.pass_fds,
            env=launch.env,
            cwd=cell.work,
        )
        time.sleep(0.6)
        runner.send_signal(signal.SIGKILL)
        runner.wait()
    time.sleep(0.3)
    lines = [p.read_bytes() for p in Path("/proc").glob("[0-9]*/cmdline") if p.exists()]
    assert not any(b"72.125" in line for line in lines)


def test_isolation_costs_little_more_than_bubblewrap_alone(isolation, cell):
    def milliseconds(launch: Launch) -> float:
        start = time.perf_counter()
        with launch:
            processes.capture(launch.argv, cwd=cell.work, env=launch.env, pass_fds=launch.pass_fds)
        return (time.perf_counter() - start) * 1000

    bare = Launch((isolation.program, "--ro-bind", "/", "/", "--unshare-pid", "/bin/true"), {})
    full = [milliseconds(wrap(isolation, cell, ["/bin/true"], {}, readable=readable_python()[1])) for _ in range(9)]
    floor = [milliseconds(bare) for _ in range(9)]
    assert min(full) <= 4 * min(floor)


def test_a_probe_says_that_bubblewrap_is_missing(tmp_path):
    found = probe(make_world(PATH=str(tmp_path)), [])
    assert (found.level, "not installed" in found.why) == ("none", True)


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "AppArmor"),
        ("bwrap: setting up uid map: Permission denied", "AppArmor"),
        ("bwrap: Creating new namespace failed: Operation not permitted", "container"),
        ("bwrap: No permissions to create new namespace, likely because the kernel does not allow", "container"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "systempaths"),
        ("bwrap: Unknown option --perms", "too old"),
        ("bwrap: something else", "something else"),
    ],
)
def test_a_probe_names_the_likely_cause(tmp_path, message, cause):
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\necho {message!r} >&2\nexit 1\n".replace("'", '"').replace('"t mount', "'t mount"))
    fake.chmod(0o755)
    found = probe(make_world(PATH=f"{tmp_path}:/usr/bin:/bin"), [])
    assert found.level == "none"
    assert cause in found.why


def test_a_probe_finds_a_bubblewrap_that_only_pretends(tmp_path):
    """A wrapper that runs the command outside: everything is visible."""
    fake = tmp_path / "bwrap"
    fake.write_text('#!/bin/sh\nwhile [ "$1" != -- ] && [ $# -gt 0 ]; do shift; done\nshift\nexec "$@"\n')
    fake.chmod(0o755)
    found = probe(make_world(PATH=f"{tmp_path}:/usr/bin:/bin"), [Path("/usr/share")])
    assert found.level == "none"
    assert "the processes of this machine are visible" in found.why
    assert "/usr/share is visible" in found.why


def test_sandboxes_go_where_tmpdir_says(tmp_path):
    made = base_directory(make_world(TMPDIR=str(tmp_path)))
    assert made.parent == tmp_path.resolve()
    assert "." not in made.name
