"""The paper's simulation study and what it says of the paper's claims: `neurotron paper`."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path

import neurotron as nt
from evidence.store import SHOWING, Row, code_hash, collect, write_table
from neurotron.figures.printed import draw, encode

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "out" / "evidence"
IMAGES = ROOT / "docs" / "images" / "paper"
NO_PAGE = ("cli", *SHOWING)
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
    """Evaluate every claim."""
    results = study()
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


def study() -> nt.results.Results:
    """Run the study of the catalog, or what is missing of it."""
    folder = FOLDER / f"paper-{code_hash(Path(__file__), NO_PAGE)}"
    report = nt.studies.run(nt.studies.read("paper"), folder)
    if report.interrupted:
        raise KeyboardInterrupt
    assert not report.failures
    return nt.load(folder)


def figures() -> Row:
    """Draw the figures of the study that docs/paper.md shows, and keep their captions."""
    shown = (ROOT / "docs" / "paper.md").read_text()
    charts = [chart for chart in nt.figures.charts(study()) if f"/{chart.name}.png" in shown]
    IMAGES.mkdir(exist_ok=True)
    for old in IMAGES.glob("*.png"):
        old.unlink()
    for chart in charts:
        (IMAGES / f"{chart.name}.png").write_bytes(encode(draw(chart), ".png", dpi=100))
    return {"captions": {chart.name: f"{chart.title}. {chart.caption}" for chart in charts}}


def _plain(value: object) -> object:
    return "∞" if value == math.inf else value


def run() -> None:
    """Compute and store the evidence, and fail if a verdict is not the one the docs speak of."""
    title = "The paper's claims in 20 replicates of its simulation study (seed 0, 40 000 steps)"
    (row,) = collect("claims", title, {"paper": paper}, table=False, left_out=NO_PAGE)
    origin = [{"made by": "`neurotron paper`", **row["environment"]}]
    write_table("claims", title, row["verdicts"], origin)
    write_table("claims_comparisons", f"{title}: every comparison", row["comparisons"], origin)
    (drawn,) = collect(
        "paper_figures", "The figures of docs/paper.md", {"figures": figures}, table=False,
        left_out=("cli", "report"),
    )  # fmt: skip
    assert all((IMAGES / f"{name}.png").is_file() for name in drawn["captions"])
    assert {found["name"]: found["verdict"] for found in row["verdicts"]} == EXPECTED
