"""Claims about public tables: what attacks on labels cost, and where other methods do better.

The first method of each table is the one that the claims are about. Intervals are those of medians
over splits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import polars as pl
from table_results import Damages, middle

from neurotron._digits import Notation
from neurotron.lab import Claim, Finding, Interval, Results
from neurotron.lab.claims.effects import Phrase, times
from neurotron.lab.claims.model import above, at_least, at_most, below

Asked = Callable[[float, Interval], bool | None]
"""What a claim asks of an interval, such as `above` a limit."""
PRICE = 0.01
"""The largest damage without an attack."""
SLACK = 0.01
"""How much more damage than TRIM that is told β counts as no more."""
MUCH = 0.5
"""The damage from which on a method counts as defeated."""
FEW = 75
"""Rows to fit below which a table is too small for most claims; of these, stackloss alone is."""
EQUAL = 0.05
"""The largest share of equal labels that are not counts, in a table that is not small."""
HUBER, TOLD = "huber", "trim:share={share}"
SHIFTED, REPLACED, SIGNS, LEVERAGE = "one-side", "other-model", "random-sign", "large-leverage"
MANY = 0.3
"""The share of labels with which large leverage is judged."""


def clean_price(results: Damages) -> list[Finding]:
    """Take the damage without an attack, which is the price of being robust."""
    measure = (
        "median damage without an attack: the error divided by that of least squares, minus one "
        f"(at most {PRICE:g})"
    )
    findings = []
    for setting in _settings(results, counts=None, small=False):
        mine = results.damages.filter(setting=setting, attack="none", method=results.leads[setting])
        findings += _finding(results, setting, measure, mine["damage"], at_most, PRICE)
    return findings


def less_than_huber(results: Damages) -> list[Finding]:
    """Compare with Huber's regression under attacks to one side and of another model."""
    measure = (
        "damage of Huber's regression minus that of the first method, the mean over attacks to one "
        "side and of another model, median over splits (above 0)"
    )
    return _compared(
        results, HUBER, (SHIFTED, REPLACED), measure, above, 0.0,
        _settings(results, counts=False, small=None),
    )  # fmt: skip


def counts_favour_huber(results: Damages) -> list[Finding]:
    """Compare with Huber's regression under attacks to one side, where labels are counts."""
    measure = (
        "damage of the first method minus that of Huber's regression, the mean over attacks to one "
        "side, median over splits (above 0)"
    )
    return _compared(
        results, HUBER, (SHIFTED,), measure, above, 0.0,
        _settings(results, counts=True, small=False), sign=-1.0,
    )  # fmt: skip


def as_good_as_trim(results: Damages) -> list[Finding]:
    """Compare with TRIM that is told the share of attacked labels, under attacks on random rows."""
    measure = (
        "damage of TRIM that is told β minus that of the first method, the mean over attacks on "
        f"random rows, median over splits (at least −{SLACK:g})"
    )
    return _compared(
        results, TOLD, (SHIFTED, REPLACED, SIGNS), measure, at_least, -SLACK,
        _settings(results, counts=False, small=False),
    )  # fmt: skip


def leverage_defeats(results: Damages) -> list[Finding]:
    """Take the damage of large leverage to every method, on the table where it is largest."""
    chosen = results.damages.filter(attack=LEVERAGE, probability=MANY)
    everywhere = set.intersection(*({*methods} for methods in results.methods.values()))
    findings = []
    for method in next(iter(results.methods.values())):
        found = {
            str(setting): mine["damage"].to_numpy()
            for (setting,), mine in chosen.filter(method=method).group_by(
                "setting", maintain_order=True
            )
        }
        if method not in everywhere or not found:
            continue
        worst = max(found, key=lambda setting: middle(found[setting]).estimate)
        interval = middle(found[worst])
        findings.append(
            Finding.of(
                f"{method}, on {results.titles[worst]}",
                f"median damage on the table where it is largest, β = {MANY:g} (above {MUCH:g})",
                interval, len(found[worst]), holds=above(MUCH, interval),
            )
        )  # fmt: skip
    return findings


def right_network(results: Damages) -> list[Finding]:
    """Compare the right network under attack with the best linear method without an attack."""
    measure = (
        "error of the right network under attack divided by the smallest error of a linear method "
        "without an attack, median over splits (below 1)"
    )
    findings = []
    for setting, lead in results.leads.items():
        if not _has_network(results, lead):
            continue
        fits = results.damages.filter(setting=setting)
        honest = (
            fits.filter(pl.col("method") != lead, attack="none")
            .group_by("replicate")
            .agg(best=pl.col("error").min())
        )
        mine = fits.filter(pl.col("attack").is_in([SHIFTED, REPLACED, SIGNS]), method=lead)
        pairs = mine.join(honest, on="replicate", maintain_order="left")
        keys = ("attack", "probability")
        for (attack, beta), group in pairs.group_by(keys, maintain_order=True):
            ratios = (group["error"] / group["best"]).to_numpy()
            interval = middle(ratios)
            case = f"{results.titles[setting]}, {str(attack).replace('-', ' ')}, β = {beta:g}"
            findings.append(
                Finding.of(case, measure, interval, len(ratios), holds=below(1.0, interval))
            )
    return findings


