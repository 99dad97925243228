// SPDX-License-Identifier: Apache-2.0
//
// Kernels that a capacity manager cannot run are refused before they start, with a sentence.
#include "bench.h"

using namespace regatta;
using Catch::Matchers::Contains;
using test::Bench;
using test::region_of;
using test::RegionSpec;

namespace {

/// What start_kernel() says; empty when it says nothing.
std::string refusal(Bench& b) {
  std::string message;
  b.at(0, [&] {
    try {
      b.start_kernel();
    } catch (const support::ConfigError& e) {
      message = e.what();
    }
  });
  b.run();
  return message;
}

}  // namespace

TEST_CASE("capacity manager: refuses a kernel without region words") {
  Bench b({region_of(3, 1)});
  b.kernel.inserted.clear();
  CHECK_THAT(refusal(b), Contains("kernel by_hand") && Contains("regless") && Contains("regatta-annotate"));
}

TEST_CASE("capacity manager: refuses a region that an empty bank could not hold") {
  Bench b({region_of(3, 4), region_of(3, 5)}, {}, 4);
  CHECK_THAT(refusal(b), Contains("instruction 3") && Contains("needs 5 lines") && Contains("has 4") &&
                             Contains("--region-bank-lines 4"));
}

TEST_CASE("capacity manager: takes a region that an empty bank just holds") {
  Bench b({region_of(3, 4), region_of(3, 3)}, {}, 4);
  CHECK(refusal(b).empty());
}

TEST_CASE("capacity manager: refuses a region whose words do not fit a warp's store") {
  models::CapacityManagerConfig config;
  config.metadata_words = 3;
  RegionSpec spec = region_of(6, 3);
  spec.words.lines.fill(3);
  for (std::uint8_t reg = 0; reg < 9; ++reg) {
    spec.words.entries.push_back({trace::RegionEntry::Kind::preload, static_cast<std::uint8_t>(reg + 8)});
  }
  // header with 3 entries, two words with 5 and 1, uses
  Bench b({spec}, config);
  CHECK_THAT(refusal(b), Contains("4 of its words") && Contains("capacity_manager.metadata_words is 3"));
}

TEST_CASE("capacity manager: refuses an instruction that is in no region") {
  Bench b({region_of(3, 1), region_of(3, 1)});
  b.kernel.instructions.resize(20);
  b.traits.resize(20);
  for (std::uint32_t i = 0; i < 20; ++i) b.traits[i].info = &b.kernel.instructions[i];
  CHECK_THAT(refusal(b), Contains("longer than its marks") && Contains("annotate the kernel again"));
}

TEST_CASE("capacity manager: refuses words out of order") {
  Bench b({region_of(6, 1)});
  std::swap(b.kernel.inserted[0].instruction, b.kernel.inserted[1].instruction);
  CHECK_THAT(refusal(b), Contains("belongs to no region"));
}

TEST_CASE("capacity manager: refuses preloads without lines") {
  RegionSpec spec = region_of(3, 1, {8});
  spec.words.entries.push_back({trace::RegionEntry::Kind::preload, 16});
  Bench b({spec});
  CHECK_THAT(refusal(b), Contains("preload more registers of bank 0"));
}

TEST_CASE("capacity manager: refuses a staging unit of another number of banks") {
  Bench b({region_of(3, 1)});
  b.staging[0]->set_banks(4);
  CHECK_THROWS_WITH(b.run(), Contains("8 banks") && Contains("of 4"));
}
