"""Runs a study into a folder, which keeps every finished unit."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from neurotron import _check
from neurotron._references import reference_of
from neurotron.lab.claims.catalog import require_known
from neurotron.lab.store.folder import Folder
from neurotron.lab.training.columns import COLUMNS
from neurotron.work.columns import checked_columns
from neurotron.work.runner import Progress, Report, Runner
from neurotron.work.study import Study
from neurotron.work.workers import allowing, workers_for


def run(
    study: Study,
    folder: str | Path,
    *,
    replicates: int | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    mixed: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Compute the missing units of a study, and store them in `folder`.

    The numbers depend on the study alone: not on workers, order or interruptions. Ctrl-C keeps
    every finished unit and returns; run again to resume. A unit that fails is tried once more, then
    recorded as failed, and the others continue.

    Parameters
    ----------
    study
        A study: your own, or one that `read` returned.
    folder
        A new folder, or a folder of the same study, which is then completed.
    replicates
        Number of replicates, if it differs from the study's. A finished study can be extended with
        it.
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
    >>> study = nt.lab.read("smoke")
    >>> with tempfile.TemporaryDirectory() as place:
    ...     report = nt.lab.run(study, f"{place}/smoke", replicates=1)
    ...     again = nt.lab.run(study, f"{place}/smoke", replicates=2)
    >>> (report.computed, report.kept), (again.computed, again.kept)
    ((2, 0), (2, 2))
    """
    _check.instance("study", study, Study)
    reference_of(study.unit)  # whose name is stored with the results
    if replicates is not None:
        study = replace(study, replicates=_check.integer("replicates", replicates, 1, 1_000_000))
    _check.instance("mixed", mixed, bool)
    if progress is not None:
        _check.function("progress", progress, "a Progress")
    place = _check.path("folder", folder)
    spec = study.spec()
    with allowing(study.code):
        others = (*spec["charts"], *spec["tables"], *filter(None, [spec["headline"]]))
        of_training = study.columns == checked_columns(COLUMNS)
        require_known(spec["claims"], others, of_training=of_training)
    with (
        workers_for(study, workers, executor) as pool,
        Folder.written(place, study, pool.fingerprint(), mixed) as held,
    ):
        report = Runner(study, held, pool, progress).run()
    report.folder = held.path
    return report
