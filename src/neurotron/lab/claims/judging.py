"""From results to verdicts on the claims that their study names."""

from __future__ import annotations

import json

from neurotron import _check
from neurotron.lab.claims.catalog import claim_named
from neurotron.lab.claims.model import Judgement
from neurotron.lab.results.results import Results

__all__ = ["evaluate", "write"]


def evaluate(results: Results) -> list[Judgement]:
    """Judge each claim that the study of these results names."""
    _check.instance("results", results, Results)
    claims = [claim_named(name) for name in results.spec["claims"]]
    return [Judgement(claim, tuple(claim.check(results))) for claim in claims]


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
