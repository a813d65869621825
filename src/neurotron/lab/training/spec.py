"""The keys of a setting of training runs, as models that a file is checked against.

A setting is one problem (network, law, sizes) with its sweeps: every trainer meets every attack on
one stream of data. It is repeated in replicates, each time with a new network, new true weights and
a new stream, or only with a new stream if `same_problem` is true. Settings draw independently of
each other, unless one is `paired_with` another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from neurotron import _seeds

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


class Sweep(Keys):
    """One attack at all pairs of its bounds and probabilities, against several trainers."""

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
    trainers: tuple[Label, ...] | None = Field(
        None,
        strict=False,
        min_length=1,
        description="Labels of the trainers that meet the attack; the setting's if left out.",
    )

    @property
    def n_levels(self) -> int:
        """The number of `levels`, which are not made to count them."""
        return 1 if self.attack == "none" else len(self.bound) * len(self.probability)

    @property
    def levels(self) -> Sequence[tuple[float, float]]:
        """The pairs (θ, β)."""
        if self.attack == "none":
            return [(0.0, 0.0)]
        return [(bound, chance) for bound in self.bound for chance in self.probability]


class Setting(Keys):
    """A setting of training runs: one problem with its sweeps, on which trainers are run.

    Keys that are left out are the study's, or else those of the setting named by `like`; without
    either, they have the paper's values.
    """

    name: Name
    title: Label | None = Field(None, description="Its name in tables and figures.")
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
    batch_size: int = Field(16, ge=1, le=1_000_000, description="Number of samples per update.")
    step_size: float = Field(
        1e-4, gt=0.0, description="Default step size η, for trainers that do not give their own."
    )
    steps: int = Field(40_000, ge=0, le=MOST_STEPS, description="Number of updates of every arm.")
    record: Literal["log", "all"] | Annotated[int, Field(ge=1, le=MOST_STEPS)] = Field(
        "log",
        description="Which steps are recorded: log (40 per decade), all, or every so many steps.",
    )
    confidence: float = Field(
        0.95, gt=0.0, lt=1.0, description="Probability with which a certified radius holds."
    )
    verify: int = Field(
        0, ge=0, le=1_000_000, description="Number of fresh rows on which every arm is verified."
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of all random draws.")
    trainers: dict[Label, Described] = Field(
        min_length=1, max_length=100,
        description="The trainers: label = trainer, as in `neurotron list trainers`; or "
        "solve:rows=N, which is `neurotron.solve` on N rows of the stream. In a setting also a "
        "list of labels of the study's trainers.",
    )  # fmt: skip
    sweeps: tuple[Sweep, ...] = Field(
        (Sweep(),),
        strict=False,
        min_length=1,
        max_length=100,
        description="The attacks, with their bounds and probabilities.",
    )

    @property
    def most_arms(self) -> int:
        """An upper bound on the number of arms, as sweeps may have arms in common."""
        labels = (len(sweep.trainers or self.trainers) for sweep in self.sweeps)
        return sum(n * sweep.n_levels for n, sweep in zip(labels, self.sweeps, strict=True))

    def stream_seed(self) -> int:
        """Return the seed of everything the setting draws; paired settings have the same one.

        Paired settings draw the same uniform numbers. In a replicate they have the same true
        weights if their filters have the same size, and the same gates and data if all sizes agree.
        """
        # "cohort" is part of every seed: another word would change all results
        return _seeds.key(self.seed, "cohort", self.paired_with or self.name)

    def problem_seed(self, replicate: int) -> int:
        """Return the seed of the network, the true weights and the vectors of attacks."""
        return _seeds.key(self.stream_seed(), "problem", 0 if self.same_problem else replicate)
