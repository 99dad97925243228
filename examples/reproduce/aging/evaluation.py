# SPDX-License-Identifier: Apache-2.0
"""The paper's quantities, computed per kernel from our runs and compared with the paper's numbers."""

from typing import Dict, List, Optional

from regatta.means import geomean, mean
from regatta.statistics import of_all_sms, value
from regatta_reproduce import evaluation, suite
from regatta_reproduce.paper import Comparisons

base = evaluation.baseline
#: Runs by --scheme, with the paper's names; the first is the reference for the others.
schemes = {"always_on": "baseline", "rar": "RAR", "argo": "ARGO", "wc": "WC", "rc": "RC", "rc_rar": "RC+RAR"}
unchanged = "always_on"
#: The reference for energies. The paper's baseline for energy does not switch unused registers off (section 6.6); its
#: baseline for duty cycles does (section 6.2).
unswitched = "unswitched"
#: Trace options of each machine. The paper's machine comes first, and its runs have no suffix. The other machine runs the
#: given CTAs of every launch, four times as many as it holds with the usual 256 threads.
machines = {"hd7770": [], "k20x": ["--ctas", "0:32"]}
#: Runs on the paper's machine of code with addresses of 32 bits.
narrow = {name: f"{name}-narrow" for name in (unchanged, "rc_rar")}
patterns = {"constant": "constant", "single_delta": "single delta", "double_delta": "double delta", "other": "other"}
bits = {"zero": "0", "one": "1"}
#: States of a bit in the files of the wear observer.
states = {"zero": "holds 0", "one": "holds 1", "off": "is off"}
#: Table 5: registers in use and windows not used. The ids follow its order, as the suite does.
table5 = {p.name: (f"AGING-{41 + 2 * i:03}", f"AGING-{42 + 2 * i:03}")
          for i, p in enumerate(suite.of_paper("aging").listed())}
#: Section 3.2: register writes with a pattern.
pattern_ids = {"MatrixT": ("AGING-028", "AGING-031"), "QRandS": ("AGING-029",), "RadixS": ("AGING-030",), "BlackS": ("AGING-032",)}
#: Section 6.2: longest time that a bit holds 0 under ARGO.
argo_ids = {"BlackS": "AGING-009", "MatrixM": "AGING-010", "SimConv": "AGING-011"}
#: Kernels whose registers are drawn one by one, and the paper's corresponding figures.
drawn = {"black_scholes": ("fig14_zero_black_scholes", "Fig 14", "fig17_one_black_scholes", "Fig 17"),
         "dct8x8": ("fig15_zero_dct8x8", "Fig 15", "fig18_one_dct8x8", "Fig 18")}
#: Fig 21's parts of the energy.
parts = {"slice_leakage": "slice, leakage", "logic_leakage": "logic, leakage", "slice_dynamic": "slice, dynamic",
         "logic_dynamic": "logic, dynamic", "wakeup": "wake-up"}


def of(name: str, machine: str) -> str:
    """A run's name."""
    return name if machine == "hd7770" else f"{name}-{machine}"


