"""What the runner needs of a study of training runs before its first unit."""

from __future__ import annotations

from collections.abc import Sequence

from neurotron._waiting import announced
from neurotron.data import Corrupted
from neurotron.engine.recording import recorded_steps
from neurotron.lab.training.building import arm_rows, build_one_of_each, build_problem, check
from neurotron.lab.training.columns import require_sound
from neurotron.lab.training.spec import Setting
from neurotron.laws import Normal
from neurotron.networks import relu_gate
from neurotron.problem import Problem
from neurotron.trainers import Arm, NeuroTron
from neurotron.work.columns import Row

__all__ = ["Preparation"]

A_STEP, AN_ARM, A_ROW = 500.0, 2.5, 400.0
"""What a step, a sample of an arm and a verified row of an arm take, where one input takes 1.

Measured on the paper's settings: 3 ns for an input, and within a factor of two for each setting.
"""


class Preparation:
    """Checks and compiles the settings of a study of training runs, and checks stored rows."""

    def __init__(self, name: str, settings: Sequence[Setting]) -> None:
        self.name, self.settings = name, {one.name: one for one in settings}

    def validate(self) -> None:
        """Build all problems and arms once, as a check."""
        with announced(f"neurotron: checking the study {self.name} ..."):
            check([*self.settings.values()])

    def costs(self) -> dict[str, float]:
        """Return about how long a unit of each setting takes."""
        return {name: _cost(setting) for name, setting in self.settings.items()}

    def check(self, setting: str, rows: list[Row]) -> None:
        """Raise a ValueError unless these can be the rows of a unit."""
        spec = self.settings[setting]
        require_sound(rows, arm_rows(spec), recorded_steps(spec.record, spec.steps))

    def compile(self) -> None:
        """Compile what units need, in the main thread, which receives Ctrl-C."""
        from neurotron.guarantees import certify  # loads the compiler, and so do the next
        from neurotron.guarantees.verify.next_rows import next_rows
        from neurotron.simulation import simulate

        for setting in self.settings.values():
            problem = build_problem(setting, replicate=0)
            arms = build_one_of_each(setting, problem)
            run = simulate(problem, arms, steps=0, batch_size=setting.batch_size)
            if "interrupted" in run.status:
                raise KeyboardInterrupt
            if setting.verify and not isinstance(problem.data, Corrupted):
                next_rows(run, 1)
        certify(Problem.draw(relu_gate(1), Normal()), Arm(NeuroTron(1.0)), steps=0, batch_size=1)


def _cost(setting: Setting) -> float:
    """Return about how long a unit takes."""
    arms = sum(len(one.trainers or setting.trainers) * len(one.levels) for one in setting.sweeps)
    a_step = A_STEP + setting.batch_size * (setting.n_inputs + AN_ARM * arms)
    return 1.0 + setting.steps * a_step + setting.verify * arms * A_ROW
