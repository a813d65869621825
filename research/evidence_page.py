"""The Markdown page of a study in docs/evidence, written from what verdicts.json stores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from research import verdicts

import neurotron as nt
from neurotron._digits import counted
from neurotron._references import code_allowed
from neurotron.lab import Claim, Judgement
from neurotron.lab.claims.catalog import claim_named
from neurotron.lab.claims.model import tally
from neurotron.lab.store.manifest import study_hash

Entry = dict[str, Any]
IN_TABLES = ("unseen", "unseen-shifts", "unseen-clean")
"""Studies whose files are beside that of the study `tables`, with which they share modules."""


def file_of(name: str) -> str:
    """Return the file of a study of ours, from the root of the project."""
    return f"research/tables/{name}.toml" if name in IN_TABLES else f"research/{name}/study.toml"


def page(name: str, study: nt.Study, entry: Entry) -> str:
    """Return the Markdown page of a study: verdicts, exceptions, and where they are from."""
    claims = claims_of(study)
    unknown = entry["claims"].keys() - claims.keys()
    if unknown:
        raise ValueError(
            f"the study {name!r} no longer has the stored claim {min(unknown)!r}: "
            f"run python -m research.evidence {name}"
        )
    parts = [
        f"# {study.title}",
        study.description.strip(),
        _origin(name, study),
        tally([*judgements(entry, claims)]),
        _table(
            ("claim", "source", "verdict", "what was measured"),
            [
                (
                    claims[claim].statement,
                    claims[claim].source,
                    f"**{one['verdict']}**",
                    one["effect"],
                )
                for claim, one in entry["claims"].items()
            ],
        ),
        *_other_seeds(entry, claims),
        *_exceptions(entry, claims),
        f"Every comparison, with 95 % intervals over replicates, is in [verdicts.json]"
        f"({verdicts.NAME}).",
        _computed(study, entry),
    ]
    return "\n\n".join(parts) + "\n"


def _computed(study: nt.Study, entry: Entry) -> str:
    """Return by which study, code and machine the numbers were computed."""
    origin = ", ".join(f"{key} {value}" for key, value in entry["environment"].items())
    earlier = (
        "" if entry["study"] == study_hash(study.spec()) else
        "Computed by an earlier version of this study and of the code; `make verify` computes it "
        "again. "
    )  # fmt: skip
    return f"{earlier}Study {entry['study']}; {origin}."


def _exceptions(entry: Entry, claims: dict[str, Claim]) -> Iterator[str]:
    """Yield the comparisons that do not hold or are undecided, claim by claim."""
    found = {
        claim: [one for one in stored["findings"] if one["holds"] is not True]
        for claim, stored in entry["claims"].items()
    }
    if any(found.values()):
        yield "## Where a claim does not hold, or is undecided"
    for claim, findings in found.items():
        if findings:
            every = len(entry["claims"][claim]["findings"])
            yield (
                f"### {claims[claim].statement}\n\n{len(findings)} of {every} comparisons.\n\n"
                f"{_comparisons(findings)}"
            )


def claims_of(study: nt.Study) -> dict[str, Claim]:
    """Return the claims of a study by their names, also those of its own code."""
    with code_allowed(study.code):
        return {claim.name: claim for claim in map(claim_named, study.claims)}


def judgements(entry: Entry, claims: dict[str, Claim]) -> Iterator[Judgement]:
    """Yield the judgements that verdicts.json stores about a study."""
    for claim, one in entry["claims"].items():
        yield Judgement(claims[claim], tuple(map(verdicts.restored, one["findings"])))


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


def _origin(name: str, study: nt.Study) -> str:
    """Return how the numbers were computed, and where more of them are."""
    replicates = counted(map(study.replicates_of, study.settings), "replicate")
    damages = dict.fromkeys(("tables", *IN_TABLES), "damages of every method")
    numbers = {"rows": "numbers of all solvers"} | damages
    own = f"{file_of(name)} --allow-code` from a checkout"
    return (
        f"Computed by `neurotron run {name + '`' if study.code is None else own}, {replicates} of "
        f"every setting. The {numbers.get(name, 'errors of every trainer')} are in "
        f"[{name}.csv]({name}.csv)."
    )


def _range(found: Entry) -> str:
    return f"{found['estimate']} ({found['low']} … {found['high']})"


def _other_seeds(entry: Entry, claims: dict[str, Claim]) -> list[str]:
    """Return a table of verdicts with other seeds, if there are any."""
    seeds = entry.get("other_seeds", {})
    if not seeds:
        return []
    header = ("claim", *(f"seed {seed}" for seed in seeds))
    rows = [
        (claims[claim].statement, *(found["verdicts"][claim] for found in seeds.values()))
        for claim in entry["claims"]
    ]
    code = ", ".join(dict.fromkeys(found["code"] for found in seeds.values()))
    return [f"## Other seeds\n\n{_table(header, rows)}\n\nComputed by code {code}."]


def _table(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
