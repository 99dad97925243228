#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# make fuzz: every libFuzzer target for FUZZ_SECONDS each, then FUZZ_PROGRAMS programs of the differential fuzzer; a
# table at the end, exit status 1 if anything was found. What was found stays under build/fuzz/findings/<target>/, what
# was learnt (the corpus) under build/fuzz/corpus/<target>/ for the next run.
#   FUZZ_SECONDS=60   FUZZ_PROGRAMS=5000   FUZZ_SEED=1   FUZZ_TARGETS="ptx launch trace import differential"
set -uo pipefail
cd "$(dirname "$0")/../.."
seconds=${FUZZ_SECONDS:-60}
programs=${FUZZ_PROGRAMS:-5000}
seed=${FUZZ_SEED:-1}
targets=${FUZZ_TARGETS:-ptx launch trace import differential}
build=build/fuzz
release=build/release

for target in $targets; do
  case $target in
    ptx | launch | trace | import | differential) ;;
    *)
      echo "run.sh: unknown target '$target' in FUZZ_TARGETS; there are ptx, launch, trace, import and differential" >&2
      exit 2
      ;;
  esac
done

declare -A longest=([ptx]=32768 [launch]=8192 [trace]=65536 [import]=16384)
declare -A words=([ptx]=ptx.dict [launch]=toml.dict [import]=traceg.dict)

# Our own files to begin with.
make_seeds() {
  mkdir -p $build/seeds/{ptx,launch,trace,import}
  cp tests/fuzz/seeds/import/* $build/seeds/import/
  local file name
  for file in traces/kernels/*/*.ptx tests/compiler/ptx/samples/*.ptx tests/fuzz/seeds/*.ptx; do
    cp "$file" "$build/seeds/ptx/$(basename "$file")"
  done
  for file in traces/kernels/*/launch*.toml tests/fuzz/seeds/*.toml; do
    cp "$file" "$build/seeds/launch/$(basename "$(dirname "$file")").$(basename "$file")"
  done
  for file in traces/kernels/*/launch.small.toml tests/fuzz/seeds/*.toml; do
    name=$(basename "$(dirname "$file")").$(basename "$file" .toml)
    $build/bin/regatta-annotate --launch "$file" --ctas 0:1 --out "$build/seeds/trace/$name.rgt" >/dev/null || return 1
    $build/bin/regatta-annotate --launch "$file" --ctas 0:1 --warp-size 64 --out "$build/seeds/trace/$name.64.rgt" \
      >/dev/null || return 1
    $build/bin/regatta-annotate --launch "$file" --ctas 0:1 --scratchpad-layout 0.1 --shared-values --rfh 3 --control \
      --out "$build/seeds/trace/$name.sharing.rgt" >/dev/null || return 1
  done
}

rows=()
failed=0

libfuzzer() {
  local target=$1 log=$build/$1.log status executed rate edges corpus what=""
  mkdir -p "$build/corpus/$target" "$build/findings/$target"
  printf '=== %s: %s s (%s)\n' "$target" "$seconds" "$log"
  ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 "$build/bin/fuzz_$target" \
    -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len="${longest[$target]}" \
    ${words[$target]:+-dict=tests/fuzz/targets/${words[$target]}} -artifact_prefix="$build/findings/$target/" \
    -print_final_stats=1 -seed="$seed" "$build/corpus/$target" "$build/seeds/$target" >"$log" 2>&1
  status=$?
  executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
  rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log" | tail -n 1)
  edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
  corpus=$(find "$build/corpus/$target" -type f | wc -l)
  if ((status != 0)); then
    failed=$((failed + 1))
    what=$(sed -n 's/^artifact_prefix=.*Test unit written to //p' "$log" | tail -n 1)
    what="FOUND ${what:-no input, see $log}"
    grep -m 1 -E 'ERROR: |runtime error: |terminate called' "$log"
  fi
  rows+=("$(printf '%-14s %10s %12s %10s %8s %8s  %s' "$target" "$seconds s" "${executed:-?}" "${rate:-?}" "${edges:-?}" \
    "$corpus" "${what:-clean}")")
}

differential() {
  local start=$SECONDS what=clean
  mkdir -p "$build/findings/differential"
  printf '=== differential: %s programs from seed %s\n' "$programs" "$seed"
  if ! "$release/tests/fuzz_differential" --programs "$programs" --seed "$seed" \
    --out "$build/findings/differential" >"$build/differential.log" 2>&1; then
    failed=$((failed + 1))
    what="FOUND, see $build/differential.log"
  fi
  tail -n 1 "$build/differential.log"
  local took=$((SECONDS - start))
  rows+=("$(printf '%-14s %10s %12s %10s %8s %8s  %s' differential "$took s" "$programs" \
    $((programs / (took > 0 ? took : 1))) - - "$what")")
}

needs_clang=$(echo "$targets" | tr ' ' '\n' | grep -cv differential)
if ((needs_clang > 0)); then
  .cmake/setup-packages.sh --fuzz || exit 2
  # shellcheck disable=SC2086  # a list of settings
  cmake --preset fuzz ${CMAKE_ARGS:-} >/dev/null || exit 1
  cmake --build --preset fuzz -j "${JOBS:-$(nproc)}" || exit 1
  make_seeds || exit 1
fi
mkdir -p $build
for target in $targets; do
  if [[ $target == differential ]]; then differential; else libfuzzer "$target"; fi
done

printf '\n%-14s %10s %12s %10s %8s %8s  %s\n' target time executions "per s" edges corpus result
printf '%s\n' "${rows[@]}"
((failed == 0))
