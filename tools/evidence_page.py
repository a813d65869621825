"""The Markdown page of a study in docs/evidence, written from what verdicts.json stores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import neurotron as nt
from neurotron._digits import counted
from neurotron.lab.claims import CLAIMS, Finding, Judgement
from neurotron.lab.claims.model import tally

__all__ = ["judgements", "page", "restored"]

Entry = dict[str, Any]


def page(name: str, entry: Entry) -> str:
    """Return the Markdown page of a study: verdicts, comparisons, and where they are from."""
    study = nt.lab.studies.read(name)
    parts = [
        f"# {study.title}",
        study.description.strip(),
        _origin(name),
        tally([*judgements(entry)]),
        _table(
            ("claim", "source", "verdict", "what was measured"),
            [
                (
                    CLAIMS[claim].statement,
                    CLAIMS[claim].source,
                    f"**{one['verdict']}**",
                    one["effect"],
                )
                for claim, one in entry["claims"].items()
            ],
        ),
        *_needed(entry),
        *_other_seeds(entry),
        "## Every comparison\n\nEstimates, with 95 % intervals over replicates.",
    ]
    for claim, one in entry["claims"].items():
        parts.append(f"### {CLAIMS[claim].statement}\n\n{_comparisons(one['findings'])}")
    origin = ", ".join(f"{key} {value}" for key, value in entry["environment"].items())
    parts.append(f"Study {entry['study']}; {origin}.")
    return "\n\n".join(parts) + "\n"


def judgements(entry: Entry) -> Iterator[Judgement]:
    """Yield the judgements that verdicts.json stores about a study."""
    for claim, one in entry["claims"].items():
        yield Judgement(CLAIMS[claim], tuple(map(restored, one["findings"])))


def restored(stored: Entry) -> Finding:
    """Return a finding of verdicts.json, where numbers have three digits."""
    numbers = ("estimate", "low", "high", "worst")
    fields: Entry = {
        key: float(str(value).replace("∞", "inf")) if key in numbers else value
        for key, value in stored.items()
    }
    return Finding(**fields)


def _comparisons(findings: list[Entry]) -> str:
    """Return the comparisons as a table; what all of them measure is said once, above it."""
    measures = [*dict.fromkeys(found["measure"] for found in findings)]
    header: tuple[str, ...] = ("case", "estimate", "replicates", "holds")
    rows: list[tuple[Any, ...]] = [
        (found["case"], _range(found), found["replicates"],
         {True: "yes", False: "no", None: "undecided"}[found["holds"]])
        for found in findings
    ]  # fmt: skip
    if len(measures) == 1:
        return f"What is measured (and required): {measures[0]}.\n\n{_table(header, rows)}"
    header = (header[0], "what is measured (and required)", *header[1:])
    whole = [
        (row[0], found["measure"], *row[1:]) for row, found in zip(rows, findings, strict=True)
    ]
    return _table(header, whole)


def _origin(name: str) -> str:
    """Return how the numbers were computed, and where more of them are."""
    study = nt.lab.studies.read(name)
    replicates = counted(map(study.replicates_of, study.settings), "replicate")
    numbers = {"rows": "numbers of all solvers", "tables": "damages of every method"}
    return (
        f"Computed by `neurotron run {name}`, {replicates} of every setting. The "
        f"{numbers.get(study.of_kind, 'errors of every trainer')} are in [{name}.csv]({name}.csv)."
    )


def _needed(entry: Entry) -> list[str]:
    """Return the table of a study of rows: how many rows are enough."""
    if "needed" not in entry:
        return []
    betas, rows = entry["needed"]["betas"], entry["needed"]["rows"]
    return [
        "## How many rows are enough\n\nThe smallest N/r (rows for each weight) from which on the "
        "filter is found exactly in at least 95 % of the problems. A dash says that the largest "
        "one was not enough.",
        _table(("network", "attack", *(f"β = {beta:g}" for beta in betas)), [*map(tuple, rows)]),
    ]


def _range(found: Entry) -> str:
    return f"{found['estimate']} ({found['low']} … {found['high']})"


def _other_seeds(entry: Entry) -> list[str]:
    """Return a table of verdicts with other seeds, if there are any."""
    seeds = entry.get("other_seeds", {})
    if not seeds:
        return []
    header = ("claim", *(f"seed {seed}" for seed in seeds))
    rows = [
        (CLAIMS[claim].statement, *(found["verdicts"][claim] for found in seeds.values()))
        for claim in entry["claims"]
    ]
    code = ", ".join(dict.fromkeys(found["code"] for found in seeds.values()))
    return [f"## Other seeds\n\n{_table(header, rows)}\n\nComputed by code {code}."]


def _table(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
