"""The studies of the catalog and what they say of the claims: the paper's, and past it."""

from __future__ import annotations

import math
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import NamedTuple

import neurotron as nt
from evidence import verdicts
from evidence.store import SHOWING, Row, code_hash, collect, origins, rows_of, write_table
from neurotron.figures.render_matplotlib import draw, encode
from neurotron.results.summary import outcomes_by_trainer

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "out" / "evidence"
NO_PAGE = ("cli", *SHOWING)
SEEDS = range(5)


class Catalogued(NamedTuple):
    """A study of the catalog, where its claims are kept, and the page that shows its figures."""

    name: str
    claims: str
    title: str
    page: str

    @property
    def images(self) -> Path:
        """Where the figures of the page lie."""
        return ROOT / "docs" / "images" / self.name


PAPER = Catalogued(
    "paper", "claims",
    "The paper's claims in 20 replicates of its simulation study (seed 0, 40 000 steps)",
    "paper.md",
)  # fmt: skip
MIRROR = Catalogued(
    "mirror", "mirror_claims",
    "Who recovers the filter on 100 networks per law (seed 0, 10 000 steps)",
    "paper.md",
)  # fmt: skip
FRONTIER = Catalogued(
    "frontier", "frontier_claims",
    "Claims past the paper in 5 replicates of the frontier study (seed 0, 40 000 steps)",
    "defence.md",
)  # fmt: skip


def evaluated(kept: Catalogued) -> Row:
    """Evaluate every claim."""
    results = study(kept)
    judgements = nt.claims.evaluate(results)
    return {
        "environment": results.folder.manifest["environment"],
        "verdicts": [
            {"claim": found.claim.statement, "source": found.claim.source,
             "verdict": found.verdict, "why": found.reason, "name": found.claim.name}
            for found in judgements
        ],
        "comparisons": [
            {"claim": one.claim.name}
            | {name: _plain(value) for name, value in asdict(found).items()}
            for one in judgements
            for found in one.findings
        ],
        "outcomes": [
            {name: _plain(value) for name, value in row.items()}
            for row in outcomes_by_trainer(results)
        ],
    }  # fmt: skip


def study(kept: Catalogued, seed: int = 0) -> nt.results.Results:
    """Run the study of the catalog, or what is missing of it."""
    folder = FOLDER / f"{kept.name}-{code_hash(Path(__file__), NO_PAGE)}-seed-{seed}"
    asked = nt.studies.read(kept.name).model_copy(update={"seed": seed})
    report = nt.studies.run(asked, folder)
    if report.interrupted:
        raise KeyboardInterrupt
    assert not report.failures
    return nt.load_results(folder)


def figures(kept: Catalogued) -> Row:
    """Draw the figures of the study that its page shows, and keep their captions."""
    shown = (ROOT / "docs" / kept.page).read_text()
    charts = [
        chart
        for chart in nt.figures.charts(study(kept))
        if f"images/{kept.name}/{chart.name}.png" in shown
    ]
    kept.images.mkdir(exist_ok=True)
    for old in kept.images.glob("*.png"):
        old.unlink()
    for chart in charts:
        (kept.images / f"{chart.name}.png").write_bytes(encode(draw(chart), ".png", dpi=100))
    return {"captions": {chart.name: f"{chart.title}. {chart.caption}" for chart in charts}}


def _plain(value: object) -> object:
    return "∞" if value == math.inf else value


def collected(kept: Catalogued) -> dict[str, str]:
    """Compute and store claims and figures of a study; return the verdicts."""
    (row,) = collect(
        kept.claims, kept.title, {kept.name: partial(evaluated, kept)}, table=False,
        left_out=NO_PAGE,
    )  # fmt: skip
    origin = [row["environment"]], f"neurotron run {kept.name}"
    write_table(kept.claims, kept.title, row["verdicts"], *origin)
    comparisons = f"{kept.claims}_comparisons"
    write_table(comparisons, f"{kept.title}: every comparison", row["comparisons"], *origin)
    (drawn,) = collect(
        f"{kept.name}_figures", f"The figures of docs/{kept.page}",
        {"figures": partial(figures, kept)}, table=False, left_out=("cli", "report"),
    )  # fmt: skip
    assert all((kept.images / f"{name}.png").is_file() for name in drawn["captions"])
    return {found["name"]: found["verdict"] for found in row["verdicts"]}


def judged(kept: Catalogued, seed: int) -> Row:
    """Return what a study with another seed says: verdicts, first estimates, and who recovered."""
    results = study(kept, seed)
    judgements = nt.claims.evaluate(results)
    recovered: dict[str, list[int]] = {}
    for row in outcomes_by_trainer(results):
        recovered.setdefault(row["trainer"], []).append(row["recovered"])
    return {
        "verdicts": {one.claim.name: one.verdict for one in judgements},
        "estimates": {
            one.claim.name: [_plain(found.estimate) for found in one.conclusive[:4]]
            for one in judgements
        },
        "recovered": recovered,
    }


def seeds(kept: Catalogued) -> None:
    """Compute and store the verdicts of a study with five seeds."""
    units = {f"seed {seed}": partial(judged, kept, seed) for seed in SEEDS}
    title = f"The study `{kept.name}` with {len(SEEDS)} seeds: verdicts, and first estimates"
    rows = collect(f"{kept.name}_seeds", title, units, table=False, left_out=NO_PAGE)
    table = [
        {"": name, **{row["case"]: _cell(row, name) for row in rows}}
        for name in rows[0]["verdicts"]
    ]
    table += [
        {"": f"runs of {who} that recover w*, by setting"}
        | {row["case"]: row["recovered"][who] for row in rows}
        for who in rows[0]["recovered"]
    ]
    write_table(f"{kept.name}_seeds", title, table, origins(rows_of(f"{kept.name}_seeds")))


def _cell(row: Row, claim: str) -> str:
    estimates = (one if isinstance(one, str) else f"{one:.3g}" for one in row["estimates"][claim])
    return f"{row['verdicts'][claim]} ({', '.join(estimates)})"


def run() -> None:
    """Compute and store the evidence, and fail if a verdict is not the one in the docs."""
    assert collected(PAPER) == verdicts.PAPER
    assert collected(MIRROR) == verdicts.MIRROR
    seeds(PAPER)
    seeds(MIRROR)
    assert collected(FRONTIER) == verdicts.FRONTIER
