# SPDX-License-Identifier: Apache-2.0
# Common part of the prove.sh of blocks in RTL, which source it in the folder that has the RTL. `limit` is the most seconds of a proof.
# proof/proved.txt names the sources for which all of a script's proofs held. With REGATTA_PROOFS=changed a script whose sources
# are those proves nothing again; with REGATTA_PROOFS=record it proves all, and writes the file. Commit it with the sources.
set -u
command -v yosys >/dev/null || { echo "prove.sh: yosys is missing (.cmake/setup-packages.sh --cosim installs it)" >&2; exit 2; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
passed=0

# Everything that a proof depends on: yosys, what it reads in this folder, and the scripts.
sources() {
  {
    yosys -V
    find . -name '*.sv' -o -name '*.svh' | LC_ALL=C sort | xargs cat
    cat proof/prove.sh "$(sed -n 's/^\. //p' proof/prove.sh)"
  } | sha256sum | cut -d ' ' -f 1
}
of_sources=$(sources)
if [ "${REGATTA_PROOFS:-}" = changed ] && grep -qs "^$of_sources " proof/proved.txt; then
  echo "proof/proved.txt: all proofs held for these sources: $(sed -n "s/^$of_sources //p" proof/proved.txt)"
  exit 0
fi

# run NAME DEFINE EXPECTED SCRIPT: a proof by yosys. EXPECTED is "proved" or "refuted"; DEFINE is part of the title.
run() {
  start=$(date +%s)
  timeout "$limit" yosys -q -p "$4" >"$log" 2>&1
  status=$?
  if [ $status -eq 0 ]; then found=proved
  elif grep -q 'proof did fail' "$log"; then found=refuted
  elif [ $status -eq 124 ]; then found="not decided in $limit s"
  else found="error"; cat "$log" >&2
  fi
  verdict=ok
  if [ "$found" = "$3" ]; then passed=$((passed + 1)); else verdict="FAILED, expected $3"; failed=$((failed + 1)); fi
  echo "$1 ${2:-as it is}: $found, $(($(date +%s) - start)) s: $verdict"
}

# prove_equal GATE GATE_FILES GOLD GOLD_FILES DEFINE EXPECTED: two modules with the same ports, without state, for all inputs.
prove_equal() {
  run "$1" "$5" "$6" "
    read_verilog -sv $5 $2
    prep -flatten -top $1; design -stash gate
    read_verilog -sv $4
    prep -flatten -top $3; design -stash gold
    design -copy-from gate -as gate $1
    design -copy-from gold -as gold $3
    miter -equiv -flatten -make_outputs gold gate miter
    hierarchy -top miter
    sat -verify -prove trigger 0 miter"
}

# prove_asserts TOP FILES DEFINE EXPECTED: the assertions of a module without state, for all inputs.
prove_asserts() {
  run "$1" "$3" "$4" "read_verilog -sv -formal $3 $2; prep -flatten -top $1; sat -verify -prove-asserts $1"
}

# prove_induction TOP FILES DEFINE EXPECTED: the assertions of a module with state, by induction from registers that are 0.
prove_induction() {
  run "$1" "$3" "$4" "
    read_verilog -sv -formal $3 $2
    prep -flatten -top $1
    sat -tempinduct -set-init-zero -prove-asserts -verify $1"
}

# The last command of a script.
summary() {
  echo "$passed passed, $failed failed"
  if [ "${REGATTA_PROOFS:-}" = record ] && [ $failed -eq 0 ]; then
    echo "$of_sources $passed proofs" >proof/.proved.txt && mv proof/.proved.txt proof/proved.txt
  elif [ $failed -eq 0 ] && ! grep -qs "^$of_sources " proof/proved.txt; then
    echo "proof/proved.txt is of other sources: REGATTA_PROOFS=record $0 writes it anew"
  fi
  [ $failed -eq 0 ]
}
