"""Folders of results in which the truth is known, because it is made up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import neurotron as nt
from neurotron.lab.results import shard
from neurotron.lab.results.folder import Folder, manifest_of
from neurotron.lab.results.manifest import TRAINING
from neurotron.lab.results.rows import plain_rows
from neurotron.lab.results.training import PREDICTIONS
from neurotron.lab.studies import building

STEPS = (0, 10, 100, 1000)
INITIAL = 10.0
TRUE = (3.0, 4.0)


def ending_at(error: float, reached: int | None = 10) -> list[float]:
    """Errors of a run that is at its last one from step `reached` on (None: at the last step)."""
    return [INITIAL if reached is None or step < reached else error for step in STEPS[:-1]] + [
        error
    ]


def made(
    folder: Path,
    study: nt.lab.studies.Study,
    outcome: Callable[[str, int, dict[str, Any]], dict[str, Any]],
    replicates: int | dict[str, Iterable[int]],
) -> nt.Results:
    """Return results whose runs are what `outcome(setting, replicate, arm)` says of them."""
    arms = {setting.name: building.arm_rows(study, setting) for setting in study.settings}
    numbers = dict.fromkeys(arms, range(replicates)) if isinstance(replicates, int) else replicates
    manifest = manifest_of(study.identity(), arms, {}, TRAINING)
    with Folder.written(folder, manifest, False) as held:
        for setting, chosen in numbers.items():
            for replicate in chosen:
                rows = [_row(arm["arm"], outcome(setting, replicate, arm)) for arm in arms[setting]]
                path = held.shard_path(setting, replicate)
                path.parent.mkdir(parents=True, exist_ok=True)
                data = shard.encode(plain_rows(rows), held.identity(setting, replicate))
                path.write_bytes(data)
    return nt.load_results(folder)


def _row(arm: str, outcome: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "arm": arm, "status": "finished", "stopped_at": None, "radius": None,
        "root_mean_square": None, "theorem1_radius": None, "verified_radius": None,
        **dict.fromkeys(PREDICTIONS),
        "weights": TRUE, "true_weights": TRUE, "attack_vector": None, "steps": STEPS,
        "errors": ending_at(0.0), "losses": (1.0,) * len(STEPS),
    } | outcome  # fmt: skip
    return {
        key: np.asarray(value, int if key == "steps" else float)
        if isinstance(value, (tuple, list))
        else value
        for key, value in row.items()
    }
