"""Run a study or other work: units over workers, results into a folder, nothing twice or lost."""

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
from neurotron.results.folder import Folder, manifest_of
from neurotron.results.shard import Damaged
from neurotron.studies.spec import Study, Unit
from neurotron.studies.training import work_of
from neurotron.studies.work import Computed, Work, name_of
from neurotron.studies.workers import ExecutorWorkers, Threads, Workers, in_one_line

__all__ = ["Failure", "Progress", "Report", "run"]

IN_FLIGHT = 2
"""Units per worker that are handed out at a time."""

ATTEMPTS = 2
SECONDS_BETWEEN_LOOKS = 0.1


@dataclass(frozen=True)
class Failure:
    """A unit that could not be computed."""

    unit: Unit
    error: str


@dataclass
class Report:
    """What a run did."""

    folder: Path
    wanted: int
    """Units there are to compute."""
    kept: int = 0
    """Units that were there before."""
    computed: int = 0
    failures: list[Failure] = field(default_factory=list)
    set_aside: list[str] = field(default_factory=list)
    """Shards that were found damaged, where they are now and why."""
    present: int = 0
    """Units that are in the folder at the end."""
    interrupted: bool = False

    @property
    def removed(self) -> int:
        """Units that somebody removed from the folder while the others were computed."""
        return 0 if self.interrupted else self.wanted - self.present - len(self.failures)


class Progress(NamedTuple):
    """How far a run is; a step is one of a unit: in training, one of all arms of a setting."""

    units: int
    steps: int
    units_done: int
    steps_done: int


def run(
    study: Study | Work,
    folder: str | Path,
    *,
    replicates: int | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    mixed: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Compute what is missing of a study, or of other work, and keep it in `folder`.

    The numbers depend on the study alone: not on workers, order or interruptions. Ctrl-C keeps
    every finished unit and returns; run again to go on. A unit that fails is tried once more, then
    recorded as failed; the others go on.

    Parameters
    ----------
    study
        As read by `studies.read`; or a `Work` of one's own.
    folder
        A new folder, or one of the same study to go on with.
    replicates
        How many in all, if not what the study says: a finished study can be extended. A `Work`
        names its units itself.
    workers
        Threads to use (by default one per processor); for an `executor`, how many it has.
    executor
        Any `concurrent.futures.Executor` whose workers have this package.
    mixed
        Allow results of other versions or processors in one folder.
    progress
        Called about ten times a second.

    Examples
    --------
    >>> import neurotron as nt, tempfile
    >>> study = nt.studies.read("smoke")
    >>> with tempfile.TemporaryDirectory() as place:
    ...     report = nt.studies.run(study, f"{place}/smoke", replicates=1)
    ...     again = nt.studies.run(study, f"{place}/smoke", replicates=2)
    >>> (report.computed, report.kept), (again.computed, again.kept)
    ((2, 0), (2, 2))
    """
    if not isinstance(study, (Study, Work)):
        raise _check.InputError(f"`study` must be a Study or a Work, got {_check.shown(study)}")
    if replicates is not None:
        count = _check.integer("replicates", replicates, 1, 1_000_000)
        if isinstance(study, Work):
            raise _check.InputError("`replicates` is for studies: a Work names its units itself")
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
        work = study if isinstance(study, Work) else work_of(study)
        pool: Workers
        if executor is None:
            pool = Threads(work, workers)
        else:
            pool = ExecutorWorkers(work, executor, workers)
        unit = name_of(work.function)
        manifest = manifest_of(dict(work.spec), dict(work.arms), pool.fingerprint(), unit)
        with Folder.written(place, manifest, mixed) as held:
            return _Run(work, held, pool, mixed, progress).run()


class _Run:
    """One run into a folder that is held."""

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
        self.report = Report(folder.path, len(self.units))
        self.tell = progress or (lambda _: None)
        self.waiting: deque[tuple[Unit, int]] = deque()
        self.flying: dict[Future[Computed], tuple[Unit, int]] = {}

    def run(self) -> Report:
        """Hand out units, keep what comes back, until all are done or Ctrl-C."""
        report, folder, waiting = self.report, self.folder, self.waiting
        waiting.extend(self._missing())
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
                f"the workers are gone ({in_one_line(error)}); what is finished is kept: run again"
            ) from error
        finally:
            self.pool.stop(list(self.flying))
        if report.interrupted:
            for future in self.flying:
                if future.done() and not _fails(future):
                    self._keep(future.result())
        report.present = sum(folder.shard_path(*unit).is_file() for unit in self.units)
        if report.interrupted:  # one may have been kept, and not counted
            report.computed = max(report.computed, report.present - report.kept)
        folder.keep_manifest()
        folder.record(
            "interrupted" if report.interrupted else "end",
            computed=report.computed, failed=len(report.failures),
        )  # fmt: skip
        return report

    def _missing(self) -> list[tuple[Unit, int]]:
        """Return the units there is no whole shard of, and set damaged shards aside."""
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
                    self.report.set_aside.append(f"{shown}: {reason}; now {place}")
            missing.append((unit, 1))
        return missing

    def _submit(self, unit: Unit, attempt: int) -> None:
        self.flying[self.pool.submit(unit)] = unit, attempt

    def _receive(self, future: Future[Computed]) -> None:
        """Keep what a worker returned, or try once more."""
        unit, attempt = self.flying[future]
        error = future.exception()
        if error is None:
            self._keep(future.result())
        elif isinstance(error, (KeyboardInterrupt, BrokenExecutor)):
            raise error
        elif attempt < ATTEMPTS:
            self.folder.record("retry", **unit._asdict(), error=in_one_line(error))
            self.waiting.appendleft((unit, attempt + 1))
        else:
            self.folder.record("failed", **unit._asdict(), error=in_one_line(error))
            self.report.failures.append(Failure(unit, in_one_line(error)))
        del self.flying[future]  # not before: who is interrupted here is kept in the end

    def _keep(self, computed: Computed) -> None:
        self.folder.require_environment(computed.environment, self.mixed)
        self.folder.save(*computed.unit, computed.rows)
        self.folder.record(
            "unit", **computed.unit._asdict(), machine=computed.machine,
            seconds=round(computed.seconds, 3),
        )  # fmt: skip
        self.report.computed += 1

    def _show(self) -> None:
        report, steps = self.report, self.work.steps
        done = report.kept + report.computed + len(report.failures)
        underway = sum(self.pool.steps_of(unit) for unit, _ in self.flying.values())
        self.tell(Progress(report.wanted, report.wanted * steps, done, done * steps + underway))


def _fails(future: Future[Computed]) -> bool:
    """Tell whether a finished unit has nothing to keep: such a one may end the run."""
    return future.cancelled() or future.exception() is not None
