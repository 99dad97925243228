// SPDX-License-Identifier: Apache-2.0
//
// Warps in segments: what cursors say of them, and how they lie in a file.
#include <regatta/base/error.h>
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>
#include <regatta/trace/verify.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sample.h"

namespace segments {

using namespace regatta;
using namespace regatta::trace;
using test::Random;
using test::Step;

namespace {

/// A segment ends behind one of so many steps.
std::vector<bool> random_ends(Random& random, std::size_t steps, unsigned of) {
  std::vector<bool> ends(steps);
  for (std::size_t i = 0; i < steps; ++i) ends[i] = random() % of == 0;
  return ends;
}

/// One launch of CTAs of `warps` warps, of which those of odd number are in segments.
std::vector<std::vector<Step>> write_trace(Writer& writer, unsigned warp_size, unsigned ctas, unsigned warps) {
  Random random(warp_size);
  const Kernel kernel = test::sample_kernel(warp_size);
  Launch launch;
  launch.kernel = writer.add_kernel(kernel);
  launch.grid = {ctas, 1, 1};
  launch.block = {warps * warp_size, 1, 1};
  launch.shared_bytes_per_cta = kernel.static_shared_bytes;
  const std::uint32_t number = writer.begin_launch(launch);
  std::vector<std::vector<Step>> all;
  for (std::uint64_t c = 0; c < ctas; ++c) {
    Cta cta;
    cta.launch = number;
    cta.index = c;
    for (unsigned w = 0; w < warps; ++w) {
      all.push_back(test::random_steps(random, kernel, 200));
      if (w % 2 == 0) {
        cta.warps.push_back(test::encode(kernel, all.back()));
      } else {
        cta.warps.push_back(test::encode_in_segments(kernel, all.back(), random_ends(random, 200, 20)));
      }
    }
    writer.add_cta(cta);
  }
  return all;
}

void check_trace(const Reader& reader, const std::vector<std::vector<Step>>& steps) {
  const auto stream = reader.stream(0, reader.ctas().size());
  std::size_t warp = 0;
  while (const std::shared_ptr<const Cta> cta = stream->next()) {
    for (std::size_t w = 0; w < cta->warps.size(); ++w, ++warp) {
      CHECK((cta->warps[w].segments != nullptr) == (w % 2 == 1));
      CHECK(cta->warps[w].warp_instructions == steps[warp].size());
      REQUIRE(test::difference(reader.kernels()[0], cta->warps[w], steps[warp]).empty());
    }
  }
  CHECK(warp == steps.size());
}

}  // namespace

TEST_CASE("segments: cursors step over them") {
  const unsigned warp_size = GENERATE(32u, 64u);
  Random random(warp_size + 1);
  const Kernel kernel = test::sample_kernel(warp_size);
  for (int i = 0; i < 60; ++i) {
    const std::vector<Step> steps = test::random_steps(random, kernel, 300);
    const WarpColumns columns =
        test::encode_in_segments(kernel, steps, random_ends(random, steps.size(), i % 3 == 0 ? 1 : 40));
    CHECK(columns.warp_instructions == steps.size());
    CHECK(columns.bytes() == 0);
    REQUIRE(test::difference(kernel, columns, steps).empty());
    // A copy of a cursor walks on its own; one that looks at the path alone, and one at the stack now and then.
    PathCursor path(kernel, columns);
    for (int n = 0; n < 150; ++n) path.next();
    PathCursor copy = path;
    StackCursor stack(kernel, columns);
    std::vector<StackEvent> expected;
    for (std::size_t n = 0; n < steps.size(); ++n) {
      for (const StackEvent& e : steps[n].events) {
        if (e.push) {
          expected.push_back(e);
        } else {
          expected.pop_back();
        }
      }
      if (n >= 150) {
        REQUIRE(copy.peek_index() == steps[n].index);
        REQUIRE(copy.next());
        REQUIRE(copy.index() == steps[n].index);
      }
      if (n % 70 != 69) continue;
      stack.advance(n + 1);
      REQUIRE(stack.entries().size() == expected.size());
      for (std::size_t e = 0; e < expected.size(); ++e) {
        CHECK(stack.entries()[e].resume_index == expected[e].resume_index);
      }
    }
    CHECK(copy.at_end());
    CHECK_FALSE(copy.next());
    CHECK(copy.complete());
    CHECK(path.position() == 150);
    REQUIRE(path.next());
    CHECK(path.index() == steps[150].index);
  }
}

TEST_CASE("segments: an entry that no instruction uses is found in any of them") {
  Random random(5);
  const Kernel kernel = test::sample_kernel(32);
  const std::vector<Step> steps = test::random_steps(random, kernel, 60);
  struct Damaged : WarpSegments {
    std::shared_ptr<const WarpColumns> segment(std::uint64_t number) override {
      const std::shared_ptr<const WarpColumns> is = inner->segment(number);
      if (is == nullptr || number != which) return is;
      auto more = std::make_shared<WarpColumns>(*is);
      more->guard_mask.push_back(0);
      return more;
    }
    std::shared_ptr<WarpSegments> inner;
    std::uint64_t which = 0;
  };
  for (const std::uint64_t which : {0u, 3u, 59u}) {
    WarpColumns columns = test::encode_in_segments(kernel, steps, std::vector<bool>(60, true));
    const auto damaged = std::make_shared<Damaged>();
    damaged->inner = columns.segments;
    damaged->which = which;
    columns.segments = damaged;
    CHECK(test::difference(kernel, columns, steps) == "left over: guard_mask");
  }
}

TEST_CASE("segments: a file keeps them") {
  const test::TemporaryDirectory directory;
  const unsigned warp_size = GENERATE(32u, 64u);
  const std::string path = directory / "a.rgt", copy = directory / "b.rgt";
  std::vector<std::vector<Step>> steps;
  {
    Writer writer(path);
    REQUIRE(writer.takes_segments());
    steps = write_trace(writer, warp_size, 3, 4);
    writer.finish();
  }
  const Reader reader(path);
  CHECK(reader.version() == 3);
  check_trace(reader, steps);
  CHECK(verify(reader, VerifyDepth::columns).warps == 12);
  std::uint64_t bytes = 0;
  for (const Reader::CtaEntry& c : reader.ctas()) bytes += c.segment_bytes;
  CHECK(bytes > 0);
  // Copied, as `regatta-annotate --trace` does.
  {
    Writer writer(copy);
    writer.add_kernel(reader.kernels()[0]);
    writer.begin_launch(reader.launches()[0]);
    const auto stream = reader.stream(0, reader.ctas().size());
    while (const std::shared_ptr<const Cta> cta = stream->next()) writer.add_cta(*cta);
    writer.finish();
  }
  const Reader again(copy);
  check_trace(again, steps);
  CHECK(again.data_digest() == reader.data_digest());
  CHECK(again.launches()[0].signature == reader.launches()[0].signature);
}

TEST_CASE("segments: the signature is that of the same warps as a whole") {
  const test::TemporaryDirectory directory;
  Random random(9);
  const Kernel kernel = test::sample_kernel(32);
  const std::vector<Step> steps = test::random_steps(random, kernel, 400);
  std::vector<LaunchSignature> signatures;
  for (const bool in_segments : {false, true}) {
    const std::string path = directory / (in_segments ? "segments.rgt" : "whole.rgt");
    Writer writer(path);
    Launch launch;
    launch.kernel = writer.add_kernel(kernel);
    launch.grid = {1, 1, 1};
    launch.block = {32, 1, 1};
    launch.shared_bytes_per_cta = kernel.static_shared_bytes;
    Cta cta;
    cta.launch = writer.begin_launch(launch);
    cta.warps.push_back(in_segments ? test::encode_in_segments(kernel, steps, random_ends(random, 400, 30))
                                    : test::encode(kernel, steps));
    writer.add_cta(cta);
    writer.finish();
    signatures.push_back(*Reader(path).launches()[0].signature);
  }
  CHECK(signatures[0].lines > 0);
  CHECK(signatures[0] == signatures[1]);
}

TEST_CASE("segments: damage names the file, the place and the segment") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "a.rgt";
  {
    Writer writer(path);
    write_trace(writer, 32, 1, 2);
    writer.finish();
  }
  const std::string whole = test::read_bytes(path);
  const auto read_all = [&](const std::string& bytes) {
    test::write_bytes(path, bytes);
    const Reader reader(path);
    verify(reader, VerifyDepth::columns);
  };
  CHECK_NOTHROW(read_all(whole));
  const std::uint64_t cta = Reader(path).ctas()[0].offset, before = Reader(path).ctas()[0].segment_bytes;
  std::string damaged = whole;
  damaged[cta - before + 40] = static_cast<char>(damaged[cta - before + 40] ^ 1);
  CHECK_THROWS_WITH(read_all(damaged),
                    path + ": byte " + std::to_string(cta - before) +
                        ": CTA 0 of launch 0, warp 1, segment 0: checksum is wrong: the file is corrupted");
  // As a program that knows no segments sees it.
  damaged = whole;
  damaged[8] = 1;
  CHECK_THROWS_WITH(read_all(damaged), Catch::Matchers::Contains("checksum of the trailer is wrong"));
}

