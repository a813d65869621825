"""The names of the claims that a study can list, which are defined in `neurotron.lab.claims`.

They are repeated here because studies may not import claims. A misspelt name is refused when a
study is read, before anything is computed.
"""

from __future__ import annotations

from collections.abc import Sequence

from neurotron import _check

__all__ = ["CLAIM_NAMES", "ROWS_CLAIM_NAMES", "TABLES_CLAIM_NAMES", "check_claims"]

CLAIM_NAMES = (
    # the paper's
    "grows-with-bound",
    "grows-with-probability",
    "recovers-without-attack",
    "small-attack-degrades",
    "smaller-error-than-sgd",
    "faster-than-sgd",
    "heavy-tails-alike",
    "outer-weights-help",
    "impersonation-wins",
    "risk-below-attack",
    "predictions-as-certified",
    "theorem-1-is-silent",
    # on the mirror filter
    "neuro-tron-recovers",
    "more-often-than-sgd",
    "sgd-ends-at-mirror",
    # on the batch size
    "fewer-steps-with-larger-batches",
    "samples-alike-for-all-batches",
    "larger-batches-lower-the-floor",
    "batch-sizes-as-certified",
    # on corrupted inputs
    "adversary-worse-than-noise",
    "moved-inputs-as-predicted",
    "defence-against-moved-inputs",
    # beyond the paper
    "exact-below-half",
    "exact-when-concentrated",
    "exact-when-not-additive",
    "as-often-as-others",
    "nobody-above-half",
    "floor-grows-with-bound",
    "floor-grows-with-probability",
    "heavier-tails",
    # on the defence
    "exact-while-below-half",
    "close-near-half",
    "close-in-half-space",
    "defaults-recover-most",
    # on recovery and certificates
    "recovers-to-rounding",
    "certified-mean-square",
    "sharp-for-normal-and-laplace",
    "sharp-for-uniform-and-t",
    "sharp-for-cauchy",
    "radius-near-error",
    # on other activations
    "mirror-with-every-activation",
    "sharp-with-every-activation",
    # of any study of training runs
    "certificate-holds",
    # of any study of training runs that are verified
    "verification-holds",
)
"""The claims about training runs."""

ROWS_CLAIM_NAMES = (
    "few-rows-suffice",
    "picked-rows-need-more",
    "near-honest-least-squares",
    "more-often-exact-than-trim",
    "proof-is-never-wrong",
)
"""The claims about studies of rows."""


TABLES_CLAIM_NAMES = (
    "clean-price-is-small",
    "less-damage-than-huber",
    "huber-wins-on-counts",
    "as-good-as-trim-that-is-told",
    "leverage-defeats-every-method",
    "right-network-beats-linear-models",
)
"""The claims about studies of public tables."""

BY_KIND = {
    "training": ("training runs", CLAIM_NAMES),
    "rows": ('studies of the kind "rows"', ROWS_CLAIM_NAMES),
    "tables": ('studies of the kind "tables"', TABLES_CLAIM_NAMES),
}
"""What the claims of each kind of study are about, and their names."""


def check_claims(names: Sequence[str], kind: str = "training") -> None:
    """Refuse claims that do not exist, that are listed twice, or that other studies test.

    The `kind` of the study is "training", "rows" or "tables".

    >>> check_claims(["certificate-hold"])
    Traceback (most recent call last):
    ...
    neurotron._check.InputError: unknown claim 'certificate-hold': did you mean ...
    """
    _, known = BY_KIND[kind]
    for name in names:
        for about, others in BY_KIND.values():
            if name in others and name not in known:
                raise _check.InputError(
                    f"claim {name!r} is about {about}: leave it out of `claims`"
                )
        if name not in known:
            raise _check.unknown("claim", name, known)
        if list(names).count(name) > 1:
            raise _check.InputError(f"`claims` lists {name!r} twice: list each claim once")
