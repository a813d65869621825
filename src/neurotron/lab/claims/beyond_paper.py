"""The records of the claims that go beyond the paper."""

from __future__ import annotations

from neurotron.lab.claims import batch_size, defence, frontier, moved_inputs, rows
from neurotron.lab.claims.effects import Unit, count, percent, spread, times, worst
from neurotron.lab.claims.model import Claim

__all__ = ["BATCH_SIZE", "DEFENCE", "FRONTIER", "MOVED_INPUTS", "ROWS"]

EXACT_RUNS = spread("{} of the runs are exact", percent(frontier.SHARE))
POINTS = Unit(" points", 2, 2, (0.0,))

FRONTIER = (
    Claim(
        "exact-below-half",
        "RefinedTron recovers the filter exactly while at most 40 % of the labels are attacked, "
        "under every additive attack with a constant β.",
        frontier.exact(but=(*frontier.CONCENTRATED, *frontier.NON_ADDITIVE)),
        short="RefinedTron is exact up to β = 40 %",
        phrase=EXACT_RUNS,
        figures=("phase-adaptive", "phase-odd-direction", "steps"),
    ),
    Claim(
        "exact-when-concentrated",
        "With at most 40 % of the labels attacked, RefinedTron recovers the filter exactly even if "
        "the attack is concentrated: in time, on one side, or on large inputs.",
        frontier.exact(only=frontier.CONCENTRATED),
        short="RefinedTron is exact under concentrated attacks",
        phrase=EXACT_RUNS,
        figures=("phase-burst", "phase-half-space", "phase-large-norm"),
    ),
    Claim(
        "exact-when-not-additive",
        "With at most 40 % of the labels attacked, RefinedTron recovers the filter exactly even if "
        "labels are multiplied, replaced or sign-flipped.",
        frontier.exact(only=frontier.NON_ADDITIVE),
        source="added by this package, about the paper's third open question",
        short="RefinedTron is exact if attacks are not additive",
        phrase=EXACT_RUNS,
        figures=("final-errors-sign-flip-probability",),
    ),
    Claim(
        "as-often-as-others",
        "With at most 40 % of the labels attacked, RefinedTron recovers the filter exactly at "
        "least as often as every other trainer on the same data.",
        frontier.as_often_as_others,
        short="RefinedTron is exact as often as any other",
        phrase=spread("a difference of {} in the share of exact runs", POINTS),
        figures=("exact", "paired-errors"),
    ),
    Claim(
        "nobody-above-half",
        "If more than half of the labels come from another filter, no trainer recovers w*.",
        frontier.no_trainer_recovers,
        source="added by this package, about section 3.5",
        short="Above 50 %, no trainer recovers the filter",
        phrase=worst(
            "{count} of {total} runs end near w*, the closest at {} ‖w*‖",
            min,
            Unit(limits=(frontier.FAR,)),
        ),
    ),
    Claim(
        "floor-grows-with-bound",
        "Under attack, Neuro-Tron's error settles at a floor that is proportional to θ.",
        frontier.floor_grows(0, lambda attack: (0.9, 1.1)),
        source="added by this package, about the paper's second open question",
        short="Neuro-Tron's error is proportional to θ",
        phrase=spread("error like θ to the power {}", Unit("", 3, limits=(0.9, 1.1))),
        figures=("final-errors-odd-direction-bound",),
    ),
    Claim(
        "floor-grows-with-probability",
        "The floor is proportional to β under an attack with a direction, and grows more slowly "
        "under one that averages out.",
        frontier.floor_grows(1, frontier.EXPONENTS.__getitem__),
        source="added by this package, about the paper's second open question",
        short="Growth with β depends on the kind of attack",
        phrase=spread(
            "error like β to the power {} for {group}", Unit("", 3, limits=(0.0, 0.8, 1.0, 1.2))
        ),
        figures=tuple(
            f"final-errors-{attack}-probability" for attack in ("odd-direction", "alternating-sign")
        ),
    ),
    Claim(
        "heavier-tails",
        "Heavier tails (Student t with ν = 4, 3 and 2.5) at most double Neuro-Tron's floor, "
        "compared with ν = 5.",
        frontier.heavier_tails,
        source="added by this package, about the paper's first open question",
        short="Heavier tails at most double Neuro-Tron's error",
        phrase=spread("{} the error with ν = 5", times(frontier.HEAVIER)),
        figures=("final-errors-odd-direction-probability",),
    ),
)
"""Claims that go beyond the paper."""

DEFENCE = (
    Claim(
        "exact-while-below-half",
        "RefinedTron recovers the filter exactly in at least 99 % of the runs in which an additive "
        "attack changes a constant share of at most 40 % of the labels.",
        defence.exact_below_half,
        short="RefinedTron is exact in 99 % of runs, β ≤ 40 %",
        phrase=spread("{} of {total} runs are exact", percent(defence.EXACTLY)),
    ),
    Claim(
        "close-near-half",
        "With 45 % of the labels attacked by an additive attack on a constant share of them, at "
        "least 95 % of RefinedTron's runs come closer to the filter than 1e-6.",
        defence.close_near_half,
        short="RefinedTron is close in 95 % of runs, β = 45 %",
        phrase=spread("{} of {total} runs end closer than 1e-6", percent(defence.CLOSELY)),
    ),
    Claim(
        "close-in-half-space",
        "With 45 % of the labels attacked, all on one side of a plane, RefinedTron comes closer to "
        "the filter than 1e-6 on at least 95 % of the networks.",
        defence.close_in_half_space,
        short="RefinedTron is close if one side is attacked",
        phrase=spread(
            "closer than 1e-6 on {} of the networks", percent(defence.CLOSELY), noun="settings"
        ),
    ),
    Claim(
        "defaults-recover-most",
        "No other value of one of RefinedTron's constants recovers the filter exactly more often.",
        defence.defaults_recover_most,
        short="No constant beats RefinedTron's defaults",
        phrase=spread("a difference of {} in the share of exact runs", POINTS),
    ),
)
"""Claims about the defence on the paper's networks."""

