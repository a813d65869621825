"""Runs a study: distributes its units to workers, and hands finished ones to a sink."""

from __future__ import annotations

import platform
from collections import deque
from collections.abc import Callable
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from neurotron import _check
from neurotron.work.columns import Row, WrongColumns
from neurotron.work.study import Study, Unit
from neurotron.work.workers import Computed, Workers, in_one_line, workers_for

IN_FLIGHT = 2
"""How many units each worker is given at a time."""

ATTEMPTS = 2
SECONDS_BETWEEN_LOOKS = 0.1


class Sink(Protocol):
    """Where finished units go: a list in memory, or a folder."""

    def has(self, unit: Unit) -> bool:
        """Return whether the result of a unit is there."""

    def intact(self, unit: Unit) -> str | None:
        """Return None if a stored result is intact; else set it aside and return what is wrong."""

    def keep(self, computed: Computed) -> None:
        """Keep the result of a unit."""

    def record(self, event: str, **details: Any) -> None:
        """Note an event."""


class Memory:
    """Keeps the rows of every unit in memory."""

    def __init__(self) -> None:
        self.rows: dict[Unit, list[Row]] = {}

    def has(self, unit: Unit) -> bool:
        """Return whether the result of a unit is there."""
        return unit in self.rows

    def intact(self, unit: Unit) -> None:
        """Return None, because memory does not decay."""

    def keep(self, computed: Computed) -> None:
        """Keep the result of a unit."""
        self.rows[computed.unit] = computed.rows

    def record(self, event: str, **details: Any) -> None:
        """Forget an event."""


@dataclass(frozen=True)
class Failure:
    """A unit that could not be computed, and the error it raised."""

    unit: Unit
    error: str


@dataclass
class Report:
    """The outcome of a run: what was computed, and what failed."""

    wanted: int
    """Number of units of the study."""
    folder: Path | None = None
    kept: int = 0
    """Units that were there before the run."""
    computed: int = 0
    failures: list[Failure] = field(default_factory=list)
    set_aside: list[str] = field(default_factory=list)
    """Damaged results that were moved: what is wrong, and where they are now."""
    present: int = 0
    """Units that are there at the end."""
    interrupted: bool = False

    @property
    def removed(self) -> int:
        """Units that were removed from the folder during the run, by someone else."""
        return 0 if self.interrupted else self.wanted - self.present - len(self.failures)


class Progress(NamedTuple):
    """The progress of a run: how many units there are, and how many are done."""

    units: int
    units_done: int
    share: float
    """The part of all work that is done, from 0 to 1; units count by their cost."""


