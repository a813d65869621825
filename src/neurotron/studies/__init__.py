"""Which questions are asked: studies as TOML files, and how they are run.

>>> import neurotron as nt
>>> study = nt.studies.read("smoke")
>>> [setting.heading for setting in study.settings]
['N(0, 1)', 'Laplace(1)']
"""

from neurotron._extras import require

require("pydantic")

from neurotron.studies.reading import catalog, parse, read, template  # noqa: E402
from neurotron.studies.runner import Failure, Progress, Report, run  # noqa: E402
from neurotron.studies.spec import Setting, Study, Sweep, Unit  # noqa: E402
from neurotron.studies.unit import Computed, run_unit  # noqa: E402

__all__ = [
    "Computed",
    "Failure",
    "Progress",
    "Report",
    "Setting",
    "Study",
    "Sweep",
    "Unit",
    "catalog",
    "parse",
    "read",
    "run",
    "run_unit",
    "template",
]
