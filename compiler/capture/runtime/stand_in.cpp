// SPDX-License-Identifier: Apache-2.0
//
// A library under the name that programs are linked with (libcudart.so.13 ...). It has the version that the loader
// looks for; the functions are in libregatta_cuda.so, which stands in front of all libraries.
extern "C" __attribute__((visibility("default"))) const int regatta_stands_in = 1;
