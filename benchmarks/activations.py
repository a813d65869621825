"""What activations cost: ``python -m benchmarks.activations`` measures it and keeps the table.

All figures are CPU time of the steps of 28 arms, without setting up the run. Every round times all
activations one after the other, and divides by the ReLU of the same round. The table goes to
docs/evidence/activation_costs.csv and into docs/performance.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import neurotron as nt
from benchmarks import page, table
from benchmarks.workloads import ATTACK, FOUR_LAWS, QUICK, GeneralSetting, Workload, fewer
from neurotron.networks.activations import BUILT_IN, activation_of

__all__ = ["ACTIVATIONS", "NAME", "SETTINGS", "TITLE", "TRAINERS", "compute", "measure"]

NAME, TITLE = "activation_costs", "Activations (`python -m benchmarks.activations`)"
ROUNDS = 7
STEPS = fewer(4000)
ARMS = 28

ACTIVATIONS = ("relu", *BUILT_IN)
SETTINGS = {
    "the paper's network": FOUR_LAWS[0],
    "general gates": GeneralSetting(**vars(FOUR_LAWS[0])),
}
TRAINERS: dict[str, Callable[[], nt.Trainer]] = {
    "Neuro-Tron": lambda: nt.NeuroTron(1e-4),
    "SGD": lambda: nt.SGD(1e-4),
}


def problem_of(setting: Workload, activation: str) -> nt.Problem:
    """Return the problem of a setting, with another activation."""
    network = replace(setting.problem().network, activation=activation_of(activation))
    return nt.Problem.draw(network, setting.law, seed=1)


def seconds(problem: nt.Problem, trainer: nt.Trainer, steps: int) -> float:
    """Return the CPU time of the steps of all arms."""
    attack = nt.attacks.build(ATTACK, problem, bound=0.25, probability=0.5, seed=0)
    arms = [nt.Arm(trainer, attack, name=str(number)) for number in range(ARMS)]
    run = nt.simulation.iterate(problem, arms, steps=steps, batch_size=16)
    began = time.process_time()
    for _ in run:
        pass
    return time.process_time() - began


def measure(rounds: int = ROUNDS, steps: int = STEPS) -> dict[tuple[str, str, str], np.ndarray]:
    """Return nanoseconds per arm-update, by network, trainer and activation."""
    found: dict[tuple[str, str, str], np.ndarray] = {}
    for place, setting in SETTINGS.items():
        problems = {name: problem_of(setting, name) for name in ACTIVATIONS}
        for who, make in TRAINERS.items():
            for problem in problems.values():
                seconds(problem, make(), 10)  # which compiles
            times = [[seconds(one, make(), steps) for one in problems.values()]
                     for _ in range(rounds)]  # fmt: skip
            each = 1e9 * np.array(times).T / (steps * ARMS)
            found |= {(place, who, name): each[i] for i, name in enumerate(ACTIVATIONS)}
    return found


def compute(found: dict[tuple[str, str, str], np.ndarray]) -> list[table.Row]:
    """Return the rows of the table."""
    rows = []
    for (place, who, name), times in found.items():
        relu = found[place, who, "relu"]
        if name == "relu":
            rows.append(table.plain(f"{place}, {who}: ReLU, ns per arm-update", relu))
        else:
            rows.append(table.plain(f"— {name} / ReLU", times / relu))
    return [row._replace(group=NAME) for row in rows]


def main() -> None:
    """Measure, keep and print."""
    if QUICK:
        print(table.render(compute(measure(1)), "A rehearsal that keeps nothing.", TITLE))
        return
    page.publish(
        compute(measure()),
        f"CPU time of {ARMS} arms, {ROUNDS} rounds of {STEPS:,} steps",
        NAME,
        TITLE,
    )


if __name__ == "__main__":
    main()
