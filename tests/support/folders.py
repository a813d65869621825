"""A small manifest, and a folder of results that is written by it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np

from neurotron.lab.results.folder import Folder, manifest_of
from neurotron.lab.results.manifest import TRAINING
from neurotron.lab.results.training import PREDICTIONS

SETTING = {"name": "a", "title": None, "bound": [0.25, 1.0]}
SPEC = {"name": "small", "steps": 10, "settings": [SETTING, {"name": "b", "title": None}]}
ARM = {
    "arm": "SGD", "trainer": "SGD", "trainer_text": "sgd:step_size=0.1", "algorithm": "sgd",
    "step_size": 0.1, "attack": "none",
    "attack_text": "none", "bound": 0.0, "probability": 0.0, "law": "normal", "outer_weights": 1.0,
}  # fmt: skip
ARMS = {"a": [ARM], "b": [ARM]}
HERE = {"numpy": "2.0", "processor": "a fast one"}
MANIFEST = manifest_of(SPEC, ARMS, HERE, TRAINING)
ROW = {
    "arm": "SGD", "status": "finished", "stopped_at": None, "radius": None,
    "root_mean_square": None, "theorem1_radius": None, "verified_radius": None,
    **dict.fromkeys(PREDICTIONS),
    "weights": np.ones(2), "true_weights": np.ones(2), "attack_vector": None, "steps": np.arange(2),
    "errors": np.ones(2), "losses": np.ones(2),
}  # fmt: skip


def held(path: Path, manifest=MANIFEST, mixed=False) -> contextlib.AbstractContextManager[Folder]:
    return Folder.written(path, manifest, mixed)
