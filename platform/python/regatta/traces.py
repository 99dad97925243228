# SPDX-License-Identifier: Apache-2.0
"""A trace: its kernels, launches and static instructions, as `regatta-trace info --json` tells them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Tuple, Union

from . import tools
from .statistics import InputError

if TYPE_CHECKING:
    from .frames import DataFrame


class Kernel(NamedTuple):
    """The static part of a kernel. `registers`: general registers of 32 bits per thread. `instructions`: in its code."""
    name: str
    ptx_file: str
    warp_size: int
    registers: int
    predicates: int
    spilled_registers: int
    shared_bytes: int
    local_bytes: int
    instructions: int
    basic_blocks: int


class Launch(NamedTuple):
    """One launch of a kernel. `ctas`: those in the trace. `shared_bytes`: per CTA, static and dynamic."""
    kernel: str
    grid: Tuple[int, int, int]
    block: Tuple[int, int, int]
    ctas: int
    shared_bytes: int
    warp_instructions: int
    thread_instructions: int


class Trace:
    """A trace file, as regatta-annotate writes it. Its content is read when it is first asked for.

    `path`: absolute. `name`: for people (default: the file's name). `bin`: the folder of regatta-trace (default: as
    tools.find()). Every property and frame throws RunFailed if the file is no trace.
    """

    def __init__(self, path: tools.PathLike, name: str = "", bin: Optional[tools.PathLike] = None):  # noqa: A002
        self.path = Path(path).absolute()
        self.name = name or self.path.name.removesuffix(".rgt")
        self._bin = bin
        self._info: Optional[Dict[str, Any]] = None
        if not self.path.is_file():
            raise InputError(f"{self.path}: found no file, expected a trace (.rgt)")

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"<Trace {self.name}: {self.path}>"

    @property
    def info(self) -> Dict[str, Any]:
        """All that `regatta-trace info --json` says: sizes in bytes, `kernels` with their `instructions`, `launches`."""
        if self._info is None:
            said = tools.output("regatta-trace", ["info", "--json", str(self.path)], str(self.path), self._bin)
            document = json.loads(said)
            assert isinstance(document, dict)
            self._info = document
        return self._info

    @property
    def warp_instructions(self) -> int:
        """Executed by warps, whatever their active lanes; all launches."""
        return int(self.info["warp_instructions"])

    @property
    def thread_instructions(self) -> int:
        """Executed by threads: the active lanes of each warp instruction; all launches."""
        return int(self.info["thread_instructions"])

    @property
    def kernels(self) -> List[Kernel]:
        return [Kernel(k["name"], k["ptx_file"], k["warp_size"], k["registers_per_thread"], k["predicates"],
                       k["spilled_registers"], k["static_shared_bytes"], k["local_bytes_per_thread"],
                       len(k["instructions"]), k["basic_blocks"]) for k in self.info["kernels"]]

    @property
    def launches(self) -> List[Launch]:
        """In the order of the program."""
        return [Launch(la["name"], _three(la["grid"]), _three(la["block"]), la["ctas"], la["shared_bytes_per_cta"],
                       la["warp_instructions"], la["thread_instructions"]) for la in self.info["launches"]]

    def kernels_frame(self) -> DataFrame:
        """A row per kernel; columns as the fields of Kernel."""
        from .frames import of_tuples
        return of_tuples(Kernel, self.kernels, "kernel")

    def launches_frame(self) -> DataFrame:
        """A row per launch; columns as the fields of Launch."""
        from .frames import of_tuples
        return of_tuples(Launch, self.launches, "launch")

    def instructions_frame(self, kernel: Union[str, int, None] = None) -> DataFrame:
        """The code of `kernel` (name or number; needed if there are several), a row per static instruction.

        Columns: index, block, opcode, class, text, guard ("P0", "!P0" or None), sources and destinations (tuples of
        register numbers), source_predicates and destination_predicates, space and access_bytes (of a memory access, per
        lane), branch_target (index or None), ptx_line, source_file, source_line (None: not known).
        """
        from .frames import of_instructions
        return of_instructions(self._kernel(kernel)["instructions"])

    def _kernel(self, wanted: Union[str, int, None]) -> Dict[str, Any]:
        kernels = self.info["kernels"]
        found = [k for k in kernels if wanted is None or wanted in (k["name"], k["kernel"])]
        if len(found) != 1:
            names = ", ".join(f"{k['name']} ({k['kernel']})" for k in kernels)
            raise InputError(f"{self.path}: kernel: found {'nothing' if wanted is None else repr(wanted)}, expected the name "
                             f"or number of one of {names}")
        kernel: Dict[str, Any] = found[0]
        return kernel


def _three(sizes: List[int]) -> Tuple[int, int, int]:
    x, y, z = sizes
    return x, y, z


def annotate(launch: tools.PathLike, *, out: Optional[tools.PathLike] = None, name: str = "",
             cache: Optional[tools.PathLike] = None, bin: Optional[tools.PathLike] = None,  # noqa: A002
             **options: Any) -> Trace:
    """The trace of the program that a launch file describes (compiler/launch/README.md), made by regatta-annotate.

    It is kept in the folder `cache` (default: cache_folder()) and made again only if the content of the launch file, of
    the files it names, of regatta-annotate or of the options has changed. `out`: also write it there. `name`: for
    people. `bin`: the folder of regatta's programs. `options`: those of `regatta-annotate --help`, with _ for -:
    max_registers=63, rfh=5; for_="finereg,rc" or "all" adds the code of schemes that need another one.

    Throws InputError for bad arguments, RunFailed if regatta-annotate fails (status 2: it says what it does not accept;
    3: a buffer is not what the launch file expects). Needs Python 3.11.
    """
    tools.need_python("regatta.annotate")
    from .studies import single
    made = single.annotate(launch, single.option_words(options), cache, bin)
    if out is not None:
        _copy(made.path, Path(out))
    path = made.path if out is None else out
    return Trace(path, name or made.name, bin)


def _copy(source: Path, target: Path) -> None:
    """Under its final name only when it is whole."""
    import shutil
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        shutil.copyfile(source, partial)
        os.replace(partial, target)
    except OSError as e:
        partial.unlink(missing_ok=True)
        raise InputError(f"cannot write '{target}': {e.strerror}") from None
