// SPDX-License-Identifier: Apache-2.0
//
// A program that is linked with a library which the loader does not find.
extern "C" int regatta_test_absent();

int main() { return regatta_test_absent(); }
