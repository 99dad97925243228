// SPDX-License-Identifier: Apache-2.0
extern "C" int regatta_test_absent() { return 0; }
