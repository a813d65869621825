"""`neurotron audit`: what an attacker can do to a model of a table, and what to do about it."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from neurotron import _check, _seeds
from neurotron._digits import part
from neurotron.cli import options, study_commands, table_output
from neurotron.cli import table_options as tables

if TYPE_CHECKING:
    from neurotron._types import Index
    from neurotron.attacks import Budget
    from neurotron.auditing import Audit
    from neurotron.cli.table_options import TableInputs

PLACE = Path("out", "audits")
PAGE, NUMBERS = "audit.html", "audit.json"


def audit(
    source: tables.LabelledOptions,
    *,
    sample: int | None = None,
    estimator: str,
    bound: float | None = None,
    probability: float | None = None,
    rows: int | None = None,
    attack: list[str] | None = None,
    label_range: tuple[float, float] | None = None,
    max_damage: float | None = None,
    max_change: float | None = None,
    accept_suspects: int | None = None,
    remedies: bool = True,
    splits: int = 5,
    replicates: int = 2,
    seed: int = 0,
    workers: study_commands.WorkerOptions,
    out: Path | None = None,
    allow_code: options.AllowCode = False,
    as_json: options.AsJson = False,
) -> None:
    """Audit what an attacker can do to a model of a table by changing some of its labels.

    The rows are split several times. Each time an estimator is fitted to three quarters of them,
    whose labels are attacked in many ways, and tested on the others, which nobody touches. Where
    it is known, the audit also says what no attack at all can exceed. Other estimators are tried
    as remedies. All results are in the page audit.html of the folder.

    First of all, a robust fit looks for suspects: labels that may be attacked already. If these
    are more than 1 % of the rows, or decide whether the damage is within the tolerance, the verdict
    is undecided until you audit the output of `neurotron clean --cleaned`, or accept them. The same
    is true of a table with too few rows to look for suspects, unless the tolerance is exceeded.

    The exit code is 0 if the damage is within --max-damage and --max-change, or if none is given, 3
    if it is not, or if that is undecided, 2 if the command cannot do what it was asked to do, and
    130 after Ctrl-C. Then the same command continues where it stopped.

        neurotron audit t.csv --label y --estimator ridge --bound 1 --rows 20

        neurotron audit t.csv --label y --estimator huber --rows 9 --label-range 0 1

    Table
    -----
    sample
        Audit so many rows, drawn at random, instead of all.

    Model
    -----
    estimator : estimators
        What is audited: a name as `neurotron list estimators` shows them, with settings as in
        ridge:alpha=10, or a model file of `neurotron fit`, which is fitted again.

    Attack
    ------
    bound
        θ, the largest change of a label. It may be left out with --label-range.
    probability
        β, the largest share of the labels that are changed.
    rows
        How many rows of the table are changed, instead of their share.
    attack : NAME
        An attack to try. Repeat the option for several. Default: all.
    label_range : LOW HIGH
        The smallest and the largest label that is possible. Attacks stay within it.

    Guarantee
    ---------
    max_damage
        The tolerance: the largest acceptable rise of the error, 0.1 for 10 %.
    max_change
        Another tolerance: no prediction may change by more, in units of the label.
    accept_suspects : N
        You have looked at up to N suspects: they do not leave the verdict undecided.

    Run
    ---
    remedies
        Compare the obvious alternatives.
    splits
        How often the rows are split into fit and test.
    replicates
        How often attacks that draw at random are repeated on each split.
    seed
        The seed of splits and attacks.

    Output
    ------
    out
        The folder of the audit. If it has results of the same audit, that is continued. Default: a
        folder in out/audits.
    """
    if out is not None:
        _check_folder(out)
    budget = _budget(bound, probability, rows)  # before scikit-learn is loaded, which takes longer
    if max_damage is not None:
        _check.number("--max-damage", max_damage, "[0, inf)")
    from neurotron.auditing.coefficients import named
    from neurotron.auditing.job import job_of
    from neurotron.auditing.splits import AuditedTable
    from neurotron.lab import audits

    model = _model(estimator)
    inputs, name, labels = source.read(model)
    kept = _sample(sample, len(labels), seed)
    if len(kept) * len(inputs.names) > audits.MOST_ENTRIES:
        raise inputs.table.refusal(
            f"it has {len(kept) * len(inputs.names):,} cells of inputs, an audit takes at most "
            f"{audits.MOST_ENTRIES:,}: add --sample {audits.MOST_ENTRIES // len(inputs.names)}"
        )
    table = AuditedTable.of(inputs.X.to_numpy()[kept], labels[kept])
    with options.console(stderr=True).status("looking for suspects …"):  # in a terminal only
        job = job_of(
            model or estimator, table, budget=budget, attacks=attack or "all",
            tolerance=max_damage, remedies="usual" if remedies else (), splits=splits,
            replicates=replicates, label_range=label_range, seed=seed, max_change=max_change,
            accept_suspects=accept_suspects, name=model and Path(estimator).name,
        )  # fmt: skip
    study = audits.study_of(job, estimator if model else None)
    folder = PLACE / f"{source.data.stem}-{audits.name_of(study)}" if out is None else out
    with tables.warnings_as_sentences():
        report = study_commands.compute(study, folder, workers, quiet=True)
    if report.failures or report.removed:
        raise typer.Exit(1)
    found = audits.load_audit(job, folder)
    flips = named(found.flips, inputs.names)
    found = replace(found, table_sha256=inputs.table.sha256, flips=flips)
    made = _Made(found, inputs, name, inputs.rows[kept].tolist(), folder)
    made.write()
    if as_json:
        typer.echo(made.json())
    else:
        made.print()
    if made.exit_code:
        raise typer.Exit(made.exit_code)


# ---- what is asked -------------------------------------------------------------------------------


def _check_folder(out: Path) -> None:
    """Refuse a folder that is a file, before any work."""
    if _check.path("--out", out).exists() and not out.is_dir():
        raise _check.InputError(
            f"`--out` must be a folder, but {_check.shown(str(out))} is a file: choose another name"
        )


def _model(estimator: str) -> Any:
    """Return the model of a file, whose columns are audited; None for the name of an estimator."""
    if not estimator.endswith(tables.MODELS):
        return None
    from neurotron.estimators import load_model

    return load_model(estimator)


def _sample(count: int | None, rows: int, seed: int) -> Index:
    """Return the places of the rows that are audited, in the order of the table."""
    if count is None:
        return np.arange(rows)
    count = min(_check.integer("--sample", count, 1), rows)
    seed = _check.integer("--seed", seed, 0)
    draw = _seeds.generator(seed, "audit", "sample")
    return np.sort(draw.permutation(rows)[:count])


def _budget(bound: float | None, probability: float | None, rows: int | None) -> Budget:
    from neurotron.attacks import Budget

    if (probability is None) == (rows is None):
        raise _check.InputError(
            "say how many labels are changed: give either --probability, their share, or --rows, "
            "their number"
        )
    if rows is None:
        return Budget(bound=bound, probability=probability)
    return Budget(bound=bound, rows=rows)


# ---- what is shown -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Made:
    """An audit of a table, and where it is stored."""

    audit: Audit
    inputs: TableInputs
    label: str
    rows: list[int]
    """The numbers of the audited rows in the file, from 1."""
    folder: Path

    @property
    def exit_code(self) -> int:
        """What the command tells a pipeline."""
        from neurotron.auditing.finding import EXIT_CODES

        return EXIT_CODES[self.audit.verdict]

    def write(self) -> None:
        """Write the page and the numbers into the folder."""
        from neurotron.lab.pages.audit_page import build_audit
        from neurotron.lab.store.folder import Folder

        command = _check.printable(shlex.join(["neurotron", *sys.argv[1:]]))
        label = _check.printable(self.label)
        page = build_audit(self.audit, label=label, command=command, rows=self.rows)
        folder = Folder.read(self.folder)
        folder.write(PAGE, page.encode("utf-8", "replace"))
        folder.write(NUMBERS, f"{self.json()}\n".encode("utf-8", "replace"))

    def json(self) -> str:
        """Return everything as JSON; rows are counted from 1, as in the file."""
        found = self.audit.to_dict()
        found["influential"] = [
            each | {"row": self.rows[each["row"]]} for each in found["influential"]
        ]
        found["flips"] = [
            each | {"rows": [self.rows[row] for row in each["rows"]]} for each in found["flips"]
        ]
        found["suspects"]["rows"] = [self.rows[row] for row in found["suspects"]["rows"]]
        found |= table_output.origin(self.inputs, self.label)
        return options.as_json(found | {"page": str(self.folder / PAGE)}, self.exit_code)

    def print(self) -> None:
        """Print the summary, and where the page is."""
        from neurotron.auditing.wording import as_text

        console = options.console()
        table_output.describe_rows(console, self.inputs, self.label)
        if len(self.rows) < len(self.inputs.rows):
            console.print(f"sample    {part(len(self.rows), len(self.inputs.rows))}")
        console.print("")
        width = options.readable_width(console)
        label = _check.printable(self.label)
        console.print(as_text(self.audit, width, label=label, rows=self.rows))
        console.print(f"\nPage: {self.folder / PAGE}\nNumbers: {self.folder / NUMBERS}")
