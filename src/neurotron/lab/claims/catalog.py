"""The claims that come with the package, by their names, and how results are judged by claims."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

from neurotron import _check
from neurotron._digits import Notation
from neurotron._references import resolve
from neurotron.lab.claims import batch_size, certificates, paper
from neurotron.lab.claims.effects import Phrase
from neurotron.lab.claims.model import Claim, Finding, Judgement
from neurotron.lab.results.results import Results, once
from neurotron.lab.training.runs import Runs

FILE = resources.files("neurotron.lab.claims") / "catalog.toml"
CHECKS: dict[str, Any] = {"paper": paper, "batch-size": batch_size, "any": certificates}
"""Where the checks of claims are: the name of a function is that of its claim."""
OF_ANY_STUDY = ("certificate-holds",)
"""The claims by which a study is judged that names none."""


def of_runs(check: Callable[[Runs], list[Finding]]) -> Callable[[Results], list[Finding]]:
    """Return a check of training runs as a check of any results, which refuses others."""
    return lambda results: check(Runs.of(results))


def _listed() -> Iterator[Claim]:
    """Yield the claims of the file."""
    for study, claims in tomllib.loads(FILE.read_text("utf-8")).items():
        for name, words in claims.items():
            check = getattr(CHECKS[study], name.replace("-", "_"))
            parts = words | {"phrase": _phrase(**words["phrase"])}
            yield Claim(name, check=of_runs(check), study="" if study == "any" else study, **parts)


def _phrase(
    notation: Mapping[str, Any] | None = None,
    failing: Mapping[str, Any] | None = None,
    **words: str,
) -> Phrase:
    """Return the phrase of a table of the file."""
    added = None if failing is None else _phrase(**failing)
    return Phrase(notation=Notation(**notation or {}), failing=added, **words)


CLAIMS = {claim.name: claim for claim in _listed()}
"""Every claim that has a name: all are about training runs."""


def require_known(
    claims: Sequence[str], functions: Sequence[str] = (), *, of_training: bool = True
) -> None:
    """Refuse claims and other functions of a study that do not exist.

    Claims must also be listed once, and those of training runs need training runs.

    >>> require_known(["certificate-hold"])
    Traceback (most recent call last):
    ...
    neurotron._check.InputError: unknown claim 'certificate-hold': did you mean ...
    """
    for name in claims:
        if list(claims).count(name) > 1:
            raise _check.InputError(f"`claims` lists {name!r} twice: list each claim once")
        if ":" not in name:
            if name not in CLAIMS:
                raise _check.unknown("claim", name, CLAIMS)
            if not of_training:
                raise _check.InputError(
                    f"claim {name!r} is about training runs: leave it out of `claims`"
                )
    for name in (*(name for name in claims if ":" in name), *functions):
        resolve(name)


def claim_named(name: str) -> Claim:
    """Return a claim of the list, or one of your own by its "module:name".

    Your own is a function of the results that returns findings, whose docstring is the statement;
    or a `Claim`.
    """
    if name in CLAIMS:
        return CLAIMS[name]
    if ":" not in name:
        raise _check.unknown("claim", name, CLAIMS)
    found: Any = resolve(name)
    if isinstance(found, Claim):
        return found
    _check.function(name, found, "the results")
    statement = " ".join((found.__doc__ or name).strip().split("\n\n")[0].split())
    return Claim(found.__name__.replace("_", "-"), statement, found, source="")


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
