#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the table "Energy of the kernels" of platform/assembly/README.md: forty CTAs of each kernel on one SM of gtx980
and of gtx480, annotated as platform/machines/README.md says."""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Dict, List

root = Path(__file__).resolve().parents[2]
machines: Dict[str, List[str]] = {"gtx980": [], "gtx480": ["--max-registers", "63"]}


def simulated(tools: Path, kernel: Path, machine: str, folder: Path) -> Dict:
    trace, stats = folder / "k.rgt", folder / "k.json"
    annotate = [tools / "regatta-annotate", "--launch", kernel / "launch.toml", "--ctas", "0:40", "--out", trace]
    simulate = [tools / "regatta-sim", trace, "--machine", machine, "--stats", stats]
    for command in (annotate + machines[machine], simulate):
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    return json.loads(stats.read_text())


def cells(d: Dict) -> List[str]:
    energy = d["energy"]
    structures = energy["by_structure"]

    def share(nj: float) -> str:
        return f"{100 * nj / energy['total_nj']:.0f}"
    registers = f"**{100 * structures['register_structures'] / energy['total_nj']:.1f}**"
    return [f"{d['ipc']:.2f}", f"{energy['mean_watts']:.1f}", share(energy["static_nj"]),
            share(structures["dram"] + structures["memory_controller"]), registers]


def accesses(d: Dict) -> float:
    """Of the register file, per warp instruction."""
    file = d["stats"]["sm0.register_file"]
    return (file["reads"] + file["writes"]) / d["warp_instructions"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=Path, default=root / "build" / "release" / "bin", help="folder of the tools")
    tools = parser.parse_args().bin
    columns = ["kernel", "RF accesses per instruction"]
    for machine in machines:
        columns += [f"{machine}: IPC", "W", "static %", "DRAM %", "registers %"]
    print("| " + " | ".join(columns) + " |")
    print("| " + " | ".join("---" for _ in columns) + " |")
    with tempfile.TemporaryDirectory() as folder:
        for launch in sorted((root / "traces" / "kernels").glob("*/launch.toml")):
            results = [simulated(tools, launch.parent, machine, Path(folder)) for machine in machines]
            row = [f"`{launch.parent.name}`", f"{accesses(results[0]):.2f}"]
            for d in results:
                row += cells(d)
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
