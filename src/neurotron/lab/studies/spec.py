"""The keys of a study, as models that a TOML file is checked against.

A study is a list of settings. A setting is one problem (network, law, sizes) with its sweeps: every
trainer meets every attack on one stream of data. It is repeated `replicates` times, each time with
a new network, new true weights and a new stream, or only with a new stream if `same_problem` is
true. Settings draw independently of each other, unless one is `paired_with` another.

What studies of every kind have in common is in `BaseStudy` and `BaseSetting`; those that draw their
problems also share `Problems` and `Levels`. `Study` is a study of training runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from neurotron import _check

__all__ = [
    "MISSES", "MOST_ARMS", "MOST_ARMS_IN_ALL", "BaseSetting", "BaseStudy", "Keys", "Levels",
    "Problems", "Setting", "Study", "Sweep", "Unit", "named", "one_or_many",
]  # fmt: skip

MOST_ARMS = 4096
"""Largest number of arms of one setting; more would be a mistake."""
MOST_ARMS_IN_ALL = 100_000
"""Largest number of arms of a study."""

MOST_STEPS = 10**12

MISSES = 1e-3
"""The probability with which the verified radius of a run may be smaller than its error."""

Name = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
        description="1 to 64 letters, digits, dots, dashes and underscores; used as a folder name.",
    ),
]
UNSEEN = r"\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff"
"""Control characters, line separators, zero-width spaces, and marks of writing direction."""
ONE_LINE = rf"^[^\x00-\x1f{UNSEEN}]*$"
SOME_LINES = rf"^[^\x00-\x08\x0b-\x1f{UNSEEN}]*$"
"""The same, but with line breaks and tabs allowed."""
Label = Annotated[str, Field(min_length=1, max_length=60, pattern=ONE_LINE)]
Text = Annotated[str, Field(max_length=2000)]
Described = Annotated[str, Field(max_length=200, pattern=ONE_LINE)]
"""A name with parameters, as in student-t:dof=4."""
Bound = Annotated[float, Field(ge=0.0, le=1e70)]
Probability = Annotated[float, Field(ge=0.0, le=1.0)]


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def one_or_many(item: Any) -> Any:
    """Return the type of one value or a list of values, which is stored as a tuple."""
    return Annotated[
        tuple[item, ...],
        Field(min_length=1, max_length=1000),
        BeforeValidator(_listed, json_schema_input_type=item | list[item]),
    ]


class Keys(BaseModel):
    """The keys of one table of a file: no others are allowed, and none can be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Levels(Keys):
    """One attack at all pairs of its bounds and probabilities."""

    attack: Described = Field(
        "alternating-sign",
        description="The attack, as in `neurotron list attacks`; none for honest labels.",
    )
    bound: one_or_many(Bound) = Field(  # type: ignore[valid-type]
        (0.25,), description="The bound θ, the largest change of a label: one or several."
    )
    probability: one_or_many(Probability) = Field(  # type: ignore[valid-type]
        (0.5,), description="The probability β that a label is attacked: one or several."
    )

    @property
    def levels(self) -> Sequence[tuple[float, float]]:
        """The pairs (θ, β)."""
        if self.attack == "none":
            return [(0.0, 0.0)]
        return [(bound, chance) for bound in self.bound for chance in self.probability]


class Sweep(Levels):
    """One attack at all pairs of its bounds and probabilities, against several trainers."""

    trainers: tuple[Label, ...] | None = Field(
        None,
        strict=False,
        min_length=1,
        description="Labels of the trainers that meet the attack; the setting's if left out.",
    )


class BaseSetting(Keys):
    """What settings of every kind have: a name, a title, and keys that are those of another."""

    name: Name
    like: Name | None = Field(
        None, description="The setting from which keys that are left out here are taken."
    )
    title: Label | None = Field(None, description="Its name in tables and figures.")

    @property
    def heading(self) -> str:
        """The title, or the name if there is none."""
        return self.title or self.name


class Problems(BaseSetting):
    """The problems of a setting: one for each replicate, all drawn in the same way.

    Keys that are left out are taken from the setting named by `like`; without `like`, they have the
    paper's values.
    """

    paired_with: Name | None = Field(
        None,
        description="A setting whose random draws this one repeats, so that the two can be "
        "compared in pairs. If left out, it draws its own networks, true weights and data.",
    )
    same_problem: bool = Field(
        False,
        description="Whether all replicates have the same network and true weights, so that only "
        "their data differ.",
    )
    law: Described = Field(
        "normal", description="The distribution of the inputs, as in `neurotron list laws`."
    )
    network: Described = Field(
        "symmetric", description="The network, as in `neurotron list networks`."
    )
    n_inputs: int = Field(100, ge=1, le=3000, description="Dimension of the input.")
    filter_size: int = Field(25, ge=1, le=3000, description="Number of weights of the filter.")
    noise: float = Field(
        0.0, ge=0.0, le=1e70, description="Standard deviation of the noise of honest labels."
    )
    replicates: int | None = Field(
        None, ge=1, le=1_000_000,
        description="The largest number of its replicates, if fewer than the study's are enough.",
    )  # fmt: skip


S = TypeVar("S", bound=BaseSetting)


def named(settings: Sequence[S], name: str) -> S:
    """Return the setting with this name."""
    by_name = {setting.name: setting for setting in settings}
    if name not in by_name:
        raise _check.unknown("setting", name, by_name)
    return by_name[name]


