#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run-tests.sh PRESET [JOBS [ARGUMENT...]]: runs the tests of a built preset; arguments go to ctest (-L: one label).
# Without arguments: all but those that have a command of their own (label studies) and those that do what others do with
# more kernels, machines and seeds (label more, and cases tagged [.more]); with REGATTA_TESTS=all these too.
# The tests that timed out and were repeated are named at the end, whatever their second run gave; the last line is
# "N passed, N failed". With REGATTA_TESTS_UNTIL (seconds since 1970) the run ends then, and says how many tests it left.
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

# Of a run that was ended for time, from ctest's lines "12/40 Test ...": "PASSED FAILED ALL", each test by its last result.
ended_early() {
  awk '
    match($0, /^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: /) {
      split($1, n, "/")
      all = n[2]
    }
    match($0, /^ *([0-9]+\/[0-9]+ )? *Test +#[0-9]+: /) {
      rest = substr($0, RLENGTH + 1)
      if (!match(rest, / \.+ *(\*\*\*[A-Za-z]|Passed )/)) next
      last[substr(rest, 1, RSTART - 1)] = substr(rest, RSTART) ~ /Passed |\*\*\*Skipped/
    }
    END {
      for (name in last) if (last[name]) ++passed; else ++failed
      print passed + 0, failed + 0, all + 0
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
  if [ "$status" = 124 ]; then
    # shellcheck disable=SC2046  # three numbers
    set -- $(ended_early "$1")
    echo
    if [ "$3" -eq 0 ]; then
      echo "WARNING: out of time (REGATTA_TESTS_UNTIL): no test ran."
    else
      echo "WARNING: out of time (REGATTA_TESTS_UNTIL): $(($3 - $1 - $2)) of $3 tests did not run."
    fi
    echo
    echo "$1 passed, $2 failed"
    [ "$2" -eq 0 ]
    return
  fi
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
shift
[ $# -eq 0 ] || shift
if [ $# -eq 0 ]; then
  if [ "${REGATTA_TESTS:-}" = all ]; then set -- -LE '^studies$'; else set -- -LE '^(more|studies)$'; fi
fi
set -- --preset "$preset" -j "$((jobs + 1))" "$@"
# One more than the processors: some tests wait for a timer or for another process.
if [ -n "${REGATTA_TESTS_UNTIL:-}" ]; then
  seconds=$((REGATTA_TESTS_UNTIL - $(date +%s)))
  set -- timeout --kill-after=30 -s INT "$((seconds > 1 ? seconds : 1))" ctest "$@"
else
  set -- ctest "$@"
fi
{ "$@" 2>&1; echo "status $?"; } | tee "$log" | sed '/^status [0-9]*$/d'
summary "$log"
