#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wave.py FILE.fst [--last N] SIGNAL...: signals of a waveform as a table, a row per clock cycle, in hexadecimal.

For terminals; gtkwave shows the same. A SIGNAL may have a range of bits: req_lanes[511:480]. Needs fst2vcd (Debian
package gtkwave). Values are those just before the rising edge that begins the cycle: what the edge stores.
"""
import argparse
import re
import shutil
import subprocess
import sys

PERIOD = 10  # time units per cycle (platform/cosim)


def fail(message):
    print(f"wave.py: {message}", file=sys.stderr)
    sys.exit(2)


def read(path):
    """{name: [(time, bits as text)]}, of the top module and below; the first of equal names counts."""
    if shutil.which("fst2vcd") is None:
        fail("found no program fst2vcd in PATH, expected it to read waveforms: install Debian's package gtkwave "
             "(.cmake/setup-packages.sh --cosim)")
    try:
        open(path, "rb").close()
    except OSError as e:
        fail(f"{path}: cannot be read: {e.strerror}")
    vcd = subprocess.run(["fst2vcd", "-f", path], capture_output=True, text=True)
    if vcd.returncode != 0 or "$enddefinitions" not in vcd.stdout:
        fail(f"{path}: found no waveform, expected one as --compressor.waveform writes it: fst2vcd says '{vcd.stderr.strip()}'")
    names, changes, time = {}, {}, 0
    for line in vcd.stdout.splitlines():
        word = line.split()
        if not word:
            continue
        if word[0] == "$var":
            names.setdefault(word[4].split("[")[0], word[3])
        elif line[0] == "#":
            time = int(line[1:])
        elif line[0] in "bB":
            changes.setdefault(word[1], []).append((time, word[0][1:]))
        elif line[0] in "01xzXZ":
            changes.setdefault(line[1:], []).append((time, line[0]))
    return {name: changes.get(code, []) for name, code in names.items()}


def value_at(changes, time):
    bits = "0"
    for when, value in changes:
        if when > time:
            break
        bits = value
    return bits


def shown(bits, high, low):
    if high is not None:
        bits = bits.rjust(high + 1, "0")[::-1][low:high + 1][::-1]
    return "x" if re.search("[xzXZ]", bits) else f"{int(bits, 2):x}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--last", type=int, default=10, help="cycles, up to the end of the waveform")
    parser.add_argument("signals", nargs="+")
    options = parser.parse_args()
    if options.last < 1:
        fail(f"--last: found {options.last}, expected 1 or more")
    waves = read(options.file)
    columns = []
    for signal in options.signals:
        match = re.fullmatch(r"(\w+)(?:\[(\d+):(\d+)\])?", signal)
        if match is None:
            fail(f"found '{signal}', expected a signal, NAME or NAME[HIGH:LOW]")
        name, high, low = match.groups()
        if name not in waves:
            fail(f"{options.file}: found no signal '{name}', expected some of {', '.join(sorted(waves))}")
        columns.append((signal, waves[name], None if high is None else int(high), None if low is None else int(low)))
    end = max((changes[-1][0] for changes in waves.values() if changes), default=0)
    rows = [["cycle", *options.signals]]
    for cycle in range(max(1, end // PERIOD - options.last + 1), end // PERIOD + 1):
        before = cycle * PERIOD - PERIOD // 2
        rows.append([str(cycle), *(shown(value_at(c, before), high, low) for _, c, high, low in columns)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.rjust(width) for text, width in zip(row, widths)))


if __name__ == "__main__":
    main()
