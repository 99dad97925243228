// SPDX-License-Identifier: Apache-2.0
//
// Division of 128 bits as nvcc makes it, a long sequence of carries that hand over from subtractions to additions.
#include "harness.h"

#include <regatta/test/catch.h>

#include <random>

using namespace regatta::test;

namespace {

__extension__ using Whole = unsigned __int128;

/// Halves as the kernel has them: the lower first.
std::vector<std::uint64_t> halves(const std::vector<Whole>& numbers) {
  std::vector<std::uint64_t> all;
  for (const Whole n : numbers) {
    all.push_back(static_cast<std::uint64_t>(n));
    all.push_back(static_cast<std::uint64_t>(n >> 64));
  }
  return all;
}

}  // namespace

TEST_CASE("128-bit division gives quotient and remainder") {
  const std::string text = sample("wide_division.sm75.ptx");
  constexpr unsigned threads = 1024;
  std::mt19937_64 random(128);
  // Of all lengths, since the sequence goes by them; some with long runs of ones.
  const auto number = [&](Whole least) {
    Whole n = Whole{random()} << 64 | random();
    if (random() % 4 == 0) n |= n << 1 | n << 2;
    n >>= random() % 128;
    return n < least ? least : n;
  };
  std::vector<Whole> a, b, quotients, remainders;
  for (unsigned i = 0; i < threads; ++i) {
    a.push_back(number(0));
    b.push_back(number(1));
    quotients.push_back(a.back() / b.back());
    remainders.push_back(a.back() % b.back());
  }
  for (const unsigned warp_size : {32u, 64u}) {
    Machine m(text, warp_size);
    const std::uint64_t q = m.buffer("quotients", threads * 16), r = m.buffer("remainders", threads * 16);
    m.parameter(m.buffer("a", halves(a)));
    m.parameter(m.buffer("b", halves(b)));
    m.parameter(q);
    m.parameter(r);
    m.request.block = {threads, 1, 1};
    m.run();
    REQUIRE(m.read<std::uint64_t>(q, 2 * threads) == halves(quotients));
    REQUIRE(m.read<std::uint64_t>(r, 2 * threads) == halves(remainders));
  }
}