class Evaluation(evaluation.Evaluation):
    # --- one run ---

    def aging(self, kernel: str, name: str, key: str) -> float:
        return self.statistic(kernel, name, "stats.aging." + key)

    def patterned(self, kernel: str, name: str = "rc_rar") -> Dict[str, float]:
        """Fraction of the register writes with each pattern."""
        counts = {p: self.aging(kernel, name, "writes." + p) for p in patterns}
        total = sum(counts.values())
        return {p: n / total if total else 0.0 for p, n in counts.items()}

    def compressible(self, kernel: str) -> float:
        return 1 - self.patterned(kernel)["other"]

    def longest(self, kernel: str, name: str, bit: str) -> float:
        """Fraction of the time that the bit that holds a 0 (or a 1) longest does so."""
        return self.aging(kernel, name, f"duty.{bit}.longest")

    def shortened(self, kernel: str, name: str, bit: str) -> float:
        return 1 - self.longest(kernel, name, bit) / self.longest(kernel, unchanged, bit)

    def shift(self, kernel: str, name: str, transistor: str) -> float:
        """Shift of the threshold voltage ("t0", "t1"), relative to the largest possible shift."""
        return self.aging(kernel, name, f"vth.{transistor}")

    def cycles_added(self, kernel: str, name: str, to: str = unchanged) -> float:
        return self.run_time(kernel, name, to) - 1

    def energy_part(self, kernel: str, name: str, part: str, to: str = unswitched) -> float:
        """Energy of a part, relative to the energy of all parts in the reference run."""
        return self.aging(kernel, name, "energy." + part) / sum(self.aging(kernel, to, "energy." + p) for p in parts)

    def register_energy(self, kernel: str, name: str, to: str = unswitched) -> float:
        return sum(self.energy_part(kernel, name, p, to) for p in parts)

    def leakage_saved(self, kernel: str, name: str) -> float:
        """Of the leakage of slice and added circuits."""
        def leakage(run: str) -> float:
            return sum(self.aging(kernel, run, "energy." + p) for p in ("slice_leakage", "logic_leakage"))
        return 1 - leakage(name) / leakage(unswitched)

    def moves(self, kernel: str, name: str = "rc_rar") -> float:
        """Moves before divergent writes, as a fraction of the register writes."""
        writes = sum(self.aging(kernel, name, "writes." + p) for p in patterns)
        return self.aging(kernel, name, "movs_inserted") / writes if writes else 0.0

    def accesses_per_wake(self, kernel: str, name: str = "rc_rar") -> Optional[float]:
        d = self.document(kernel, name)
        woken = self.aging(kernel, name, "rows_woken")
        accesses = of_all_sms(d, "register_file", "reads") + of_all_sms(d, "register_file", "writes")
        return accesses / woken if woken else None

    def in_use(self, kernel: str, name: str = base) -> float:
        """Largest fraction of the registers that resident warps have."""
        d = self.document(kernel, name)
        return of_all_sms(d, "pipeline", "resident_registers_max") / value(d, "config.register_file.registers")

    def windows(self, kernel: str) -> float:
        """Windows of a slice that no warp has when the most warps are resident: as many as fit into the registers that are
        not in use."""
        report = self.results[(kernel, base)].report
        launched = {launch["entry"] for launch in report["launches"]}
        registers = max(entry["registers"] for entry in report["entries"] if entry["name"] in launched)
        d = self.document(kernel, base)
        slices = value(d, "config.sm.sub_cores")
        left = (1 - self.in_use(kernel)) * value(d, "config.register_file.registers") / slices
        granularity = value(d, "config.sm.register_granularity")
        return float(left // (-(-registers // granularity) * granularity))

    # --- by register and by bit ---

    def rows(self, kernel: str, name: str, bit: str) -> Dict[str, List[float]]:
        """For each register of a slice, the bit that holds 0 (or 1) longest: fractions of the time that it holds 0, holds 1
        and is off."""
        table = self.results[(kernel, name)].tables["rows"]
        first = [i for i, s in enumerate(table["slice"]) if s == 0]
        return {state: [table[f"{bit}_{state}"][i] for i in first] for state in states}

    def bits_of(self, name: str) -> Dict[str, List[float]]:
        """For each bit of a register: fractions of the time that it holds 0, holds 1 and is off, averaged over the kernels."""
        tables = [self.results[(k, name)].tables["bits"] for k in self.kernels]
        return {state: [mean(column) for column in zip(*(t[state] for t in tables))] for state in states}

    def component(self, name: str) -> Dict[str, List[float]]:
        """The same for each bit of a component, averaged over the lanes."""
        return {state: [mean(column[b::32]) for b in range(32)] for state, column in self.bits_of(name).items()}

    # --- over the kernels ---

    def mean_cycles_added(self, name: str, to: str = unchanged) -> float:
        return geomean(1 + self.cycles_added(k, name, to) for k in self.counted) - 1

    # --- comparison with the paper ---

    def compare(self, c: Comparisons) -> None:
        percent = 100.0
        c.add("AGING-027", percent * self.average(self.compressible))
        c.add("AGING-033", percent * self.average(self.moves))
        for name, value_id in ((unchanged, "AGING-007"), ("wc", "AGING-008")):
            c.add(value_id, percent * min(self.longest(k, name, "zero") for k in self.kernels))
        ours = self.counterparts
        whole = len(ours) == len(table5)
        for name, ids in pattern_ids.items():
            for value_id in ids if name in ours else ():
                c.add(value_id, percent * self.compressible(ours[name]))
        for name, value_id in argo_ids.items():
            if name in ours:
                c.add(value_id, percent * self.longest(ours[name], "argo", "zero"))
        c.add("SEC6.2-RAR", percent * self.average(lambda k: self.shortened(k, "rar", "zero")))
        if whole:
            c.add("SEC3.2-LEAST", min(self.kernels, key=self.compressible) == "black_scholes")
            c.add("SEC6.2-HISTOGRAM", self.longest("histogram", "rc", "zero") >
                  self.average(lambda k: self.longest(k, "rc", "zero")))
            c.add("SEC6.2-ROTATED", all(self.shortened(ours[n], "rc_rar", "zero") >
                                        self.average(lambda k: self.shortened(k, "rc_rar", "zero"))
                                        for n in ("QRandS", "SimConv")))
            leakage = {k: {n: self.aging(k, n, "energy.slice_leakage") for n in ("wc", "rc_rar")} for k in self.kernels}
            c.add("SEC6.6-LEAKAGE", all(leakage[ours[n]]["rc_rar"] < leakage[ours[n]]["wc"] for n in ("MatrixM", "Reduct")))
            c.add("SEC6.6-HISTOGRAM", leakage["histogram"]["wc"] < leakage["histogram"]["rc_rar"])
            c.add("SEC6.6-BLACKS", [k for k in self.kernels if self.leakage_saved(k, "rc_rar") <= 0] == ["black_scholes"])
        if "black_scholes" in self.kernels:
            held = [self.rows("black_scholes", n, "one") for n in (unchanged, "wc")]
            c.add("AGING-036", percent * min(one for of_run in held for one, off in zip(of_run["one"], of_run["off"]) if off < 1))
        c.add("AGING-035", percent * mean(self.component(unchanged)["zero"][16:31]), "upper half of a component but its sign")
        for bit, transistor, ids, shifts, order in (
                ("zero", "t0", ("AGING-001", "AGING-003", "AGING-004"), ("AGING-012", "AGING-014"), "FIG13-ORDER"),
                ("one", "t1", ("AGING-002", "AGING-005", "AGING-006"), ("AGING-013", "AGING-015"), "FIG16-ORDER")):
            shortened = {n: self.average(lambda k: self.shortened(k, n, bit)) for n in ("rc_rar", "argo", "rc")}
            for value_id, n in zip(ids, shortened):
                c.add(value_id, percent * shortened[n])
            c.add(order, [schemes[n] for n in sorted(shortened, key=lambda n: -shortened[n])])
            for value_id, n in zip(shifts, ("rc_rar", "argo")):
                c.add(value_id, percent * self.average(
                    lambda k: 1 - self.shift(k, n, transistor) / self.shift(k, unchanged, transistor)))
        for n, value_id in ((unchanged, "AGING-016"), ("argo", "AGING-017"), ("rc_rar", "AGING-018")):
            c.add(value_id, percent * self.average(lambda k: self.aging(k, n, "ts_increase")))
        for n, value_id in (("wc", "AGING-022"), ("rc_rar", "AGING-023"), ("argo", "AGING-024")):
            c.add(value_id, percent * self.mean_cycles_added(n), "geometric mean")
        c.add("AGING-025", percent * self.mean_cycles_added("rc_rar"), "geometric mean")
        for n, value_id in (("rc_rar", "AGING-019"), ("wc", "AGING-020"), ("argo", "AGING-021")):
            c.add(value_id, percent * self.average(lambda k: 1 - self.register_energy(k, n)))
        wakes = [n for n in (self.accesses_per_wake(k) for k in self.kernels) if n is not None]
        if wakes:
            c.add("AGING-037", geomean(wakes), "geometric mean")
        for name, (used, windows) in table5.items():
            if name in ours:
                c.add(used, percent * self.in_use(ours[name]))
                c.add(windows, self.windows(ours[name]))
        if "dct8x8" in self.kernels:
            d = self.document("dct8x8", base)
            c.add("AGING-038", self.in_use("dct8x8") * value(d, "config.register_file.registers") / value(d, "config.sm.sub_cores"))
