# SPDX-License-Identifier: Apache-2.0
"""Ideas of register storage, the machines on which they run, and the programs: what the page compares."""

import csv
import math
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Tuple

from regatta_reproduce import ReproductionError, suite
from regatta_reproduce.command import root

Options = Tuple[str, ...]

#: The suites of the five papers and chapters; RFH is measured on RegLess's, of which it is a rival.
papers = ("regless", "wir", "finereg", "greener", "register_sharing")
fewest_papers = 3
most_warp_instructions = 3_000_000
#: What each kernel of the repository executes on one SM, kept by another page.
known_sizes = Path(__file__).resolve().parent.parent / "suites" / "results.csv"


def chosen(suites: Dict[str, suite.Suite], sizes: Dict[str, int]) -> List[str]:
    """Kernels that stand for programs of at least `fewest_papers` papers, and execute at most `most_warp_instructions`; by name."""
    found: Dict[str, int] = {}
    for name in papers:
        for kernel in dict.fromkeys(p.kernel for p in suites[name].listed() if p.kernel):
            found[kernel] = found.get(kernel, 0) + 1
    return sorted(k for k, n in found.items() if n >= fewest_papers and sizes[k] <= most_warp_instructions)


def _sizes() -> Dict[str, int]:
    try:
        with known_sizes.open(encoding="utf-8") as file:
            return {row["kernel"]: int(row["warp_instructions"]) for row in csv.DictReader(file)}
    except OSError as e:
        raise ReproductionError(f"cannot read '{known_sizes}': {e.strerror}") from e


suites = suite.read_all()
programs = suite.Suite("modern", "the papers of five ideas", "programs that at least three of them measure", "h100", 32, 64,
                       tuple(suite.Program(k, kernel=k) for k in chosen(suites, _sizes())))

# --- machines ---

#: An SM has its share of L2 and DRAM, as on the machines of the papers: 12.8 bytes of DRAM a cycle, on gtx980 12.4.
_one_sm = ("--sms", "1", "--machine.memory", "share")
h100 = ("--machine", "h100", *_one_sm)
collectors = ("--machine", str(root / "examples" / "validation" / "h100_collectors.toml"), *_one_sm)
modern_code = ("--target", "sm_90", "--control")
reordered = ("--reorder-registers",)
gto, two_level, owf = (("--scheduler", s) for s in ("gto", "two_level", "owf"))


@dataclass(frozen=True)
class Gpu:
    """What options of a scheme are scaled by."""
    registers: int  # warp registers of an SM
    schedulers: int
    clock_mhz: int


def gpu(name: str) -> Gpu:
    """Of a preset, with what it has of its bases."""
    found: Dict[Tuple[str, str], int] = {}
    while name:
        path = suite.machines_folder / f"{name}.toml"
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        for table, key in (("register_file", "registers"), ("sm", "schedulers"), ("machine", "clock_mhz")):
            if key in document.get(table, {}):
                found.setdefault((table, key), document[table][key])
        name = document.get("machine", {}).get("base", "")
    return Gpu(found["register_file", "registers"], found["sm", "schedulers"], found["machine", "clock_mhz"])


def by_registers(published: int, old: Gpu, new: Gpu) -> int:
    return published * new.registers // old.registers


def by_schedulers(published: int, old: Gpu, new: Gpu) -> int:
    return published * new.schedulers // old.schedulers


def by_clock(published: int, old: Gpu, new: Gpu) -> int:
    """Cycles: what takes the same time, in whole cycles."""
    return math.ceil(published * new.clock_mhz / old.clock_mhz)


# --- ideas ---

@dataclass(frozen=True)
class Knob:
    """An option of a scheme, as its paper has it, and the rule by which another machine has it."""
    name: str
    published: int
    rule: str  # of `rules`


rules = {"by the registers of an SM": by_registers, "by the schedulers": by_schedulers, "by the clock, as a time": by_clock}
of_registers, of_schedulers, of_clock = rules


@dataclass(frozen=True)
class Idea:
    """`scheduler`: of the scheme and of the baseline that it is compared with."""
    title: str
    scheme: str
    suite: str
    scheduler: Options
    knobs: Tuple[Knob, ...] = ()
    machine: Options = ()  # beside the suite's machine
    code: Options = ()     # options of regatta-annotate that baseline and scheme have
    is_reference: bool = False  # no idea: a part of what others have to assume

    @property
    def own(self) -> str:
        """The paper's machine."""
        return suites[self.suite].machine

    def sized(self, knob: Knob, machine: str) -> int:
        return rules[knob.rule](knob.published, gpu(self.own), gpu(machine))

    def options(self, machine: str) -> Options:
        """Of the scheme on a machine."""
        sized = tuple(o for k in self.knobs for o in ("--" + k.name, str(self.sized(k, machine))))
        return ("--scheme", self.scheme) + self.scheduler + sized


tables = tuple(Knob(name, n, of_registers) for name, n in (("reuse_buffer.entries", 256), ("vsb.entries", 256), ("verify_cache.entries", 8)))
ports = tuple(Knob(name, n, of_schedulers) for name, n in (("reuse_buffer.ports", 2), ("vsb.ports", 2), ("verify_cache.ports", 2), ("wir.allocator_ports", 1)))
halves = tuple(Knob(name, 1024, of_registers) for name in ("finereg.active_registers", "finereg.pending_registers"))
wakes = (Knob("sleep_transistors.wake_sleep", 1, of_clock), Knob("sleep_transistors.wake_off", 2, of_clock))

