// SPDX-License-Identifier: Apache-2.0
#include "session.h"

int main(int argc, char** argv) { return regatta::test::run_cases(argc, argv); }
