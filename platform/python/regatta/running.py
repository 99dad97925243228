# SPDX-License-Identifier: Apache-2.0
"""One simulation from Python."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

from . import tools
from .statistics import InputError, Run
from .traces import Trace

if TYPE_CHECKING:
    from .knobs import Knobs

Value = Union[int, float, str, bool]


def run(program: Union[Trace, tools.PathLike], *, machine: tools.PathLike = "gtx980", scheme: str = "baseline",
        knobs: Union[Knobs, Mapping[str, Value], None] = None, options: Sequence[Value] = (),
        annotate: Optional[Mapping[str, Any]] = None, cpi_lines: bool = False, sample: Optional[int] = None,
        cpi_ctas: bool = False, name: str = "", cache: Union[tools.PathLike, bool, None] = None,
        bin: Optional[tools.PathLike] = None) -> Run:  # noqa: A002
    """Simulates a program, and returns its results.

    `program`: a trace (path or Trace), or a launch file (.toml), which is annotated first with the options `annotate` (as
    those of annotate()). `machine`: a preset or the path of a .toml file. `knobs`: by name, {"l1.size_bytes": 16384};
    units as `regatta-sim --help` has them. A name or value that regatta-sim does not accept is an error before anything is
    made; declared as `regatta.Knobs`, knobs are checked by mypy and completed by editors. `options`: further ones of regatta-sim, ["--sms", 2].
    `cpi_lines`: every cycle is charged to a line of the program (Run.cycles_frame()). `sample`: cycles between two rows
    of Run.samples_frame(). `cpi_ctas`: a row per CTA in Run.ctas_frame(). `name`: of the Run, for people.

    Traces and results are kept by content in the folder `cache` (default: cache_folder(); False: nothing is kept), so that
    the same call gives the same Run at once. Runs whose options write files of your own (--vcd ...) are always made.
    `bin`: the folder of regatta's programs.

    Throws InputError for bad arguments, RunFailed if a program fails: status 2 for what it does not accept (an unknown
    knob, a scheme that does not fit), 3 for a failed check, 128 + N after a signal N. Ctrl-C ends the simulation. Needs
    Python 3.11.
    """
    tools.need_python("regatta.run")
    from .studies import single
    from .studies.campaign import Keep
    keeps = []
    if sample is not None:
        if not isinstance(sample, int) or sample < 1:
            raise InputError(f"run: sample: found {sample!r:.60}, expected a number of cycles of at least 1")
        keeps.append(Keep("samples", ("--sample", str(sample), "--sample-file", "{file}"), "text"))
    if cpi_ctas:
        keeps.append(Keep("ctas", ("--cpi-ctas", "{file}"), "text"))
    of = single.program(program, single.option_words(annotate or {}), program.name if isinstance(program, Trace) else "")
    with tempfile.TemporaryDirectory(prefix="regatta.") as unkept:
        folder = tools.cache_folder() if cache is None or cache is True else \
            Path(unkept) if cache is False else Path(cache).absolute()
        result = single.simulate(of, scheme, machine, {} if knobs is None else knobs, options, tuple(keeps), folder, bin,
                                 cpi_lines)
    return Run(result.document, name or result.what, result.kept.get("samples"), result.kept.get("ctas"))
