// SPDX-License-Identifier: Apache-2.0
//
// Hash and value signature buffer in RTL: every column of the matrix, a million random operations in lockstep with the
// model's state, and seeded bugs, which must be found.
#include <regatta/wir/wir_pins.h>

#include "hash_column_bug.h"
#include "hash_fold_bug.h"
#include "rtl_bench.h"
#include "vsb_compare_bug.h"
#include "vsb_evict_bug.h"

using namespace regatta;
using namespace regatta::models::wir;

namespace {

using VsbBench = test::RtlBench<VsbOperation, VsbResult>;
using VsbKind = VsbOperation::Kind;

/// Operations that meet what is there: few values, hashes of them, and hashes that differ in one bit.
class VsbTraffic {
 public:
  explicit VsbTraffic(unsigned lanes, unsigned seed) : lanes_(lanes), dice_(seed), hash_(lanes) {
    for (auto& value : values_) {
      // Another value with a bit flipped, or lanes of one kind.
      if (&value != values_.data() && dice_.one_in(4)) {
        value = *(&value - 1);
        value[dice_.below(lanes_)] ^= 1u << dice_.below(32);
        continue;
      }
      const std::uint32_t first = dice_.word(), stride = dice_.one_in(3) ? 0 : dice_.below(5);
      const bool random = dice_.one_in(2);
      for (unsigned i = 0; i < lanes_; ++i) value[i] = random ? dice_.word() : first + i * stride;
    }
  }
  const H3Hash& hash() const { return hash_; }
  VsbOperation next(const VsbEntries& entries) {
    // Now and then the buffer is cleared.
    if (clearing_ || dice_.one_in(2000)) {
      const auto& all = entries.entries();
      clearing_ = std::any_of(all.begin(), all.end(), [](const auto& e) { return e.valid; });
      return VsbOperation::drop_first();
    }
    const unsigned choice = dice_.below(16);
    if (choice < 8) return VsbOperation::find(any_value().data(), lanes_);
    if (choice < 13) {
      return VsbOperation::insert(any_hash(), PhysicalRegister(static_cast<std::uint16_t>(dice_.below(0xffff))));
    }
    if (choice < 15) return VsbOperation::evict(dice_.one_in(2) ? any_hash() : dice_.below(256));
    return VsbOperation::drop_first();
  }

