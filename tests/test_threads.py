"""BLAS is limited while anybody is inside, and free again afterwards."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
import scipy.linalg  # noqa: F401
from threadpoolctl import threadpool_info, threadpool_limits

from neurotron._threads import one_blas_thread


def limits() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def test_the_limit_is_lifted_by_the_last_one_out():
    assert limits() == {2}
    with one_blas_thread():
        with one_blas_thread():
            assert limits() == {1}
        assert limits() == {1}
    assert limits() == {2}


def test_it_is_lifted_after_an_error():
    with pytest.raises(KeyboardInterrupt), one_blas_thread():
        raise KeyboardInterrupt
    assert limits() == {2}


def test_threads_that_overlap_leave_it_as_it_was():
    entered, leave = threading.Barrier(3), threading.Event()
    found = []

    def short() -> None:
        with one_blas_thread():
            entered.wait(10)

    def long() -> None:
        with one_blas_thread():
            entered.wait(10)
            leave.wait(10)
            found.append(limits())

    threads = [threading.Thread(target=target) for target in (short, long)]
    for thread in threads:
        thread.start()
    entered.wait(10)
    threads[0].join()
    leave.set()
    threads[1].join()
    assert found == [{1}]
    assert limits() == {2}


def test_the_last_one_out_lifts_it_though_a_living_thread_has_set_it():
    inside, leave, left, end = (threading.Event() for _ in range(4))

    def first() -> None:
        with one_blas_thread():
            inside.set()
            leave.wait(10)
        left.set()
        end.wait(10)

    thread = threading.Thread(target=first)
    thread.start()
    inside.wait(10)
    with one_blas_thread():
        leave.set()
        left.wait(10)
        assert limits() == {1}
    found = limits()
    end.set()
    thread.join()
    assert found == {2}


def test_any_thread_can_limit_even_if_another_did_before():
    found = []

    def work() -> None:
        with one_blas_thread():
            found.append(limits())
        found.append(limits())

    work()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    work()
    assert found == [{1}, {2}] * 3


def test_a_library_that_is_loaded_inside_is_limited_too():
    code = (
        "from threadpoolctl import threadpool_info\n"
        "from neurotron._threads import one_blas_thread\n"
        "with one_blas_thread():\n"
        "    import neurotron.simulation, scipy.linalg\n"
        "    print(*{pool['num_threads'] for pool in threadpool_info()})\n"
    )
    environment = {"OPENBLAS_NUM_THREADS": "2"}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert run.stdout == "1\n", run.stderr
