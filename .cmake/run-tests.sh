#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run-tests.sh PRESET [JOBS]: runs the tests of a built preset; the last line is "N passed, N failed".
set -u
preset=$1
jobs=${2:-2}
log=build/$preset/tests.log
{ ctest --preset "$preset" -j "$jobs" 2>&1; echo "status $?"; } | tee "$log" | sed '/^status [0-9]*$/d'
status=$(sed -n 's/^status \([0-9]*\)$/\1/p' "$log" | tail -n 1)
# ctest: "98% tests passed, 2 tests failed out of 120"
summary=$(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of \([0-9]*\).*/\1 \2/p' "$log" | tail -n 1)
if [ -z "$summary" ]; then
  echo "0 passed, 1 failed"
  exit 1
fi
failed=${summary% *}
total=${summary#* }
echo "$((total - failed)) passed, $failed failed"
exit "$status"
