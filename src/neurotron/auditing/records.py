"""What is measured on one split: typed records, and the same as rows of plain columns.

`to_rows` and `from_rows` lose nothing, so an audit is the same whether its parts stay in memory or
come from a folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args, get_type_hints

from neurotron.auditing.question import Level


class HonestFit(NamedTuple):
    """The fit to honest labels."""

    error: float
    """The root mean squared error on the test rows."""
    unit: float
    """What relative damage is divided by: that error, or a little if there is none."""
    least_squares: float
    """The error of least squares."""
    reason: str
    """Why no attack was worked out for the estimator itself; empty if some were."""
    training: list[int]
    """The rows that were fitted."""
    sizes: list[float]
    """By how much (root mean square) predictions move if the label of each of them does."""


class Attempt(NamedTuple):
    """One attack, and what the fit to its labels changed."""

    bound: float
    share: float
    rows: int
    attack: str
    searched: bool
    """Whether this is no budget of the audit, but one of a search for the smallest."""
    error: float
    """The error on the test rows; at least that without an attack: nobody attacks to lower it."""
    mean: float
    """The absolute change of the mean prediction."""
    worst: float
    """The largest absolute change of a prediction."""
    drift: float | None
    """The relative change of the parameters, if there are any."""


class Limit(NamedTuple):
    """What no attack with a budget can exceed, or why that is not known."""

    bound: float
    share: float
    rows: int
    reason: str
    """Why there is no ceiling; empty if there is one."""
    error: float | None = None
    mean: float | None = None
    worst: float | None = None
    needs: int | None = None
    """The proof on the rows that a fit must report; None if the ceiling is about all fits."""
    theorem: str = ""
    """What it says, if it is a theorem about this estimator that assumes nothing."""
    harmless: int | None = None
    """Up to so many labels, no attack breaks the tolerance, as far as that is known."""


class Failed(NamedTuple):
    """The estimator cannot be fitted to honest labels."""

    reason: str


@dataclass(frozen=True)
class Measured:
    """What was measured of one estimator on one split."""

    fitted: HonestFit
    attempts: tuple[Attempt, ...]
    limits: tuple[Limit, ...]

    def at(self, level: Level, *, searched: bool = False) -> list[Attempt]:
        """Return the attempts with a budget of the audit, or of the search."""
        return [
            one for one in self.attempts if one[:3] == level and one.searched == searched
        ]  # fmt: skip

    def limit(self, level: Level) -> Limit:
        """Return what is known about all attacks with a budget."""
        return next(one for one in self.limits if one[:3] == level)


KINDS: dict[str, type[Any]] = {
    "fitted": HonestFit, "attempt": Attempt, "limit": Limit, "failed": Failed
}  # fmt: skip
COLUMNS: dict[str, Any] = {"kind": str} | {
    name: get_args(hint)[0] if type(None) in get_args(hint) else hint
    for record in KINDS.values()
    for name, hint in get_type_hints(record).items()
}
"""The columns of rows, with their types; those that a kind of record does not have are None."""


def to_rows(found: Measured | Failed) -> list[dict[str, Any]]:
    """Return what was measured as rows of plain values."""
    if isinstance(found, Failed):
        return [_row("failed", found)]
    return [
        _row("fitted", found.fitted),
        *(_row("attempt", one) for one in found.attempts),
        *(_row("limit", one) for one in found.limits),
    ]


def _row(kind: str, record: Any) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS) | {"kind": kind} | record._asdict()


def from_rows(rows: Iterable[Mapping[str, Any]]) -> Measured | Failed:
    """Return what was measured, from its rows."""
    found: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    for row in rows:
        record = KINDS[row["kind"]]
        found[row["kind"]].append(record(*(row[name] for name in record._fields)))
    if found["failed"]:
        return Failed(*found["failed"][0])
    (fitted,) = found["fitted"]
    return Measured(fitted, tuple(found["attempt"]), tuple(found["limit"]))
