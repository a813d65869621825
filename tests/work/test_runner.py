"""A study is computed once, whoever computes it, in whatever order, and whatever fails."""

from __future__ import annotations

import os
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from multiprocessing import get_context

import numpy as np
import pytest
from tests.support import units
from tests.support.messages import refused, says
from tests.support.units import endless, fails, of_seeds, study, telling, tried, unlucky

import neurotron as nt
from neurotron._check import InputError
from neurotron.work import Failure, Memory, Report, Unit, run


class Log(Memory):
    """A memory that keeps events, too."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[tuple[str, dict]] = []

    def record(self, event, **details):
        self.events.append((event, details))

    def errors(self, event: str) -> list[str]:
        return [details["error"] for name, details in self.events if name == event]


def computed(asked: nt.Study, log: Memory | None = None, **options) -> Report:
    return run(asked, Log() if log is None else log, **options)


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture(scope="module")
def undisturbed() -> str:
    """The rows of the study, computed in one thread."""
    memory = Memory()
    report = run(study(), memory, workers=1)
    assert (report.wanted, report.kept, report.computed, report.present) == (4, 0, 4, 4)
    return content(memory)


def content(memory: Memory) -> str:
    return str(sorted(memory.rows.items()))


class Wrapped(Executor):
    """An executor of two threads, or another one, which looks at every unit."""

    def __init__(self, pool: Executor | None = None) -> None:
        self.pool = pool or ThreadPoolExecutor(2)
        self.futures: list[Future] = []
        self.most = 0

    def submit(self, function, /, *arguments):
        self.most = max(self.most, 1 + sum(not future.done() for future in self.futures))
        future = self.replaced(function, *arguments)
        self.futures.append(future or self.pool.submit(function, *arguments))
        return self.futures[-1]

    def replaced(self, function, *arguments) -> Future | None:
        """Return another future for some units."""


def is_unit(arguments, setting: str, replicate: int) -> bool:
    return len(arguments) > 1 and arguments[1] == (setting, replicate)


# --- the same content


def test_threads_compute_the_same(undisturbed, log):
    run(study(), log, workers=3)
    assert content(log) == undisturbed
    name, start = log.events[0]
    assert (name, start["workers"], start["missing"]) == ("start", 3, 4)
    assert log.events[-1] == ("end", {"computed": 4, "failed": 0})


def test_processes_compute_the_same(undisturbed, log):
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        assert run(study(), log, executor=executor).failures == []
        assert run(of_seeds(telling), Memory(), executor=executor).failures == []
    assert content(log) == undisturbed


def test_what_is_there_is_not_computed_again(undisturbed, log):
    run(study(replicates=1), log)
    report = run(study(), log)
    assert (report.wanted, report.kept, report.computed) == (4, 2, 2)
    assert content(log) == undisturbed


@pytest.mark.parametrize("count", [1, 2])
def test_two_units_per_worker_are_handed_out_at_a_time(count):
    executor = Wrapped()
    computed(study(replicates=4), executor=executor, workers=count)
    assert executor.most == 2 * count


# --- failures


def test_a_unit_that_fails_once_is_tried_again(undisturbed, log):
    fails(("few", 0), times=1)
    assert run(study(unlucky), log).failures == []
    assert tried == {("few", 0): 2, ("many", 0): 1, ("few", 1): 1, ("many", 1): 1}
    assert content(log) == undisturbed
    assert log.errors("retry") == ["ArithmeticError: bad luck"]


def test_a_unit_that_fails_twice_is_recorded_and_the_others_go_on(undisturbed, log):
    fails(("few", 0), times=2)
    report = run(study(unlucky), log)
    assert report.failures == [Failure(Unit("few", 0), "ArithmeticError: bad luck")]
    assert (report.computed, report.present, report.removed) == (3, 3, 0)
    assert (report.interrupted, log.errors("failed")) == (False, ["ArithmeticError: bad luck"])
    again = run(study(unlucky), log)
    assert (again.kept, again.computed, again.failures) == (3, 1, [])
    assert content(log) == undisturbed


def test_what_are_not_the_declared_columns_ends_a_run_that_has_no_result_yet(log):
    with refused("setting 'few', replicate 0", "'drawn'", "does not declare", "`columns`"):
        run(study(columns={"sum": float}), log, workers=1)
    assert log.rows == {}


def test_after_the_first_result_what_are_not_the_declared_columns_is_a_failure(log):
    def late(setting, replicate, seed):
        return {"seed": seed if replicate == 0 else "none"}

    report = run(of_seeds(late, settings=[{"name": "a"}]), log, workers=1)
    assert (report.computed, [*log.rows]) == (1, [Unit("a", 0)])
    (failure,) = report.failures
    assert says(failure.error, "'seed'", "int", "'none'")


def test_a_function_with_other_parameters_is_refused_before_it_is_called(log):
    with refused("`unit`", "(setting, replicate, seed)", "too many positional arguments"):
        run(study(lambda setting, replicate: {}), log)
    with refused("`unit`", "(setting, replicate, seed, weights)", "'weights'"):
        run(study(data={"weights": np.ones(2)}), log)
    assert log.events == []


def test_an_error_without_a_word_and_one_of_many_are_one_line():
    def silent(setting, replicate, seed):
        raise KeyError() if replicate else ValueError("a\n" * 5000)

    report = computed(study(silent, settings=[{"name": "a"}]), workers=1)
    assert [failure.error[:13] for failure in report.failures] == ["ValueError: a", "KeyError"]
    assert max(len(failure.error) for failure in report.failures) == 500


def test_workers_that_are_gone_are_told_and_what_is_done_is_kept(undisturbed, log):
    class Dying(Wrapped):
        def replaced(self, function, *arguments):
            last = is_unit(arguments, "few", 1)
            return self.pool.submit(os._exit, 1) if last else None

    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        with pytest.raises(InputError, match=r"the workers are gone \(.*kept: run again"):
            run(study(), log, executor=Dying(pool))
        assert set(log.rows) == {("few", 0), ("many", 0)}
    run(study(), log)
    assert content(log) == undisturbed


@pytest.mark.parametrize("broken", [True, False])
def test_what_is_finished_is_kept_before_what_failed_ends_the_run(log, broken):
    class Finished(Wrapped):
        """All is done at once, and the first unit has broken the pool, or was cancelled."""

        def replaced(self, function, *arguments):
            future = Future()
            if not is_unit(arguments, "few", 0):
                future.set_result(function(*arguments))
            elif broken:
                future.set_exception(BrokenExecutor("gone"))
            else:
                future.cancel()
                future.set_running_or_notify_cancel()
            return future

    with pytest.raises(InputError, match="the workers are gone"):
        run(study(), log, executor=Finished(), workers=2)
    assert len(log.rows) == 3


# --- what is told


def test_progress_never_goes_back_and_ends_at_the_total(log):
    told = []
    run(study(costs={"many": 5.0}), log, progress=told.append)
    assert told == sorted(told)
    assert (told[0], told[-1]) == ((4, 0, 0.0), (4, 4, 1.0))
    told.clear()
    run(study(), log, progress=told.append)
    assert told == [(4, 4, 1.0)]


def test_an_error_of_the_listener_is_not_swallowed(log):
    with pytest.raises(ZeroDivisionError):
        run(study(), log, progress=lambda _: 1 / 0)
    assert run(study(), log).present == 4


def test_a_unit_that_tells_its_progress_stops_on_ctrl_c(log):
    told = []

    def interrupt(state):
        told.append(state)
        if units.begun.is_set():
            raise KeyboardInterrupt

    units.begun.clear()
    report = run(study(endless, replicates=1), log, workers=1, progress=interrupt)
    assert (report.interrupted, report.computed, report.removed) == (True, 0, 0)
    assert all(0.0 <= state.share <= 1.0 for state in told)
    assert log.events[-1][0] == "interrupted"


def test_a_study_is_validated_before_and_prepared_only_if_something_is_missing(log):
    called = []

    def wrong():
        raise InputError("it cannot be run")

    asked = study(validate=lambda: called.append("validate"), prepare=lambda: called.append("go"))
    run(asked, log)
    run(asked, log)
    assert called == ["validate", "go", "validate"]
    with pytest.raises(InputError, match="it cannot be run"):
        run(study(validate=wrong), Memory())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"study": "smoke"}, "`study` must be a Study, got 'smoke'"),
        ({"workers": 0}, "`workers` must be a whole number from 1 to 1,024, got 0"),
        ({"workers": True}, "`workers` must be a whole number"),
        ({"executor": "dask"}, "`executor` must be an Executor, got 'dask'"),
        ({"progress": 3}, "`progress` must be a function of a Progress, got 3"),
    ],
)
def test_bad_arguments_are_told(log, options, sentence):
    with pytest.raises(InputError, match=sentence):
        run(**{"study": study(), "sink": log} | options)
    assert log.rows == {}
