"""The experiment as a noun, and the only runner: it needs NumPy and the standard library.

A `Study` is a list of settings and a pure function that returns declared columns. `run` calls it
for every replicate of every setting, in threads or in the processes of an executor, and hands the
rows to a sink: `Memory`, or the folder of `neurotron.lab.run`.

>>> from neurotron.work import Memory, Study, run
>>> def unit(setting, replicate, seed):
...     return {"square": setting["size"] ** 2}
>>> study = Study("squares", [{"name": "three", "size": 3}], unit, {"square": int}, replicates=1)
>>> memory = Memory()
>>> run(study, memory).computed
1
>>> memory.rows[study.units()[0]]
[{'square': 9}]
"""

from neurotron.work.runner import Failure, Memory, Progress, Report, run
from neurotron.work.study import Study, Unit

__all__ = ["Failure", "Memory", "Progress", "Report", "Study", "Unit", "run"]
