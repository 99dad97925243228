# SPDX-License-Identifier: Apache-2.0
"""What two runs differ in besides knobs: other programs, a part of the launches, other machines, more than the scheme. It is
said before anything else, and is no cause that a structure of the machine could be blamed for."""

from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .causes import is_of_machine
from .statistics import Run

_ENDINGS = {"interrupted": "was interrupted: its numbers are of the part before",
            "value_mismatch": "stopped at an operand with a wrong value: its numbers are of the part before",
            "deadlock": "stopped in a deadlock: its numbers are of the part before",
            "not_conserved": "broke a conservation law: do not trust its numbers"}


class Apart(NamedTuple):
    """`notes`: sentences. `other_work`: the runs did not do the same work, so that no structure is a cause."""
    notes: List[str]
    other_work: bool


def part_of(run: Run) -> Optional[str]:
    """Of a run of selected launches: how many of how many, and which; None of a run of all."""
    sampling = run.document.get("sampling")
    if not isinstance(sampling, dict):
        return None
    return f"{len(run.document['launches']):,} of {sampling.get('launches', '?'):,} launches ({_short(str(sampling.get('simulated', '?')))})"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _both(a: str, b: str) -> str:
    return f"both {a}" if a == b else f"{a} and {b}"


def _program(run: Run) -> Optional[Mapping[str, Any]]:
    """What the trace holds; None of an earlier version's run."""
    program = run.document.get("program")
    kernels = program.get("kernels") if isinstance(program, dict) else None
    return program if isinstance(kernels, list) and all(isinstance(k, dict) for k in kernels) else None


def _programs(a: Run, b: Run) -> Apart:
    traces = _program(a), _program(b)
    parts = part_of(a), part_of(b)
    found = _old_programs(a, b) if traces[0] is None or traces[1] is None else _traces(traces[0], traces[1], parts[0] == parts[1])
    if parts[0] != parts[1] and not found.other_work:
        told = [f"{name} simulated {part or 'all launches'}" for name, part in zip("AB", parts)]
        return Apart([*found.notes, f"{told[0]}, {told[1]}."], True)
    return found


def _traces(a: Mapping[str, Any], b: Mapping[str, Any], same_part: bool) -> Apart:
    kernels = [{str(k.get("name")): k for k in program["kernels"]} for program in (a, b)]
    if set(kernels[0]) != set(kernels[1]):
        return _other_programs(list(kernels[0]), list(kernels[1]))
    other = [n for n in kernels[0] if kernels[0][n].get("code") != kernels[1][n].get("code")]
    if other:
        x, y = kernels[0][other[0]], kernels[1][other[0]]
        sizes = [_both(str(x.get(what)), str(y.get(what))) + f" {what}" for what in ("instructions", "registers")]
        return Apart([f"A and B ran different code of {_listed(other)} ({other[0]}: {', '.join(sizes)}): it was compiled from other "
                      f"sources or with other options."], True)
    # The mix is that of the simulated launches.
    if a.get("launches") != b.get("launches") or (same_part and a.get("warp_instructions") != b.get("warp_instructions")):
        return _OTHER_INPUTS
    if a.get("data") != b.get("data"):
        return Apart(["A and B ran the same code with other data: other inputs, or other options of regatta-annotate."], False)
    return Apart([], False)


def _old_programs(a: Run, b: Run) -> Apart:
    """By what the launches say, which a scheme may add instructions to."""
    kernels = [list(dict.fromkeys(str(launch["kernel"]) for launch in run.document["launches"])) for run in (a, b)]
    if part_of(a) != part_of(b):
        return Apart([], False)
    if set(kernels[0]) != set(kernels[1]):
        return _other_programs(*kernels)
    grids = [[(launch["kernel"], launch.get("ctas")) for launch in run.document["launches"]] for run in (a, b)]
    if grids[0] != grids[1] or (a.scheme == b.scheme and a.warp_instructions != b.warp_instructions):
        return _OTHER_INPUTS
    return Apart([], False)


def _other_programs(a: Sequence[str], b: Sequence[str]) -> Apart:
    return Apart([f"A and B ran different programs: {_listed(a)} and {_listed(b)}."], True)


_OTHER_INPUTS = Apart(["A and B ran the same kernels on other inputs or grids: they executed other numbers of instructions."], True)


def _sms(run: Run) -> int:
    return len(run.modules(r"sm\d+\.pipeline"))


def _count(number: int) -> str:
    return f"{number:,} SM{'s' if number != 1 else ''}"


def apart(a: Run, b: Run, changed: Mapping[str, Tuple[object, object]]) -> Apart:
    """`changed`: knobs that differ, by name."""
    notes = [f"{name} {_ENDINGS.get(run.ending(), f'did not complete ({run.ending()})')}."
             for name, run in (("A", a), ("B", b)) if run.ending() not in ("completed", "?")]
    programs = _programs(a, b)
    notes += programs.notes
    other_work = programs.other_work
    sms = _sms(a), _sms(b)
    if sms[0] != sms[1] and all(sms):
        notes.append(f"A simulated {_count(sms[0])}, B {_count(sms[1])}: the same CTAs are spread over other numbers of SMs.")
        other_work = True
    if "machine.sms" in changed and "run.machine" not in changed:
        x, y = changed["machine.sms"]
        notes.append(f"A is a part of a machine of {x} SMs, B of {y}: their shares of the L2 and of DRAM differ.")
    knobs = [name for name in changed if not name.startswith("run.")]
    if "run.machine" in changed:
        x, y = changed["run.machine"]
        notes.append(f"A ran on the machine {x}, B on {y}: {len(knobs)} knob{'s' if len(knobs) != 1 else ''} differ"
                     f"{'s' if len(knobs) == 1 else ''}.")
    elif "run.scheme" in changed and not other_work:
        more = [name for name in knobs if is_of_machine(name)]
        if more:
            x, y = changed["run.scheme"]
            told = _listed([f"{name} is {changed[name][1]} instead of {changed[name][0]}" for name in more])
            notes.append(f"A and B differ in more than the scheme ({x} and {y}): {told}. To see what the scheme alone "
                         f"does, run {x} with B's other options.")
    return Apart(notes, other_work)
