"""Folders of results in which the truth is known, because it is made up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import neurotron as nt
from neurotron.lab.store.folder import Folder
from neurotron.lab.training.building import arm_rows
from neurotron.lab.training.columns import ARM, COLUMNS
from neurotron.lab.training.runs import Runs
from neurotron.lab.training.spec import Setting
from neurotron.work.columns import plain_rows

STEPS = (0, 10, 100, 1000)
INITIAL = 10.0
TRUE = (3.0, 4.0)
RUN = dict.fromkeys(name for name in COLUMNS if name not in ARM) | {
    "status": "finished", "weights": TRUE, "true_weights": TRUE, "steps": STEPS,
    "losses": (1.0,) * len(STEPS),
}  # fmt: skip


def ending_at(error: float, reached: int | None = 10) -> list[float]:
    """Errors of a run that is at its last one from step `reached` on (None: at the last step)."""
    return [INITIAL if reached is None or step < reached else error for step in STEPS[:-1]] + [
        error
    ]


def made(
    folder: Path,
    study: nt.Study | str | bytes,
    outcome: Callable[[str, int, dict[str, Any]], dict[str, Any]],
    replicates: int | dict[str, Iterable[int]],
) -> Runs:
    """Return results whose runs are what `outcome(setting, replicate, arm)` says of them.

    The study may be the text of its file.
    """
    if not isinstance(study, nt.Study):
        content = study if isinstance(study, bytes) else study.encode()
        study = nt.lab.parse(content, "made")
    arms = {one["name"]: arm_rows(Setting.model_validate(one, strict=False)) for one in
            study.settings}  # fmt: skip

    def unit(setting: dict[str, Any], replicate: int) -> list[dict[str, Any]]:
        name = setting["name"]
        return [
            arm | RUN | {"errors": ending_at(0.0)} | outcome(name, replicate, arm)
            for arm in arms[name]
        ]

    return Runs.of(stored(folder, study, unit, replicates))


def stored(
    folder: Path,
    study: nt.Study,
    unit: Callable[[dict[str, Any], int], list[dict[str, Any]]],
    replicates: int | dict[str, Iterable[int]],
) -> nt.lab.Results:
    """Return results whose units have the rows that `unit(setting, replicate)` returns."""
    with Folder.written(folder, study, {}) as held:
        for setting in study.settings:
            name = setting["name"]
            chosen = range(replicates) if isinstance(replicates, int) else replicates.get(name, ())
            for replicate in chosen:
                held.save(name, replicate, plain_rows(unit(setting, replicate), study.columns))
    return nt.lab.load(folder)
