"""The one list of claims: to add one, write its record here and its name where studies look it up.

Studies stand below claims and cannot import them, so the names are also in
`neurotron.studies.claim_names`, by which a study is refused before anything is computed.
"""

from __future__ import annotations

from neurotron.claims import against_sgd, certificates, defence, frontier, mirror, paper
from neurotron.claims.model import Claim

__all__ = ["CERTIFICATES", "CLAIMS", "DEFENCE", "FRONTIER", "MIRROR", "OF_ANY_STUDY", "PAPER"]

PAPER = (
    Claim(
        "grows-with-bound",
        "A larger bound θ on the attack increases Neuro-Tron's error.",
        "section 4, figure 1a",
        paper.grows_with(0),
        figures=("figure-1a", "final-errors-alternating-sign-bound"),
    ),
    Claim(
        "grows-with-probability",
        "A larger probability β of attack increases Neuro-Tron's error.",
        "section 4, figure 1b",
        paper.grows_with(1),
        figures=("figure-1b", "final-errors-alternating-sign-probability"),
    ),
    Claim(
        "recovers-without-attack",
        "Without attack Neuro-Tron's error falls to about 1e-14, for every law.",
        "section 4, figure 6",
        paper.recovers_without_attack,
        figures=("figure-6",),
    ),
    Claim(
        "small-attack-degrades",
        "A small attack (θ = 0.125) visibly degrades the recovery.",
        "section 4, figure 6",
        paper.small_attack_degrades,
        figures=("figure-6",),
    ),
    Claim(
        "smaller-error-than-sgd",
        "Under attack Neuro-Tron attains a smaller error than SGD.",
        "section 4, figures 2 to 5",
        against_sgd.smaller_error,
        figures=("paired-errors", "figure-2a"),
        broader_than_published=True,  # what the paper ran was not SGD
    ),
    Claim(
        "faster-than-sgd",
        "Under attack Neuro-Tron converges faster than SGD.",
        "section 4, figures 2 to 5",
        against_sgd.faster,
        figures=("figure-2a", "figure-3a", "figure-4a", "figure-5a"),
        broader_than_published=True,
    ),
    Claim(
        "heavy-tails-alike",
        "With t(4) inputs, which have no fourth moment, Neuro-Tron is as accurate as with others.",
        "section 4, figure 3",
        paper.heavy_tails_alike,
        figures=("final-errors-alternating-sign-bound", "figure-3a"),
    ),
    Claim(
        "outer-weights-help",
        "Heavier outer weights (q = 10 instead of q = 1) lower the error under the same attack.",
        "section 3.6, figure 7",
        paper.outer_weights_help,
        figures=("figure-7",),
        broader_than_published=True,  # the paper's step sizes were not the same
    ),
    Claim(
        "impersonation-wins",
        "If every label is that of another filter w_adv, Neuro-Tron converges to w_adv.",
        "section 3.5",
        paper.impersonation_wins,
        figures=("section-3-5",),
    ),
    Claim(
        "theorem-1-is-silent",
        "Theorem 1 promises nothing about the simulations that are said to validate it.",
        "ours, on the caption of figure 1",
        paper.theorem_is_silent,
        section="certificates",
    ),
)
"""What the paper says, and what we say of its theorem."""

MIRROR = (
    Claim(
        "neuro-tron-recovers",
        f"Neuro-Tron recovers the filter on more than {100.0 * mirror.OFTEN:g} % of the networks.",
        "ours, not in the paper",
        mirror.recovers,
        figures=("mirror-filter",),
    ),
    Claim(
        "more-often-than-sgd",
        "Neuro-Tron recovers the filter on more networks than SGD does.",
        "ours, not in the paper",
        mirror.more_often,
        figures=("mirror-filter",),
    ),
    Claim(
        "sgd-ends-at-mirror",
        "Where SGD does not recover the filter, it mostly ends near the mirror image −w*.",
        "ours, not in the paper",
        mirror.ends_at_mirror,
        figures=("mirror-filter",),
    ),
)
"""Who recovers the filter, and who ends at its mirror image."""