 private:
  using Value = std::array<std::uint32_t, trace::max_lanes>;
  const Value& any_value() { return values_[dice_.below(values_.size())]; }
  std::uint32_t any_hash() { return hash_(any_value().data()) ^ (dice_.one_in(4) ? 1u << dice_.below(32) : 0); }
  const unsigned lanes_;
  test::Dice dice_;
  H3Hash hash_;
  std::array<Value, 300> values_{};
  bool clearing_ = false;
};

/// Operations by what they find in their place.
struct VsbCoverage {
  std::uint64_t met[4][3] = {};    ///< by kind: invalid, other hash (or valid, if none is compared), same hash
  std::uint64_t bits[32] = {};     ///< finds of a hash that differs from the entry's in this bit alone
  std::uint64_t places[256] = {};  ///< drops by place
  void add(const VsbOperation& o, std::uint32_t hash, const VsbEntries& entries) {
    const auto& all = entries.entries();
    std::size_t place = hash % all.size();
    if (o.kind == VsbKind::drop_first) {
      place = 0;
      while (place + 1 < all.size() && !all[place].valid) ++place;
      places[place] += all[place].valid ? 1 : 0;
    }
    const VsbEntries::Entry& e = all[place];
    const bool compares = o.kind == VsbKind::find || o.kind == VsbKind::insert;
    ++met[static_cast<unsigned>(o.kind)][!e.valid ? 0 : compares && e.hash == hash ? 2 : 1];
    const std::uint32_t difference = e.hash ^ hash;
    if (o.kind == VsbKind::find && e.valid && difference != 0 && (difference & (difference - 1)) == 0) {
      ++bits[__builtin_ctz(difference)];
    }
  }
  void check(const char* name) const {
    std::printf("%s: by kind, what was in the place: invalid, other hash, same hash\n", name);
    const char* const kinds[] = {"find", "insert", "evict", "drop_first"};
    for (unsigned k = 0; k < 4; ++k) {
      std::printf("  %-10s %8llu %8llu %8llu\n", kinds[k], static_cast<unsigned long long>(met[k][0]),
                  static_cast<unsigned long long>(met[k][1]), static_cast<unsigned long long>(met[k][2]));
      CHECK(met[k][0] > 100);
      CHECK(met[k][1] > 100);
      if (k < 2) CHECK(met[k][2] > 100);
    }
    for (unsigned bit = 8; bit < 32; ++bit) CHECK(bits[bit] > 10);
    for (const std::uint64_t n : places) CHECK(n > 0);
  }
};

void vsb_traffic(const VsbPinsFactory& pins, unsigned lanes, std::uint64_t count, const char* name) {
  VsbBench b(pins, vsb_rtl_edges);
  VsbTraffic traffic(lanes, lanes);
  VsbEntries entries(rtl_entries);
  VsbCoverage coverage;
  for (std::uint64_t n = 0; n < count; ++n) {
    const VsbOperation o = traffic.next(entries);
    coverage.add(o, o.kind == VsbKind::find ? traffic.hash()(o.value.data()) : o.hash, entries);
    b.twin.operate(o, perform(traffic.hash(), entries, o));
  }
  CHECK(b.twin.compared() == count);
  coverage.check(name);
}

/// Every column of the matrix; the hash of 0.
void signature_columns(unsigned lanes) {
  VsbBench b(vsb_rtl(lanes), vsb_rtl_edges, false);
  const H3Hash hash(lanes);
  std::array<std::uint32_t, trace::max_lanes> value{};
  CHECK(b.twin.operate(VsbOperation::find(value.data(), lanes), {}).hash == 0);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned bit = 0; bit < 32; ++bit) {
      value[lane] = 1u << bit;
      INFO("lane " << lane << ", bit " << bit);
      REQUIRE(b.twin.operate(VsbOperation::find(value.data(), lanes), {}).hash == hash.column(lane, bit));
    }
    value[lane] = 0;
  }
}

template <class Top>
void vsb_bug(const char* bug) {
  test::must_differ([] { vsb_traffic(vsb_pins_of<Top>(), 32, test::many_operations, "bug"); }, bug, "req_value");
}

}  // namespace

TEST_CASE("hash in RTL: every column of the matrix, 32 lanes") { signature_columns(32); }
TEST_CASE("hash in RTL: every column of the matrix, 64 lanes") { signature_columns(64); }

TEST_CASE("signature buffer in RTL: a million operations, 32 lanes") {
  vsb_traffic(vsb_rtl(32), 32, test::many_operations, "value signature buffer");
}
TEST_CASE("signature buffer in RTL: 64 lanes") {
  vsb_traffic(vsb_rtl(64), 64, test::many_operations / 2, "value signature buffer, 64 lanes");
}
TEST_CASE("signature buffer in RTL: lanes that a warp does not have are 0") {
  VsbBench b(vsb_rtl(64), vsb_rtl_edges);
  VsbTraffic traffic(32, 3);
  VsbEntries entries(rtl_entries);
  for (unsigned n = 0; n < 10000; ++n) {
    const VsbOperation o = traffic.next(entries);
    b.twin.operate(o, perform(traffic.hash(), entries, o));
  }
  CHECK(b.twin.compared() == 10000);
}

TEST_CASE("hash in RTL, seeded bug: the column of the last lane's highest bit") {
  vsb_bug<hash_column_bug>("hash_column");
}
TEST_CASE("hash in RTL, seeded bug: a sum with OR") { vsb_bug<hash_fold_bug>("hash_fold"); }
TEST_CASE("signature buffer in RTL, seeded bug: a bit of the hash is not compared") {
  vsb_bug<vsb_compare_bug>("vsb_compare");
}
TEST_CASE("signature buffer in RTL, seeded bug: the last entry is not cleared") { vsb_bug<vsb_evict_bug>("vsb_evict"); }
