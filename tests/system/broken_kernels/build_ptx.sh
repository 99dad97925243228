#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes <name>/<name>.sm75.ptx again from <name>/<name>.cu, for all kernels of this folder, with the flags of
# traces/kernels/build_ptx.sh and source lines. NVCC=... chooses the compiler (the committed files: nvcc 13.0).
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
for source in */*.cu; do
  name=${source%%/*}
  (cd "$name" && "$nvcc" -ptx -arch=sm_75 -std=c++17 -O3 -fmad=false -lineinfo -o "$name.sm75.ptx" "$name.cu")
  # nvcc names sources by their full paths.
  sed -i 's|^\([[:space:]]*\.file[[:space:]]*[0-9]*[[:space:]]*\)".*/|\1"|' "$name/$name.sm75.ptx"
  echo "$name/$name.sm75.ptx"
done
