"""Claims about inputs that are corrupted after their labels were computed."""

from __future__ import annotations

import math

import polars as pl

from neurotron._digits import Notation
from neurotron.lab import bootstrap
from neurotron.lab.claims.catalog import of_runs
from neurotron.lab.claims.effects import Phrase, times
from neurotron.lab.claims.model import Claim, Finding, above, between
from neurotron.lab.training.runs import EXACT, Runs
from neurotron.lab.training.summary import paired

NEAR = 0.1
"""The part of the predicted bias by which the measured one may differ."""


def _moved(results: Runs) -> list[str]:
    """Return the settings in which an adversary moves inputs."""
    return results.arms.filter(law_name="moved")["setting"].unique(maintain_order=True).to_list()


def _noise_of(results: Runs, setting: str) -> str | None:
    """Return the setting with noise of the same size on the same networks."""
    settings = results.arms.unique("setting", maintain_order=True)
    corrupted = {one["setting"]: one for one in settings.to_dicts()}
    for name, one in corrupted.items():
        paired_with = results.settings[name]["paired_with"] == setting
        if (
            paired_with
            and one["law_name"] == "corrupted"
            and all(
                math.isclose(one[key], corrupted[setting][key])
                for key in ("corruption", "corrupted_share")
            )
        ):
            return str(name)
    return None


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
            known = group.drop_nulls("predicted_bias")
            values = paired(known["error"].to_numpy(), known["predicted_bias"].to_numpy())
            if values.size:
                found = bootstrap(values)
                findings.append(
                    Finding.of(f"{results.titles[setting]}, {trainer}",
                               "error divided by the predicted bias (from "
                               f"{1.0 - NEAR:g} to {1.0 + NEAR:g})", found, len(values),
                               holds=between(1.0 - NEAR, 1.0 + NEAR, found))
                )  # fmt: skip
    return findings


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
