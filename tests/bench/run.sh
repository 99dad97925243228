#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh BIN [ARGUMENT...]: the whole-run table, by regatta-bench of the build whose programs are in BIN.
set -eu
bin=$1
shift
if [ ! -x "$bin/regatta-bench" ]; then
  echo "run.sh: $bin/regatta-bench is missing: configure with REGATTA_TESTS=ON and build" >&2
  exit 1
fi
exec "$bin/regatta-bench" "$@"
