#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes <name>/<name>.sm75.ptx again from <name>/<name>.cu, for the kernels named or for all.
# Usage: traces/kernels/build_ptx.sh [NAME ...]        NVCC=... chooses the compiler (the committed files: nvcc 13.0)
#
# nvcc runs inside the folder with relative names, so that no path of the machine is in the PTX.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ $# -eq 0 ]; then
  for source in */*.cu; do set -- "$@" "${source%%/*}"; done
fi
for name in "$@"; do
  (cd "$name" && "$nvcc" -ptx -arch=sm_75 -O3 -o "$name.sm75.ptx" "$name.cu")
  echo "$name/$name.sm75.ptx"
done
