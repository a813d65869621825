"""The verdicts that README and docs speak of, by study."""

PAPER = {
    "grows-with-bound": "reproduced",
    "grows-with-probability": "reproduced",
    "recovers-without-attack": "reproduced",
    "small-attack-degrades": "reproduced",
    "smaller-error-than-sgd": "reproduced only as published",
    "faster-than-sgd": "reproduced only as published",
    "more-often-than-sgd": "reproduced",
    "heavy-tails-alike": "reproduced",
    "outer-weights-help": "reproduced only as published",
    "impersonation-wins": "reproduced",
    "theorem-1-applies": "not reproduced",
    "certificate-holds": "reproduced",
}
FRONTIER = {
    "exact-below-half": "reproduced",
    "exact-when-concentrated": "not reproduced",
    "exact-when-not-additive": "reproduced",
    "as-often-as-others": "not reproduced",
    "nobody-above-half": "not reproduced",
    "floor-grows-with-bound": "reproduced",
    "floor-grows-with-probability": "reproduced",
    "heavier-tails": "reproduced",
    "certificate-holds": "reproduced",
}
