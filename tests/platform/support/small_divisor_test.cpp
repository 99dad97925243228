// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/small_divisor.h>
#include <regatta/test/catch.h>

#include <cstdint>

using regatta::support::SmallDivisor;

TEST_CASE("small divisor: equal to the host's division") {
  std::uint32_t wrong = 0;
  const auto compare = [&](std::uint32_t divisor, std::uint32_t step) {
    const SmallDivisor by(divisor);
    for (std::uint32_t n = 0; n < 65536; n += step) {
      wrong += by.quotient(n) != n / divisor || by.remainder(n) != n % divisor;
    }
    // Where a quotient that is off by anything shows: around every multiple.
    for (std::uint32_t n = divisor; n < 65536; n += divisor) {
      wrong += by.quotient(n) != n / divisor || by.quotient(n - 1) != (n - 1) / divisor;
    }
    wrong += by.quotient(65535) != 65535 / divisor;
  };
  for (std::uint32_t divisor = 1; divisor <= 300; ++divisor) compare(divisor, 1);
  for (std::uint32_t divisor = 301; divisor < 65536; divisor += 7) compare(divisor, 97);
  compare(65535, 1);
  CHECK(wrong == 0);
}
