"""Runs a study or other work: distributes units to workers and stores results in a folder."""

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
from typing import NamedTuple

from neurotron import _check
from neurotron._threads import one_blas_thread
from neurotron.lab.results.folder import Folder, manifest_of
from neurotron.lab.results.shard import Damaged
from neurotron.lab.studies.fitting import work_of_rows
from neurotron.lab.studies.kinds import AnyStudy
from neurotron.lab.studies.rows_spec import RowsStudy
from neurotron.lab.studies.spec import Study, Unit
from neurotron.lab.studies.table_work import work_of_tables
from neurotron.lab.studies.tables_spec import TablesStudy
from neurotron.lab.studies.training import work_of
from neurotron.lab.studies.work import Computed, Work, name_of
from neurotron.lab.studies.workers import ExecutorWorkers, Threads, Workers, in_one_line

__all__ = ["Failure", "Progress", "Report", "run"]

IN_FLIGHT = 2
"""How many units each worker is given at a time."""

ATTEMPTS = 2
SECONDS_BETWEEN_LOOKS = 0.1


@dataclass(frozen=True)
class Failure:
    """A unit that could not be computed, and the error it raised."""

    unit: Unit
    error: str


@dataclass
class Report:
    """The outcome of a run: what was computed, and what failed."""

    folder: Path
    wanted: int
    """Number of units of the study."""
    kept: int = 0
    """Units that were in the folder before the run."""
    computed: int = 0
    failures: list[Failure] = field(default_factory=list)
    set_aside: list[str] = field(default_factory=list)
    """Damaged shards that were moved: what is wrong, and where they are now."""
    present: int = 0
    """Units in the folder at the end."""
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
    study: AnyStudy | Work,
    folder: str | Path,
    *,
    replicates: int | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    mixed: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Compute the missing units of a study, or of other work, and store them in `folder`.

    The numbers depend on the study alone: not on workers, order or interruptions. Ctrl-C keeps
    every finished unit and returns; run again to resume. A unit that fails is tried once more, then
    recorded as failed, and the others continue.

    Parameters
    ----------
    study
        A study, as `studies.read` returns it, or your own `Work`.
    folder
        A new folder, or a folder of the same study, which is then completed.
    replicates
        Total number of replicates, if it differs from the study's. A finished study can be extended
        with it. Not for a `Work`, which lists its units itself.
    workers
        Number of threads, by default one per processor. With an `executor`, the number of its
        workers.
    executor
        Any `concurrent.futures.Executor` whose workers have this package.
    mixed
        Whether one folder may hold results of different versions or processors.
    progress
        A function that is called about ten times a second with a `Progress`.

    Returns
    -------
    Report
        What was computed and what failed.

    Examples
    --------
    >>> import neurotron as nt, tempfile
    >>> study = nt.lab.studies.read("smoke")
    >>> with tempfile.TemporaryDirectory() as place:
    ...     report = nt.lab.studies.run(study, f"{place}/smoke", replicates=1)
    ...     again = nt.lab.studies.run(study, f"{place}/smoke", replicates=2)
    >>> (report.computed, report.kept), (again.computed, again.kept)
    ((2, 0), (2, 2))
    """
    if not isinstance(study, (Study, RowsStudy, TablesStudy, Work)):
        raise _check.InputError(f"`study` must be a Study or a Work, got {_check.shown(study)}")
    if replicates is not None:
        count = _check.integer("replicates", replicates, 1, 1_000_000)
        if isinstance(study, Work):
            raise _check.InputError("`replicates` is for studies: a Work lists its units itself")
        study = study.model_copy(update={"replicates": count})
    if workers is not None:
        workers = _check.integer("workers", workers, 1, 1024)
    if executor is not None:
        _check.instance("executor", executor, Executor)
    _check.instance("mixed", mixed, bool)
    if progress is not None:
        _check.function("progress", progress, "a Progress")
    place = _check.path("folder", folder)
    with one_blas_thread():
        work = _work(study)
        pool: Workers
        if executor is None:
            pool = Threads(work, workers)
        else:
            pool = ExecutorWorkers(work, executor, workers)
        unit = name_of(work.function)
        manifest = manifest_of(dict(work.spec), dict(work.arms), pool.fingerprint(), unit)
        with Folder.written(place, manifest, mixed) as held:
            return _Run(work, held, pool, mixed, progress).run()


def _work(study: AnyStudy | Work) -> Work:
    if isinstance(study, RowsStudy):
        return work_of_rows(study)
    if isinstance(study, TablesStudy):
        return work_of_tables(study)
    return study if isinstance(study, Work) else work_of(study)


class _Run:
    """One run into a folder that is locked for writing."""

    def __init__(
        self,
        work: Work,
        folder: Folder,
        pool: Workers,
        mixed: bool,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.work, self.folder, self.pool, self.mixed = work, folder, pool, mixed
        self.units = [Unit(*unit) for unit in work.units]
        self.all_work = sum(map(work.cost, self.units))
        self.left = 0.0
        """What the units cost that are not finished."""
        self.report = Report(folder.path, len(self.units))
        self.tell = progress or (lambda _: None)
        self.waiting: deque[tuple[Unit, int]] = deque()
        self.flying: dict[Future[Computed], tuple[Unit, int]] = {}

    def run(self) -> Report:
        """Submit units and store their results until all are done or Ctrl-C is pressed."""
        report, folder, waiting = self.report, self.folder, self.waiting
        waiting.extend(self._missing())
        self.left = sum(self.work.cost(unit) for unit, _ in waiting)
        folder.record(
            "start", machine=platform.node(), workers=self.pool.count, kept=report.kept,
            missing=len(waiting),
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
        report.present = sum(folder.shard_path(*unit).is_file() for unit in self.units)
        if report.interrupted:  # Ctrl-C may have come after a unit was stored, before the count
            report.computed = max(report.computed, report.present - report.kept)
        folder.keep_manifest()
        folder.record(
            "interrupted" if report.interrupted else "end",
            computed=report.computed, failed=len(report.failures),
        )  # fmt: skip
        return report

    def _missing(self) -> list[tuple[Unit, int]]:
        """Return the units without a valid shard, and set damaged shards aside."""
        missing = []
        for unit in self.units:
            path = self.folder.shard_path(*unit)
            if path.is_file():
                try:
                    table = self.folder.load(*unit)
                    if self.work.check is not None:
                        self.work.check(unit.setting, table)
                    self.report.kept += 1
                    continue
                except Damaged as reason:
                    place = self.folder.set_aside(*unit, str(reason))
                    shown = path.relative_to(self.folder.path)
                    self.report.set_aside.append(f"{shown}: {reason}; moved to {place}")
            missing.append((unit, 1))
        return missing

    def _submit(self, unit: Unit, attempt: int) -> None:
        self.flying[self.pool.submit(unit)] = unit, attempt

    def _receive(self, future: Future[Computed]) -> None:
        """Store the result of a unit; if it failed, try once more or record the failure."""
        unit, attempt = self.flying[future]
        error = future.exception()
        if error is None:
            self._keep(future.result())
        elif isinstance(error, (KeyboardInterrupt, BrokenExecutor)):
            raise error
        elif attempt < ATTEMPTS:
            self.left += self.work.cost(unit)
            self.folder.record("retry", **unit._asdict(), error=in_one_line(error))
            self.waiting.appendleft((unit, attempt + 1))
        else:
            self.folder.record("failed", **unit._asdict(), error=in_one_line(error))
            self.report.failures.append(Failure(unit, in_one_line(error)))
        # only now: if Ctrl-C arrives earlier, the unit is still stored at the end
        del self.flying[future]
        self.left -= self.work.cost(unit)

    def _keep(self, computed: Computed) -> None:
        self.folder.require_environment(computed.environment, self.mixed)
        self.folder.save(*computed.unit, computed.rows)
        self.folder.record(
            "unit", **computed.unit._asdict(), machine=computed.machine,
            seconds=round(computed.seconds, 3),
        )  # fmt: skip
        self.report.computed += 1

    def _show(self) -> None:
        report, cost = self.report, self.work.cost
        done = report.kept + report.computed + len(report.failures)
        begun = sum(self.pool.share_of(unit) * cost(unit) for unit, _ in self.flying.values())
        share = 1.0 - (self.left - begun) / self.all_work
        self.tell(Progress(report.wanted, done, min(max(share, 0.0), 1.0)))


def _fails(future: Future[Computed]) -> bool:
    """Return whether a finished unit has no result; such units come last, as they may end a run."""
    return future.cancelled() or future.exception() is not None
