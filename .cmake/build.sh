#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh PRESET JOBS TARGET...: configures a preset (with the settings in CMAKE_ARGS) and builds targets. What CMake and the
# compiler say goes to build/PRESET/{configure,build}.log; shown are a line of progress, and the end of the log on failure.
set -uo pipefail
preset=$1
jobs=$2
shift 2
folder=build/$preset
mkdir -p "$folder"
# shellcheck disable=SC2086  # a list of words
if ! cmake --preset "$preset" ${CMAKE_ARGS:-} >"$folder/configure.log" 2>&1; then
  cat "$folder/configure.log"
  echo "build.sh: cmake failed; all that it said is above and in $folder/configure.log" >&2
  exit 1
fi
terminal=0
[ -t 1 ] && terminal=1
# Ninja says "[12/191] Building ..."; on a terminal one line is rewritten, otherwise every quarter has a line.
NINJA_STATUS='[%f/%t] ' cmake --build --preset "$preset" -j "$jobs" --target "$@" 2>&1 | tee "$folder/build.log" |
  awk -v terminal="$terminal" '
    /^\[[0-9]+\/[0-9]+\] / {
      split(substr($1, 2), n, /[\/\]]/)
      if (n[2] < 8) next  # CMake looking whether it has to run again
      quarter = int(4 * n[1] / n[2])
      if (terminal) { printf "\rbuilding: %d of %d steps ", n[1], n[2]; open = 1 }
      else if (quarter != last) printf "building: %d of %d steps\n", n[1], n[2]
      last = quarter
      fflush()
    }
    END { if (open) print "" }'
status=${PIPESTATUS[0]}
if ((status != 0)); then
  grep -E -A 30 '^FAILED:|^ninja: error|error:' "$folder/build.log" | head -n 60
  echo "build.sh: the build failed; all that was said is in $folder/build.log" >&2
fi
exit "$status"
