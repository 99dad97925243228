# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for regatta-annotate and regatta-sim, for tests of what calls them: they note that they were called, and
answer what fits the call without computing anything."""

import contextlib
import functools
import io
import json
import os
import re
import stat
import sys
import time
import types
from pathlib import Path
from typing import Callable, Optional
from unittest import mock

from regatta.studies import pool, worker

#: Seconds. What takes longer does not end, on the slowest machine.
LONG = 600

_programs = {
    "regatta-annotate": '''
out, report = after("--out"), after("--report")
note("annotate")
if "--refuse" in sys.argv: fail(2, "a region of 9 registers does not fit")
launch = open(after("--launch")).read()
open(out, "w").write("trace " + launch)
names = entries_in(launch) or ["k"]
json.dump({"entries": [{"name": n, "instructions": 60, "regions": 12, "blocks": 10, "live_registers": 9, "registers": 10, "shared_bytes": 1024,
                        "sharing": {"variables": 2, "common_variables": 1, "shared_bytes": 1024, "boundary": 100, "common_range": 40,
                                    "relssp_optimal": 2, "relssp_optimal_jumps": 1, "relssp_postdom": 1}}
                       for n in names],
           "launches": [{"entry": n, "warp_instructions": 9000 // len(names)} for n in names]}, open(report, "w"))
''',
    "regatta-sim": '''
note("sim")
trace = open(sys.argv[1]).read()
if not trace.startswith("trace "): fail(2, "not a trace")
wait_if_held()
if "--garbage" in sys.argv:
    open(after("--stats"), "w").write("{")
    sys.exit(0)
if "--garbage-table" in sys.argv: open(after("--garbage-table"), "w").write("a,b\\n1,x\\n")
scheme = after("--scheme", "baseline")
entries = int(after("--osu.entries", "512"))
if "--fail" in sys.argv: fail(3, "value mismatch in warp 3")
if entries < int(os.environ.get("FAKE_SMALLEST", "0")): fail(2, f"osu.entries: found {entries}, too few")
model = after("--wir.model", "rlpv")
reuses = scheme == "wir" and model != "affine"
factor = 1.0 if not reuses and scheme != "regless" else 0.9 + 64 / entries if scheme == "regless" else 1.05
if after("--compressor.enabled", "true") == "false": factor += 0.1
d = {"kernel": "k", "trace": sys.argv[1], "scheme": scheme, "cycles": int(10000 * factor), "warp_instructions": 9000,
     "ipc": 0.9, "checks": {"operands_checked": 5, "mismatches": 0},
     "energy": {"total_nj": 1000.0 * factor, "by_structure": {"register_structures": 130.0 * (entries / 2048 + 0.05 if
                                                              scheme != "baseline" else 1), "dram": 500.0, "pipeline": 80.0, "execution": 70.0 * (0.8 if reuses else 1)},
                "static_by_structure": {"register_structures": 60.0, "dram": 0.0},
                "by_event": [{"event": "register_file.read", "nj": 110.0, "pj": 118.0}, {"event": "dram.read", "nj": 500.0}]},
     "config": {"sm.sub_cores": 4, "sm.register_granularity": 2, "sleep_transistors.sleep_leakage": 0.1, "sm.warps": 48, "sm.ctas": 8, "sm.registers_per_thread": 63, "register_file.registers": 1024,
                "l1.size_bytes": 32768, "shared.bytes": 49152, "icache.size_bytes": 2048, "constant_cache.size_bytes": 8192,
                "wir.physical_registers": 0, "wir.barrier_bits": 5, "wir.hash_bits": 32, "wir.counter_bits": 10,
                "sm.lanes": 32, "sm.schedulers": 4, "osu.entries": entries, "compressor.lines": 12, "greener.table_entries": 2, "greener.table_registers": 8,
                "reuse_buffer.entries": int(after("--reuse_buffer.entries", "256")),
                "vsb.entries": 256, "verify_cache.entries": 8},
     "stats": {"memory.l2_0": {"reads": 100, "writes": 20}, "sm0.register_file": {
         "reads": 14000, "writes": 8000, "read_wait": 700, "write_wait": 400},
         "sm0.l1": {"reads": 500, "read_hits": 300, "mshr_merges": 50},
         "sm0.pipeline": {"resident_registers_mean": 600.0, "resident_registers_max": 900.0},
         "sm0.pipeline.execution": {"sp_instructions": 6000, "dp_instructions": 0, "sfu_instructions": 100,
                                    "lsu_instructions": 900, "fp32_instructions": 1800, "fp64_instructions": 0,
                                    "special_instructions": 100, "integer_instructions": 4000},
         "sm0.pipeline.lsu": {"shared_instructions": 500}},
     "host": {"seconds": 1.0 + os.getpid()}}
if "--working-set" in sys.argv:
    d["register_working_set"] = {"window": 100, "mean": 150.0 if after("--scheduler") == "gto" else 140.0, "peak": 333}
if scheme == "regless":
    d["stats"]["sm0.l1"] = {**d["stats"]["sm0.l1"], "accesses_register_read": 0.01 * d["cycles"], "accesses_register_write": 0.004 * d["cycles"]}
    d["stats"]["regless"] = {
        "preloads": 1000, "preload_source": {"osu": 900, "compressor": 90, "l1": 9, "l2": 1, "dram": 0},
        "l1_requests_per_cycle": {"preload": 0.01, "evict": 0.004, "invalidate": 0.001},
        "regions.executed": 1500,
        "regions": {"mean_instructions": 6.0, "mean_cycles": 80.0, "mean_preloads": 2.5, "mean_live": 5.5,
                    "stddev_live": 2.0, "max_live": 21},
        "metadata_instructions": 2000, "warps_active": 12.5,
        "osu": {"reads": 14000, "writes": 8000, "conflicts": 10, "evictions": 40},
        "compressor": {"incompressible": 5, "hits": 30, "misses": 2}}
if reuses:
    file = d["stats"]["sm0.register_file"]
    file.update({"writes": 5000, "read_wait": 900, "verify_reads": 300, "moves": 100, "verify_retries": 40})
    bypass = 0.01 if model == "novsb" else min(0.3, int(after("--reuse_buffer.entries", "256")) / 2560)
    reused = bypass * d["warp_instructions"]
    d["energy"]["by_event"] += [{"event": "wir." + e, "count": 9000, "pj": 3.0, "nj": 0.027} for e in (
        "rename_table", "reuse_buffer", "hash", "vsb", "register_allocator", "reference_count",
        "verify_cache")]
    d["stats"]["wir"] = {
        "reused.arithmetic": 0.8 * reused, "reused.load": 0.1 * reused, "reused.pending": 0.1 * reused,
        "bypass_fraction": bypass, "vsb.hits": 3000, "vsb.misses": 4000, "vsb.false_positives": 0,
        "verify_cache.hits": 10, "verify_cache.misses": 300, "dummy_movs": 100, "backend.sp": 5000, "backend.sfu": 90,
        "backend.mem": 800 if model in ("r", "rpv", "novsb") else 600, "backend.rf_read": 12000, "backend.rf_write": 5100,
        "physical_registers.mean": 500.0, "physical_registers.peak": 800.0, "low_register_cycles": 0.0}
    if after("--wir.repeats") == "true":
        d["stats"]["wir"].update({"repeated_fraction_1k": 0.3, "repeated_often_fraction_1k": 0.15, "repeated_loads_fraction_1k": 0.02, "barriers_max": 12})
        for which, n in (("barred", 900), ("barred_repeats", 270)):
            d["stats"]["wir"].update({f"{which}.{b}": n for b in (
                "none", "effect", "special", "predicate", "wide", "kind", "divergent", "pinned", "unwritten", "load")})
gated = {"always_on": 1.0, "rar": 1.0, "argo": 0.8, "wc": 0.6, "rc": 0.6, "rc_rar": 0.5, "greener": 0.3, "sleep_reg": 0.4}
on = gated.get(scheme, 1.0)
d["energy"]["by_event"].append({"event": "register_file.leakage", "nj": 60.0 * on})
d["energy"]["static_by_structure"]["register_structures"] = 60.0 * on
if scheme in gated:
    d["stats"]["power"] = {"row_cycles.on": 100 * on, "row_cycles.sleep": 60 * (1 - on), "row_cycles.off": 40 * (1 - on),
                           "wakeups.sleep": 7, "wakeups.off": 3, "access_fraction": 0.012, "lookup_corrections": 5,
                           "stall_cycles": 11,
                           "leakage_energy": {45: 49.0, 32: 69.0, 22: 41.0}[int(after("--gated.leakage_node", "22"))] * on}
    d["stats"]["aging"] = {
        "writes.constant": 300, "writes.single_delta": 150, "writes.double_delta": 50, "writes.other": 500,
        "duty.zero.longest": on, "duty.one.longest": 0.9 * on, "duty.zero.mean": 0.5 * on, "duty.one.mean": 0.2 * on,
        "energy.slice_leakage": 60 * on, "energy.logic_leakage": 0.0, "energy.slice_dynamic": 70.0, "energy.logic_dynamic": 1.0,
        "energy.wakeup": 2.0 * (1 - on), "vth.t0": on, "vth.t1": 0.9 * on, "ts_increase": 0.14 * on, "movs_inserted": 4, "refreshes": 2, "rows_woken": 100}
    d["stats"]["aging"].update({"duty.zero.longest_one": 0.1, "duty.zero.longest_off": 0.9 - on if on < 0.9 else 0.0, "duty.one.longest_zero": 0.1,
                                "duty.one.longest_off": 0.9 - 0.9 * on, "duty.off.mean": 1 - 0.7 * on})
# Schemes that switch CTAs: more of them are resident, and the program is faster.
switching = {"virtual_thread": 1.5, "reg_dram": 1.75, "vt_regmutex": 2.25, "finereg": 2.0, "um": 1.0, "vt_um": 1.5, "finereg_um": 2.5}
ctas = 8 * switching.get(scheme, 1.0)
if scheme in switching:
    depth = int(after("--reg_dram.ctas", "4"))
    d["cycles"] = int(d["cycles"] / (1 + 0.2 * (switching[scheme] - 1)) * (1 + 0.01 * abs(depth - 4)))
    active = min(8, int(after("--finereg.active_registers", "1024")) / 128)
    d["stats"]["residency"] = {"ctas.active": active, "ctas.pending": ctas - active, "time_to_full_stall": 500.0}
    d["stats"]["vt_regmutex"] = {"acquires": 100 if scheme == "vt_regmutex" else 0, "srp_stall_cycles": 0.3 * d["cycles"]}
    d["stats"]["finereg"] = {"depletion_stall_cycles": 0.01 * d["cycles"]}
    d["config"].update({"finereg.active_registers": 1024, "finereg.pending_registers": 1024, "switching.max_ctas": 128, "rmu.vector_entries": 32,
                        "regmutex.pool_registers": int(after("--regmutex.pool_registers", "576"))})
d["config"]["sm.schedulers"] = 4
d["stats"]["sm0.pipeline"].update({"resident_ctas_mean": ctas, "ctas": 100})
registers = 7000 if scheme == "reg_dram" else 0
vectors = 600 if scheme == "finereg" else 0
d["stats"]["memory.dram_0"] = {"reads": 900, "bytes_read": 60000 + registers + vectors, "bytes_written": 40000, "busy_cycles": 0.5 * d["cycles"],
                               "bytes_data": 99000, "bytes_registers": registers, "bytes_metadata": vectors, "bytes_code": 1000}
# RegLess's rivals: a smaller file, and small files in front of the file.
if scheme in ("rfv", "rfh"):
    d["cycles"] = int(1.02 * d["cycles"] * (1.05 if after("--scheduler") == "two_level" else 1))
    d["config"].update({"rfv.share": float(after("--rfv.share", "0.5")), "register_file.registers": 2048, "register_file.banks": 16})
    d["stats"]["rfv"] = {"rows_mean": 500.0, "rows_max": 900.0, "powered_rows_mean": 800.0, "table_bits": 30000}
    d["stats"]["rfh"] = {"storage_bits": 131072, **{f"{level}_{what}": n for level, n in (("mrf", 4000), ("orf", 3000), ("lrf", 2000)) for what in ("reads", "writes")}}
if scheme == "regless":
    d["energy"]["by_event"].append({"event": "register_file.read", "nj": 9.0, "pj": 59.0, "module": "osu"})
if "--register-use" in sys.argv:
    d["register_use"] = {"window": 1000, "mean": 0.5, "lowest": 0.1, "highest": 0.9}
# A launch per entry, all of them alike.
names = entries_in(trace) or ["k"]
d["energy"]["by_structure"]["register_structures"] = 130.0 * (entries / 2048 + 0.05 if scheme == "regless" else 1) - 60.0 * (1 - on) if (
    scheme == "regless" or scheme in gated) else d["energy"]["by_structure"]["register_structures"]
d["launches"] = [{"kernel": n, "cycles": d["cycles"] / len(names), "warp_instructions": 9000 / len(names), "energy": {"by_structure": {
    s: nj / len(names) for s, nj in d["energy"]["by_structure"].items()}}} for n in names]
if "--wear.rows_file" in sys.argv:
    with open(after("--wear.rows_file"), "w") as f:
        f.write("sm,row,slice,zero_zero,zero_one,zero_off,one_zero,one_one,one_off\\n")
        for row in range(8): f.write(f"0,{row},{row // 4},{on},{0},{1 - on},{0.5 * on},{0.5 * on},{1 - on}\\n")
if "--wear.bits_file" in sys.argv:
    with open(after("--wear.bits_file"), "w") as f:
        f.write("sm,bit,zero,one,off\\n")
        for bit in range(64): f.write(f"0,{bit},{0.75 * on},{0.25 * on},{1 - on}\\n")
# Sharing: a launch's stalls, misses, and the CTAs by SM.
for x in d["launches"]:
    x.update({"ctas": 6, "thread_instructions": 30 * x["warp_instructions"], "issue_cycles": x["warp_instructions"], "stall_cycles": {r: 100 for r in (
        "scoreboard", "issue_gate", "structural", "memory", "barrier", "instruction_fetch", "idle")}})
d["stats"]["sm0.l1"].setdefault("read_misses", 200)
d["stats"]["sm0.pipeline.icache"] = {"misses": 30}
d["stats"]["memory.l2_0"].setdefault("read_misses", 40)
if scheme == "warp_level_divergence":
    d["stats"][scheme] = {"partial_ctas": 3, "late_warps": 7}
if scheme in ("register_sharing", "scratchpad_sharing"):
    d["stats"][scheme] = {"acquires": 50, "waits": 20, "wait_cycles": 1000, "transfers": 9, "common_accesses": 70, "storage_bits": 273 if scheme == "register_sharing" else 93}
if "--cpi-ctas" in sys.argv:
    with open(after("--cpi-ctas"), "w") as f:
        f.write("launch,sm,cta,launched,finished\\n")
        for i in range(len(names)):
            for c in range(6): f.write(f"{i},0,{c},1,1000\\n")
json.dump(d, open(after("--stats"), "w"))
if "--pipeline" in sys.argv:
    rows = ["Kanata 0004", "C= 100"]
    last = max(1, trace.count("entry = ") - 1)
    for i, (warp, told) in enumerate([
            (0, f"launch {last}, slot 0, unit sp, R2, PTX line 3"), (1, f"launch {last}, slot 1, unit sp, R2, PTX line 3"),
            (0, f"launch {last}, slot 0, unit sp, R10 <- R2 R3, PTX line 4"), (0, f"launch {last - 1}, slot 0, unit sp, R9, PTX line 1"),
            (0, f"launch {last}, slot 0, unit sp, <- R2, PTX line 5")]):
        rows += [f"I {i} {i} 0", f"L {i} 0 sm0_CTA_0_warp_{warp}:_0x0000_add", f"L {i} 1 " + told.replace(" ", "_"), f"S {i} 0 F",
                 f"E {i} 0 F", f"S {i} 0 O", "C 2", f"E {i} 0 O", f"S {i} 0 W", "C 1", f"E {i} 0 W"]
    with open(after("--pipeline"), "w") as f:
        f.write("".join(r.replace(" ", "\\t").replace("_", " ") + "\\n" for r in rows))
if "--sample" in sys.argv:
    names = ["sm0.register_file.reads", "sm0.register_file.writes", "total.register_file.reads",
             "sm0.l1.accesses_register_read", "sm0.l1.accesses_register_write", "sm0.register_file.main_reads", "sm0.register_file.main_writes"]
    with open(after("--sample-file"), "w") as f:
        f.write("cycle,launch," + ",".join(names) + "\\n")
        for i in range(1, 41): f.write(f"{100 * i},0,{i},2,{i},1,0,1,1\\n")
''',
}

_head = '''#!{python}
# {salt}
import json, os, re, sys, time
def after(option, otherwise=None):
    return sys.argv[sys.argv.index(option) + 1] if option in sys.argv else otherwise
def entries_in(launch):
    return sorted(set(re.findall(r'entry = "(.*?)"', launch)))
def note(what):
    with open({log!r}, "a") as f: f.write(what + " " + " ".join(sys.argv[1:]) + "\\n")
def fail(status, message):
    sys.stderr.write(os.path.basename(sys.argv[0]) + ": " + message + "\\n")
    sys.exit(status)
def wait_if_held():
    held = os.path.join(os.path.dirname(sys.argv[0]), "held")
    if os.path.exists(held):
        with open({log!r}) as f: number = sum(line.startswith("sim") for line in f)
        if number > int(open(held).read()):
            while os.path.exists(held): time.sleep(0.01)
'''


def make(folder: Path, salt: str = "") -> Path:
    """Programs in `folder`; their calls are noted in folder/calls. Another salt makes other programs of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in _programs.items():
        path = folder / name
        path.write_text(_head.format(python=sys.executable, salt=salt, log=str(folder / "calls")) + body)
        os.chmod(path, path.stat().st_mode | stat.S_IXUSR)
    return folder


