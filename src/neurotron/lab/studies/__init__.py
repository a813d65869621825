"""Which questions are asked: studies as TOML files, and how they are run.

>>> import neurotron as nt
>>> study = nt.lab.studies.read("smoke")
>>> [setting.heading for setting in study.settings]
['N(0, 1)', 'Laplace(1)']
"""

from neurotron._extras import require

require("pydantic")

from neurotron.lab.studies.reading import catalog, parse, read, template  # noqa: E402
from neurotron.lab.studies.rows_spec import RowsSetting, RowsStudy  # noqa: E402
from neurotron.lab.studies.runner import Failure, Progress, Report, run  # noqa: E402
from neurotron.lab.studies.spec import Levels, Setting, Study, Sweep, Unit  # noqa: E402
from neurotron.lab.studies.tables_spec import TableSetting, TablesStudy, TableSweep  # noqa: E402
from neurotron.lab.studies.unit import train  # noqa: E402
from neurotron.lab.studies.work import Work  # noqa: E402

__all__ = [
    "Failure",
    "Levels",
    "Progress",
    "Report",
    "RowsSetting",
    "RowsStudy",
    "Setting",
    "Study",
    "Sweep",
    "TableSetting",
    "TableSweep",
    "TablesStudy",
    "Unit",
    "Work",
    "catalog",
    "parse",
    "read",
    "run",
    "template",
    "train",
]
