# SPDX-License-Identifier: Apache-2.0
"""regatta from Python: traces, simulations, studies and their results as pandas frames. README.md has examples.

What is not needed is not imported: statistics need nothing but Python, frames need pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, List

from .statistics import InputError, Run, load
from .tools import RunFailed, cache_folder

if TYPE_CHECKING:
    from .comparisons import Comparison, compare
    from .frames import read_ctas, read_samples
    from .knobs import Knobs
    from .running import run
    from .studies.call import StudyResult, study
    from .traces import Kernel, Launch, Trace, annotate

_LATER = {"Comparison": "comparisons", "compare": "comparisons", "read_ctas": "frames", "read_samples": "frames",
          "Knobs": "knobs", "run": "running", "StudyResult": "studies.call", "study": "studies.call",
          "Kernel": "traces", "Launch": "traces", "Trace": "traces", "annotate": "traces"}

__all__ = ["Comparison", "InputError", "Kernel", "Knobs", "Launch", "Run", "RunFailed", "StudyResult", "Trace", "annotate",
           "cache_folder", "compare", "load", "read_ctas", "read_samples", "run", "study"]


if not TYPE_CHECKING:  # or every name would have a type
    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(f"module 'regatta' has no attribute '{name}'")
        found = getattr(import_module("." + _LATER[name], __name__), name)
        globals()[name] = found
        return found


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
