"""The verdicts that README and docs state, by study."""

PAPER = {
    "grows-with-bound": "holds",
    "grows-with-probability": "holds",
    "recovers-without-attack": "holds",
    "small-attack-degrades": "holds",
    "smaller-error-than-sgd": "holds only as published",
    "faster-than-sgd": "holds only as published",
    "heavy-tails-alike": "holds",
    "outer-weights-help": "holds only as published",
    "impersonation-wins": "holds",
    "theorem-1-is-silent": "holds",
    "certificate-holds": "holds",
}
MIRROR = {
    "neuro-tron-recovers": "holds",
    "more-often-than-sgd": "holds",
    "sgd-ends-at-mirror": "holds",
}
FRONTIER = {
    "exact-below-half": "undecided",
    "exact-when-concentrated": "does not hold",
    "exact-when-not-additive": "holds",
    "as-often-as-others": "does not hold",
    "nobody-above-half": "does not hold",
    "floor-grows-with-bound": "holds",
    "floor-grows-with-probability": "holds",
    "heavier-tails": "holds",
    "certificate-holds": "holds",
}
