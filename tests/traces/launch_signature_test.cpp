// SPDX-License-Identifier: Apache-2.0
// Signatures of launches: what the writer counts, against a count from the plain record; traces without signatures.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>
#include <regatta/trace/touched_lines.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "codec.h"
#include "frame.h"
#include "sample.h"

using namespace regatta::trace;
using namespace regatta::test;

namespace {

/// Counted lane by lane from the record of what the warps did. Value kinds are the encoder's choice: only their sum is
/// known here.
struct Counted {
  std::array<std::uint64_t, op_class_count> classes{};
  std::uint64_t results = 0, requests = 0, bytes = 0;
  std::set<std::uint64_t> lines;
};

void count(const Kernel& kernel, const std::vector<Step>& steps, Counted& c) {
  for (const Step& step : steps) {
    const StaticInstruction& i = kernel.instructions[step.index];
    ++c.classes[static_cast<unsigned>(i.op_class)];
    c.results += step.results.size();
    if (!has_addresses(i) || (i.space != MemorySpace::global && i.space != MemorySpace::generic)) continue;
    std::set<std::uint64_t> lines;
    for (unsigned lane = 0; lane < kernel.warp_size; ++lane) {
      if (((step.active >> lane) & 1) == 0) continue;
      const std::uint64_t address = step.addresses[lane];
      if (i.space == MemorySpace::generic && address >> 48 != 0) continue;
      for (std::uint64_t b = 0; b < i.access_bytes; ++b) lines.insert((address + b) / LaunchSignature::line_bytes);
      c.bytes += i.access_bytes;
    }
    c.requests += lines.size();
    c.lines.insert(lines.begin(), lines.end());
  }
}

/// The trace as an earlier writer would have left it: the index without signatures.
void write_without_signatures(const std::string& from, const std::string& to) {
  const std::string bytes = read_bytes(from);
  TrailerBytes trailer;
  std::memcpy(trailer.data(), bytes.data() + bytes.size() - trailer.size(), trailer.size());
  const std::uint64_t at = unpack_trailer(trailer, plain_format_version);
  FrameHeaderBytes packed;
  std::memcpy(packed.data(), bytes.data() + at, packed.size());
  FrameHeader header = unpack(packed);
  std::string raw(header.raw_bytes, '\0');
  Decompressor().decompress(bytes.data() + at + packed.size(), header.compressed_bytes, raw.data(), raw.size());
  proto::Index index;
  REQUIRE(index.ParseFromString(raw));
  for (proto::Launch& launch : *index.mutable_launches()) {
    REQUIRE(launch.has_signature());
    launch.clear_signature();
  }
  raw = index.SerializeAsString();
  Buffer compressed;
  header.raw_bytes = raw.size();
  header.compressed_bytes = Compressor().compress(raw, compressed);
  header.checksum = checksum(header, compressed.data());
  packed = pack(header);
  write_bytes(to, bytes.substr(0, at) + std::string(packed.data(), packed.size()) +
                      std::string(compressed.data(), header.compressed_bytes) +
                      std::string(trailer.data(), trailer.size()));
}

using Lines = std::vector<std::pair<std::uint64_t, unsigned>>;

/// Address and sectors of each line of 128 bytes that instruction `index` touches, in order of addresses.
Lines lines_of(const Kernel& kernel, std::uint32_t index, LaneMask active,
               const std::vector<std::uint64_t>& addresses) {
  WarpEncoder e(kernel);
  e.instruction(index, 0xffffffff, active);
  e.addresses(addresses.data());
  for (unsigned d = 0; d < kernel.instructions[index].destination_count; ++d) e.result(WarpValue{});
  const WarpColumns columns = e.finish();
  WarpCursor cursor(kernel, columns);
  REQUIRE(cursor.next());
  TouchedLines touched(128);
  touched.take(cursor);
  Lines lines;
  for (const TouchedLines::Line& line : touched) lines.emplace_back(line.address, line.sectors);
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// The kernel's first load from global memory, now with a guard, and of `bytes`.
std::uint32_t global_load(Kernel& kernel, unsigned bytes) {
  std::uint32_t load = 0;
  while (kernel.instructions[load].space != MemorySpace::global) ++load;
  kernel.instructions[load].access_bytes = static_cast<std::uint8_t>(bytes);
  kernel.instructions[load].guard.predicate = 0;
  return load;
}

}  // namespace

TEST_CASE("a launch's signature is the sum of what its warps did") {
  const TemporaryDirectory directory;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string path = directory / ("s" + std::to_string(seed) + ".rgt");
    std::vector<std::vector<std::vector<Step>>> steps;
    write_sample(path, seed, &steps);
    const Reader reader(path);
    std::vector<Counted> counted(reader.launches().size());
    for (std::size_t c = 0; c < reader.ctas().size(); ++c) {
      const std::uint32_t launch = reader.ctas()[c].launch;
      for (const auto& warp : steps[c])
        count(reader.kernels()[reader.launches()[launch].kernel], warp, counted[launch]);
    }
    for (std::size_t i = 0; i < counted.size(); ++i) {
      CAPTURE(seed, i);
      REQUIRE(reader.launches()[i].signature);
      const LaunchSignature& s = *reader.launches()[i].signature;
      CHECK(s.classes == counted[i].classes);
      std::uint64_t results = 0;
      for (const std::uint64_t n : s.values) results += n;
      CHECK(results == counted[i].results);
      CHECK(s.requests == counted[i].requests);
      CHECK(s.lines == counted[i].lines.size());
      CHECK(s.bytes == counted[i].bytes);
    }
  }
}

