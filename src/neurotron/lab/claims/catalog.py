"""The claims that come with the package, by their names: the paper's, and those of guarantees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from neurotron import _check
from neurotron._references import resolve
from neurotron.lab.claims import against_sgd, batch_size, certificates, paper, predictions
from neurotron.lab.claims.effects import Unit, count, growth, spread, times, worst
from neurotron.lab.claims.model import Claim, Finding
from neurotron.lab.results.results import Results
from neurotron.lab.training.runs import Runs

__all__ = [
    "BATCH_SIZE", "CLAIMS", "OF_ANY_STUDY", "PAPER", "VERIFICATION", "check_claims", "claim_named",
    "of_runs",
]  # fmt: skip

PAPER = (
    Claim(
        "grows-with-bound",
        "A larger bound θ on the attack increases Neuro-Tron's error.",
        paper.grows_with(0),
        source="section 4, figure 1a",
        from_paper=True,
        short="Neuro-Tron's error grows with the bound θ",
        phrase=growth("θ"),
        figures=("figure-1a", "final-errors-alternating-sign-bound"),
    ),
    Claim(
        "grows-with-probability",
        "A larger probability β of attack increases Neuro-Tron's error.",
        paper.grows_with(1),
        source="section 4, figure 1b",
        from_paper=True,
        short="Neuro-Tron's error grows with probability β",
        phrase=growth("β"),
        figures=("figure-1b", "final-errors-alternating-sign-probability"),
    ),
    Claim(
        "recovers-without-attack",
        "Without attack, Neuro-Tron's error falls to about 1e-14 for every law.",
        paper.recovers_without_attack,
        source="section 4, figure 6",
        from_paper=True,
        short="Without attack, the error falls to 1e-14",
        phrase=spread("median error {}", Unit(limits=(1e-13,)), noun="settings"),
        figures=("figure-6",),
    ),
    Claim(
        "small-attack-degrades",
        "Even a small attack (θ = 0.125) makes the recovery visibly worse.",
        paper.small_attack_degrades,
        source="section 4, figure 6",
        from_paper=True,
        short="Even a small attack visibly raises the error",
        phrase=spread("{} the error without attack", times(10.0)),
        figures=("figure-6",),
    ),
    Claim(
        "smaller-error-than-sgd",
        "Under attack, Neuro-Tron ends with a smaller error than SGD.",
        against_sgd.smaller_error,
        source="section 4, figures 2 to 5",
        from_paper=True,
        short="Neuro-Tron's error is smaller than SGD's",
        phrase=spread("{} the error of {group}", times(1.0)),
        figures=("paired-errors", "figure-2a"),
        broader_than_published=True,  # what the paper ran was not SGD
    ),
    Claim(
        "faster-than-sgd",
        "Under attack, Neuro-Tron converges faster than SGD.",
        against_sgd.faster,
        source="section 4, figures 2 to 5",
        from_paper=True,
        short="Neuro-Tron is faster than SGD",
        phrase=spread("{} the steps of {group}", times(1.0)),
        figures=("figure-2a", "figure-3a", "figure-4a", "figure-5a"),
        broader_than_published=True,
    ),
    Claim(
        "heavy-tails-alike",
        "With t(4) inputs (no fourth moment), Neuro-Tron is about as accurate as with others "
        "(that is, its error is within a factor of 10).",
        paper.heavy_tails_alike,
        source="section 4, figure 3",
        from_paper=True,
        short="t(4) inputs: error within a factor of 10",
        phrase=spread("{} the error with other laws", times(0.1, 10.0)),
        figures=("final-errors-alternating-sign-bound", "figure-3a"),
    ),
    Claim(
        "outer-weights-help",
        "Heavier outer weights (q = 10 instead of q = 1) lower the error under the same attack.",
        paper.outer_weights_help,
        source="section 3.6, figure 7",
        from_paper=True,
        short="Heavier outer weights lower the error",
        phrase=spread(
            "with {group}, q = 10 has {} the error of q = 1",
            times(1.0),
            diverged="with {group}, q = 10 diverges",
        ),
        figures=("figure-7",),
        broader_than_published=True,  # the paper's step sizes were not the same
    ),
    Claim(
        "impersonation-wins",
        "If every label comes from another filter w_adv, Neuro-Tron converges to w_adv.",
        paper.impersonation_wins,
        source="section 3.5",
        from_paper=True,
        short="If all labels are w_adv's, it learns w_adv",
        phrase=worst(
            "the largest distance to w_adv in {total} runs is {}", max, Unit(limits=(1e-9,))
        ),
        figures=("section-3-5",),
    ),
    Claim(
        "risk-below-attack",
        "Where the condition of section 3.4 holds, the prediction risk is at most θ*².",
        predictions.risk_below_attack,
        source="section 3.4",
        from_paper=True,
        short="The prediction risk is at most θ*²",
        phrase=worst(
            "the largest prediction error in {total} runs is {} of θ*", max, Unit(limits=(1.0,))
        ),
        section="certificates",
    ),
    Claim(
        "predictions-as-certified",
        "No prediction error is above the one that the sharp certificate guarantees.",
        predictions.predictions_as_certified,
        short="No prediction error is above certified",
        phrase=worst(
            "{count} of {total} runs above, the largest prediction error is {} of the certified "
            "one",
            max,
            Unit(limits=(1.0,)),
        ),
        section="certificates",
    ),
    Claim(
        "theorem-1-is-silent",
        "Theorem 1 promises nothing about the simulations that are said to validate it.",
        paper.theorem_is_silent,
        source="added by this package, about the caption of figure 1",
        short="Theorem 1 promises nothing about these runs",
        phrase=count(
            "Theorem 1 promises less than the initial error on {count} of {total} networks"
        ),
        section="certificates",
    ),
)
"""The claims of the paper, and two of ours about its theorem and its runs."""

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

OF_ANY_STUDY = (
    Claim(
        "certificate-holds",
        "No run ends outside the radius of the sharp certificate.",
        certificates.certificate_holds,
        short="No run ends outside its certified radius",
        phrase=worst(
            "{count} of {total} runs outside, the largest error is {} of its radius",
            max,
            Unit(limits=(1.0,)),
        ),
        figures=("certificate",),
        section="certificates",
    ),
)
"""The claims by which a study is judged that names none."""

VERIFICATION = (
    Claim(
        "verification-holds",
        "No verified radius is smaller than the error.",
        certificates.verification_holds,
        short="No verified radius is smaller than the error",
        phrase=worst(
            "{count} of {total} verified radii are smaller than the error, which is at most {} of "
            "the radius",
            max,
            Unit(limits=(1.0,)),
        ),
        section="verification",
    ),
)
"""The claim about any study whose runs are verified on fresh rows."""


def of_runs(check: Callable[[Runs], list[Finding]]) -> Callable[[Results], list[Finding]]:
    """Return a check of training runs as a check of any results, which refuses others."""
    return lambda results: check(Runs.of(results))


CLAIMS = {
    claim.name: replace(claim, check=of_runs(claim.check))
    for claim in (*PAPER, *BATCH_SIZE, *OF_ANY_STUDY, *VERIFICATION)
}
"""Every claim that has a name: all are about training runs."""


def check_claims(names: Sequence[Any], *, of_training: bool = True) -> None:
    """Refuse claims that do not exist, or that are listed twice, or that need training runs.

    >>> check_claims(["certificate-hold"])
    Traceback (most recent call last):
    ...
    neurotron._check.InputError: unknown claim 'certificate-hold': did you mean ...
    """
    for name in names:
        if list(names).count(name) > 1:
            raise _check.InputError(f"`claims` lists {name!r} twice: list each claim once")
        if isinstance(name, str) and ":" not in name:
            if name not in CLAIMS:
                raise _check.unknown("claim", name, CLAIMS)
            if not of_training:
                raise _check.InputError(
                    f"claim {name!r} is about training runs: leave it out of `claims`"
                )


def claim_named(name: str) -> Claim:
    """Return a claim of the list, or one of your own by its "module:name".

    Your own is a function of the results that returns findings, whose docstring is the statement;
    or a `Claim`.
    """
    if name in CLAIMS:
        return CLAIMS[name]
    if ":" not in name:
        raise _check.unknown("claim", name, CLAIMS)
    found: Any = resolve(name)
    if isinstance(found, Claim):
        return found
    _check.function(name, found, "the results")
    statement = " ".join((found.__doc__ or name).strip().split("\n\n")[0].split())
    return Claim(found.__name__.replace("_", "-"), statement, found, source="")
