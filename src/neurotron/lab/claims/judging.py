"""From results to verdicts on the claims that their study names."""

from __future__ import annotations

import json

from neurotron import _check
from neurotron.lab.claims.catalog import claim_named
from neurotron.lab.claims.model import Judgement
from neurotron.lab.results.results import Results, once

__all__ = ["evaluate", "judgement_on", "write"]


def evaluate(results: Results) -> list[Judgement]:
    """Judge each claim that the study of these results names."""
    _check.instance("results", results, Results)
    return [judgement_on(results, name) for name in results.spec["claims"]]


@once
def judgement_on(results: Results, name: str) -> Judgement:
    """Judge one claim, given by its name."""
    claim = claim_named(name)
    return Judgement(claim, tuple(claim.check(results)))


def write(results: Results, judgements: list[Judgement]) -> None:
    """Write the verdicts to claims.json in the folder of the results."""
    _check.instance("results", results, Results)
    for i, judgement in enumerate(_check.instance("judgements", judgements, list)):
        _check.instance(f"judgements[{i}]", judgement, Judgement)
    content = {
        "study": results.spec["name"],
        "note": results.spec["note"],
        "units": len(list(results.folder.units())),
        "claims": [judgement.to_dict() for judgement in judgements],
    }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    results.folder.write("claims.json", text.encode())
