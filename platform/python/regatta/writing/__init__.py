# SPDX-License-Identifier: Apache-2.0
"""Writes traces (.rgt) from Python: for emulators of one's own. Needs nothing but Python.

The classes are those of the C++ library traces/recorder, whose page describes paths, checks and addresses:

    code = KernelBuilder("scale")
    code.op("mov.u32", "int_add", writes=[0], special=True)
    code.exit()
    with TraceRecorder("scale.rgt", "my emulator 1.0") as trace:
        trace.launch(trace.add(code.build()), grid=(2, 1, 1), block=(64, 1, 1))
        for cta in range(2):
            with trace.cta() as warps:
                for warp in warps:
                    warp.step(0, results=[lambda lane: lane])
                    warp.step(1)

With the modules `zstandard` and `xxhash`, if they are there, files are smaller and written faster.
"""

from .kernel import Kernel, KernelBuilder
from .lanes import RecordError
from .recorder import TraceRecorder, WarpRecorder

__all__ = ["Kernel", "KernelBuilder", "RecordError", "TraceRecorder", "WarpRecorder"]
