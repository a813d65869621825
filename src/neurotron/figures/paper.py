"""The paper's figures, from runs in the paper's settings, and the figure of each claim."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from neurotron.claims.setups import Setup, published, setups
from neurotron.figures.chart import SMALLEST, Chart, Line, Panel
from neurotron.figures.courses import (
    compare,
    course_caption,
    levels_of,
    over_steps,
    panel_of_levels,
)
from neurotron.figures.styles import PLAIN
from neurotron.figures.view import Sweep, View
from neurotron.results.summary import bootstrap

__all__ = ["FIGURES_OF_CLAIMS", "paper_charts"]

ATTACK = "alternating-sign"
COMPARISONS = {
    "normal": "2", "student-t:dof=4": "3", "laplace:scale=2": "4", "normal:scale=3": "5"
}  # fmt: skip
"""The number of the figure with each law, by the name of the law."""

FIGURES_OF_CLAIMS = {
    "grows-with-bound": ("figure-1a", "final-errors-alternating-sign-bound"),
    "grows-with-probability": ("figure-1b", "final-errors-alternating-sign-probability"),
    "recovers-without-attack": ("figure-6",),
    "small-attack-degrades": ("figure-6",),
    "smaller-error-than-sgd": ("paired-errors", "figure-2a"),
    "faster-than-sgd": ("figure-2a", "figure-3a", "figure-4a", "figure-5a"),
    "more-often-than-sgd": ("mirror-filter", "success-rates-alternating-sign-bound"),
    "heavy-tails-alike": ("final-errors-alternating-sign-bound", "figure-3a"),
    "outer-weights-help": ("figure-7",),
    "impersonation-wins": ("section-3-5",),
    "certificate-holds": ("certificate",),
}
"""The charts that show what a claim is about."""


def paper_charts(view: View) -> Iterator[Chart]:
    """Yield the figures of section 4 and the appendices, as far as there are such runs."""
    found = setups(view.results)
    if found:
        yield from _neuro_tron_alone(view, found)
        for setup in sorted(found, key=lambda setup: COMPARISONS[setup.law]):
            yield from _against_sgd(view, setup)
        yield from _no_attack(view, found)
    yield from _outer_weights(view)
    yield from _impersonation(view)


def _sweep(view: View, setup: Setup, axis: int) -> Sweep | None:
    for sweep in view.sweeps(setup.cohort):
        if sweep.attack == ATTACK and sweep.axis == axis:
            named = tuple(who for who in sweep.trainers if who in setup.trainers.values())
            return sweep._replace(trainers=named)
    return None


def _neuro_tron_alone(view: View, found: list[Setup]) -> Iterator[Chart]:
    words = (
        ("figure-1a", "Figure 1a: Neuro-Tron for different bounds θ of the attack", "bound θ"),
        ("figure-1b", "Figure 1b: Neuro-Tron for different probabilities β", "probability β"),
    )
    for axis, (name, title, number) in enumerate(words):
        sweeps = [_sweep(view, setup, axis) for setup in found]
        there = [_attacked(sweep) for sweep in sweeps if sweep is not None]
        if there:
            yield levels_of(
                view, name, title, found[0].trainers["neuro-tron"], there,
                f"Neuro-Tron in the paper's four laws of the inputs; the {number} of the attack "
                f"varies, {there[0].fixed} stays.",
            )  # fmt: skip


def _attacked(sweep: Sweep) -> Sweep:
    """Return the sweep without honest labels, which figure 6 is about."""
    return sweep._replace(levels=tuple(lv for lv in sweep.levels if lv[0] * lv[1] > 0.0))


def _against_sgd(view: View, setup: Setup) -> Iterator[Chart]:
    number = COMPARISONS[setup.law]
    for axis, letter in enumerate("ab"):
        sweep = _sweep(view, setup, axis)
        if sweep is not None:
            what = ("bound θ", "probability β")[axis]
            yield compare(
                view, f"figure-{number}{letter}",
                f"Figure {number}{letter}: Neuro-Tron against SGD, {setup.title} inputs, by {what}",
                _attacked(sweep),
                f"Trainers on the same data with {setup.title} inputs; a panel per {what} of the "
                f"attack, {sweep.fixed} stays. The paper's SGD is 'first-sample SGD'; SGD itself, "
                "which it did not run, is beside it. A wide band of SGD is runs that end at the "
                "mirror filter −w*.",
            )  # fmt: skip


def _no_attack(view: View, found: list[Setup]) -> Iterator[Chart]:
    panels, cohorts = [], []
    for setup in found:
        sweep = _sweep(view, setup, 0)
        levels = () if sweep is None else sweep.levels[:2]
        if sweep is not None and [bound for bound, _ in levels] == [0.0, 0.125]:
            who = setup.trainers["neuro-tron"]
            panels.append(panel_of_levels(view, setup.title, who, sweep._replace(levels=levels)))
            cohorts.append(setup.cohort)
    if panels:
        about = "Neuro-Tron on honest labels (θ = 0) and under the smallest attack, β = 0.5."
        caption = f"{about} {course_caption(view, cohorts)}"
        title = "Figure 6: no attack, and a small one"
        yield over_steps(view, "figure-6", title, caption, panels, cohorts)


def _outer_weights(view: View) -> Iterator[Chart]:
    import polars as pl

    own = {(1.0, "0.0001"): 0, (10.0, "2e-05"): 1}  # as the paper ran it; then the other two
    networks = {c["name"]: c["network"] for c in view.results.spec["cohorts"]}
    weighted = [name for name, network in networks.items() if "outer_weights=" in network]
    runs = published(view.results).filter(
        pl.col("cohort").is_in(weighted),
        pl.col("step_size").is_in([step for _, step in own]),
        attack=ATTACK,
        algorithm="neuro-tron",
    )
    keys = runs.select("cohort", "trainer", "outer_weights", "step_size").unique()
    cohorts = list(keys["cohort"].unique())
    panels = []
    for cohort, trainer, weight, step in sorted(
        keys.iter_rows(), key=lambda key: (own.get(key[2:], 2), key[2])
    ):
        sweep = next(s for s in view.sweeps(cohort) if s.attack == ATTACK)
        as_run = "as published" if (weight, step) in own else "not in the paper"
        title = f"q = {weight:g}, η = {float(step):g} ({as_run})"
        panels.append(panel_of_levels(view, title, trainer, sweep))
    if panels:
        caption = (
            "Neuro-Tron with all outer weights q = 1 and q = 10, β = 0.05. The paper compares the "
            "first two panels, whose step sizes η differ; the other two exchange them. A line that "
            f"ends early diverged. {course_caption(view, cohorts)}"
        )
        title = "Figure 7: heavier outer weights"
        yield over_steps(view, "figure-7", title, caption, panels, cohorts)


def _impersonation(view: View) -> Iterator[Chart]:
    """Yield the distances to both filters, when labels are those of another one."""
    import polars as pl

    runs = published(view.results).filter(pl.col("attack") == "impersonation")
    panels, cohorts = [], []
    measures = {"distance": "to w_adv, the attacker's", "error": "to w*, the true one"}
    for (cohort, trainer), group in runs.group_by("cohort", "trainer", maintain_order=True):
        chances = sorted(group["probability"].unique())
        lines = []
        for (column, name), style in zip(
            measures.items(), (PLAIN._replace(dash="solid"), view.styles[str(trainer)]), strict=True
        ):
            found = [
                bootstrap(group.filter(probability=chance)[column].fill_nan(np.inf).to_numpy())
                for chance in chances
            ]
            y, low, high = np.maximum(np.array(found, dtype=np.float64).T, SMALLEST)
            label = f"{name} ({trainer})" if column == "error" else name
            x = np.arange(len(y), dtype=np.float64)
            lines.append(Line(label, x, y, style, low, high))
        ticks = tuple(f"β = {chance:g}" for chance in chances)
        panels.append(Panel(str(trainer), tuple(lines), ticks))
        cohorts.append(str(cohort))
    if panels:
        over = view.replicates(sorted(set(cohorts)))
        yield Chart(
            "section-3-5", "Section 3.5: labels of another filter",
            "The attacker replaces a label, with probability β, by that of another filter w_adv. "
            "At β = 1 nobody can tell the two apart, and every trainer ends at w_adv. Points are "
            f"medians of final distances over {over}, bars their 95 % bootstrap intervals.",
            "probability β of the attack", "distance of the final weights", tuple(panels),
            f"medians of {over}, bars: 95 % intervals", x_log=False,
        )  # fmt: skip
