// SPDX-License-Identifier: Apache-2.0
//
// The register file cache alone: the behaviours of Huerta et al., MICRO 2025, section 5.3.1, and random accesses
// against a model of the definition.
#include <regatta/baseline/register_file_cache.h>
#include <regatta/test/catch.h>

#include <map>
#include <random>
#include <tuple>

using namespace regatta;
using protocol::CachedOperand;
using protocol::RegisterId;
using protocol::WarpSlot;

namespace {

CachedOperand operand(unsigned reg, unsigned position, bool reuse, unsigned warp = 0, unsigned sub_core = 0) {
  return CachedOperand{sub_core, WarpSlot(static_cast<std::uint16_t>(warp)), RegisterId(static_cast<std::uint8_t>(reg)),
                       position, reuse};
}

protocol::WarpValue filled(std::uint32_t value) {
  protocol::WarpValue v;
  for (std::uint32_t& lane : v.lane) lane = value;
  return v;
}

}  // namespace

TEST_CASE("register file cache: an operand with reuse is found once, and again if it is kept again") {
  models::RegisterFileCache cache("cache", 4);
  CHECK_FALSE(cache.access(operand(2, 0, true)));
  CHECK(cache.access(operand(2, 0, true)));   // found, and kept
  CHECK(cache.access(operand(2, 0, false)));  // found, and not kept
  CHECK_FALSE(cache.access(operand(2, 0, false)));
}

TEST_CASE("register file cache: another position does not find it") {
  models::RegisterFileCache cache("cache", 4);
  cache.access(operand(2, 0, true));
  CHECK_FALSE(cache.holds(operand(2, 1, false)));
  CHECK_FALSE(cache.access(operand(2, 1, false)));
  CHECK(cache.holds(operand(2, 0, false)));  // and leaves it alone
}

TEST_CASE("register file cache: another register of the bank clears the entry, one of the other bank does not") {
  models::RegisterFileCache cache("cache", 4);
  cache.access(operand(2, 0, true));
  CHECK_FALSE(cache.access(operand(7, 0, false)));
  CHECK(cache.holds(operand(2, 0, false)));
  CHECK_FALSE(cache.access(operand(4, 0, false)));
  CHECK_FALSE(cache.holds(operand(2, 0, false)));
}

TEST_CASE("register file cache: warps and sub-cores do not find each other's registers") {
  models::RegisterFileCache cache("cache", 4);
  cache.access(operand(2, 0, true, 0, 0));
  cache.access(operand(2, 0, true, 1, 1));
  CHECK_FALSE(cache.holds(operand(2, 0, false, 4, 0)));
  CHECK(cache.holds(operand(2, 0, false, 0, 0)));
  CHECK(cache.holds(operand(2, 0, false, 1, 1)));
  cache.access(operand(2, 0, false, 4, 0));  // the same entry, another warp
  CHECK_FALSE(cache.holds(operand(2, 0, false, 0, 0)));
}

TEST_CASE("register file cache: the value is that of the last operand that was kept") {
  models::RegisterFileCache cache("cache", 1);
  cache.access(operand(2, 0, true));
  cache.fill(operand(2, 0, true), filled(7));
  cache.access(operand(3, 0, true));
  cache.fill(operand(3, 0, true), filled(9));
  CHECK(cache.value(operand(2, 0, false)).lane[31] == 7);
  CHECK(cache.value(operand(3, 0, false)).lane[0] == 9);
}

TEST_CASE("register file cache: a launch finds it empty") {
  models::RegisterFileCache cache("cache", 1);
  cache.access(operand(2, 0, true));
  cache.kernel_started(protocol::KernelContext{});
  CHECK_FALSE(cache.holds(operand(2, 0, false)));
}

TEST_CASE("register file cache: random accesses as by the definition") {
  models::RegisterFileCache cache("cache", 2);
  std::mt19937 random(5);
  std::map<std::tuple<unsigned, unsigned, unsigned>, std::pair<unsigned, unsigned>> model;  // warp, register
  for (unsigned step = 0; step < 100000; ++step) {
    const unsigned sub_core = random() % 2, reg = random() % 6, position = random() % 3, warp = random() % 2;
    const bool reuse = random() % 2 != 0;
    const auto entry = std::make_tuple(sub_core, reg % 2, position);
    const auto found = model.find(entry);
    const bool hit = found != model.end() && found->second == std::make_pair(warp, reg);
    const CachedOperand o = operand(reg, position, reuse, warp, sub_core);
    REQUIRE(cache.holds(o) == hit);
    REQUIRE(cache.access(o) == hit);
    model.erase(entry);
    if (reuse) model[entry] = {warp, reg};
  }
}
