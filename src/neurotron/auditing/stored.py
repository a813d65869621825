"""Audits on the study runner: in a folder, in parallel, resumed after any interruption.

A part of an audit is a function of text, as all units of work are. The text has everything: the
rows, the estimators by name, and what is asked. Nothing in it is ever executed.
"""

from __future__ import annotations

import base64
import contextlib
import json
import tempfile
import zlib
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.attacks import Budget
from neurotron.auditing.attackers import parse_attacks
from neurotron.auditing.gathering import gathered
from neurotron.auditing.job import REPLICATES, SPLITS, Job, job_of
from neurotron.auditing.measuring import measure
from neurotron.auditing.question import NO_GATE, Gate
from neurotron.auditing.records import COLUMNS, from_rows, to_rows
from neurotron.auditing.report import Audit
from neurotron.auditing.splits import AuditedTable
from neurotron.estimators import catalog, load_model
from neurotron.lab.results.results import load
from neurotron.lab.store.running import run
from neurotron.work import Progress, Report, Study

__all__ = ["MOST_ENTRIES", "Request", "audit_in", "load_audit", "part"]

MOST_ENTRIES = 4_000_000
"""Largest number of entries of the inputs, 32 MB: they are stored with the results."""
MODEL = ".safetensors"


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked, in numbers and names only, so that it can be stored; see `audit`."""

    estimator: str
    """The name of an estimator with its settings, or the path of a model file."""
    budgets: tuple[Budget, ...]
    attacks: str | tuple[str, ...] = "all"
    tolerance: float | None = None
    remedies: str | tuple[str, ...] = "usual"
    splits: int = SPLITS
    replicates: int = REPLICATES
    label_range: tuple[float, float] | None = None
    seed: int = 0

    def spec(self, X: Array, y: Array) -> dict[str, Any]:
        """Return the work on these rows as plain JSON values, after checking that it can be done.

        Its settings are the audited estimator and the alternatives, in the order of the job.
        """
        inputs = _check.array("X", X, ("N", "n"), _check.LARGEST)
        if inputs.size > MOST_ENTRIES:
            raise _check.InputError(
                f"the table has {inputs.size:,} entries, a stored audit takes at most "
                f"{MOST_ENTRIES:,}: audit a random sample of its rows"
            )
        parse_attacks(self.attacks)
        asked = asdict(self) | {
            "budgets": [_plain_budget(budget) for budget in self.budgets],
            "label_range": self.label_range and [_plain_end(end) for end in self.label_range],
        }
        model = None
        if self.estimator.endswith(MODEL):
            model = _coded(_content(self.estimator))
            asked["estimator"] = Path(self.estimator).name
        else:
            asked["estimator"] = catalog.canonical(self.estimator)
        spec = {
            "asked": asked, "model": model,
            "table": {"X": _coded(inputs.tobytes()), "y": _coded(np.asarray(y, float).tobytes()),
                      "columns": inputs.shape[1]},
        }  # fmt: skip
        job = _job(json.dumps(spec))
        settings = [{"name": name} for name in job.cases]
        return {"name": "audit", "settings": settings, **spec}


def _plain_end(end: float) -> float | None:
    """Return an end of a range as JSON has it: an infinite one is None."""
    return end if np.isfinite(end) else None


def _plain_budget(budget: Budget) -> dict[str, Any]:
    numbers = {"bound": budget.bound, "rows": budget.rows}
    return numbers | ({"probability": budget.probability} if budget.rows is None else {})


def _content(path: str) -> bytes:
    load_model(path)  # refuses what is not a model
    return Path(path).read_bytes()


def _coded(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 1)).decode()


def _decoded(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


# ---- a part of an audit --------------------------------------------------------------------------


def part(
    setting: dict[str, Any],
    replicate: int,
    seed: int,
    spec: Array,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Measure an estimator on one split of the table in the text; `replicate` is its number."""
    case = _job(str(spec)).cases[setting["name"]]
    return to_rows(measure(case.estimator, case.table, case.question, replicate, progress))


@lru_cache(maxsize=2)
def _job(text: str) -> Job:
    """Return the job that a text describes."""
    spec = json.loads(text)
    asked = dict(spec["asked"])
    table = spec["table"]
    X = np.frombuffer(_decoded(table["X"])).reshape(-1, table["columns"])
    y = np.frombuffer(_decoded(table["y"]))
    name = asked.pop("estimator")
    estimator = name if spec["model"] is None else _model(_decoded(spec["model"]))
    budgets = [Budget(**each) for each in asked.pop("budgets")]
    if asked["label_range"] is not None:
        low, high = asked["label_range"]
        asked["label_range"] = (-np.inf if low is None else low, np.inf if high is None else high)
    return job_of(estimator, AuditedTable.of(X, y), budget=budgets, name=name, **asked)


def _model(content: bytes) -> Any:
    """Return the regressor of a model file, of which only the parameters matter here."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model{MODEL}"
        path.write_bytes(content)
        return load_model(path)


# ---- a folder ------------------------------------------------------------------------------------


def name_of(spec: dict[str, Any]) -> str:
    """Return a short text that differs for different audits."""
    return sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:8]


def audit_in(
    spec: dict[str, Any],
    folder: str | Path,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    mixed: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Compute what is missing of an audit, and store it in a folder; see `studies.run`."""
    study = Study(
        "audit", spec["settings"], part, COLUMNS, replicates=spec["asked"]["splits"],
        data={"spec": np.array(json.dumps(spec))},
        check=partial(_require_sound, _job(json.dumps(spec))),
    )  # fmt: skip
    return run(study, folder, workers=workers, executor=executor, mixed=mixed, progress=progress)


def _require_sound(job: Job, setting: str, rows: list[dict[str, Any]]) -> None:
    """Raise a ValueError unless these rows can be gathered, as an audit of one split.

    Whoever writes a file with a right seal can write anything into it, so any error is possible.
    """
    alone = job._replace(cases={"audited": job.cases[setting]}, splits=1)
    try:
        with contextlib.suppress(_check.InputError):  # the estimator failed, which is an answer
            gathered(alone, {"audited": [from_rows(rows)]}).to_dict()
    except Exception as error:
        raise ValueError(f"no audit has such rows ({type(error).__name__})") from None


def load_audit(spec: dict[str, Any], folder: str | Path, gate: Gate = NO_GATE) -> Audit:
    """Return the audit that a folder holds, which must be complete.

    The gate decides about the same numbers, so another one needs no further computation.
    """
    job = _job(json.dumps(spec))._replace(gate=gate)
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in load(folder).table.iter_rows(named=True):
        groups.setdefault((row["setting"], row["replicate"]), []).append(row)
    wanted = [(name, number) for name in job.cases for number in range(job.splits)]
    missing = [unit for unit in wanted if unit not in groups]
    if missing:
        raise _check.InputError(
            f"{len(missing):,} parts of the audit are missing: run the same command again"
        )
    found = {unit: from_rows(rows) for unit, rows in groups.items()}
    return gathered(job, {name: [found[name, i] for i in range(job.splits)] for name in job.cases})
