"""The paper's simulation study and what it says of the paper's claims: `neurotron paper`."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path

import neurotron as nt
from evidence.store import Row, code_hash, collect, write_table

FOLDER = Path(__file__).parent.parent / "out" / "evidence"
EXPECTED = {
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
"""The verdicts that README and docs speak of."""


def paper() -> Row:
    """Run the study of the catalog, or what is missing of it, and evaluate every claim."""
    folder = FOLDER / f"paper-{code_hash(Path(__file__), ())}"
    report = nt.studies.run(nt.studies.read("paper"), folder)
    if report.interrupted:
        raise KeyboardInterrupt
    assert not report.failures
    results = nt.load(folder)
    claims = nt.claims.evaluate(results)
    return {
        "environment": results.folder.manifest["environment"],
        "verdicts": [
            {"claim": claim.statement, "source": claim.source, "verdict": claim.verdict,
             "why": claim.because, "name": claim.name}
            for claim in claims
        ],
        "comparisons": [
            {"claim": claim.name, **{name: _plain(value) for name, value in asdict(found).items()}}
            for claim in claims
            for found in claim.findings
        ],
    }  # fmt: skip


def _plain(value: object) -> object:
    return "∞" if value == math.inf else value


def run() -> None:
    """Compute and store the evidence, and fail if a verdict is not the one the docs speak of."""
    title = "The paper's claims in 20 replicates of its simulation study (seed 0, 40 000 steps)"
    (row,) = collect("claims", title, {"paper": paper}, table=False, studies=True)
    origin = [{"made by": "`neurotron paper`", **row["environment"]}]
    write_table("claims", title, row["verdicts"], origin)
    write_table("claims_comparisons", f"{title}: every comparison", row["comparisons"], origin)
    assert {found["name"]: found["verdict"] for found in row["verdicts"]} == EXPECTED
