"""The keys of a study of public tables, `kind = "tables"`: what label poisoning costs on them.

A setting is one table with its sweeps of attacks. A replicate is a random split of its rows: three
quarters are fitted, some of their labels attacked, and one quarter is tested with honest labels.
Every method is fitted to the same labels. The first method of a setting is the one that the others
are compared with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import BaseModel, Field

from neurotron import _check
from neurotron.lab.results.damages import SHIFTS, attacks_of
from neurotron.lab.studies.public_tables import TABLES
from neurotron.lab.studies.spec import (
    BaseSetting,
    BaseStudy,
    Described,
    Keys,
    Label,
    Name,
    Probability,
    named,
    one_or_many,
)
from neurotron.lab.studies.table_splits import ATTACKS, Attack

__all__ = ["TableSetting", "TableSweep", "TablesStudy"]


class TableSweep(Keys):
    """One attack on some of the labels, at several shares of them."""

    attack: Described = Field("none", description=f"The attack: {', '.join(ATTACKS)}.")
    shift: float = Field(
        2.0, ge=0.0, le=1e6,
        description=f"By how many standard deviations of the labels {' and '.join(SHIFTS)} shift; "
        "other attacks replace labels.",
    )  # fmt: skip
    probability: one_or_many(Probability) = Field(  # type: ignore[valid-type]
        (0.1, 0.3), description="The share β of the labels that is attacked: one or several."
    )

    @property
    def attacks(self) -> Sequence[Attack]:
        """The attack at each share of the labels."""
        return [Attack(*each) for each in attacks_of(self.model_dump(mode="json"))]


class TableSetting(BaseSetting):
    """One public table, the attacks on its labels, and the methods that are fitted."""

    table: Name | None = Field(
        None, description=f"The table: {', '.join(TABLES)}. By default the name of the setting."
    )
    methods: tuple[Label, ...] | None = Field(
        None,
        strict=False,
        min_length=1,
        description="Labels of the methods in this setting; all methods if left out. The others "
        "are compared with the first one.",
    )
    sweeps: tuple[TableSweep, ...] = Field(
        (TableSweep(),),
        strict=False,
        min_length=1,
        max_length=100,
        description="The attacks, with the shares of the labels that they change.",
    )

    @property
    def table_name(self) -> str:
        """The name of the table."""
        return self.table or self.name


class TablesStudy(BaseStudy):
    """A study of public tables: which methods lose how much to which attacks on the labels."""

    tables: ClassVar[dict[str, type[BaseModel]]] = {
        "settings": TableSetting,
        "sweeps": TableSweep,
    }
    of_kind: ClassVar[str] = "tables"

    kind: Literal["tables"] = Field(description="The kind of the study.")
    methods: dict[Label, Described] = Field(
        min_length=1, max_length=100,
        description="The methods: label = estimator, as in `neurotron list estimators`. In its "
        "settings, {share} is the share of attacked labels.",
    )  # fmt: skip
    settings: tuple[TableSetting, ...] = Field(
        strict=False, min_length=1, max_length=1000, description="The tables."
    )

    def setting(self, name: str) -> TableSetting:
        """Return the setting with this name."""
        return named(self.settings, name)

    def methods_of(self, setting: TableSetting) -> dict[str, str]:
        """Return the methods of a setting by their labels, in its order."""
        return {label: self.methods[label] for label in setting.methods or self.methods}

    def check_names(self) -> None:
        """Refuse unknown tables and attacks, and methods that the study does not define."""
        for setting in self.settings:
            where = f"setting {setting.name!r}"
            if setting.table_name not in TABLES:
                raise _check.unknown(f"table of {where}", setting.table_name, TABLES)
            for label in setting.methods or ():
                if label not in self.methods:
                    raise _check.unknown(f"method of {where}", label, self.methods)
                if (setting.methods or ()).count(label) > 1:
                    raise _check.InputError(
                        f"{where} lists the method {label!r} twice: list it once"
                    )
            for sweep in setting.sweeps:
                if sweep.attack not in ATTACKS:
                    raise _check.unknown(f"attack of {where}", sweep.attack, ATTACKS)