@functools.lru_cache(maxsize=None)
def _compiled(program: str, log: str):
    return compile(_head.format(python="", salt="", log=log) + _programs[program], program, "exec")


def call(arguments, folder):
    """In place of worker.call(): the same answers without a process for each, of which a page has hundreds."""
    path = Path(arguments[0])
    told = io.StringIO()

    def leave(status):
        raise SystemExit(status)

    own = types.SimpleNamespace(argv=list(arguments), stderr=told, exit=leave)
    # What the program imports comes from here.
    modules = {"json": json, "os": os, "re": re, "sys": own, "time": time}
    names = {"__builtins__": {**vars(__import__("builtins")), "__import__": lambda name, *_: modules[name]}}
    try:
        exec(_compiled(path.name, str(path.parent / "calls")), names)
    except SystemExit as e:
        if e.code:
            return e.code, told.getvalue().strip().split(": ", 1)[-1], 0.0
    return 0, "", 0.0


class PoolHere:
    """In place of pool.Pool: one job after another in this process."""

    def __init__(self, _size):
        self._jobs = []

    def is_full(self):
        return not self.is_idle()

    def is_idle(self):
        return not self._jobs

    def begin(self, name, job):
        self._jobs.append((name, json.dumps(job)))

    def wait(self, _seconds=None):
        name, job = self._jobs.pop()
        told = worker.answer(json.loads(job))
        return [(name, told["failed"], told["error"])]

    def end(self):
        self._jobs.clear()


def patch(test, of_programs=True):
    """For a test: no process for each run (unless the programs have been changed), and no workers."""
    patches = [mock.patch.object(pool, "Pool", PoolHere)]
    if of_programs:
        patches.append(mock.patch.object(worker, "call", call))
    for p in patches:
        p.start()
        test.addCleanup(p.stop)


def hold(folder: Path, after: Optional[int]) -> None:
    """Simulations wait from now on, but for so many of all. None: they do no more."""
    held = folder / "held"
    held.unlink(missing_ok=True)
    if after is not None:
        (folder / "held.part").write_text(str(after))
        os.replace(folder / "held.part", held)


def wait_for(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + LONG
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not so after {LONG} s")
        time.sleep(0.01)


def running(folder: Path) -> bool:
    """Whether a program of this folder runs."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and os.fsencode(folder) + b"/regatta-" in (entry / "cmdline").read_bytes():
                return True
    return False


def calls(folder: Path, what: str = "") -> int:
    log = folder / "calls"
    return sum(line.startswith(what) for line in log.read_text().splitlines()) if log.exists() else 0
