"""What a study asks, as data: the models a TOML file is checked against.

A study is a list of settings. A setting is one problem (network, law, sizes) with its sweeps: every
trainer meets every attack on one stream of data. It is repeated `replicates` times, each time
with a new network, new true weights and a new stream, or only with a new stream if it says
`same_problem`. Settings draw independently of each other,
unless one is `paired_with` another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from neurotron import _check

__all__ = ["MOST_ARMS", "MOST_ARMS_IN_ALL", "Setting", "Study", "Sweep", "Unit"]

MOST_ARMS = 4096
"""Arms of one setting: more are asked for by mistake."""
MOST_ARMS_IN_ALL = 100_000
"""Arms of a study."""

Name = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
        description="Letters, digits, dots, dashes and underscores; names a folder.",
    ),
]
UNSEEN = r"\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff"
"""Controls, line separators, spaces of no width, and what turns the direction of writing."""
ONE_LINE = rf"^[^\x00-\x1f{UNSEEN}]*$"
SOME_LINES = rf"^[^\x00-\x08\x0b-\x1f{UNSEEN}]*$"
"""Also line breaks and tabs."""
Label = Annotated[str, Field(min_length=1, max_length=60, pattern=ONE_LINE)]
Text = Annotated[str, Field(max_length=2000)]
Described = Annotated[str, Field(max_length=200, pattern=ONE_LINE)]
"""A name with settings, as in student-t:dof=4."""
Bound = Annotated[float, Field(ge=0.0, le=1e70)]
Probability = Annotated[float, Field(ge=0.0, le=1.0)]


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _one_or_many(item: Any) -> Any:
    """Return the type of a level or a list of levels, which is kept as a tuple."""
    return Annotated[
        tuple[item, ...],
        Field(min_length=1, max_length=1000),
        BeforeValidator(_listed, json_schema_input_type=item | list[item]),
    ]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Sweep(_Table):
    """An attack at every pair of its bounds and probabilities, against every trainer."""

    attack: Described = Field(
        "alternating-sign", description="As in `neurotron list attacks`; none for honest labels."
    )
    bound: _one_or_many(Bound) = Field((0.25,), description="θ, one or several.")  # type: ignore[valid-type]
    probability: _one_or_many(Probability) = Field((0.5,), description="β, one or several.")  # type: ignore[valid-type]
    trainers: tuple[Label, ...] | None = Field(
        None,
        strict=False,
        min_length=1,
        description="Those that meet it; the setting's if left out.",
    )

    @property
    def levels(self) -> Sequence[tuple[float, float]]:
        """The pairs (θ, β)."""
        if self.attack == "none":
            return [(0.0, 0.0)]
        return [(bound, chance) for bound in self.bound for chance in self.probability]


class Setting(_Table):
    """One problem with its sweeps.

    What is left out is that of the setting named by `like`, or else the paper's.
    """

    name: Name
    like: Name | None = Field(None, description="A setting to take from what is left out here.")
    title: Label | None = Field(None, description="What to call it in tables and figures.")
    paired_with: Name | None = Field(
        None,
        description="A setting whose random draws this one repeats, to be compared in pairs; left "
        "out, it draws its own networks, true weights and data.",
    )
    same_problem: bool = Field(
        False,
        description="Give all replicates the same network and true weights: only their data "
        "differ.",
    )
    law: Described = Field("normal", description="As in `neurotron list laws`.")
    network: Described = Field("symmetric", description="As in `neurotron list networks`.")
    n_inputs: int = Field(100, ge=1, le=3000, description="Dimension of the input.")
    filter_size: int = Field(25, ge=1, le=3000, description="Number of weights.")
    batch_size: int = Field(16, ge=1, le=1_000_000, description="Samples per update.")
    step_size: float = Field(1e-4, gt=0.0, description="η of trainers that do not say theirs.")
    noise: float = Field(0.0, ge=0.0, le=1e70, description="Deviation of honest label noise.")
    trainers: tuple[Label, ...] | None = Field(
        None,
        strict=False,
        min_length=1,
        description="Labels of the study's trainers; all of them if left out.",
    )
    sweeps: tuple[Sweep, ...] = Field(
        (Sweep(),),
        strict=False,
        min_length=1,
        max_length=100,
        description="The attacks, level by level.",
    )

    @property
    def heading(self) -> str:
        """The title, or else the name."""
        return self.title or self.name


class Unit(NamedTuple):
    """What one worker does at a time."""

    setting: str
    replicate: int


class Study(_Table):
    """A whole study."""

    name: Name
    title: Text = Field("", pattern=ONE_LINE, description="One line.")
    description: Text = Field("", pattern=SOME_LINES, description="What it is for.")
    seed: int = Field(0, ge=0, lt=2**63, description="Of everything that is drawn.")
    steps: int = Field(40_000, ge=0, le=10**12, description="Updates of every arm.")
    replicates: int = Field(20, ge=1, le=1_000_000, description="Replicates of every setting.")
    record: Literal["log", "all"] | Annotated[int, Field(ge=1, le=10**12)] = Field(
        "log", description="log (40 records a decade), all, or every so many steps."
    )
    failure: float = Field(0.05, ge=1e-15, lt=1.0, description="δ of certified radii.")
    claims: tuple[Name, ...] = Field(
        ("certificate-holds",),
        strict=False,
        max_length=100,
        description="The claims that its results are judged by, as in `neurotron list claims`.",
    )
    trainers: dict[Label, Described] = Field(
        min_length=1, max_length=100,
        description="Label = trainer, as in `neurotron list trainers`.",
    )  # fmt: skip
    settings: tuple[Setting, ...] = Field(
        strict=False, min_length=1, max_length=1000, description="The settings in which they meet."
    )

    def setting(self, name: str) -> Setting:
        """Return the setting of a name."""
        by_name = {setting.name: setting for setting in self.settings}
        if name not in by_name:
            raise _check.unknown("setting", name, by_name)
        return by_name[name]

    def units(self) -> Iterator[Unit]:
        """Yield all units: every setting of a replicate before the next replicate."""
        for replicate in range(self.replicates):
            for setting in self.settings:
                yield Unit(setting.name, replicate)

    def identity(self) -> dict[str, Any]:
        """Return what may not change between runs into one folder: all but `replicates`."""
        return self.model_dump(mode="json", exclude={"replicates"})
