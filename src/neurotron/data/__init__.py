"""Data: inputs and labels that are simulated by a law and true weights, or given as rows.

>>> import neurotron as nt
>>> nt.data.Rows([[1.0, 2.0], [3.0, 4.0]], [1.0, 0.0]).law
Empirical(2 rows of 2 inputs)
"""

from neurotron._streams import Purpose, Stream
from neurotron.data.base import Batch, Data
from neurotron.data.corrupted import BY_NAME as BY_NAME
from neurotron.data.corrupted import Corrupted
from neurotron.data.rows import Rows
from neurotron.data.simulated import Simulated

__all__ = ["Batch", "Corrupted", "Data", "Purpose", "Rows", "Simulated", "Stream"]


def __dir__() -> list[str]:
    return sorted(__all__)
