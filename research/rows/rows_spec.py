"""The keys of a study of rows, `kind = "rows"`: how many rows a solver needs for the filter.

A setting is one problem for each replicate, with its sweeps of attacks. Every solver gets the first
N rows of one sample, for each N in turn, with labels that were attacked anew. If honest labels have
no noise, a solver that has found the filter exactly at two successive N counts as exact at all
larger ones, and is not run there.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, Field

from neurotron import _check
from neurotron.lab.studies.spec import BaseStudy, Label, Levels, Problems, named, one_or_many

__all__ = ["SOLVERS", "RowsSetting", "RowsStudy"]

SOLVERS = {
    "solve": "nt.solve",
    "honest": "least squares on the honest rows, from w*",
    "least-squares": "least squares",
    "huber": "Huber",
    "trim": "TRIM, told β",
    "trim-half": "TRIM, keeping half",
    "l1": "L1 Gauss–Newton",
    "soft-l1": "scipy soft_l1",
    "cauchy": "scipy cauchy",
}
"""The names of the solvers in studies, and what tables call them.

The solver `honest` is told which labels are honest, and starts at the true weights. It is what the
others are compared with if labels have noise.
"""

Ratio = Annotated[float, Field(gt=0.0, le=10_000.0)]


class RowsSetting(Problems):
    """Problems whose filter solvers look for, from several numbers of rows."""

    rows_per_weight: one_or_many(Ratio) = Field(  # type: ignore[valid-type]
        (20.0,), description="The numbers of rows N/r for each weight of the filter, increasing."
    )
    solvers: tuple[Label, ...] = Field(
        ("solve",), strict=False, min_length=1, description="The solvers that are given the rows."
    )
    sweeps: tuple[Levels, ...] = Field(
        (Levels(),),
        strict=False,
        min_length=1,
        max_length=100,
        description="The attacks, with their bounds and probabilities.",
    )

    @property
    def sizes(self) -> list[int]:
        """The numbers N of rows."""
        return [max(1, round(ratio * self.filter_size)) for ratio in self.rows_per_weight]


class RowsStudy(BaseStudy):
    """A study of rows: which solvers find the filter from how many rows, under which attacks."""

    tables: ClassVar[dict[str, type[BaseModel]]] = {"settings": RowsSetting, "sweeps": Levels}
    of_kind: ClassVar[str] = "rows"

    kind: Literal["rows"] = Field(description="The kind of the study.")
    settings: tuple[RowsSetting, ...] = Field(
        strict=False, min_length=1, max_length=1000,
        description="The problems whose filter solvers look for.",
    )  # fmt: skip

    def setting(self, name: str) -> RowsSetting:
        """Return the setting with this name."""
        return named(self.settings, name)

    def check_names(self) -> None:
        """Refuse solvers that do not exist, and numbers of rows that do not increase."""
        for setting in self.settings:
            where = f"setting {setting.name!r}"
            for name in setting.solvers:
                if name not in SOLVERS:
                    raise _check.unknown(f"solver of {where}", name, SOLVERS)
                if setting.solvers.count(name) > 1:
                    raise _check.InputError(
                        f"{where} lists the solver {name!r} twice: list it once"
                    )
            sizes = setting.sizes
            if any(later <= size for size, later in pairwise(sizes)):
                raise _check.InputError(
                    f"`rows_per_weight` of {where} must increase, so that each number of rows N is "
                    f"larger than the one before, got N = {_check.shown(sizes)}"
                )