class Setting(Problems):
    """One problem with its sweeps, on which trainers are run."""

    batch_size: int = Field(16, ge=1, le=1_000_000, description="Number of samples per update.")
    step_size: float = Field(
        1e-4, gt=0.0, description="Default step size η, for trainers that do not give their own."
    )
    trainers: tuple[Label, ...] | None = Field(
        None,
        strict=False,
        min_length=1,
        description="Labels of the trainers in this setting; all trainers if left out.",
    )
    steps: int | None = Field(
        None, ge=0, le=MOST_STEPS,
        description="Number of updates of every arm of this setting; the study's if left out.",
    )  # fmt: skip
    verify: int | None = Field(
        None, ge=0, le=1_000_000,
        description="Number of fresh rows on which its arms are verified, 0 for none; the study's "
        "if left out.",
    )  # fmt: skip
    sweeps: tuple[Sweep, ...] = Field(
        (Sweep(),),
        strict=False,
        min_length=1,
        max_length=100,
        description="The attacks, with their bounds and probabilities.",
    )


class Unit(NamedTuple):
    """The work that one worker does at a time: one replicate of one setting."""

    setting: str
    replicate: int


class BaseStudy(Keys):
    """What studies of every kind have: words, a seed, claims, and settings that are repeated."""

    tables: ClassVar[dict[str, type[BaseModel]]]
    """The models of the tables inside a study, by the keys under which they are listed."""
    of_kind: ClassVar[str] = "training"
    """The kind of the study, also if its file does not say it."""

    name: Name
    title: Text = Field("", pattern=ONE_LINE, description="The title of the study, in one line.")
    description: Text = Field("", pattern=SOME_LINES, description="What the study is for.")
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of all random draws.")
    replicates: int = Field(
        20, ge=1, le=1_000_000,
        description="Number of replicates of every setting that does not ask for fewer.",
    )  # fmt: skip
    claims: tuple[Name, ...] = Field(
        (),
        strict=False,
        max_length=100,
        description="The claims to judge by the results, as in `neurotron list claims`.",
    )
    settings: tuple[BaseSetting, ...]

    def replicates_of(self, setting: BaseSetting) -> int:
        """Return the number of replicates of a setting: the study's, or its own if that is less."""
        own = setting.replicates if isinstance(setting, Problems) else None
        return min(self.replicates, own or self.replicates)

    def units(self) -> Iterator[Unit]:
        """Yield all units, replicate by replicate."""
        for replicate in range(self.replicates):
            for setting in self.settings:
                if replicate < self.replicates_of(setting):
                    yield Unit(setting.name, replicate)

    def identity(self) -> dict[str, Any]:
        """Return the keys that all runs into one folder must share: all but `replicates`."""
        return self.model_dump(mode="json", exclude={"replicates"})

    def check_names(self) -> None:
        """Refuse names in settings that the study or the package does not define."""


class Study(BaseStudy):
    """A study: which trainers meet which attacks, on which problems, how often."""

    tables: ClassVar[dict[str, type[BaseModel]]] = {"settings": Setting, "sweeps": Sweep}

    steps: int = Field(40_000, ge=0, le=MOST_STEPS, description="Number of updates of every arm.")
    record: Literal["log", "all"] | Annotated[int, Field(ge=1, le=MOST_STEPS)] = Field(
        "log",
        description="Which steps are recorded: log (40 per decade), all, or every so many steps.",
    )
    failure: float = Field(
        0.05, ge=1e-15, lt=1.0, description="Probability δ that a certified radius fails, at most."
    )
    verify: int | None = Field(
        None, ge=1, le=1_000_000,
        description="Number of fresh rows on which every arm is verified; not at all if left out.",
    )  # fmt: skip
    claims: tuple[Name, ...] = Field(
        ("certificate-holds",),
        strict=False,
        max_length=100,
        description="The claims to judge by the results, as in `neurotron list claims`.",
    )
    trainers: dict[Label, Described] = Field(
        min_length=1, max_length=100,
        description="The trainers: label = trainer, as in `neurotron list trainers`; or "
        "solve:rows=N, which is `neurotron.solve` on N rows of the stream.",
    )  # fmt: skip
    settings: tuple[Setting, ...] = Field(
        strict=False, min_length=1, max_length=1000,
        description="The problems on which trainers meet attacks.",
    )  # fmt: skip

    def identity(self) -> dict[str, Any]:
        """Return the keys that all runs into one folder must share.

        `verify`, and keys of a setting that are also the study's, are among them only if they are
        set, those of a setting only if they differ from the study's.
        """
        identity = super().identity()
        shared = {"steps": self.steps, "verify": self.verify or 0, "replicates": None}
        identity["settings"] = [
            {key: value for key, value in one.items()
             if key not in shared or value not in (None, shared[key])}
            for one in identity["settings"]
        ]  # fmt: skip
        return identity if self.verify else {k: v for k, v in identity.items() if k != "verify"}

    def steps_of(self, setting: Setting) -> int:
        """Return the number of updates of every arm of a setting."""
        return self.steps if setting.steps is None else setting.steps

    def verified_rows_of(self, setting: Setting) -> int:
        """Return the number of fresh rows on which the arms of a setting are verified, or 0."""
        return (self.verify or 0) if setting.verify is None else setting.verify

    def check_names(self) -> None:
        """Refuse trainers in a setting or a sweep that the study does not define."""
        for setting in self.settings:
            for named in (setting.trainers, *(sweep.trainers for sweep in setting.sweeps)):
                for label in named or ():
                    if label not in self.trainers:
                        where = f"trainer of setting {setting.name!r}"
                        raise _check.unknown(where, label, self.trainers)

    def setting(self, name: str) -> Setting:
        """Return the setting with this name."""
        return named(self.settings, name)
