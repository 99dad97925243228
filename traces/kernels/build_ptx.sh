#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes <name>/<name>.sm75.ptx (nvcc), <name>/<name>.sm35.ptx (clang) and <name>/<name>.sm35_32.ptx (clang, addresses of
# 32 bits) again from <name>/<name>.cu, for the kernels named or for all. Where launch.toml names a file of a newer target,
# such as <name>.sm80.ptx, nvcc makes that one, and clang none: it knows neither CUDA's headers nor these instructions.
# Usage: traces/kernels/build_ptx.sh [NAME ...]
# Variables: NVCC   the compiler of the sm75 and newer files (the committed ones: nvcc 13.0), "" to leave them alone
#            CLANG  the compiler of the sm35 and sm35_32 files (the committed ones: clang 14.0.6), "" to leave them alone
#            LIBDEVICE  CUDA's libdevice.10.bc, which clang takes expf and logf from
#
# Neither contracts a multiplication and an addition into one rounding: the sources say fmaf where they mean it.
# Only some of clang's files are kept with the sources (README.md).
# Compilers run inside the folder with relative names, so that no path of the machine is in the PTX.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
clang=${CLANG-$(command -v clang++-14 || command -v clang++)}
libdevice=${LIBDEVICE-/usr/local/cuda/nvvm/libdevice/libdevice.10.bc}

set_libdevice=
if [ -f "$libdevice" ]; then set_libdevice="-Xclang -mlink-builtin-bitcode -Xclang $libdevice"; fi

# PTX ISA 6.0 is the first with the .sync forms of shuffles and votes, which sm_35 may use.
with_clang() {
  # shellcheck disable=SC2086  # a list of words
  "$clang" -m"$3" -x cuda --cuda-device-only --cuda-gpu-arch=sm_35 -nocudainc -nocudalib -Wno-unknown-cuda-version \
    -include ../clang_cuda.h -Xclang -target-feature -Xclang +ptx60 \
    $set_libdevice -std=c++17 -O3 -ffp-contract=off -S -o "$1.new" "$2"
  if grep -q __nv_ "$1.new"; then
    rm "$1.new"
    echo "$name/$1: left out, it needs CUDA's libdevice.10.bc (LIBDEVICE=FILE)" >&2
    return
  fi
  # clang does not name itself in what it writes.
  { echo "// $("$clang" --version | head -n 1)"; cat "$1.new"; } > "$1"
  rm "$1.new"
  echo "$name/$1"
}

if [ $# -eq 0 ]; then
  for source in */*.cu; do set -- "$@" "${source%%/*}"; done
fi
for name in "$@"; do
  target=$(sed -n 's/^ptx = ".*\.sm\([0-9]*a\{0,1\}\)\.ptx"$/\1/p' "$name/launch.toml")
  if [ -n "$nvcc" ]; then
    (cd "$name" && "$nvcc" -ptx "-arch=sm_$target" -std=c++17 -O3 -fmad=false -o "$name.sm$target.ptx" "$name.cu")
    echo "$name/$name.sm$target.ptx"
  fi
  if [ -n "$clang" ] && [ "$target" = 75 ]; then
    (cd "$name" && with_clang "$name.sm35.ptx" "$name.cu" 64 && with_clang "$name.sm35_32.ptx" "$name.cu" 32)
  fi
done
