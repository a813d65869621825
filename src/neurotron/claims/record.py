"""`claims.json`: the verdicts beside the results they come from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from neurotron.claims.model import Claim

if TYPE_CHECKING:
    from neurotron.results.frames import Results

__all__ = ["write"]


def write(results: Results, claims: list[Claim]) -> None:
    """Keep the verdicts in the folder of the results; they depend on nothing but these."""
    content = {
        "study": results.spec["name"],
        "units": len(list(results.folder.units())),
        "claims": [claim.to_dict() for claim in claims],
    }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    results.folder.write("claims.json", text.encode())
