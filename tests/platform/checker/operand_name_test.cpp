// SPDX-License-Identifier: Apache-2.0
#include "operand_name.h"

#include <regatta/test/catch.h>

#include <vector>

using namespace regatta;

namespace {

/// The names of all sources.
std::vector<std::string> names(const std::string& opcode, unsigned destinations, const std::vector<unsigned>& sources,
                               trace::OpClass op_class = trace::OpClass::tensor) {
  trace::StaticInstruction i;
  i.opcode = opcode;
  i.op_class = op_class;
  i.destination_count = static_cast<std::uint8_t>(destinations);
  for (const unsigned r : sources) i.sources[i.source_count++] = static_cast<std::uint8_t>(r);
  std::vector<std::string> all;
  for (const unsigned r : sources) all.push_back(checker::operand_name(i, r));
  return all;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("operands of matrix products have the names of their fragments") {
  CHECK(names("mma.m16n8k16.f32.f16.f16", 4, {20, 21, 22, 23, 30, 31, 0, 1, 2, 3}) ==
        Names{"A0", "A1", "A2", "A3", "B0", "B1", "C0", "C1", "C2", "C3"});
  CHECK(names("mma.m16n8k16.s32.s8.u8", 4, {20, 21, 30, 0, 1, 2, 3}) ==
        Names{"A0", "A1", "B0", "C0", "C1", "C2", "C3"});
  CHECK(names("mma.m8n8k16.s32.u8.u8", 2, {20, 30, 0, 1}) == Names{"A0", "B0", "C0", "C1"});
  CHECK(names("mma.m8n8k4.f64.f64.f64", 4, {20, 21, 30, 31, 0, 1, 2, 3}) ==
        Names{"A0", "A1", "B0", "B1", "C0", "C1", "C2", "C3"});
  // One register in two places.
  CHECK(names("mma.m16n8k16.s32.s8.s8", 4, {20, 21, 20, 0, 1, 2, 3}) ==
        Names{"A0 and B0", "A1", "A0 and B0", "C0", "C1", "C2", "C3"});
}

TEST_CASE("operands of products of warp groups are fragments and descriptors") {
  CHECK(names("wgmma.m16n8k16.f32.f16.f16.shared_a", 4, {32, 33, 34, 35, 0, 1, 2, 3}) ==
        Names{"descriptor of A", "descriptor of A", "descriptor of B", "descriptor of B", "C0", "C1", "C2", "C3"});
  CHECK(names("wgmma.m16n8k16.f16.f16.f16", 2, {8, 9, 10, 11, 34, 35, 0, 1}) ==
        Names{"A0", "A1", "A2", "A3", "descriptor of B", "descriptor of B", "C0", "C1"});
}

TEST_CASE("other operands have no name") {
  CHECK(names("fma.rn.f32", 1, {1, 2, 3}, trace::OpClass::fp32_mad) == Names{"", "", ""});
  CHECK(names("mma.unknown", 1, {1, 2, 3}) == Names{"", "", ""});
  CHECK(names("mma.m16n8k16.f32.f16.f16", 4, {0, 1, 2, 3}) == Names{"", "", "", ""});
}
