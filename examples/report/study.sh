#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# study.sh [BIN [OUT]]: the study sweep.toml, and its page. BIN holds the tools, OUT gets what is made; both are relative to the
# root of the checkout (defaults: build/release/bin, build/report).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
bin=${1:-build/release/bin}
out=${2:-build/report}
mkdir -p "$out"

# What a study makes lies beside its file.
cp examples/report/sweep.toml "$out/sweep.toml"
"$bin/regatta-study" run "$out/sweep.toml" --bin "$bin"
"$bin/regatta-report" --study "$out/sweep.toml" --title "RegLess: staging units and L1" --out "$out/sweep.html"
