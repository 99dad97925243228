#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run-tests.sh PRESET [JOBS]: runs the tests of a built preset. The tests that timed out and were repeated are named at
# the end, whatever their second run gave; the last line is "N passed, N failed".
# run-tests.sh --summary LOG: the end of that only, from ctest's output and a last line "status N".
set -u

# ctest names a test that timed out, and was run again, on a line of its own each time:
#   1/3 Test #2: a name ....................***Timeout   1.01 sec
#       Test #2: a name ....................   Passed    0.00 sec
repeated_tests() {
  awk '
    {
      line = $0
      if (!match(line, /^ *([0-9]+\/[0-9]+ )? *Test +#[0-9]+: /)) next
      line = substr(line, RLENGTH + 1)
      if (!match(line, / \.+ *(\*\*\*[A-Za-z]|Passed )/)) next
      name = substr(line, 1, RSTART - 1)
      rest = substr(line, RSTART)
      if (name in timed_out) {
        if (!(name in again)) order[++count] = name
        again[name] = rest ~ /Passed / ? "passed" : rest ~ /\*\*\*Timeout/ ? "timed out again" : "failed"
      }
      if (rest ~ /\*\*\*Timeout/) timed_out[name] = 1
    }
    END {
      for (i = 1; i <= count; ++i) printf "  %s: %s when repeated\n", order[i], again[order[i]]
    }' "$1"
}

summary() {
  repeated=$(repeated_tests "$1")
  if [ -n "$repeated" ]; then
    echo
    echo "WARNING: $(printf '%s\n' "$repeated" | wc -l | tr -d ' ') timed out and ran a second time:"
    printf '%s\n' "$repeated"
    echo "A test that passes only when repeated is too slow for its time limit, or hangs now and then."
    echo
  fi
  status=$(sed -n 's/^status \([0-9]*\)$/\1/p' "$1" | tail -n 1)
  # ctest: "98% tests passed, 2 tests failed out of 120"
  counts=$(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of \([0-9]*\).*/\1 \2/p' "$1" | tail -n 1)
  if [ -z "$counts" ]; then
    echo "0 passed, 1 failed"
    return 1
  fi
  failed=${counts% *}
  total=${counts#* }
  echo "$((total - failed)) passed, $failed failed"
  return "$status"
}

if [ "$1" = --summary ]; then
  summary "$2"
  exit
fi
preset=$1
jobs=${2:-2}
log=build/$preset/tests.log
set -- --preset "$preset" -j "$((jobs + 1))"
# Tests that run every kernel take most of the time, and an instrumented build takes several times as much. There a
# sample of the kernels runs, which has every kind of instruction, memory and divergence: the others are other inputs of
# the same code.
if [ "$preset" = asan ]; then
  sample=" bfs black_scholes btree cfd dwt2d histogram lud needleman_wunsch reduction sgemm "
  others=""
  for kernel in traces/kernels/*/; do
    kernel=$(basename "$kernel")
    case $sample in *" $kernel "*) ;; *) others="$others|$kernel" ;; esac
  done
  tests=$(printf '%s|' finereg_kernels finereg_rivals kernel_results kernel_simulation machines programs \
    schemes_on_kernels scratchpad_kernels sharing_kernels suite wir_kernels)
  set -- "$@" -E "^test_(${tests%|}):(.*[: ])?(${others#|})( |\$)"
fi
# One more than the processors: some tests wait for a timer or for another process.
{ ctest "$@" 2>&1; echo "status $?"; } | tee "$log" | sed '/^status [0-9]*$/d'
summary "$log"