TEST_CASE("a trace without signatures gets the same ones from its CTAs") {
  const TemporaryDirectory directory;
  write_sample(directory / "new.rgt", 7);
  write_without_signatures(directory / "new.rgt", directory / "old.rgt");
  const Reader with(directory / "new.rgt"), without(directory / "old.rgt");
  REQUIRE(with.launches().size() == without.launches().size());
  for (std::size_t i = 0; i < with.launches().size(); ++i) {
    CAPTURE(i);
    REQUIRE_FALSE(without.launches()[i].signature);
    CHECK(signature_of(with, i) == *with.launches()[i].signature);
    CHECK(signature_of(without, i) == *with.launches()[i].signature);
  }
}

TEST_CASE("the lines of an access: strided, scattered, across lines, of generic space") {
  Kernel kernel = sample_kernel(32);
  const std::uint32_t load = global_load(kernel, 4);
  std::vector<std::uint64_t> a(32);
  for (unsigned i = 0; i < 32; ++i) a[i] = 0x1060 + 4 * i;
  CHECK(lines_of(kernel, load, 0xffffffff, a) == Lines{{0x1000, 8}, {0x1080, 7}});
  CHECK(lines_of(kernel, load, 0, a).empty());
  for (unsigned i = 0; i < 32; ++i) a[i] = 0x2000 - 128 * i;
  CHECK(lines_of(kernel, load, 5, a) == Lines{{0x1f00, 1}, {0x2000, 1}});
  for (unsigned i = 0; i < 32; ++i) a[i] = 0x1000 + 64 * i;
  CHECK(lines_of(kernel, load, 7, a) == Lines{{0x1000, 5}, {0x1080, 1}});
  a[0] = 0x107e;  // two bytes on either side
  CHECK(lines_of(kernel, load, 1, a) == Lines{{0x1000, 8}, {0x1080, 1}});
  kernel.instructions[load].space = MemorySpace::generic;
  a[1] = shared_window + 4;
  a[2] = local_window + 4;
  a[3] = 0x1040;
  CHECK(lines_of(kernel, load, 0xe, a) == Lines{{0x1000, 4}});
}

TEST_CASE("the lines of an access are those of its bytes, one by one") {
  Kernel kernel = sample_kernel(32);
  std::mt19937 random(42);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  for (unsigned run = 0; run < 4000; ++run) {
    const unsigned bytes = 1u << below(5);
    const std::uint32_t load = global_load(kernel, bytes);
    // Of one stride, forwards and backwards, mostly around the size of a sector; or anywhere.
    const auto stride = static_cast<std::int64_t>(below(4) == 0 ? below(400) : below(80)) * (below(4) == 0 ? -1 : 1);
    const bool scattered = below(4) == 0;
    std::vector<std::uint64_t> a(32);
    for (unsigned i = 0; i < 32; ++i)
      a[i] = 0x100000 + (scattered ? below(2000) : static_cast<std::uint64_t>(stride * i));
    // Lanes without a gap between them, or any.
    LaneMask active = (0xffffffffu >> below(32)) << below(32) & 0xffffffffu;
    if (below(3) == 0) active &= random();
    std::map<std::uint64_t, unsigned> expected;
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (std::uint64_t at = a[lane]; at < a[lane] + bytes && ((active >> lane) & 1) != 0; ++at) {
        expected[at & ~std::uint64_t{127}] |= 1u << (at % 128 / 32);
      }
    }
    CAPTURE(run, bytes, stride, scattered, active);
    REQUIRE(lines_of(kernel, load, active, a) == Lines(expected.begin(), expected.end()));
  }
}
