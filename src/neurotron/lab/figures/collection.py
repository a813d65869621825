"""All charts of a folder of results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from neurotron import _check
from neurotron.lab.figures.batch_size import by_batch_size, shown_by_batch_size
from neurotron.lab.figures.chart import Chart
from neurotron.lab.figures.outcomes import final_errors, mirror, paired_errors, success_rates
from neurotron.lab.figures.paper import paper_charts, shown_by_paper
from neurotron.lab.figures.trajectories import certified_runs, compare, levels_of
from neurotron.lab.figures.view import LevelSweep, RunsView
from neurotron.lab.results.results import Results, called, once
from neurotron.lab.training.runs import Runs

MOST_CHARTS = 40
"""Of one study: more than anybody reads."""

AXES = {None: "levels", 0: "bound", 1: "probability"}
VARIED = {None: "level", 0: "bound θ", 1: "probability β"}
NUMBERS = {None: "levels", 0: "bounds θ", 1: "probabilities β"}


def charts(results: Results) -> list[Chart]:
    """Return the charts of the results of any study: those that its functions return."""
    _check.instance("results", results, Results)
    found: list[Chart] = []
    for name in results.spec["charts"]:
        made = called(name, results)
        found += [made] if isinstance(made, Chart) else made
    for chart in found:
        _check.instance("a chart", chart, Chart)
    return list(_distinct([chart for chart in found if not chart.is_empty]))


def training_charts(results: Results) -> list[Chart]:
    """Return the charts of training runs: the paper's figures first, if it has runs for them.

    These are followed by comparisons of batch sizes, and errors over steps of runs that neither the
    paper's figures nor those of batch sizes show. The last charts are for all settings: final
    errors, success rates, paired errors, the side of the origin where runs end, and certificates.
    """
    return list(_charts(Runs.of(results)))


@once
def _charts(results: Runs) -> tuple[Chart, ...]:
    view = RunsView(results)
    if not view.settings:
        return ()
    paper = list(paper_charts(view))
    first = [*paper, *by_batch_size(view)]
    compared = {setting for setting, *_ in shown_by_batch_size(view)}
    alone = [setting for setting in view.settings if setting not in compared]
    ends = [
        *_over_levels(view), *paired_errors(view, alone), *mirror(view),
        *certified_runs(view, alone or view.settings),
    ]  # fmt: skip
    every = list(_errors_over_steps(view))
    room = max(1, MOST_CHARTS - len(first) - len(ends))
    over_steps = [make() for make in every[:room]]
    if len(every) > room:
        more = f" {len(every) - room} more figures of this kind, for other settings, are left out."
        over_steps[-1] = replace(over_steps[-1], caption=over_steps[-1].caption + more)
    return (*first, *over_steps, *ends)


def _distinct(found: list[Chart]) -> Iterator[Chart]:
    """Yield the charts with distinct names, because different labels can give the same name."""
    count: Counter[str] = Counter()
    for chart in found:
        count[chart.name] += 1
        again = count[chart.name] > 1
        yield replace(chart, name=f"{chart.name}-{count[chart.name]}") if again else chart


def _by_attack(view: RunsView) -> dict[tuple[str, int | None], list[LevelSweep]]:
    """Return the sweeps of all settings over the same number of the same attack."""
    found: dict[tuple[str, int | None], list[LevelSweep]] = {}
    for setting in view.settings:
        for sweep in view.sweeps(setting):
            found.setdefault((sweep.attack, sweep.axis), []).append(sweep)
    return found


def _errors_over_steps(view: RunsView) -> Iterator[Callable[[], Chart]]:
    """Yield how to make the charts of errors over steps, because not all of them may be shown.

    They are of the first trainer at all levels, and of all trainers at each level.
    """
    shown = shown_by_paper(view) | shown_by_batch_size(view)
    for (attack, axis), every in _by_attack(view).items():
        sweeps = [
            sweep
            for sweep in every
            if not {(sweep.setting, attack, who) for who in sweep.trainers} <= shown
        ]
        for lead in dict.fromkeys(sweep.trainers[0] for sweep in sweeps):
            led = [sweep for sweep in sweeps if sweep.trainers[0] == lead]
            if any(len(sweep.levels) > 1 for sweep in led):
                yield partial(
                    levels_of, view, chart_name("levels", lead, attack, AXES[axis]),
                    f"{lead} under the attack {attack}, for several {NUMBERS[axis]}", led,
                    f"The error of {lead} during training, for several {NUMBERS[axis]} of the "
                    f"attack {attack}.",
                )  # fmt: skip
        for sweep in sweeps:
            if len(sweep.trainers) > 1 or len(sweep.levels) == 1:
                title = view.results.titles[sweep.setting]
                under = "without an attack" if attack == "none" else f"under the attack {attack}"
                by = f", one panel per {VARIED[axis]}" if len(sweep.levels) > 1 else ""
                yield partial(
                    compare, view, chart_name("trainers", sweep.setting, attack, AXES[axis]),
                    f"{title}: the trainers {under}{by}", sweep,
                    f"The errors of the trainers during training {under}, on the same data, in the "
                    f"setting {title}.",
                )  # fmt: skip


def _over_levels(view: RunsView) -> Iterator[Chart]:
    """Yield final errors and success rates over the levels of each attack."""
    for (attack, axis), every in _by_attack(view).items():
        sweeps = [sweep for sweep in every if len(sweep.levels) > 1]
        if not sweeps or attack == "impersonation":  # which is about another filter
            continue
        name, about = chart_name(attack, AXES[axis]), f"All trainers under the attack {attack}."
        by = f"by {VARIED[axis]}: {attack}"
        ends = final_errors(view, f"final-errors-{name}", f"Final error {by}", sweeps, about)
        yield replace(ends, short_title=f"Final error by {VARIED[axis]}")
        if any(len(sweep.trainers) > 1 for sweep in sweeps):
            title = f"How often the filter is found, {by}"
            yield success_rates(view, f"success-rates-{name}", title, sweeps, about)


def chart_name(*parts: str) -> str:
    """Return a name for files and links.

    >>> chart_name("levels", "Neuro-Tron, η = 1", "impersonation", "bound")
    'levels-neuro-tron-1-impersonation-bound'
    """
    words = "-".join(parts).lower().encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")[:80]
