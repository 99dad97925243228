# SPDX-License-Identifier: Apache-2.0
"""collatz.cpp in Python: an emulator of one kernel that writes a trace of what its warps do."""

import sys

from regatta.writing import KernelBuilder, TraceRecorder

CTAS, THREADS = 8, 96
STEPS_ARRAY = 0x10000  # in global memory


def code():
    """The static code; each static index is its place from 0, which collatz() names."""
    code = KernelBuilder("collatz")
    code.op("mov.u32", "int_add", writes=[0], special=True)                                          # 0: n = thread + 1
    code.op("mov.u32", "int_add", writes=[1], immediates=[0])                                        # 1: steps = 0
    loop = code.op("setp.eq.u32", "int_add", writes_predicates=[0], reads=[0], immediates=[1])       # 2: n == 1?
    leave = code.branch("bra", guard=0)                                                              # 3: then go to 7
    code.op("step.u32", "int_mad", writes=[0], reads=[0])                                            # 4: the next n
    code.op("add.u32", "int_add", writes=[1], reads=[1], immediates=[1])                             # 5: steps += 1
    code.branch("bra", loop)                                                                         # 6: go to 2
    code.set_target(leave, code.next())
    code.op("lea.u64", "int64", writes=[2, 3], special=True, immediates=[STEPS_ARRAY])               # 7: &steps_array[thread]
    code.store("st.global.u32", "global", 4, reads=[2, 3, 1])                                        # 8
    code.exit()                                                                                      # 9
    return code.build()


def collatz(warp, first):
    """One warp, all lanes side by side; `first` is its first thread."""
    n = [first + lane + 1 for lane in range(32)]
    steps = [0] * 32
    warp.step(0, results=[n])
    warp.step(1, results=[steps])
    in_loop = warp.threads
    while True:
        ready = sum(1 << lane for lane in range(32) if n[lane] == 1) & in_loop
        warp.step(2, in_loop, predicates=[ready])
        warp.step(3, in_loop, ready)  # lanes that branch wait at 7 for the others
        in_loop &= ~ready
        if in_loop == 0:
            break
        for lane in range(32):
            if in_loop >> lane & 1:
                n[lane] = n[lane] // 2 if n[lane] % 2 == 0 else 3 * n[lane] + 1
                steps[lane] += 1
        warp.step(4, results=[n])
        warp.step(5, results=[steps])
        warp.step(6)
    address = [STEPS_ARRAY + 4 * (first + lane) for lane in range(32)]
    warp.step(7, warp.threads, results=[address, [a >> 32 for a in address]])
    warp.step(8, addresses=address)
    warp.step(9)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: collatz.py OUT.rgt")
    with TraceRecorder(sys.argv[1], "collatz, an example of regatta") as trace:
        trace.launch(trace.add(code()), grid=(CTAS, 1, 1), block=(THREADS, 1, 1))
        for cta in range(CTAS):
            with trace.cta() as warps:
                for number, warp in enumerate(warps):
                    collatz(warp, cta * THREADS + number * 32)


if __name__ == "__main__":
    main()
