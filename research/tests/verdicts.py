"""The verdicts that README and docs state, by study."""

from __future__ import annotations

from neurotron.lab.claims.model import DOES_NOT_HOLD, HOLDS, PUBLISHED_CODE_ONLY, UNDECIDED

BATCH_SIZES = dict.fromkeys(
    (
        "fewer-steps-with-larger-batches",
        "samples-alike-for-all-batches",
        "larger-batches-lower-the-floor",
        "batch-sizes-as-certified",
    ),
    HOLDS,
)
"""What the studies of the paper and of the batch size both find."""

VERDICTS = {
    "paper": {
        "grows-with-bound": HOLDS,
        "grows-with-probability": HOLDS,
        "recovers-without-attack": HOLDS,
        "small-attack-degrades": HOLDS,
        "smaller-error-than-sgd": PUBLISHED_CODE_ONLY,
        "faster-than-sgd": PUBLISHED_CODE_ONLY,
        "heavy-tails-alike": HOLDS,
        "outer-weights-help": PUBLISHED_CODE_ONLY,
        "impersonation-wins": HOLDS,
        **BATCH_SIZES,
        "risk-below-attack": HOLDS,
        "theorem-1-is-silent": HOLDS,
        "certificate-holds": HOLDS,
        "verification-holds": HOLDS,
        "predictions-as-certified": HOLDS,
    },
    "batch-size": BATCH_SIZES,
    "moved-inputs": {
        "adversary-worse-than-noise": HOLDS,
        "moved-inputs-as-predicted": HOLDS,
        "defence-against-moved-inputs": HOLDS,
    },
    "mirror": {
        "neuro-tron-recovers": HOLDS,
        "more-often-than-sgd": HOLDS,
        "sgd-ends-at-mirror": HOLDS,
    },
    "frontier": {
        "exact-below-half": UNDECIDED,
        "exact-when-concentrated": DOES_NOT_HOLD,
        "exact-when-not-additive": HOLDS,
        "as-often-as-others": DOES_NOT_HOLD,
        "nobody-above-half": DOES_NOT_HOLD,
        "floor-grows-with-bound": HOLDS,
        "floor-grows-with-probability": HOLDS,
        "heavier-tails": HOLDS,
        "certificate-holds": HOLDS,
    },
    "tables": {
        "clean-price-is-small": UNDECIDED,
        "less-damage-than-huber": HOLDS,
        "huber-wins-on-counts": HOLDS,
        "as-good-as-trim-that-is-told": UNDECIDED,
        "leverage-defeats-every-method": HOLDS,
        "right-network-beats-linear-models": HOLDS,
    },
}
