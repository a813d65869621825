"""Which claims are judged: those of the study of the catalog whose settings the results have."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from neurotron import _check
from neurotron.claims import frontier, mirror, paper
from neurotron.claims.model import Claim, Finding
from neurotron.claims.settings import origin
from neurotron.results.tables import Results
from neurotron.studies.origin import study_of

__all__ = ["FAMILIES", "OF_ANY_STUDY", "Family", "evaluate", "family_of", "write"]


class Family(NamedTuple):
    """The claims that are about one study."""

    name: str
    """In a sentence."""
    heading: str
    """On the page."""
    claims: dict[str, tuple[str, str, Callable[[Results], list[Finding]]]]
    broader_than_published: tuple[str, ...] = ()
    """Claims whose words mean more than the paper's own comparison."""


FAMILIES = {
    "paper": Family(
        "the paper's claims", "What the paper says, and what holds", paper.CLAIMS,
        paper.BROADER_THAN_PUBLISHED,
    ),
    "mirror": Family(
        "the claims on the mirror filter", "Who recovers the filter, and who ends at its mirror",
        mirror.CLAIMS,
    ),
    "frontier": Family(
        "the claims of the frontier", "What is said past the paper, and what holds",
        frontier.CLAIMS,
    ),
}  # fmt: skip
"""By the study they are about."""

OF_ANY_STUDY = Family(
    "what can be checked in any study", "What can be checked in any study",
    {"certificate-holds": paper.CLAIMS["certificate-holds"]},
)  # fmt: skip


def family_of(results: Results) -> Family:
    """Return the claims to judge: those of the study that most runs are of."""
    study = origin(_check.instance("results", results, Results))
    return OF_ANY_STUDY if study is None else FAMILIES[study]


def evaluate(results: Results) -> list[Claim]:
    """Return every claim of their family with what these results say of it."""
    study_of(_check.instance("results", results, Results))  # refuses a manifest that is of no study
    family = family_of(results)
    return [
        Claim(name, statement, source, tuple(check(results)), name in family.broader_than_published)
        for name, (statement, source, check) in family.claims.items()
    ]


def write(results: Results, claims: list[Claim]) -> None:
    """Keep the verdicts in claims.json, beside the results: they depend on nothing but these."""
    _check.instance("results", results, Results)
    for i, claim in enumerate(_check.instance("claims", claims, list)):
        _check.instance(f"claims[{i}]", claim, Claim)
    content = {
        "study": results.spec["name"],
        "units": len(list(results.folder.units())),
        "claims": [claim.to_dict() for claim in claims],
    }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    results.folder.write("claims.json", text.encode())
