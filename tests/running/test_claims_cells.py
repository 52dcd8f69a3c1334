"""Claims: a cell is one run's at a time, across processes, and a crash frees it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from evalrepo.running.claims import Claims, sweep

HOLD = """
import sys
from pathlib import Path
from evalrepo.running.claims import Claims
claims = Claims(Path(sys.argv[1]))
print(claims.take([("S1", "a", "b"), ("S2", "a", "b")]), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def other(tmp_path: Path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}
    )
    assert process.stdout
    process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def test_what_another_process_holds_is_busy_and_the_rest_is_mine(tmp_path: Path, other):
    with Claims(tmp_path) as claims:
        assert claims.take([("S2", "a", "b"), ("S3", "a", "b"), ("S3", "a", "b")]) == (
            (("S3", "a", "b"),),
            (("S2", "a", "b"),),
        )


def test_a_killed_process_frees_its_claims(tmp_path: Path, other):
    other.send_signal(signal.SIGKILL)
    other.wait()
    with Claims(tmp_path) as claims:
        assert claims.take([("S1", "a", "b")]) == ((("S1", "a", "b"),), ())


def test_waiting_ends_when_the_claim_is_free(tmp_path: Path, other):
    threading.Timer(0.3, lambda: other.communicate(b"\n")).start()
    with Claims(tmp_path) as claims:
        assert claims.wait(("S1", "a", "b"), threading.Event())
        assert claims.take([("S1", "a", "b")])[0] == (("S1", "a", "b"),)


def test_waiting_ends_when_it_is_cancelled(tmp_path: Path, other):
    cancel = threading.Event()
    threading.Timer(0.2, cancel.set).start()
    with Claims(tmp_path) as claims:
        assert not claims.wait(("S1", "a", "b"), cancel)


def test_a_released_claim_leaves_no_file_and_another_may_take_it(tmp_path: Path):
    first, second = Claims(tmp_path), Claims(tmp_path)
    assert first.take("ab") == (("a", "b"), ())
    assert second.take("bc") == (("c",), ("b",))
    first.release(["b"])
    assert second.take("b") == (("b",), ())
    first.release()
    second.release()
    assert list((tmp_path / "claims").iterdir()) == []


def test_threads_of_two_runs_never_hold_the_same_cell(tmp_path: Path):
    holders: list[int] = []
    worst = []

    def work() -> None:
        for _ in range(120):
            with Claims(tmp_path) as claims:
                if claims.take(["x"])[0]:
                    holders.append(1)
                    time.sleep(0.0005)
                    worst.append(len(holders))
                    holders.pop()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(worst) == {1}


def test_thousands_of_cells_can_be_claimed(tmp_path: Path):
    keys = [("S", str(n), "b") for n in range(1500)]
    with Claims(tmp_path) as claims:
        assert claims.take(keys) == (tuple(keys), ())
    assert list((tmp_path / "claims").iterdir()) == []


def test_files_of_dead_claims_are_swept_and_living_ones_stay(tmp_path: Path, other):
    (tmp_path / "claims" / "dead").touch()
    sweep(tmp_path)
    assert len(list((tmp_path / "claims").iterdir())) == 2
