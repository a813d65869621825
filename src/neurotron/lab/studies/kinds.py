"""The kinds of studies, and how a text becomes a study of its kind."""

from __future__ import annotations

import json

from neurotron import _check
from neurotron.lab.studies.completion import TOO_DEEP, complete
from neurotron.lab.studies.rows_spec import RowsStudy
from neurotron.lab.studies.spec import Study
from neurotron.lab.studies.tables_spec import TablesStudy

__all__ = ["KINDS", "AnyStudy", "complete_any"]

AnyStudy = Study | RowsStudy | TablesStudy
"""A study of one of the kinds that the package can run."""
KINDS: dict[str, type[RowsStudy] | type[TablesStudy]] = {"rows": RowsStudy, "tables": TablesStudy}
"""The studies that say of which kind they are; a study of training runs does not."""


def complete_any(text: str) -> AnyStudy:
    """Return the study in a JSON text, of the kind that its key `kind` names."""
    _check.text("study", text)
    try:
        raw = json.loads(text)
    except RecursionError:
        raise _check.InputError(TOO_DEEP) from None
    except ValueError as error:
        raise _check.InputError(f"not JSON: {error}") from None
    if not isinstance(raw, dict) or "kind" not in raw:
        return complete(text, Study)
    if raw["kind"] not in [*KINDS]:
        raise _check.InputError(
            f"`kind` must be {' or '.join(map(repr, KINDS))}, or left out for a study of training "
            f"runs, got {_check.shown(raw['kind'])}"
        )
    return complete(text, KINDS[raw["kind"]])
