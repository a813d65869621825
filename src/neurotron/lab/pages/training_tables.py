"""The tables of a study of training runs: where runs end, what is certified, what is verified."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from neurotron._digits import percent, up
from neurotron.lab.results.results import Results
from neurotron.lab.results.text_table import TextTable
from neurotron.lab.training.runs import Runs
from neurotron.lab.training.spec import MISSES
from neurotron.lab.training.summary import (
    OUTCOMES,
    certified,
    distinct_runs,
    outcomes_by_trainer,
    outcomes_in_all,
)

VERIFIED = percent(1.0 - MISSES, 6)
"""The confidence of a verified radius."""


MOST_LINES = 24
"""Lines of a table on a terminal; beyond, it shows all settings together."""
ENDED = (
    "A run found the true weights w* if its final weights are within ‖w*‖/2 of them. If not, it "
    "ended at the mirror if the cosine of its weights with −w* is above ½, and otherwise "
    "elsewhere. Median errors are over replicates, from the easiest attack to the hardest."
)


def outcomes(results: Results) -> TextTable:
    """Return where the runs of each trainer ended, setting by setting."""
    runs = Runs.of(results)
    rows = [
        *_grouped((runs.titles[one["setting"]], *_ends(one)) for one in outcomes_by_trainer(runs))
    ]
    return TextTable(
        "outcomes", "Where the runs ended", ("trainer", *OUTCOMES.values(), "runs", "median error"),
        rows, ENDED if len(rows) <= MOST_LINES else "", on_terminal=len(rows) <= MOST_LINES,
    )  # fmt: skip


def totals(results: Results) -> TextTable | None:
    """Return where the runs of each trainer ended in all settings, if there are many."""
    everywhere = outcomes(results)
    if everywhere.on_terminal:
        return None
    runs = Runs.of(results)
    title = f"Where the runs ended, in all {len(runs.settings)} settings"
    rows = [*map(_ends, outcomes_in_all(runs))]
    return everywhere._replace(name="totals", title=title, rows=rows, note=ENDED, on_terminal=True)


def _ends(row: dict[str, Any]) -> tuple[Any, ...]:
    counts = (row[name] or None for name in OUTCOMES)
    return row["trainer"], *counts, row["runs"], _range(row["least"], row["largest"])


def certificates(results: Results) -> TextTable | None:
    """Return what is certified about the arms of each setting, and what was measured."""
    runs = Runs.of(results)
    every, sure = distinct_runs(runs), certified(runs)
    arm = ["setting", "trainer", "attack_text", "bound", "probability"]
    column = pl.col
    found = (
        every.group_by(arm, maintain_order=True)
        .agg(of=pl.len())
        .join(
            sure.group_by(arm).agg(
                least=column("radius").min(), largest=column("radius").max(),
                measured=column("error").max(), outside=(column("part") > 1.0).sum(),
                certified=pl.len(),
            ),
            on=arm, maintain_order="left",
        )
    )  # fmt: skip
    if not len(sure):
        return None
    rows = (
        (runs.titles[row["setting"]], row["trainer"], row["bound"], row["probability"],
         _range(row["least"], row["largest"], up), row["measured"], row["outside"],
         row["certified"], row["of"] - row["certified"] or None)
        for row in found.iter_rows(named=True)
    )  # fmt: skip
    pairs, shown = (table.select("setting", "trainer").n_unique() for table in (every, sure))
    theorem = every.filter(column("theorem1_radius") < column("initial_error"))
    return TextTable(
        "certificates", "What is certified",
        ("trainer", "θ", "β", "certified radius", "largest error", "runs outside",
         "certified runs", "runs without"), list(_grouped(rows)),
        f"With probability {runs.confidence_text}, the final error ‖w − w*‖ is at most the radius, "
        "for every attacker that changes each label by at most θ, with probability at most β each, "
        "and knows only that sample and the past. The radius depends on the network, so the "
        "smallest and the largest are given, rounded up. It allows for rounding errors. Pairs of a "
        f"setting and a trainer without any certificate are not shown: {pairs - shown:,}. Theorem "
        f"1 of the paper guarantees something for {len(theorem):,} of the "
        f"{len(every.filter(algorithm='neuro-tron')):,} runs of Neuro-Tron.",
        on_terminal=False,
    )  # fmt: skip


def verification(results: Results) -> TextTable | None:
    """Return what fresh rows prove about the runs, one row per setting and trainer.

    Runs that are the same may have been verified against different attackers, so all count.
    """
    runs, column = Runs.of(results), pl.col
    asked = runs.runs.filter(column("verified_radius").is_not_null(), status="finished")
    if not len(asked):
        return None
    proved = column("verified_radius").is_finite()
    found = asked.group_by("setting", "trainer", maintain_order=True).agg(
        runs=pl.len(), verified=proved.sum(),
        least=column("verified_radius").filter(proved).min(),
        largest=column("verified_radius").filter(proved).max(),
        outside=(column("error") > column("verified_radius")).sum(),
    )  # fmt: skip
    rows = (
        (runs.titles[row["setting"]], row["trainer"], row["runs"], row["verified"] or None,
         _range(row["least"], row["largest"], up) if row["verified"] else None, row["outside"])
        for row in found.iter_rows(named=True)
    )  # fmt: skip
    fresh = " or ".join(
        f"{n:,}" for n in sorted({one["verify"] for one in runs.settings.values()} - {0})
    )
    return TextTable(
        "verification", "What is verified",
        ("trainer", "runs", "verified", "radius", "smaller than the error"),
        list(_grouped(rows)),
        f"These runs were verified at their end, on the next {fresh} rows of their stream, with "
        "the labels that their own attack writes there. A verified radius bounds ‖w − w*‖ with "
        f"confidence {VERIFIED}, whoever trained the weights. The verification knows the network, "
        "the law of the inputs and the probability β of the attack, but not the trainer; if the "
        "attack prefers some inputs or some steps, it knows how many of these rows were changed. "
        "From β = ½ on, an attacker can leave nothing to verify. A verified run need not be a good "
        "one: the radius of weights that are far from w* is large.",
        on_terminal=False,
    )  # fmt: skip


def settings(results: Results) -> TextTable:
    """Return the settings of the study: sizes, laws, networks, trainers and attacks."""
    runs = Runs.of(results)
    rows = [
        (runs.titles[name], *(one[key] for key in SHOWN), runs.replicates[name],
         "; ".join(map(_sweep, one["sweeps"])))
        for name, one in runs.settings.items()
    ]  # fmt: skip
    trainers = "; ".join(f"{label}: {text}" for label, text in runs.trainers.items())
    return TextTable(
        "settings", "The settings",
        ("setting", "inputs", "network", "n", "r", "b", "η", "noise", "steps", "replicates",
         "attacks"), rows,
        "n is the number of inputs, r the number of weights of the filter, b the batch size, and η "
        "the step size of trainers that do not set their own. Noise is the standard deviation of "
        f"the label noise without an attack. Trainers: {trainers}.",
        on_terminal=False,
    )  # fmt: skip


SHOWN = (
    "law", "network", "n_inputs", "filter_size", "batch_size", "step_size", "noise", "steps",
)  # fmt: skip
"""The keys of a setting that have columns of their own."""
TABLES = (totals, outcomes, certificates, verification, settings)


def _grouped(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield rows without their first cell, after a heading wherever that changes."""
    last = None
    for first, *rest in rows:
        if first != last:
            yield (first,)
        last = first
        yield tuple(rest)


def _range(least: float, largest: float, shown: Any = "{:.2g}".format) -> str:
    ends = dict.fromkeys((shown(least), shown(largest)))
    return " to ".join(ends)


def _sweep(sweep: dict[str, Any]) -> str:
    """Return an attack with its levels."""
    if sweep["attack"] == "none":
        return "none"
    return f"{sweep['attack']} (θ {_levels(sweep['bound'])}; β {_levels(sweep['probability'])})"


def _levels(values: list[float]) -> str:
    words = [f"{value:.3g}" for value in values]
    if len(words) > 20:
        words[10:-3] = [f"… ({len(words)} in all) …"]
    return ", ".join(words)
