"""`claims.json`: the verdicts beside the results they come from."""

from __future__ import annotations

import json

from neurotron import _check
from neurotron.claims.model import Claim
from neurotron.results.frames import Results

__all__ = ["write"]


def write(results: Results, claims: list[Claim]) -> None:
    """Keep the verdicts in the folder of the results; they depend on nothing but these."""
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
