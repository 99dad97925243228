// SPDX-License-Identifier: Apache-2.0
//
// Two tiers of tests. `make test` tries each kind of thing on a few kernels, machines and seeds; `make test-all` on
// all: ctest's label "more", and REGATTA_TESTS=all in the environment.
#pragma once

#include <cstdlib>
#include <cstring>
#include <vector>

/// Tag of a case that only test-all runs: another case does the same with another kernel or machine. Its executable has
/// MORE in its regatta_test().
#define REGATTA_MORE "[.more]"

namespace regatta::test {

/// Whether this is test-all.
inline bool all_are_wanted() {
  const char* tests = std::getenv("REGATTA_TESTS");
  return tests != nullptr && std::strcmp(tests, "all") == 0;
}

/// How often something random is tried.
template <class Number>
Number times(Number usual, Number all) {
  return all_are_wanted() ? all : usual;
}

/// One of `one_of` that are there, in test-all each.
template <class T>
std::vector<T> some_of(const std::vector<T>& all, std::size_t one_of) {
  std::vector<T> some;
  for (std::size_t i = 0; i < all.size(); i += times<std::size_t>(one_of, 1)) some.push_back(all[i]);
  return some;
}

}  // namespace regatta::test
