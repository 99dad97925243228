// SPDX-License-Identifier: Apache-2.0
// Where lines lie: partitions and sets share memory evenly, however it is cut.
#include <regatta/memory/cache_array.h>
#include <regatta/memory/partition_map.h>
#include <regatta/test/catch.h>

#include <random>
#include <vector>

using namespace regatta::memory;

// What is dealt is counted here, not computed: a partition's chunks are numbered as they come.
TEST_CASE("partitions: each has one chunk of every round, whatever their number") {
  for (const unsigned partitions : {1u, 2u, 3u, 4u, 5u, 6u, 8u, 12u, 24u}) {
    for (const unsigned chunk : {32u, 128u, 256u, 4096u}) {
      for (const bool hashed : {false, true}) {
        CAPTURE(partitions, chunk, hashed);
        const PartitionMap map(chunk, partitions, hashed);
        std::vector<std::uint64_t> dealt(partitions);
        unsigned wrong = 0;
        for (std::uint64_t n = 0; n < 3000 * std::uint64_t{partitions}; ++n) {
          const std::uint64_t first = n * chunk;
          const unsigned p = map.partition(first);
          REQUIRE(p < partitions);
          wrong += map.round(first) != dealt[p]++;
          wrong += map.partition(first + chunk - 1) != p || map.round(first + chunk - 1) != map.round(first);
          if (!hashed) wrong += p != n % partitions;
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("partitions: with the hash no power-of-two stride stays in a few of them") {
  for (const unsigned partitions : {2u, 4u, 6u, 8u}) {
    const PartitionMap map(256, partitions, true);
    for (std::uint64_t stride = 256; stride <= std::uint64_t{256} << 16; stride *= 2) {
      CAPTURE(partitions, stride);
      std::vector<unsigned> count(partitions);
      for (unsigned i = 0; i < 4096; ++i) ++count[map.partition(i * stride)];
      for (unsigned n : count) CHECK(n > 4096 / partitions / 2);
    }
  }
}

TEST_CASE("cache array: consecutive lines of a partition fill all of its sets evenly") {
  std::mt19937 random(11);
  const auto pick = [&](unsigned from, unsigned to) {
    return from + static_cast<unsigned>(random() % (to - from + 1));
  };
  for (unsigned i = 0; i < 200; ++i) {
    const unsigned sets = pick(1, 70), ways = pick(1, 8), line = 32u << pick(0, 3), partitions = pick(1, 12);
    const unsigned chunk = line * (i % 2 == 0 ? 1u << pick(0, 5) : pick(1, 9));
    const bool hashed = pick(0, 1) == 1;
    CAPTURE(sets, ways, line, partitions, chunk, hashed);
    const PartitionMap map(chunk, partitions, hashed);
    std::vector<CacheArray> arrays(partitions, CacheArray(sets, ways, line, {chunk, partitions}));
    // The whole capacity from any round on: a partition's lines come in order, so nothing has to give way.
    unsigned evicted = 0, lost = 0;
    std::vector<std::uint64_t> room(partitions, std::uint64_t{sets} * ways);
    std::uint64_t left = partitions * room[0];
    std::vector<std::uint64_t> kept;
    for (std::uint64_t a = pick(0, 100000) * std::uint64_t{chunk} * partitions; left != 0; a += line) {
      const unsigned p = map.partition(a);
      if (room[p] == 0) continue;
      --room[p];
      --left;
      const std::size_t way = arrays[p].victim(a);
      evicted += arrays[p].line(way).valid != 0;
      arrays[p].line(way).address = a;
      arrays[p].line(way).valid = 1;
      arrays[p].touch(way);
      kept.push_back(a);
    }
    CHECK(evicted == 0);
    for (const std::uint64_t a : kept) lost += arrays[map.partition(a)].find(a) == CacheArray::none;
    CHECK(lost == 0);
  }
}
