"""The workers that compute units: threads of this process, or a given executor."""

from __future__ import annotations

import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Protocol

from neurotron._check import InputError
from neurotron._threads import processors
from neurotron.lab.studies.spec import Unit
from neurotron.lab.studies.work import Computed, Work, fingerprint, run_unit

__all__ = ["ExecutorWorkers", "Threads", "Workers", "in_one_line"]


def in_one_line(error: BaseException) -> str:
    """Return the type and message of an error as one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:500] if text else type(error).__name__


class Workers(Protocol):
    """The interface of workers that the runner uses."""

    count: int

    def prepare(self) -> None:
        """Get ready before the first unit."""

    def fingerprint(self) -> dict[str, str]:
        """Return the environment in which units are computed."""

    def submit(self, unit: Unit) -> Future[Computed]:
        """Start a unit."""

    def share_of(self, unit: Unit) -> float:
        """Return how much of a unit is done, from 0 to 1; 0 if that is not known."""

    def stop(self, futures: list[Future[Computed]]) -> None:
        """Cancel the units that are not finished."""


class Threads:
    """Threads of this process, which run units in parallel and can stop between slices."""

    def __init__(self, work: Work, count: int | None) -> None:
        self.work, self.text = work, work.text
        self.count = count or processors()
        self.executor = ThreadPoolExecutor(self.count, thread_name_prefix="neurotron")
        self.asked_to_stop = threading.Event()
        self.shares: dict[Unit, float] = {}

    def prepare(self) -> None:
        """Prepare the work in the main thread, which receives Ctrl-C."""
        if self.work.prepare is not None:
            self.work.prepare()

    def fingerprint(self) -> dict[str, str]:
        """Return the environment of this process."""
        return fingerprint(self.work.function)

    def submit(self, unit: Unit) -> Future[Computed]:
        """Start a unit."""
        look = partial(self._look, unit)
        return self.executor.submit(run_unit, self.work.function, self.text, *unit, look)

    def _look(self, unit: Unit, step: int, steps: int) -> None:
        self.shares[unit] = min(step / steps, 1.0) if steps > 0 else 1.0
        if self.asked_to_stop.is_set():
            raise KeyboardInterrupt

    def share_of(self, unit: Unit) -> float:
        """Return how much of a unit is done."""
        return self.shares.get(unit, 0.0)

    def stop(self, futures: list[Future[Computed]]) -> None:
        """Cancel the waiting units, and stop the running ones when their slice ends."""
        self.asked_to_stop.set()
        self.executor.shutdown(wait=True, cancel_futures=True)


class ExecutorWorkers:
    """The workers of a given executor, such as a pool of processes or a cluster."""

    def __init__(self, work: Work, executor: Executor, count: int | None) -> None:
        self.work, self.text = work, work.text
        self.executor = executor
        self.count = count if count is not None else int(getattr(executor, "_max_workers", 1))

    def prepare(self) -> None:
        """Do nothing: each worker compiles on first use."""

    def fingerprint(self) -> dict[str, str]:
        """Return the environment of a worker, because units are computed there."""
        try:
            return self.executor.submit(fingerprint, self.work.function).result()
        except Exception as error:
            raise InputError(f"the workers cannot be used ({in_one_line(error)})") from error

    def submit(self, unit: Unit) -> Future[Computed]:
        """Start a unit."""
        return self.executor.submit(run_unit, self.work.function, self.text, *unit)

    def share_of(self, unit: Unit) -> float:
        """Return 0, because these workers report only finished units."""
        return 0.0

    def stop(self, futures: list[Future[Computed]]) -> None:
        """Cancel the units that have not started."""
        for future in futures:
            future.cancel()