ideas: Dict[str, Idea] = {
    "regless": Idea("RegLess", "regless", "regless", gto, (Knob("osu.entries", 512, of_registers),)),
    "rfh": Idea("RFH", "rfh", "regless", two_level),
    "wir": Idea("WIR", "wir", "wir", gto, tables + ports),
    "finereg": Idea("FineReg", "finereg", "finereg", gto, halves),
    "virtual_thread": Idea("Virtual Thread", "virtual_thread", "finereg", gto),
    "greener": Idea("GREENER", "greener", "greener", gto, wakes),
    "register_sharing": Idea("register sharing", "register_sharing", "register_sharing", owf, machine=("--shared.bytes", "49152"), code=reordered),
    "scratchpad_sharing": Idea("scratchpad sharing", "scratchpad_sharing", "register_sharing", owf),
    "unplanned": Idea("a file that plans no reads", "always_on", "greener", gto, is_reference=True),
}


def replaced(options: Options, others: Options) -> Options:
    """With other values for some of the options; both are names and values in turn."""
    values = dict(zip(options[::2], options[1::2]))
    values.update(zip(others[::2], others[1::2]))
    return tuple(word for pair in values.items() for word in pair)


# --- places: a machine and the code that runs on it ---

@dataclass(frozen=True)
class Place:
    """`machine` empty: each idea's own, with its paper's code and options. `others` replaces options of a scheme, by idea."""
    title: str
    machine: Options = ()
    code: Options = ()       # beside the idea's; empty: as the idea's suite has it
    scaled: bool = True
    more: Options = ()       # options of baseline and scheme
    only: Tuple[str, ...] = ()
    others: Dict[str, Options] = field(default_factory=dict)
    may_be_refused: bool = False

    @property
    def ideas(self) -> List[str]:
        return list(self.only) or [i for i in ideas if not ideas[i].is_reference]

    def annotated(self, idea: Idea) -> Options:
        return (self.code or suites[idea.suite].annotate_options()) + idea.code

    def on(self, idea: Idea) -> Options:
        return (self.machine or ("--machine", idea.own, "--sms", "1") + idea.machine) + self.more

    def baseline(self, idea: Idea) -> Tuple[Options, Options]:
        """Options of regatta-annotate, and of regatta-sim."""
        return self.annotated(idea), self.on(idea) + idea.scheduler

    def scheme(self, key: str) -> Tuple[Options, Options]:
        idea = ideas[key]
        options = idea.options("h100" if self.machine and self.scaled else idea.own)
        return self.annotated(idea), self.on(idea) + replaced(options, self.others.get(key, ()))


old, modern, older, bits = "own", "h100", "collectors", "bits"
places: Dict[str, Place] = {
    old: Place("its paper's machine"),
    modern: Place("h100", h100, modern_code),
    older: Place("h100, collectors", collectors, modern_code),
    bits: Place("h100, control bits", h100 + ("--sm.dependences", "control_bits"), modern_code, may_be_refused=True),
}


# --- single changes ---

def latencies(machine: str) -> Options:
    """Of arithmetic on a preset, which states them itself; those of h100 that have a pipeline of two halves keep its width."""
    table = tomllib.loads((suite.machines_folder / f"{machine}.toml").read_text(encoding="utf-8"))["latency"]
    return tuple(o for name, cycles in table.items() if name in arithmetic for o in (f"--latency.{name}", str(cycles)))


arithmetic = tuple(f"{kind}_{what}" for kind, all_of in (("int", ("add", "max", "mul", "mad")), ("fp32", ("add", "max", "mul", "mad"))) for what in all_of)
_whole = ("--machine", "h100", "--sms", "1")
_own_code = suites["regless"].annotate_options()

#: Each gives the reason for a number of the page. Baseline and scheme have them, but for `others` and `scaled`.
changes: Dict[str, Place] = {
    "code": Place("the code of `gtx980` (`--addresses 32`)", h100, _own_code, only=("regless", "wir", "finereg")),
    "larger": Place("half of the registers in place of a quarter", h100, modern_code, only=("regless",), others={"regless": ("--osu.entries", "1024")}),
    "bypass": Place("data that bypass the L1, as on `gtx980`", h100, modern_code, more=("--l1.data_policy", "bypass"), only=("regless",)),
    "latencies": Place("arithmetic with the latencies of `gtx480`", h100, modern_code, more=latencies("gtx480"), only=("wir",)),
    "table": Place("the energy table of `gtx480`", h100, modern_code, more=("--energy.table", "fermi40"), only=("wir",)),
    "published": Place("the knobs of the paper, not scaled", h100, modern_code, scaled=False, only=("wir", "greener")),
    "whole": Place("L2 and DRAM of the whole machine", _whole, modern_code, only=("finereg", "virtual_thread")),
    "launches": Place("CTAs and warps that start at once", h100, modern_code, more=("--sm.cta_launch", "0", "--sm.warp_launch", "0"),
                      only=("finereg", "virtual_thread")),
    "active": Place("256 KB for active CTAs beside the 128 KB for pending ones", h100, modern_code, only=("finereg",),
                    others={"finereg": ("--finereg.active_registers", "2048")}),
    "registers": Place("the registers of `fermi_sharing`: 1,024 warp registers", h100, modern_code, more=("--register_file.registers", "1024"),
                       only=("register_sharing",)),
    "scratchpad": Place("the shared memory of `fermi_sharing`: 16 KB", h100, modern_code, more=("--shared.bytes", "16384", "--shared.cta_bytes", "16384"),
                        only=("scratchpad_sharing",)),
    "unplanned": Place("in place of the baseline's file (`always_on`)", h100, modern_code, only=("unplanned",)),
}
