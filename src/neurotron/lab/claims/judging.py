"""From results to verdicts on the claims that their study names."""

from __future__ import annotations

import json

from neurotron import _check
from neurotron.lab import studies
from neurotron.lab.claims.catalog import CLAIMS, OF_ANY_STUDY, VERIFICATION
from neurotron.lab.claims.model import Judgement
from neurotron.lab.results.damages import Damages
from neurotron.lab.results.fits import Fits
from neurotron.lab.results.loading import AnyResults
from neurotron.lab.results.manifest import without_words
from neurotron.lab.results.sharing import once
from neurotron.lab.results.tables import Results
from neurotron.lab.studies.kinds import AnyStudy
from neurotron.lab.studies.origin import any_study_of

__all__ = ["departure", "evaluate", "write"]


def evaluate(results: AnyResults) -> list[Judgement]:
    """Judge each claim that the study of these results names."""
    study = _study_of(results)
    chosen = [CLAIMS[name] for name in study.claims]
    return [Judgement(claim, tuple(claim.check(results))) for claim in chosen]


def departure(results: AnyResults) -> str:
    """Return a caveat if claims are judged by a study other than the catalog's, else "".

    The words, the seed and the number of replicates may differ, and some claims are for any study.
    """
    return _departure(results)


@once
def _departure(results: AnyResults) -> str:
    study = _study_of(results)
    special = set(study.claims) - {claim.name for claim in (*OF_ANY_STUDY, *VERIFICATION)}
    if not special:
        return ""
    if study.name not in studies.catalog():
        return "These claims were written for other studies: this study is not in the catalog."
    own = studies.read(study.name)
    if special.issubset(own.claims) and _asked(own) == _asked(study):
        return ""
    return (
        "These claims were written for other studies: this study differs from the catalog's study "
        f"{study.name!r}."
    )


def _asked(study: AnyStudy) -> object:
    """Return what a study computes, without its words, its seed and its number of replicates."""
    return without_words(study.model_copy(update={"seed": 0}).identity())


def _study_of(results: AnyResults) -> AnyStudy:
    return any_study_of(_any_results(results))


def _any_results(results: AnyResults) -> AnyResults:
    if isinstance(results, (Fits, Damages)):
        return results
    return _check.instance("results", results, Results)


def write(results: AnyResults, judgements: list[Judgement]) -> None:
    """Write the verdicts to claims.json in the folder of the results."""
    _any_results(results)
    for i, judgement in enumerate(_check.instance("judgements", judgements, list)):
        _check.instance(f"judgements[{i}]", judgement, Judgement)
    content = {
        "study": results.spec["name"],
        "note": departure(results),
        "units": len(list(results.folder.units())),
        "claims": [judgement.to_dict() for judgement in judgements],
    }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    results.folder.write("claims.json", text.encode())
