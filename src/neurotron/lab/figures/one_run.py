"""One run: error (or loss) of every arm against steps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurotron import _check
from neurotron.lab.figures import render_matplotlib
from neurotron.lab.figures.chart import ERROR, STEPS, Chart, Line, Panel, line_of, shorten
from neurotron.lab.figures.styles import shades, styles

if TYPE_CHECKING:
    from neurotron.trainers import Arm, Trainer
    from neurotron.trajectories import Trajectories

__all__ = ["plot", "run_chart", "run_lines"]

MOST_LETTERS = 80
"""Of a name in the legend, so that it stays inside the picture."""


def run_chart(run: Trajectories) -> Chart:
    """Return the chart of a run: one line per arm, in the colour of its kind of trainer."""
    from neurotron.trajectories import Trajectories  # not to draw the charts of a study

    _check.instance("run", run, Trajectories)
    label = ERROR if run.has_errors else "batch loss"
    panel = Panel("", tuple(run_lines(run)))
    return Chart("run", _title(run.arms), "One run of every arm.", STEPS, label, (panel,))


def _title(arms: tuple[Arm, ...]) -> str:
    """Return the attack on the labels as a title, if it is the same for all arms."""
    attack = arms[0].attack
    if not all(_check.equal(arm.attack, attack) for arm in arms):
        return "Training under different attacks"
    return "Training without an attack" if attack is None else f"Training under {attack!r}"


def run_lines(run: Trajectories) -> list[Line]:
    """Return one line per arm: error, or else loss; a diverged arm's ends where it diverged."""
    values = run.errors if run.has_errors else run.losses
    looks = _looks(run.arms)
    return [
        line_of(shorten(arm.name, MOST_LETTERS), run.steps, value, look)
        for arm, value, look in zip(run.arms, values, looks, strict=True)
    ]


def _looks(arms: tuple[Arm, ...]) -> list[Any]:
    """Return the style of each arm: that of its kind of trainer, in shades if there are several."""
    kinds = [type(arm.trainer) for arm in arms]
    labels = [f"{kind.__module__}.{kind.__qualname__}" for kind in kinds]
    by_label = styles(zip(labels, map(_algorithm, kinds), strict=True))
    left = {label: iter(shades(by_label[label], labels.count(label))) for label in by_label}
    return [next(left[label]) for label in labels]


def _algorithm(kind: type[Trainer]) -> str:
    """Return the name of the built-in trainer that a class is or derives from, else ""."""
    from neurotron.trainers import BY_NAME

    names = {factory: name for name, factory in BY_NAME.factories.items()}
    return next((names[base] for base in kind.__mro__ if base in names), "")


def plot(run: Trajectories, path: str | Path | None = None) -> Any:
    """Draw a run on log axes; return the matplotlib figure, saved to `path` if given.

    A notebook shows the figure; a `path` may end in .png, .pdf or .svg.
    """
    if path is not None:
        render_matplotlib.check_picture("path", path)
    figure = render_matplotlib.draw(run_chart(run))
    if path is not None:
        render_matplotlib.save(figure, path)
    return figure
