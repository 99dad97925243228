# SPDX-License-Identifier: Apache-2.0
"""Results of studies made by hand: databases as regatta-study writes them, of runs that were never made."""

import itertools
import sqlite3
from pathlib import Path

from regatta.studies import results


def write(folder: Path, runs, seconds=None) -> Path:
    """`runs`: mappings with program, and if they differ from the usual scheme, machine, knobs, seed, repetition, state, status,
    message, totals (cycles, energy_nj, ...), statistics ({(module, name): value}). Gives the database's path. `seconds`: of
    host.csv, by number of the run."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.sqlite"
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA synchronous = OFF")
        database.executescript(results._SCHEMA)
        for number, run in enumerate(runs, 1):
            totals = run.get("totals", {})
            state = run.get("state", "finished")
            status = run.get("status", 0 if state == "finished" else None)
            row = (number, run["program"], run.get("scheme", "baseline"), run.get("machine", "m"), run.get("seed", 1),
                   run.get("repetition", 0), state, status, run.get("message", ""), *(totals.get(k) for k in results.TOTALS), "key")
            database.execute(f"INSERT INTO runs VALUES ({', '.join('?' * len(row))})", row)
            database.executemany("INSERT INTO knobs VALUES (?, ?, ?)", [(number, *k) for k in run.get("knobs", {}).items()])
            database.executemany("INSERT INTO statistics VALUES (?, ?, ?, ?)",
                                 [(number, *k, v) for k, v in run.get("statistics", {}).items()])
    database.close()
    if seconds is not None:
        (folder / "host.csv").write_text("run,seconds\n" + "".join(f"{i},{s:.3f}\n" for i, s in seconds.items()))
    return path


def grid(programs, repetitions=1, schemes=("baseline",), **knobs):
    """Runs of a grid, in the order of regatta-study: totals are made of cost(). Names of knobs have _ in place of their dot."""
    for program in programs:
        for repetition in range(repetitions):
            for scheme in schemes:
                for values in itertools.product(*knobs.values()):
                    set_here = dict(zip((k.replace("_", ".", 1) for k in knobs), values))
                    yield {"program": program, "scheme": scheme, "repetition": repetition, "seed": 1 + repetition,
                           "knobs": set_here, "totals": cost(program, scheme, set_here, repetition)}


def cost(program, scheme, knobs, repetition=0):
    """Numbers that each knob changes: more cycles cost less energy."""
    slow = 1.0 + 0.5 * (scheme != "baseline") + sum(
        0.1 * i * (v if isinstance(v, (int, float)) else len(v)) for i, v in enumerate(knobs.values(), 1))
    cycles = round(1000 * len(program) * slow) + 7 * repetition
    energy = 90000.0 * len(program) / slow + 100 * repetition
    return {"cycles": cycles, "warp_instructions": 500, "thread_instructions": 16000, "ipc": 500 / cycles, "energy_nj": energy,
            "dynamic_nj": 0.75 * energy, "static_nj": 0.25 * energy}
