#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds the programs of this folder, those named or all. No GPU is needed, and no CUDA for clang.
# Usage: examples/programs/build.sh shared|static|clang|rdc FOLDER [NAME ...]
#   shared  nvcc, the CUDA runtime as a shared library: what bin/ has (stripped)
#   static  nvcc as it is by default: the runtime inside of the program
#   clang   clang with clang/cuda_runtime.h in place of CUDA's headers; without histogram (managed variables), grid_sync
#           (cooperative groups) and graphs, which need CUDA's headers
#   rdc     nvcc with relocatable device code: pathfinder, which has two translation units, as pathfinder_rdc
# Variables: NVCC, CLANG, CXX  the compilers
set -eu
if [ $# -lt 2 ]; then
  sed -n 's/^# \{0,1\}//; 3,14p' "$0" >&2
  exit 2
fi
kind=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
cd "$(dirname "$0")"  # relative names, so that no path of the machine gets into a program
nvcc=${NVCC-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
clang=${CLANG-$(command -v clang++-14 || command -v clang++ || echo clang++)}
cxx=${CXX-g++}
cuda=$(dirname "$(dirname "$nvcc")")

sources() {
  if [ -d "$1" ]; then ls "$1"/*.cu; else echo "$1.cu"; fi
}

# A library of this name that has what the objects lack of it, to link a program where CUDA is not installed.
stand_in() {  # name, objects
  library=$1
  shift
  nm -u "$@" | sed -n 's/^ *U \(_*cu[A-Za-z0-9_]*\)$/void \1(void) {}/p' | sort -u > "$out/stand_in.c"
  cc -shared -fPIC -Wl,-soname,"$library" -o "$out/stand_in.so" "$out/stand_in.c"
  rm "$out/stand_in.c"
}

with_nvcc() {  # name, runtime, further options
  name=$1 runtime=$2
  shift 2
  # shellcheck disable=SC2046  # a list of words
  "$nvcc" -std=c++17 -O2 -cudart "$runtime" -arch=compute_75 -code=compute_75 -Xcompiler -Wall,-Wextra,-Os "$@" \
    -o "$out/$name" $(sources "$name")
}

# Device code to PTX, PTX into a fat binary, host code with that inside.
with_clang() {
  objects=
  options="-x cuda -std=c++17 -O2 -nocudainc -nocudalib -Iclang -include cuda_runtime.h -Wno-unknown-cuda-version --cuda-gpu-arch=sm_75 -Xclang -target-sdk-version=11.0"
  for source in $(sources "$1"); do
    to=$out/$(basename "$source" .cu)
    # shellcheck disable=SC2086  # lists of words
    {
      "$clang" $options --cuda-device-only -Xclang -target-feature -Xclang +ptx63 -S -o "$to.ptx" "$source"
      python3 -B clang/fat_binary.py "$to.ptx" "$to.fatbin"
      "$clang" $options --cuda-host-only -Xclang -fcuda-include-gpubinary -Xclang "$to.fatbin" -c -o "$to.o" "$source"
    }
    rm "$to.ptx" "$to.fatbin"
    objects="$objects $to.o"
  done
  # shellcheck disable=SC2086  # a list of words
  {
    stand_in libcudart.so.13 $objects
    "$clang" -o "$out/$1" $objects "$out/stand_in.so"
    rm $objects "$out/stand_in.so"
  }
}

if [ $# -eq 0 ]; then
  for name in *.cu; do set -- "$@" "${name%.cu}"; done
  set -- "$@" pathfinder
  [ "$kind" = clang ] || set -- "$@" driver_api
  [ "$kind" != rdc ] || set -- pathfinder
fi
for name in "$@"; do
  case $kind-$name in
    *-driver_api)
      "$nvcc" -ptx -std=c++17 -O3 -arch=compute_75 -o "$out/driver_api.ptx" driver_api/kernel.cu
      "$cxx" -std=c++17 -Os -Wall -Wextra -I"$cuda/include" -c -o "$out/driver_api.o" driver_api/driver_api.cpp
      stand_in libcuda.so.1 "$out/driver_api.o"
      "$cxx" -s -o "$out/driver_api" "$out/driver_api.o" "$out/stand_in.so"
      rm "$out/driver_api.o" "$out/stand_in.so"
      ;;
    clang-histogram | clang-grid_sync | clang-graphs) continue ;;
    clang-*) with_clang "$name" ;;
    shared-*) with_nvcc "$name" shared && strip "$out/$name" ;;
    static-*) with_nvcc "$name" static ;;
    rdc-*)
      with_nvcc "$name" shared -rdc=true -code=compute_75,sm_75
      strip "$out/$name"
      mv "$out/$name" "$out/${name}_rdc"
      name=${name}_rdc
      ;;
    *) echo "build.sh: '$kind', expected shared, static, clang or rdc" >&2 && exit 2 ;;
  esac
  echo "$out/$name"
done