ROWS = (
    Claim(
        "few-rows-suffice",
        "On the paper's network, 4 rows for each weight are enough for `nt.solve` to find the "
        "filter exactly while at most 20 % of the labels are tampered with, and 16 are enough at "
        "40 %, unless the attacker picks rows for the labels of another filter.",
        rows.few_rows_suffice,
        short="A few hundred rows are enough for the filter",
        phrase=spread("{} of the problems are solved exactly", percent(rows.ENOUGH)),
        figures=("rows-needed",),
    ),
    Claim(
        "picked-rows-need-more",
        "If the attacker picks 40 % of the rows for the labels of another filter, 96 rows for each "
        "weight are not enough on a single gate, and 12 are not on a convolution of stride 1.",
        rows.picked_rows_need_more,
        short="Picked rows are hard for gates and stride 1",
        phrase=spread("{} of the problems are solved exactly", percent(rows.ENOUGH)),
        figures=("rows-needed",),
    ),
    Claim(
        "near-honest-least-squares",
        "With honest noise, 20 rows or more for each weight, and labels that are changed by at "
        "least 10 standard deviations of the noise, the median error of `nt.solve` is at most 1.1 "
        "times that of least squares on the honest rows.",
        rows.near_honest_least_squares,
        short="With noise, almost as good as honest rows alone",
        phrase=spread(
            "{} the error of least squares on honest rows", Unit(" ×", 3, limits=(rows.NEAR,))
        ),
        figures=("noise-20", "noise-80"),
    ),
    Claim(
        "more-often-exact-than-trim",
        "On networks of several gates, `nt.solve` finds the filter exactly on more problems than "
        "TRIM, which is told how many labels are tampered with; on a single gate the two are about "
        "equal.",
        rows.more_often_than_trim,
        short="Exact more often than TRIM, which is told β",
        phrase=count(
            "on {count} of the {total} problems that only one of them solves, it is nt.solve"
        ),
    ),
    Claim(
        "proof-is-never-wrong",
        "No wrong filter is proved to be right: fewer tampered rows are covered by its proof than "
        "were tampered with.",
        rows.proof_is_never_wrong,
        short="No wrong filter is proved to be right",
        phrase=worst(
            "{count} of {total} wrong filters have a proof that covers the tampered rows; a proof "
            "covers at most {} of them",
            max,
            times(1.0),
        ),
    ),
)
"""Claims about `nt.solve` on stored rows."""

BATCH_SIZE = (
    Claim(
        "fewer-steps-with-larger-batches",
        "A larger batch size b makes Neuro-Tron converge in fewer steps, with the step size of its "
        "certificate, which grows with b.",
        batch_size.fewer_steps,
        source="Remark 1, item 3",
        from_paper=True,
        short="Larger batches converge in fewer steps",
        phrase=spread("{} the steps with the next smaller batch", times(1.0)),
        figures=("batch-size-steps", "batch-size-step-size"),
    ),
    Claim(
        "samples-alike-for-all-batches",
        "The number of samples that Neuro-Tron needs is about the same for all batch sizes.",
        batch_size.samples_alike,
        source="added by this package, about the abstract's question of the batch size",
        short="Larger batches need about as many samples",
        phrase=spread("{} the samples of batches of one", times(0.5, 2.0)),
        figures=("batch-size-steps",),
    ),
    Claim(
        "larger-batches-lower-the-floor",
        "With the same step size, a larger batch lowers the error under an attack without drift.",
        batch_size.lower_floor,
        short="Larger batches lower the error under attack",
        phrase=spread("slope {} on a log-log scale", Unit("", 3, limits=(0.0,)), noun="settings"),
        figures=("batch-size-floor",),
    ),
    Claim(
        "batch-sizes-as-certified",
        "At every batch size, Neuro-Tron needs at most the certified number of steps, and ends "
        "with at most the certified error.",
        batch_size.as_certified,
        short="Steps and errors as certified for every b",
        phrase=spread("{} of the certified {group}", Unit("", 2, limits=(1.0,))),
        figures=("batch-size-steps", "batch-size-floor"),
        section="certificates",
    ),
)
"""What the batch size changes."""

MOVED_INPUTS = (
    Claim(
        "adversary-worse-than-noise",
        "An adversary who moves a tenth of the inputs does Neuro-Tron more harm than noise of the "
        "same size.",
        moved_inputs.worse_than_noise,
        source="added by this package, about the conclusion's third question",
        short="Moved inputs do more harm than noise",
        phrase=spread("{} the error with noise of the same size", times(1.0)),
    ),
    Claim(
        "moved-inputs-as-predicted",
        "With moved inputs, Neuro-Tron ends as far from the filter as its mean update predicts.",
        moved_inputs.as_predicted,
        short="Neuro-Tron's bias is as predicted",
        phrase=spread("error {} of the predicted bias", Unit("", 3, limits=(0.9, 1.1))),
    ),
    Claim(
        "defence-against-moved-inputs",
        "RefinedTron recovers the filter exactly if a tenth of the inputs are moved.",
        moved_inputs.defence_holds,
        short="RefinedTron is exact with moved inputs",
        phrase=worst("the largest of {total} errors is {}", max, Unit(limits=(1e-12,))),
    ),
)
"""What corrupted inputs do; no guarantee is claimed."""