FRONTIER = (
    Claim(
        "exact-below-half",
        "RefinedTron recovers the filter exactly while at most 40 % of the labels are attacked, "
        "under every additive attack with a constant β.",
        "past the paper: its floor is no law of nature",
        frontier.exact(but=(*frontier.CONCENTRATED, *frontier.NON_ADDITIVE)),
        figures=("phase-adaptive", "phase-odd-direction", "steps"),
    ),
    Claim(
        "exact-when-concentrated",
        "With at most 40 % of the labels attacked, RefinedTron recovers the filter exactly also if "
        "the attack is concentrated: in time, on one side, or on large inputs.",
        "past the paper: β that varies",
        frontier.exact(only=frontier.CONCENTRATED),
        figures=("phase-burst", "phase-half-space", "phase-large-norm"),
    ),
    Claim(
        "exact-when-not-additive",
        "With at most 40 % of the labels attacked, RefinedTron recovers the filter exactly also if "
        "labels are multiplied, replaced, or change their sign.",
        "the paper's third open question",
        frontier.exact(only=frontier.NON_ADDITIVE),
        figures=("final-errors-sign-flip-probability",),
    ),
    Claim(
        "as-often-as-others",
        "With at most 40 % of the labels attacked, RefinedTron recovers the filter exactly at "
        "least as often as every other trainer on the same data.",
        "past the paper",
        frontier.as_often_as_others,
        figures=("exact", "paired-errors"),
    ),
    Claim(
        "nobody-above-half",
        "If more than half of the labels are those of another filter, no trainer recovers w*.",
        "section 3.5: it cannot be told which filter is the true one",
        frontier.nobody_recovers,
    ),
    Claim(
        "floor-grows-with-bound",
        "Neuro-Tron's error under attack is a floor proportional to θ.",
        "the paper's second open question",
        frontier.floor_grows(0, lambda attack: (0.9, 1.1)),
        figures=("final-errors-odd-direction-bound",),
    ),
    Claim(
        "floor-grows-with-probability",
        "The floor is proportional to β under an attack with a direction, and grows more slowly "
        "under one that averages out.",
        "the paper's second open question",
        frontier.floor_grows(1, frontier.EXPONENTS.__getitem__),
        figures=(
            "final-errors-odd-direction-probability",
            "final-errors-alternating-sign-probability",
        ),
    ),
    Claim(
        "heavier-tails",
        "Heavier tails (Student t with ν = 4, 3 and 2.5) do not raise Neuro-Tron's floor to more "
        "than twice that with ν = 5.",
        "the paper's first open question",
        frontier.heavier_tails,
        figures=("final-errors-odd-direction-probability",),
    ),
)
"""What is said past the paper."""

DEFENCE = (
    Claim(
        "exact-while-below-half",
        "RefinedTron recovers the filter exactly in at least 99 % of the runs in which an additive "
        "attack changes a constant share of at most 40 % of the labels.",
        "past the paper",
        defence.exact_below_half,
    ),
    Claim(
        "close-near-half",
        "With 45 % of the labels attacked by an additive attack on a constant share of them, at "
        "least 95 % of RefinedTron's runs come closer to the filter than 1e-6.",
        "past the paper",
        defence.close_near_half,
    ),
    Claim(
        "close-in-half-space",
        "With 45 % of the labels attacked, all on one side of a plane, RefinedTron comes closer to "
        "the filter than 1e-6 on at least 95 % of the networks.",
        "past the paper",
        defence.close_in_half_space,
    ),
    Claim(
        "defaults-recover-most",
        "No other value of one of RefinedTron's constants recovers the filter exactly more often.",
        "past the paper",
        defence.defaults_recover_most,
    ),
)
"""What is said of the defence on the paper's networks."""

CERTIFICATES = (
    Claim(
        "recovers-to-rounding",
        "Without attack Neuro-Tron ends within 1e-13 of the filter on every network.",
        "section 4, figure 6, with more steps",
        certificates.recovers_to_rounding,
    ),
    Claim(
        "certified-mean-square",
        "No mean square error over many streams of data is above the certified one.",
        "ours, not in the paper",
        certificates.certified_mean_square,
        section="certificates",
    ),
    Claim(
        "sharp-for-normal-inputs",
        "For normal inputs the certified root mean square error is at most 10 % above the measured "
        "one, against the attack that is worst.",
        "ours, not in the paper",
        certificates.sharp(1.1, normal=True),
        section="certificates",
    ),
    Claim(
        "sharp-for-other-laws",
        "For inputs that are not normal the certified root mean square error is at most 40 % above "
        "the measured one, against the attack that is worst.",
        "ours, not in the paper",
        certificates.sharp(1.4, normal=False),
        section="certificates",
    ),
)
"""What is said of recovery without an attack and of certificates."""

OF_ANY_STUDY = (
    Claim(
        "certificate-holds",
        "No run ends outside the radius of the sharp certificate.",
        "ours, not in the paper",
        certificates.certificate_holds,
        figures=("certificate",),
        section="certificates",
    ),
)
"""What a study is judged by that names no claims."""

CLAIMS = {
    claim.name: claim
    for claim in (*PAPER, *MIRROR, *FRONTIER, *DEFENCE, *CERTIFICATES, *OF_ANY_STUDY)
}
"""Every claim there is, by its name."""