def _settings(results: Damages, *, counts: bool | None, small: bool | None) -> list[str]:
    """Return the tables whose labels are counts or not, and that have few rows or not.

    Tables whose first method has a network of its own are left out: linear methods are no rivals.
    """
    facts = results.fits.group_by("setting", maintain_order=True).agg(
        counts=pl.col("repeated").median() > EQUAL, small=pl.col("rows").max() < FEW
    )
    # two equal labels of a few say nothing
    facts = facts.with_columns(counts=pl.col("counts") & ~pl.col("small"))
    wanted = {"counts": counts, "small": small}
    chosen = facts.filter(**{name: value for name, value in wanted.items() if value is not None})
    return [name for name in chosen["setting"] if not _has_network(results, results.leads[name])]


def _has_network(results: Damages, method: str) -> bool:
    """Return whether a method is a regressor with another network than the linear one."""
    return "network=" in results.texts[method]


def _compared(
    results: Damages, text: str, attacks: Sequence[str], measure: str, asked: Asked, limit: float,
    settings: Iterable[str], sign: float = 1.0,
) -> list[Finding]:  # fmt: skip
    """Return how much more damage a rival has, the mean over attacks, one finding per table.

    If the sign is negative, it is how much less damage the rival has.
    """
    labels = [label for label, method in results.texts.items() if method == text]
    chosen = results.damages.filter(pl.col("attack").is_in(attacks), pl.col("method").is_in(labels))
    findings = []
    for setting in settings:
        means = (
            chosen.filter(setting=setting)
            .group_by("replicate", maintain_order=True)
            .agg(more=sign * pl.col("more").mean())
        )
        findings += _finding(results, setting, measure, means["more"], asked, limit)
    return findings


def _finding(
    results: Damages, setting: str, measure: str, values: pl.Series, asked: Asked, limit: float
) -> list[Finding]:
    """Return the finding of one value for each split, if there are any."""
    if values.is_empty():
        return []
    interval = middle(np.asarray(values, np.float64))
    holds = asked(limit, interval)
    return [Finding.of(results.titles[setting], measure, interval, len(values), holds=holds)]


# ---- the records

DAMAGE = Notation(" %", 2, 2, (0.0, PRICE, MUCH))
MORE = Notation(" points", 2, 2, (0.0, -SLACK))


def _on_damages(check: Callable[[Damages], list[Finding]]) -> Callable[[Results], list[Finding]]:
    return lambda results: check(Damages(results))


clean_price_is_small = Claim(
    "clean-price-is-small",
    "Without an attack, `NeuroTronRegressor` has an error at most 1 % above that of least "
    "squares, on each of this study's public tables of at least 100 rows.",
    _on_damages(clean_price),
    short="Without an attack it costs at most 1 %",
    phrase=Phrase("{} over least squares", DAMAGE, noun="tables"),
    figures=("damage-0.1",),
)
less_damage_than_huber = Claim(
    "less-damage-than-huber",
    "Under attacks to one side and of another model, `NeuroTronRegressor` has less damage in "
    "the mean than Huber's regression, on each of this study's public tables whose labels are "
    "not counts.",
    _on_damages(less_than_huber),
    short="Less damage than Huber unless labels are counts",
    phrase=Phrase("Huber's regression has {} more damage", MORE, noun="tables"),
    figures=("damage-0.3",),
)
huber_wins_on_counts = Claim(
    "huber-wins-on-counts",
    "Where labels are counts, Huber's regression has less damage than `NeuroTronRegressor` "
    "under attacks to one side.",
    _on_damages(counts_favour_huber),
    short="Huber does better on counts that are raised",
    phrase=Phrase("Huber's regression has {} less damage", MORE, noun="tables"),
    figures=("damage-0.3",),
)
as_good_as_trim_that_is_told = Claim(
    "as-good-as-trim-that-is-told",
    "Under attacks on random rows, `NeuroTronRegressor` has in the mean at most 1 point more "
    "damage than TRIM that is told the share of attacked labels, on each of this study's "
    "public tables of at least 100 rows whose labels are not counts.",
    _on_damages(as_good_as_trim),
    short="No worse than TRIM that is told β",
    phrase=Phrase("TRIM has {} more damage", MORE, noun="tables"),
    figures=("damage-0.3",),
)
leverage_defeats_every_method = Claim(
    "leverage-defeats-every-method",
    "If an attacker picks the 30 % of the rows with the largest leverage, every method has "
    "more than 50 % damage on some table.",
    _on_damages(leverage_defeats),
    short="Large leverage defeats every method somewhere",
    phrase=Phrase("{} damage on its worst table", DAMAGE, noun="methods"),
    figures=("damage-0.3",),
)
right_network_beats_linear_models = Claim(
    "right-network-beats-linear-models",
    "On a simulated cell, the regressor with the right network has a smaller error under every "
    "attack on random rows than every linear method without an attack.",
    _on_damages(right_network),
    short="The right network under attack beats linear ones",
    phrase=Phrase("{} the smallest linear error", times(1.0), noun="attacks"),
    figures=("damage-0.3",),
)
