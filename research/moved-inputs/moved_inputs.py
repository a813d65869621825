"""Claims about inputs that are corrupted after their labels were computed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import numpy as np
import polars as pl

from neurotron._registry import parse
from neurotron._types import Array
from neurotron.data import Corrupted
from neurotron.guarantees import biased_weights
from neurotron.lab import bootstrap
from neurotron.lab.claims.catalog import of_runs
from neurotron.lab.claims.effects import Notation, Phrase, times
from neurotron.lab.claims.model import Claim, Finding, above, between
from neurotron.lab.training import building
from neurotron.lab.training.runs import EXACT, Runs
from neurotron.lab.training.spec import Setting
from neurotron.lab.training.summary import paired
from neurotron.trainers import NeuroTron
from neurotron.trainers.catalog import build

NEAR = 0.1
"""The part of the predicted bias by which the measured one may differ."""


def _moved(results: Runs) -> Iterator[str]:
    """Yield the settings in which an adversary moves inputs."""
    for one in results.settings.values():
        if parse(one["law"])[0] == "moved":
            yield one["name"]


def _noise_of(results: Runs, setting: str) -> str | None:
    """Return the setting with noise of the same size on the same networks."""
    spec = {one["name"]: one for one in results.settings.values()}
    size, chance = _spent(spec[setting])
    for one in spec.values():
        same = one["paired_with"] == setting and parse(one["law"])[0] == "corrupted"
        if same and np.allclose(_spent(one), (size, chance)):
            return str(one["name"])
    return None


def _spent(setting: dict[str, object]) -> tuple[float, float]:
    """Return the root mean square of ‖x' − x‖ where an input is corrupted, and how often it is."""
    name, given = parse(str(setting["law"]))
    n = int(str(setting["n_inputs"]))
    size = given["size"] if name == "moved" else math.sqrt(n) * given["scale"]
    return float(size), float(given.get("probability", 1.0))


def worse_than_noise(results: Runs) -> list[Finding]:
    """Divide the errors with moved inputs by those with noise of the same size, in pairs."""
    findings = []
    for moved in _moved(results):
        noise = _noise_of(results, moved)
        ours = results.runs.filter(setting=moved, algorithm="neuro-tron")
        theirs = results.runs.filter(setting=noise or "")
        pairs = ours.join(
            theirs, on=["replicate", "trainer", "attack_text", "bound", "probability"]
        )
        values = paired(pairs["error"].to_numpy(), pairs["error_right"].to_numpy())
        if values.size:
            ratio = bootstrap(values)
            findings.append(
                Finding.of(results.titles[moved], "Neuro-Tron's error divided by that with noise "
                           "of the same size (above 1)", ratio, len(values),
                           holds=above(1.0, ratio))
            )  # fmt: skip
    return findings


def as_predicted(results: Runs) -> list[Finding]:
    """Divide Neuro-Tron's error by the distance of the weights to which its mean is drawn."""
    findings = []
    for setting in _moved(results):
        runs = results.runs.filter(
            pl.col("bound") * pl.col("probability") == 0.0, setting=setting, algorithm="neuro-tron"
        )
        for (trainer,), group in runs.group_by("trainer", maintain_order=True):
            biases = _biases(results, setting, str(trainer), group["replicate"].to_list())
            values = paired(group["error"].to_numpy(), biases)
            if values.size:
                found = bootstrap(values)
                findings.append(
                    Finding.of(f"{results.titles[setting]}, {trainer}",
                               "error divided by the predicted bias (from "
                               f"{1.0 - NEAR:g} to {1.0 + NEAR:g})", found, len(values),
                               holds=between(1.0 - NEAR, 1.0 + NEAR, found))
                )  # fmt: skip
    return findings


def _biases(results: Runs, setting: str, trainer: str, replicates: list[int]) -> Array:
    """Return ‖w̄ − w*‖ of each replicate, NaN where the moments of the inputs are not known."""
    spec, found = Setting.model_validate_json(json.dumps(results.settings[setting])), []
    for replicate in replicates:
        problem = building.build_problem(spec, replicate)
        tron = build(spec.trainers[trainer], step_size=spec.step_size)
        data, truth = problem.data, problem.true_weights
        assert isinstance(data, Corrupted)
        if (
            data.seen_moments(problem.network) is None
            or not isinstance(tron, NeuroTron)
            or tron.weighting is not None
        ):
            found.append(math.nan)
            continue
        sensing = np.asarray(tron.completed(problem).sensing)
        assert truth is not None
        found.append(float(np.linalg.norm(biased_weights(problem, sensing) - truth)))
    return np.array(found)


def defence_holds(results: Runs) -> list[Finding]:
    """Compare the errors of the defence with 1e-12, where a minority of the inputs is moved."""
    findings = []
    for setting in _moved(results):
        runs = results.runs.filter(setting=setting, algorithm="refined-tron")
        if len(runs):
            errors = runs["error"].to_numpy()
            largest = float(errors.max())
            findings.append(
                Finding.of(results.titles[setting], f"error of RefinedTron (below {EXACT:g} in "
                           "every run)", bootstrap(errors), len(errors), holds=largest < EXACT,
                           worst=largest, total=len(errors))
            )  # fmt: skip
    return findings


# ---- the claims

adversary_worse_than_noise = Claim(
    "adversary-worse-than-noise",
    "An adversary who moves a tenth of the inputs does Neuro-Tron more harm than noise of the "
    "same size.",
    of_runs(worse_than_noise),
    source="added by this package, about the conclusion's third question",
    short="Moved inputs do more harm than noise",
    phrase=Phrase("{} the error with noise of the same size", times(1.0)),
)
moved_inputs_as_predicted = Claim(
    "moved-inputs-as-predicted",
    "With moved inputs, Neuro-Tron ends as far from the filter as its mean update predicts.",
    of_runs(as_predicted),
    short="Neuro-Tron's bias is as predicted",
    phrase=Phrase("error {} of the predicted bias", Notation("", 3, limits=(0.9, 1.1))),
)
defence_against_moved_inputs = Claim(
    "defence-against-moved-inputs",
    "RefinedTron recovers the filter exactly if a tenth of the inputs are moved.",
    of_runs(defence_holds),
    short="RefinedTron is exact with moved inputs",
    phrase=Phrase("the largest of {total} errors is {most}", Notation(limits=(1e-12,))),
)
