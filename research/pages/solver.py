"""The numbers of docs/rows.md, docs/signals.md and docs/tables.md."""

from __future__ import annotations

import polars as pl
from research.pages import Told, cell, ends, findings, rows, table, verdicts

NETWORKS = {
    "paper": "the paper's (n = 100, r = 25, k = 10)",
    "convolution-7": "convolution, n = 40, r = 7, stride 7",
    "convolution-1": "convolution, n = 40, r = 7, stride 1", "gate": "single gate, n = 20",
    "paper-normal-9": "the paper's, N(0, 9)", "paper-laplace-2": "the paper's, Laplace(2)",
    "paper-student-t-4": "the paper's, t(4)", "paper-rivals": "the paper's, N/r = 20",
    "convolution-1-rivals": "convolution, stride 1, N/r = 20",
    "gate-rivals": "single gate, N/r = 40",
}  # fmt: skip
RIVALS = ("solve", "trim", "trim-half", "l1", "huber", "least-squares", "soft-l1", "cauchy")
LEVERAGE = "large-leverage"


def rows_page() -> Told:
    """Yield the numbers of docs/rows.md."""
    needed = rows("rows", solver="solve").filter(
        pl.col("rows_per_weight").is_null(), pl.col("attack") != "none"
    )
    for (name, attack), found in needed.group_by("setting", "attack", maintain_order=True):
        smallest = dict(found.select("probability", "smallest").iter_rows())
        cells = ["–" if one is None else f"{one:g}" for one in smallest.values()]
        shown = dict(zip(smallest, cells, strict=True))
        words = f"| {NETWORKS[str(name)]} | {attack} |" + " {} |" * 4
        yield words, *(shown.get(beta, "") for beta in (0.1, 0.2, 0.3, 0.4))
    fitted = table("rows").filter(pl.col("setting").str.ends_with("-rivals"))
    for (name, attack, beta), found in fitted.group_by(
        "setting", "attack", "probability", maintain_order=True
    ):
        exact = dict(found.select("solver", "exact").iter_rows())
        words = f"| {NETWORKS[str(name)]} | {attack}, {beta} |" + " {} % |" * len(RIVALS)
        yield words, *(100.0 * exact[solver] for solver in RIVALS)
    noisy = rows("rows", setting="noise", probability=0.4)
    for (many, attack), found in noisy.group_by("rows_per_weight", "attack", maintain_order=True):
        at = {(one["solver"], one["bound"]): one["ratio"] for one in found.rows(named=True)}
        numbers = [at["solve", bound] for bound in (0.05, 0.1, 0.3, 0.5, 1.0, 10.0)]
        numbers += [at[solver, 1.0] for solver in ("l1", "trim", "least-squares")]
        yield f"| {many:g} | {attack} |" + " {} |" * 9, *numbers
    large = rows("rows", setting="noise", solver="solve").filter(
        (pl.col("attack") == "none") | (pl.col("bound") >= 1.0)
    )
    yield "is {} to {} times that error", *ends(large["ratio"])
    yield "the largest on any network is {} times", large["largest"].max()
    wrong = findings("rows", "proof-is-never-wrong")["total"].item()
    yield "In the study, {} fits ended at a wrong filter", wrong
    problems = rows("rows", setting="noise")["problems"][0]
    words = "with {} problems for each number, and {} networks"
    yield words, verdicts()["rows"]["replicates"], problems
    paper, seven, overlap, gate = (
        cell("rows", "smallest", setting=name, attack="none", solver="solve")
        for name in ("paper", "convolution-7", "convolution-1", "gate")
    )
    yield (
        "{} rows for each weight are enough on the paper's network, {} and {} on the "
        "convolutions, and {} on the single gate", paper, seven, overlap, gate,
    )  # fmt: skip


def signals() -> Told:
    """Yield the numbers of docs/signals.md."""
    keys, is_noisy = ["setting", "attack", "share", "noise"], pl.col("noise") > 0.0
    ours, huber = (rows("signals", method=name) for name in ("NeuroTronRegressor", "Huber"))
    exact, attacked = ours.filter(~is_noisy), ours.filter(is_noisy, pl.col("share") > 0.0)
    yield "exactly on all {} replicates", exact["replicates"].sum()
    yield "the largest relative error was {}.", exact["largest"].max()
    clean = rows("signals", method="least squares", attack="none")
    filtered = attacked.filter(attack="other filter", share=0.25).join(clean, on="setting")
    ratio = (filtered["median"] / filtered["median_right"]).max()
    yield "the median error is at most {} times that", ratio
    both = attacked.join(huber, on=keys)
    yield "its median error is {} to {} times ours", *ends(both["median_right"] / both["median"])
    words = "On no replicate, under either attack, was the error larger than {}."
    yield words, attacked["largest"].max()
    yield (
        "with errors of up to {} and {}",
        *(
            rows("signals", method=method, attack="other filter")["largest"].max()
            for method in ("Huber", "TRIM, told β")
        ),
    )
    yield "(within {})", huber.filter(~is_noisy)["median"].max()
    one = {"setting": "cell-white", "attack": "one side", "share": 0.4}
    trim = cell("signals", "median", method="TRIM, told β", **one)
    yield "its median error is {} for white inputs", trim
    found = 100 * attacked.filter(attack="other filter")["found"]
    yield "With noise, {} to {} % of the labels of another", *ends(found)
    yield "With noise, {} to {} % of the suspects are", *ends(100 * attacked["right"])
    honest = ours.filter(attack="none")
    words = "{} of {} replicates had any suspect"
    yield words, honest["alarms"].sum(), honest["replicates"].sum()


def tables() -> Told:
    """Yield the sentences of docs/tables.md; `research.tables.guide` has its tables."""
    for words, method, setting, attack, beta in (
        ("stackloss ({} %", "NeuroTron", "stackloss", "none", 0.0),
        ("even the right network loses {} %", "NeuroTron, convolution", "cell", LEVERAGE, 0.3),
        ("Huber's regression loses {} % and", "Huber", "diamonds", "one-side", 0.3),
        ("the regressor loses {} % on diabetes", "NeuroTron", "diabetes", LEVERAGE, 0.3),
        ("and {} % on engel", "NeuroTron", "engel", LEVERAGE, 0.3),
        ("and {} %. Few methods", "Huber", "engel", LEVERAGE, 0.3),
        ("the regressor on diamonds ({} %)", "NeuroTron", "diamonds", LEVERAGE, 0.3),
        ("RANSAC on engel ({} %)", "RANSAC", "engel", LEVERAGE, 0.3),
        ("RANSAC loses {} % on diamonds", "RANSAC", "diamonds", LEVERAGE, 0.3),
        ("with β = 0.1 the damage is {} %", "NeuroTron", "diabetes", LEVERAGE, 0.1),
        ("Huber's regression loses {} %.", "Huber", "diabetes", LEVERAGE, 0.1),
        ("large residuals less, which costs {} %", "NeuroTron", "diamonds", "none", 0.0),
    ):
        yield (
            words,
            cell("tables", f"damage: {method}", setting=setting, attack=attack, probability=beta),
        )
    clean = rows("tables", attack="none").filter(pl.col("setting") != "stackloss")
    yield "within {} % of least squares on these", clean["damage: NeuroTron"].max()
    trump = rows("tables", setting="trump_approval").filter(pl.col("attack") != LEVERAGE)
    yield "cost the regressor at most {} %", trump["damage: NeuroTron"].max()
    yield "Huber's regression up to {} %", trump["damage: Huber"].max()
