"""``python -m research.evidence [name …]``: compute what docs/evidence stores.

Everything runs into a folder of out/evidence, where an interrupted run continues. A change of a
study or of the code that computes it begins a new folder. Without names, everything is computed:

- The studies with claims, each in a folder of research or in the catalog. Stored are a small table
  ``<name>.csv``, the verdicts of all in ``verdicts.json`` (with the code and machine that computed
  them) and a page ``<name>.md``. The figures that docs show are stored in docs/images.
- The measurements, each a script of research with its study, a summary of the results, which is
  stored as ``<name>.csv``, and perhaps a page.

``--computed FOLDER`` runs nothing: it judges the results in FOLDER/<name> again, after a change of
the claims. ``--pages`` writes the pages again from what is stored, after a change of their words.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import math
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from research import verdicts
from research.evidence_page import IN_TABLES, file_of, page
from research.pages import origin, table
from research.verdicts import Entry, restored

import neurotron as nt
from neurotron._references import code_allowed, resolve
from neurotron.lab import Finding, Judgement, Results
from neurotron.lab.store import files
from neurotron.lab.store.manifest import study_hash
from neurotron.lab.training.unit import train
from neurotron.work.workers import fingerprint

ROOT = Path(__file__).parent.parent
IN_THE_WHEEL = ("paper", "batch-size")
STUDIES = (
    *IN_THE_WHEEL, "moved-inputs", "mirror", "recovery", "sharpness", "heavy-tails", "frontier",
    "defence", "constants", "networks", "correlated", "half-space", "limits", "verified",
    "activations", "rows", "tables", "unseen", "unseen-shifts", "unseen-clean",
)  # fmt: skip
MEASUREMENTS = (
    "signals", "verification-rows", "verification", "activation-rows", "table-certificates",
    "suspects", "minorities", "two-sizes",
)  # fmt: skip
OTHER_SEEDS = dict.fromkeys(("paper", "mirror", "activations"), (1, 2, 3, 4))
"""Studies whose verdicts are also kept with other seeds."""
TABLES = {
    "rows": "row_results:compact_csv",
    "tables": "table_results:compact_csv",
    **dict.fromkeys(IN_TABLES, "unseen_results:compact_csv"),
}
"""The functions that write the small table of studies that are not about training runs."""


def study_of(name: str) -> nt.Study:
    """Return a study of the catalog, or of this folder."""
    file = ROOT / file_of(name)
    return nt.lab.read(name) if name in IN_THE_WHEEL else nt.lab.read(file, allow_code=True)


def measurement(name: str) -> Any:
    """Return the script of a measurement."""
    return importlib.import_module(f"research.{name.replace('-', '_')}")


def computed(study: nt.Study, seed: int = 0) -> Results:
    """Return the results of a study, and compute what is missing."""
    settings = [one | {"seed": seed} if "seed" in one else one for one in study.settings]
    study = replace(study, seed=seed, settings=settings)
    with code_allowed(study.code):
        what = json.dumps([study_hash(study.spec()), fingerprint(study.unit)], sort_keys=True)
    key = hashlib.sha256(what.encode()).hexdigest()[:16]
    folder = ROOT / "out" / "evidence" / f"{study.name}-seed-{seed}-{key}"
    with ProcessPoolExecutor(os.cpu_count()) as processes:
        # fits are ordinary Python, which only one thread of a process runs at a time
        pool = None if study.unit is train else processes
        report = nt.lab.run(study, folder, executor=pool, workers=os.cpu_count() if pool else None)
    if report.interrupted:
        raise KeyboardInterrupt
    if report.failures:
        sys.exit(f"{study.name}: {len(report.failures)} units failed, see {folder / 'runs.jsonl'}")
    return nt.lab.load(folder)


# ---- studies with claims -------------------------------------------------------------------------


def entry_of(results: Results) -> Entry:
    """Return what verdicts.json stores about a study."""
    manifest = results.folder.manifest
    return {
        "study": manifest["study"],
        "environment": manifest["environment"],
        "replicates": max(results.replicates.values()),
        "claims": {one.claim.name: _judged(one) for one in nt.lab.evaluate(results)},
    }


def _judged(one: Judgement) -> Entry:
    findings = [
        {"case": found.case, "measure": found.measure, "estimate": _short(found.estimate),
         "low": _short(found.low), "high": _short(found.high), "replicates": found.replicates,
         "holds": found.holds, **_extras(found)}
        for found in one.findings
    ]  # fmt: skip
    as_stored = Judgement(one.claim, tuple(map(restored, findings)))  # so that both agree
    return {"verdict": one.verdict, "effect": as_stored.effect, "findings": findings}


def _extras(found: Finding) -> Entry:
    """Return the fields of a finding that few have."""
    extras = {
        "as_published": None if found.as_published else False,
        "group": found.group or None,
        "worst": None if found.worst is None else _short(found.worst),
        "count": found.count,
        "total": found.total,
    }
    return {name: value for name, value in extras.items() if value is not None}


def _short(number: float) -> float | str:
    """Return three digits of a number; JSON has no infinity."""
    return float(f"{number:.3g}") if math.isfinite(number) else "∞"


def keep(name: str, results: Results, others: Entry) -> None:
    """Store the verdicts, the table and the page of a study."""
    with code_allowed(results.spec["code"]):
        entry = entry_of(results) | ({"other_seeds": others} if others else {})
        write: Any = resolve(TABLES.get(name, "research.compact:compact_csv"))
        files.write(verdicts.STORE, f"{name}.csv", write(results).encode())
    every = verdicts.read() | {name: entry}
    verdicts.write({study: every[study] for study in STUDIES if study in every})
    write_page(name)


def judge_again(name: str, folder: Path) -> None:
    """Judge the results of a study in a folder again, without computing anything.

    Verdicts with other seeds stay as they are.
    """
    results = nt.lab.load(folder)
    if results.folder.manifest["study"] != study_hash(study_of(name).spec()):
        sys.exit(f"{folder} has the results of another study than {name!r}")
    keep(name, results, verdicts.read().get(name, {}).get("other_seeds", {}))


def _verdicts(study: nt.Study, seed: int) -> Entry:
    """Return the verdicts of a study with another seed."""
    results = computed(study, seed)
    with code_allowed(study.code):
        found = {one.claim.name: one.verdict for one in nt.lab.evaluate(results)}
    return {"code": results.folder.manifest["environment"]["code"], "verdicts": found}


def draw(name: str, results: Results) -> None:
    """Draw the figures of a study that pages of docs or the README show."""
    from neurotron.lab.figures.render_matplotlib import encode

    shown = "".join(page.read_text() for page in (ROOT / "README.md", *ROOT.glob("docs/*.md")))
    folder = ROOT / "docs" / "images" / name
    with code_allowed(results.spec["code"]):
        for chart in nt.lab.charts(results):
            if f"images/{name}/{chart.name}.png" in shown:
                folder.mkdir(exist_ok=True)
                picture = encode(nt.lab.draw(chart), ".png", dpi=100)
                (folder / f"{chart.name}.png").write_bytes(picture)


# ---- everything ----------------------------------------------------------------------------------


def collect(name: str) -> None:
    """Compute a study or a measurement, and store what docs/evidence has of it."""
    if name in MEASUREMENTS:
        script = measurement(name)
        results = computed(script.STUDY)
        environment = results.folder.manifest["environment"]
        comment = ", ".join(f"{key} {value}" for key, value in sorted(environment.items()))
        text = f"# {comment}\n{script.summary(results.table).write_csv()}"
        files.write(verdicts.STORE, f"{name}.csv", text.encode())
        write_page(name)
    else:
        study = study_of(name)
        results = computed(study)
        others = {str(seed): _verdicts(study, seed) for seed in OTHER_SEEDS.get(name, ())}
        keep(name, results, others)
        draw(name, results)


def page_of(name: str) -> str | None:
    """Return the page of a study or a measurement, if it has one, from what is stored."""
    if name in STUDIES:
        return page(name, study_of(name), verdicts.read()[name])
    written = getattr(measurement(name), "page", None)
    if written is None:
        return None
    by = f"Computed by `python -m research.evidence {name}`; {origin(name)}."
    return f"{written(table(name))}\n\n{by}\n"


def write_page(name: str) -> None:
    """Write the page of a study or a measurement, if it has one, from what is stored."""
    table.cache_clear()
    text = page_of(name)
    if text is not None:
        files.write(verdicts.STORE, f"{name}.md", text.encode())


def main(arguments: list[str]) -> None:
    """Compute what is named, or everything, and print how long that took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--computed", type=Path, metavar="FOLDER", help="judge these results again")
    parser.add_argument("--pages", action="store_true", help="only write the pages again")
    options = parser.parse_args(arguments)
    every = STUDIES if options.computed else STUDIES + MEASUREMENTS
    unknown = set(options.names) - set(every)
    if unknown:
        sys.exit(f"no such study: {', '.join(sorted(unknown))}; there are {', '.join(every)}")
    began, used = time.perf_counter(), time.process_time()
    for name in options.names or every:
        start = time.perf_counter()
        if options.pages:
            write_page(name)
        elif options.computed:
            judge_again(name, options.computed / name)
        else:
            collect(name)
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    wall, cpu = time.perf_counter() - began, time.process_time() - used
    print(f"everything: {wall / 60:.1f} minutes, {cpu / 60:.1f} minutes of CPU")


if __name__ == "__main__":
    main(sys.argv[1:])