TEST_CASE("segments: what a writer refuses") {
  const test::TemporaryDirectory directory;
  Random random(3);
  const Kernel kernel = test::sample_kernel(32);
  Writer writer(directory / "a.rgt");
  Launch launch;
  launch.kernel = writer.add_kernel(kernel);
  launch.grid = {2, 1, 1};
  launch.block = {32, 1, 1};
  launch.shared_bytes_per_cta = kernel.static_shared_bytes;
  writer.begin_launch(launch);
  const auto part = [&](std::uint64_t cta, std::uint32_t warp) {
    WarpColumns columns = test::encode(kernel, test::random_steps(random, kernel, 10));
    columns.cta = cta;
    columns.warp = warp;
    return columns;
  };
  CHECK_THROWS_WITH(writer.add_segment(part(1, 0)), Catch::Matchers::Contains("its CTA is not the next one"));
  CHECK_THROWS_WITH(writer.add_segment(part(0, 1)), Catch::Matchers::Contains("the CTA has fewer warps"));
  CHECK_THROWS_WITH(writer.add_segment(WarpColumns()), Catch::Matchers::Contains("the segment has no instruction"));
  writer.add_segment(part(0, 0));
  Cta cta;
  cta.warps.push_back(part(0, 0));
  CHECK_THROWS_WITH(writer.add_cta(std::move(cta)), Catch::Matchers::Contains("has segments, and columns besides"));
  CHECK_FALSE(Writer("/dev/null").takes_segments());
}

}  // namespace segments
