"""Audits in a folder: in parallel, on a cluster, and resumed after any interruption.

A setting has everything that is asked about one estimator, in plain values. The rows and labels,
and a model that was saved, are arrays of the folder. Nothing in it is ever executed.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from neurotron import _check
from neurotron._json import plain
from neurotron._types import Array
from neurotron.auditing.gathering import gathered
from neurotron.auditing.job import Job
from neurotron.auditing.measuring import measure
from neurotron.auditing.question import Level, Question
from neurotron.auditing.records import COLUMNS, to_rows
from neurotron.auditing.report import Audit
from neurotron.auditing.splits import AuditedTable
from neurotron.estimators import load_model
from neurotron.lab.results.results import load
from neurotron.work import Study

MOST_ENTRIES = 4_000_000
"""Largest number of entries of the inputs, 32 MB: they are stored with the results."""
MODEL = ".safetensors"


def study_of(job: Job, model: str | Path | None = None) -> Study:
    """Return an audit as a study; the audited estimator has a name, or is that of a model file."""
    audited = job.cases["audited"].table
    data = {"X": audited.X, "y": audited.y}
    if model is not None:
        data["model"] = np.frombuffer(Path(model).read_bytes(), np.uint8)
    settings = [
        {
            "name": name,
            "estimator": case.estimator if isinstance(case.estimator, str) else None,
            "left_out": [*job.suspects.rows] if case.table is not audited else [],
            "question": plain(case.question),
        }
        for name, case in job.cases.items()
    ]
    return Study("audit", settings, part, COLUMNS, replicates=job.splits, data=data)


def part(
    setting: dict[str, Any],
    replicate: int,
    seed: int,
    X: Array,
    y: Array,
    model: Array | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Measure an estimator on one split of a table; `replicate` is its number."""
    table, estimator = AuditedTable.of(X, y), setting["estimator"]
    if setting["left_out"]:
        table = table.without(setting["left_out"])
    if estimator is None:
        assert model is not None
        estimator = _loaded(model.tobytes())
    return to_rows(measure(estimator, table, _question(**setting["question"]), replicate, progress))


def _question(levels: list[Any], label_range: list[float | None], **more: Any) -> Question:
    """Return a question from plain values, in which what is infinite is None."""
    low, high = label_range
    ends = -math.inf if low is None else low, math.inf if high is None else high
    budgets = (one | {"bound": math.inf} if one["bound"] is None else one for one in levels)
    return Question(levels=tuple(Level(**one) for one in budgets), label_range=ends, **more)


def _loaded(content: bytes) -> Any:
    """Return the regressor of a model file, of which only the parameters matter here."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model{MODEL}"
        path.write_bytes(content)
        return load_model(path)


def name_of(study: Study) -> str:
    """Return a short text that differs for different audits."""
    return sha256(json.dumps(study.spec(), sort_keys=True).encode()).hexdigest()[:8]


def load_audit(job: Job, folder: str | Path) -> Audit:
    """Return the audit that a folder holds, which must be complete."""
    parts = load(folder).table.partition_by("setting", "replicate", as_dict=True)
    try:
        return gathered(job, {unit: table.to_dicts() for unit, table in parts.items()})
    except KeyError:
        raise _check.InputError(
            "parts of the audit are missing: run the same command again"
        ) from None