def run(
    study: Study,
    sink: Sink,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Compute the missing units of a study, and hand each to a sink as soon as it is finished.

    The numbers depend on the study alone: not on workers, order or interruptions. Ctrl-C keeps
    every finished unit and returns. A unit that fails is tried once more, then recorded as failed,
    and the others continue. Columns that are not those of the study end a run that has no result
    yet.

    Parameters
    ----------
    study
        The study.
    sink
        What keeps the units, such as a `Memory`.
    workers
        Number of threads, by default one per processor. With an `executor`, the number of its
        workers.
    executor
        Any `concurrent.futures.Executor` whose workers have this package.
    progress
        A function that is called about ten times a second with a `Progress`.
    """
    with workers_for(study, workers, executor) as pool:
        return Runner(study, sink, pool, progress).run()


class Runner:
    """One run of a study into a sink."""

    def __init__(
        self,
        study: Study,
        sink: Sink,
        pool: Workers,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.study, self.sink, self.pool = study, sink, pool
        self.units = study.units()
        self.all_work = sum(map(study.cost, self.units))
        self.left = 0.0
        """What the units cost that are not finished."""
        self.report = Report(len(self.units))
        self.tell = progress or (lambda _: None)
        _check.function("progress", self.tell, "a Progress")
        self.waiting: deque[tuple[Unit, int]] = deque()
        self.flying: dict[Future[Computed], tuple[Unit, int]] = {}

    def run(self) -> Report:
        """Submit units and keep their results until all are done or Ctrl-C is pressed."""
        report, sink, waiting = self.report, self.sink, self.waiting
        waiting.extend(self._missing())
        self.left = sum(self.study.cost(unit) for unit, _ in waiting)
        sink.record(
            "start", machine=platform.node(), workers=self.pool.count, kept=report.kept,
            missing=len(waiting), replicates=self.study.replicates,
        )  # fmt: skip
        try:
            if waiting:
                self.pool.prepare()
            self._show()
            while waiting or self.flying:
                while waiting and len(self.flying) < IN_FLIGHT * self.pool.count:
                    self._submit(*waiting.popleft())
                done, _ = wait(self.flying, SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)
                for future in sorted(done, key=_fails):
                    self._receive(future)
                self._show()
        except KeyboardInterrupt:
            report.interrupted = True
        except (BrokenExecutor, CancelledError) as error:
            raise _check.InputError(
                f"the workers are gone ({in_one_line(error)}). Finished units are kept: run again "
                "to resume"
            ) from error
        finally:
            self.pool.stop(list(self.flying))
        if report.interrupted:
            for future in self.flying:
                if future.done() and not _fails(future):
                    self._keep(future.result())
        report.present = sum(map(sink.has, self.units))
        if report.interrupted:  # Ctrl-C may have come after a unit was stored, before the count
            report.computed = max(report.computed, report.present - report.kept)
        sink.record(
            "interrupted" if report.interrupted else "end",
            computed=report.computed, failed=len(report.failures),
        )  # fmt: skip
        return report

    def _missing(self) -> list[tuple[Unit, int]]:
        """Return the units without an intact result."""
        missing = []
        for unit in self.units:
            if self.sink.has(unit):
                damage = self.sink.intact(unit)
                if damage is None:
                    self.report.kept += 1
                    continue
                self.report.set_aside.append(damage)
            missing.append((unit, 1))
        return missing

    def _submit(self, unit: Unit, attempt: int) -> None:
        self.flying[self.pool.submit(unit)] = unit, attempt

    def _receive(self, future: Future[Computed]) -> None:
        """Keep the result of a unit; if it failed, try once more or record the failure."""
        unit, attempt = self.flying[future]
        error = future.exception()
        if error is None:
            self._keep(future.result())
        elif isinstance(error, (KeyboardInterrupt, BrokenExecutor)):
            raise error
        elif isinstance(error, WrongColumns) and not self.report.kept + self.report.computed:
            raise _check.InputError(
                f"setting {unit.setting!r}, replicate {unit.replicate}: {error}"
            ) from None
        elif attempt < ATTEMPTS:
            self.left += self.study.cost(unit)
            self.sink.record("retry", **unit._asdict(), error=in_one_line(error))
            self.waiting.appendleft((unit, attempt + 1))
        else:
            self.sink.record("failed", **unit._asdict(), error=in_one_line(error))
            self.report.failures.append(Failure(unit, in_one_line(error)))
        # only now: if Ctrl-C arrives earlier, the unit is still stored at the end
        del self.flying[future]
        self.left -= self.study.cost(unit)

    def _keep(self, computed: Computed) -> None:
        self.sink.keep(computed)
        self.sink.record(
            "unit", **computed.unit._asdict(), machine=computed.machine,
            seconds=round(computed.seconds, 3),
        )  # fmt: skip
        self.report.computed += 1

    def _show(self) -> None:
        report, cost = self.report, self.study.cost
        done = report.kept + report.computed + len(report.failures)
        begun = sum(self.pool.share_of(unit) * cost(unit) for unit, _ in self.flying.values())
        share = 1.0 - (self.left - begun) / self.all_work
        self.tell(Progress(report.wanted, done, min(max(share, 0.0), 1.0)))


def _fails(future: Future[Computed]) -> bool:
    """Return whether a finished unit has no result; such units come last, as they may end a run."""
    return future.cancelled() or future.exception() is not None
