// SPDX-License-Identifier: Apache-2.0
//
// Thousands of damaged traces: each is refused with a message that names the file, or read to its end; none crashes,
// hangs or takes memory on a broken number's word.
#include <probes.h>
#include <regatta/test/catch.h>
#include <watchdog.h>

#include <algorithm>

#include "mutate_trace.h"
#include "sample.h"
#include "trace_container.h"

using namespace regatta::test;

namespace {

constexpr unsigned rounds = 2000;

std::string sample(
    std::uint64_t seed, void (*write)(const std::string&, std::uint64_t) =
                            [](const std::string& path, std::uint64_t s) { write_sample(path, s); }) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.rgt";
  write(path, seed);
  return read_bytes(path);
}

/// Probes `rounds` files that `damage` makes; returns how many were refused.
template <class Damage>
unsigned refused_of(const std::string& what, unsigned count, Damage&& damage) {
  Watchdog watchdog(what, std::chrono::seconds(20));
  unsigned refused = 0;
  for (unsigned n = 0; n < count; ++n) {
    watchdog.restart(what + ", round " + std::to_string(n));
    INFO(what << ", round " << n);
    const std::string bytes = damage(n);
    Outcome outcome;
    REQUIRE_NOTHROW(outcome = probe_trace(bytes));
    if (!outcome.accepted) ++refused;
  }
  return refused;
}

}  // namespace

TEST_CASE("2,000 corruptions of a trace's bytes are refused") {
  const std::string good = sample(11);
  REQUIRE(probe_trace(good).accepted);
  MutationRandom random(11);
  unsigned same = 0;
  const unsigned refused = refused_of("bytes", rounds, [&](unsigned) {
    std::string bytes = mutate_bytes(good, random);
    same += bytes == good ? 1 : 0;
    return bytes;
  });
  CHECK(refused + same == rounds);
  CHECK(same < rounds / 20);
}

TEST_CASE("truncations at and around every boundary of a trace are refused") {
  const std::string good = sample(12);
  std::vector<std::size_t> lengths = {0, 1, 7, 8, 11, 12, 13};
  for (const std::size_t start : frame_starts(good)) {
    for (const std::size_t boundary :
         {start, start + 4, start + 8, start + 16, start + 24, start + trace_frame_header}) {
      for (int d = -1; d <= 1; ++d) lengths.push_back(boundary + static_cast<std::size_t>(d + 1) - 1);
    }
  }
  for (std::size_t d = 0; d <= trace_trailer + 1; ++d) lengths.push_back(good.size() - trace_trailer - 1 + d);
  lengths.erase(std::remove(lengths.begin(), lengths.end(), good.size()), lengths.end());
  CHECK(refused_of("truncation", static_cast<unsigned>(lengths.size()),
                   [&](unsigned n) { return good.substr(0, lengths[n]); }) == lengths.size());
}

// Headers with right checksums around impossible sizes.
TEST_CASE("length fields that are signed anew are refused") {
  const std::string good = sample(13);
  const auto starts = frame_starts(good);
  MutationRandom random(13);
  const std::uint64_t sizes[] = {0,
                                 1,
                                 31,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 1ull << 32,
                                 1ull << 40,
                                 1ull << 63,
                                 ~std::uint64_t{0},
                                 ~std::uint64_t{0} - 31};
  const unsigned refused = refused_of("length fields", 1000, [&](unsigned n) {
    const std::size_t victim = random() % starts.size();
    const std::size_t start = starts[victim];
    const std::size_t end = victim + 1 < starts.size() ? starts[victim + 1] : good.size() - trace_trailer;
    std::string frame = good.substr(start, end - start);
    const std::size_t at = n % 2 == 0 ? 8 : 16;
    const auto old = get<std::uint64_t>(frame, at);
    std::uint64_t size = random() % 2 == 0 ? sizes[random() % std::size(sizes)] : old + 1 + random() % 1000;
    if (size == old) ++size;
    put(frame, at, size);
    sign_frame(frame);
    std::string bytes = good;
    bytes.replace(start, end - start, frame);
    return bytes;
  });
  CHECK(refused == 1000);
}

// What only the checks behind the checksums see: fields of the messages changed, the index made to fit.
TEST_CASE("2,000 changes of fields under right checksums never crash") {
  const auto good = TraceContainer::take_apart(sample(14));
  REQUIRE(good);
  REQUIRE(probe_trace(good->assemble(true)).accepted);
  MutationRandom random(14);
  const unsigned refused = refused_of("fields", rounds, [&](unsigned n) {
    TraceContainer damaged = *good;
    for (unsigned edits = 1 + n % 3; edits > 0; --edits) {
      mutate_frame(damaged.frames[random() % damaged.frames.size()], random);
    }
    return damaged.assemble(n % 4 != 0);
  });
  // Some changes make another trace that is as good.
  CHECK(refused > rounds / 2);
  CHECK(refused < rounds);
}

TEST_CASE("2,000 corruptions of payloads under right checksums never crash") {
  const auto good = TraceContainer::take_apart(sample(15));
  REQUIRE(good);
  MutationRandom random(15);
  const unsigned refused = refused_of("payloads", rounds, [&](unsigned n) {
    TraceContainer damaged = *good;
    TraceContainer::Frame& frame = damaged.frames[random() % damaged.frames.size()];
    frame.raw = mutate_bytes(frame.raw, random);
    return damaged.assemble(n % 4 != 0);
  });
  CHECK(refused > rounds / 2);
}

TEST_CASE("2,000 corruptions of the bytes of a trace with variants are refused") {
  const std::string good = sample(16, write_variants);
  REQUIRE(probe_trace(good).accepted);
  MutationRandom random(16);
  unsigned same = 0;
  const unsigned refused = refused_of("bytes of variants", rounds, [&](unsigned) {
    std::string bytes = mutate_bytes(good, random);
    same += bytes == good ? 1 : 0;
    return bytes;
  });
  CHECK(refused + same == rounds);
  CHECK(same < rounds / 20);
}

TEST_CASE("2,000 changes of fields of a trace with variants never crash") {
  const auto good = TraceContainer::take_apart(sample(17, write_variants));
  REQUIRE(good);
  REQUIRE(good->version == 2);
  REQUIRE(probe_trace(good->assemble(true)).accepted);
  MutationRandom random(17);
  const unsigned refused = refused_of("fields of variants", rounds, [&](unsigned n) {
    TraceContainer damaged = *good;
    for (unsigned edits = 1 + n % 3; edits > 0; --edits) {
      // Half of them in the index, which has the variants.
      const std::size_t frame = n % 2 == 0 ? damaged.frames.size() - 1 : random() % damaged.frames.size();
      mutate_frame(damaged.frames[frame], random);
    }
    return damaged.assemble(n % 4 != 0);
  });
  CHECK(refused > rounds / 2);
  CHECK(refused < rounds);
}
