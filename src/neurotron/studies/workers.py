"""Who computes the units of a study: threads here, or somebody else's executor."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Protocol

from neurotron._check import InputError
from neurotron.laws import Normal
from neurotron.networks import relu_gate
from neurotron.problem import Problem
from neurotron.studies.spec import Unit
from neurotron.studies.unit import Computed, fingerprint, run_unit
from neurotron.trainers import Arm, NeuroTron

__all__ = ["ExecutorWorkers", "Threads", "Workers", "in_one_line"]


def in_one_line(error: BaseException) -> str:
    """Return what an error says."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:500] if text else type(error).__name__


class Workers(Protocol):
    """What the runner asks of them."""

    count: int

    def prepare(self) -> None:
        """Get ready before the first unit."""

    def fingerprint(self) -> dict[str, str]:
        """Return the environment in which units are computed."""

    def submit(self, spec_json: str, unit: Unit) -> Future[Computed]:
        """Begin a unit."""

    def steps_of(self, unit: Unit) -> int:
        """Return how far a unit is, 0 if that is not known."""

    def stop(self, futures: list[Future[Computed]]) -> None:
        """Drop what is not finished."""


class Threads:
    """Threads of this process: the engine runs side by side, and can stop between its slices."""

    def __init__(self, count: int | None) -> None:
        self.count = count or _processors()
        self.executor = ThreadPoolExecutor(self.count, thread_name_prefix="neurotron")
        self.asked_to_stop = threading.Event()
        self.steps: dict[Unit, int] = {}

    def prepare(self) -> None:
        """Compile in the main thread, where Ctrl-C is heard, what units need."""
        from neurotron.guarantees import certify  # loads the compiler, and so does the next
        from neurotron.simulation import simulate

        problem, arm = Problem.draw(relu_gate(1), Normal()), Arm(NeuroTron(1.0))
        run = simulate(problem, [arm], steps=0, batch_size=1)
        if "interrupted" in run.status:
            raise KeyboardInterrupt
        certify(problem, arm, steps=0, batch_size=1)

    def fingerprint(self) -> dict[str, str]:
        """Return the environment of this process."""
        return fingerprint()

    def submit(self, spec_json: str, unit: Unit) -> Future[Computed]:
        """Begin a unit."""
        return self.executor.submit(run_unit, spec_json, *unit, partial(self._look, unit))

    def _look(self, unit: Unit, step: int, steps: int) -> None:
        self.steps[unit] = step
        if self.asked_to_stop.is_set():
            raise KeyboardInterrupt

    def steps_of(self, unit: Unit) -> int:
        """Return how far a unit is."""
        return self.steps.get(unit, 0)

    def stop(self, futures: list[Future[Computed]]) -> None:
        """Drop what is waiting, and what is running as soon as its slice ends."""
        self.asked_to_stop.set()
        self.executor.shutdown(wait=True, cancel_futures=True)


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not everywhere
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ExecutorWorkers:
    """Somebody else's executor: a pool of processes, a cluster."""

    def __init__(self, executor: Executor, count: int | None) -> None:
        self.executor = executor
        self.count = count if count is not None else int(getattr(executor, "_max_workers", 1))

    def prepare(self) -> None:
        """Nothing: each worker compiles when it must."""

    def fingerprint(self) -> dict[str, str]:
        """Return the environment of a worker: it is where units are computed."""
        try:
            return self.executor.submit(fingerprint).result()
        except Exception as error:
            raise InputError(f"the workers cannot be used ({in_one_line(error)})") from error

    def submit(self, spec_json: str, unit: Unit) -> Future[Computed]:
        """Begin a unit."""
        return self.executor.submit(run_unit, spec_json, *unit)

    def steps_of(self, unit: Unit) -> int:
        """Return 0: a worker elsewhere only tells when it is done."""
        return 0

    def stop(self, futures: list[Future[Computed]]) -> None:
        """Take back what has not begun."""
        for future in futures:
            future.cancel()
