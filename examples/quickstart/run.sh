#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh [BIN [FOLDER]]: one program from PTX to cycles under three operand storages, a flipped bit that is found, and a
# knob. BIN holds the tools; results go to FOLDER, and the tables below, which README.md quotes, to tables.txt in it
# (check_page.py). Without FOLDER this is a checkout: BIN is relative to its root (default: build/release/bin), FOLDER is
# build/quickstart. `regatta demo` names both.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=${1:-build/release/bin}
kernels=$root/traces/kernels
if [ $# -lt 2 ]; then
  cd "$root"
  kernels=traces/kernels
fi
out=${2:-build/quickstart}
mkdir -p "$out"
: >"$out/tables.txt"

bold=""
plain=""
if [ -t 1 ]; then
  bold=$(printf '\033[1m')
  plain=$(printf '\033[0m')
fi
title() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }

# show COMMAND...: says what is run, runs it.
show() {
  echo "\$ $*"
  "$@"
}

# simulate NAME EXPECTED_STATUS OPTION...: a run whose results are $out/NAME.json and whose tables and messages are
# $out/NAME.txt; they are shown when the run does not end as it should.
simulate() {
  name=$1
  expected=$2
  shift 2
  echo "\$ $bin/regatta-sim $out/srad.rgt ${*:+$* }--stats $out/$name.json"
  status=0
  "$bin/regatta-sim" "$out/srad.rgt" "$@" --stats "$out/$name.json" >"$out/$name.txt" 2>&1 || status=$?
  [ "$status" -eq "$expected" ] && return 0
  cat "$out/$name.txt"
  echo "run.sh: regatta-sim ended with status $status, expected $expected" >&2
  exit 1
}

# results NAME...: a line per run of what the tables below need: name, cycles, total and register energy in nJ, operands
# checked, mismatches, shares of scheduler cycles stalled by units and at the issue gate, share of instructions that WIR
# reused. stats.json is indented by 2 per level.
results() {
  for name in "$@"; do
    awk -v name="$name" '
      function number(line) { sub(/^[^:]*: */, "", line); sub(/,$/, "", line); return line + 0 }
      /^  "/ { section = $1 }
      /^  "cycles":/ { cycles = number($0) }
      /^  "issue_cycles":/ { slots = number($0) }
      /^    "operands_checked":/ { checked = number($0) }
      /^    "mismatches":/ { mismatches = number($0) }
      section == "\"stall_cycles\":" && /^    "[a-z_]*": [0-9]/ { slots += number($0) }
      section == "\"stall_cycles\":" && /^    "issue_gate":/ { gate = number($0) }
      section == "\"stall_cycles\":" && /^    "structural":/ { structural = number($0) }
      section == "\"stats\":" && /^      "bypass_fraction":/ { reused = number($0) }
      section == "\"energy\":" && /^    "total_nj":/ { total = number($0) }
      section == "\"energy\":" && /^      "register_structures":/ && !registers { registers = number($0) }
      END { print name, cycles, total, registers, checked, mismatches, structural / slots, gate / slots, reused + 0 }
    ' "$out/$name.json"
  done
}

title "1. Execute a kernel's PTX (srad, an image filter of six kernels) and write what it did as a trace"
show "$bin/regatta-annotate" --launch "$kernels/srad/launch.toml" --out "$out/srad.rgt" >"$out/annotate.txt"
tail -n 2 "$out/annotate.txt"

title "2. One trace, three operand storages: one SM of a GTX 980, every operand compared with the program's value"
simulate baseline 0
simulate regless 0 --scheme regless
simulate wir 0 --scheme wir --machine gtx980
results baseline regless wir | awk '
  BEGIN {
    printf "\n  %-10s %10s %8s %11s %14s %17s %10s\n", "scheme", "cycles", "", "energy uJ", "registers uJ", "operands checked", "mismatches"
  }
  NR == 1 { cycles = $2; total = $3; registers = $4 }
  {
    printf "  %-10s %10d %+7.1f%% %11.1f %14.1f %17d %10d\n", $1, $2, 100 * ($2 / cycles - 1), $3 / 1000, $4 / 1000, $5, $6
    energy[$1] = $4
    reused[$1] = $9
  }
  END {
    printf "\n  RegLess holds only the registers of the code that runs: its register structures take %.0f %% of the baseline\047s energy.\n", 100 * energy["regless"] / registers
    printf "  WIR took %.1f %% of its instructions\047 results from earlier instructions; its extra stages take cycles.\n", 100 * reused["wir"]
  }' | tee -a "$out/tables.txt"

title "3. A model that loses a value cannot pass: flip one bit of one register as it is written"
simulate fault 3 --fault.at write --fault.cycle 100000 --fault.bit 7
echo
sed -n 's/^\(info: \)\{0,1\}\(fault planted\)/  \2/p; s/^\(error: \)\{0,1\}\(value mismatch\)/  \2/p' "$out/fault.txt"
echo "  The run ended there with status 3. Without the check (--no-check) it would have given plausible cycles."

title "4. One knob: RegLess with a smaller staging unit (512 registers unless said otherwise)"
simulate osu256 0 --scheme regless --osu.entries 256
simulate osu128 0 --scheme regless --osu.entries 128
results regless osu256 osu128 | awk '
  BEGIN { printf "\n  %-12s %10s %8s %14s %18s %14s\n", "osu.entries", "cycles", "", "registers uJ", "wait for a unit", "at the gate" }
  NR == 1 { cycles = $2 }
  {
    entries = NR == 1 ? 512 : substr($1, 4)
    printf "  %-12d %10d %+7.1f%% %14.1f %17.1f%% %13.1f%%\n", entries, $2, 100 * ($2 / cycles - 1), $4 / 1000, 100 * $7, 100 * $8
  }
  END {
    print "\n  With 512 entries the schedulers wait for a unit, that of loads and stores: memory sets the pace. With 256, warps wait"
    print "  at the issue gate instead, for room in the staging unit, and memory still sets the pace. With 128, too few warps run"
    print "  to keep memory busy: cycles grow."
  }' | tee -a "$out/tables.txt"

title "Tables of each run, and everything that was counted: $out/*.txt and *.json"
echo "Next: README.md, \"Your own kernel in five minutes\"; $kernels has more programs."
