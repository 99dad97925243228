// SPDX-License-Identifier: Apache-2.0
//
// Each structure of WIR against a simple one that does the same, under random operations.
#include <regatta/test/catch.h>
#include <regatta/wir/h3_hash.h>
#include <regatta/wir/reuse_entries.h>
#include <regatta/wir/value_cache.h>
#include <regatta/wir/vsb_entries.h>

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <set>

using namespace regatta::models::wir;

namespace {

constexpr unsigned operations = 100000;
constexpr unsigned lanes = 32;
using Value = std::array<std::uint32_t, lanes>;

PhysicalRegister reg(std::uint64_t n) { return PhysicalRegister(static_cast<std::uint16_t>(n)); }

Value random_value(std::mt19937_64& random) {
  Value v;
  for (std::uint32_t& lane : v) lane = static_cast<std::uint32_t>(random());
  return v;
}

}  // namespace

TEST_CASE("a hash bit is the parity of the value and a row of the matrix") {
  std::mt19937_64 random(1);
  for (const unsigned bits : {1u, 4u, 13u, 32u}) {
    for (const unsigned width : {1u, 6u, lanes}) {
      H3Hash hash(width, bits);
      for (unsigned n = 0; n < 200; ++n) {
        const Value v = random_value(random);
        std::uint32_t expected = 0;
        for (unsigned lane = 0; lane < width; ++lane) {
          for (unsigned bit = 0; bit < 32; ++bit) {
            if (v[lane] >> bit & 1) expected ^= hash.column(lane, bit);
          }
        }
        for (const H3Hash::Variant variant : H3Hash::variants()) {
          hash.use(variant);
          REQUIRE(hash(v.data()) == expected);
        }
        REQUIRE((bits == 32 || expected >> bits == 0));
      }
    }
  }
}

TEST_CASE("a hash is linear, tells single bits apart, and can be repeated") {
  std::mt19937_64 random(2);
  const H3Hash hash(lanes);
  std::set<std::uint32_t> columns;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned bit = 0; bit < 32; ++bit) columns.insert(hash.column(lane, bit));
  }
  CHECK(columns.size() == 1024);
  CHECK(columns.count(0) == 0);
  for (unsigned n = 0; n < 1000; ++n) {
    const Value a = random_value(random);
    const Value b = random_value(random);
    Value sum;
    std::transform(a.begin(), a.end(), b.begin(), sum.begin(), [](std::uint32_t x, std::uint32_t y) { return x ^ y; });
    REQUIRE(hash(sum.data()) == (hash(a.data()) ^ hash(b.data())));
    REQUIRE(H3Hash(lanes, 8)(a.data()) == (hash(a.data()) & 0xff));
  }
  CHECK(hash(Value{}.data()) == 0);
  // Results of earlier runs are compared with: the matrix is what it was.
  CHECK(hash.column(0, 0) == 0xa372da60);
  CHECK(hash.column(31, 31) == 0x755a0b63);
  const Value v = random_value(random);
  CHECK(H3Hash(lanes, 32, 7)(v.data()) != hash(v.data()));
}

TEST_CASE("a narrow hash spreads values evenly, and which values collide follows from its columns") {
  // What adversarial kernels are built from: two values, one hash.
  constexpr unsigned bits = 4;
  constexpr unsigned buckets = 1u << bits;
  const H3Hash narrow(lanes, bits);
  const H3Hash wide(lanes);
  std::mt19937_64 random(3);
  constexpr unsigned per_bucket = 1000;
  std::array<unsigned, buckets> count{};
  for (unsigned n = 0; n < buckets * per_bucket; ++n) {
    const std::uint32_t h = narrow(random_value(random).data());
    REQUIRE(h < buckets);
    ++count[h];
  }
  // Five standard deviations of a binomial distribution.
  for (const unsigned c : count) CHECK(std::abs(static_cast<int>(c) - static_cast<int>(per_bucket)) < 154);
  // Of any five columns of four bits some add up to nothing: a difference that no value's hash sees.
  for (unsigned n = 0; n < 200; ++n) {
    std::array<std::pair<unsigned, unsigned>, bits + 1> chosen;  // lane and bit, a lane of its own each
    for (unsigned c = 0; c < chosen.size(); ++c) chosen[c] = {(n + c * 5) % lanes, random() % 32};
    Value difference{};
    for (unsigned subset = 1; subset < 1u << chosen.size(); ++subset) {
      std::uint32_t sum = 0;
      for (unsigned c = 0; c < chosen.size(); ++c) {
        if ((subset >> c & 1) != 0) sum ^= narrow.column(chosen[c].first, chosen[c].second);
      }
      if (sum != 0) continue;
      for (unsigned c = 0; c < chosen.size(); ++c) {
        if ((subset >> c & 1) != 0) difference[chosen[c].first] ^= 1u << chosen[c].second;
      }
      break;
    }
    REQUIRE(difference != Value{});
    const Value a = random_value(random);
    Value b = a;
    for (unsigned lane = 0; lane < lanes; ++lane) b[lane] ^= difference[lane];
    REQUIRE(narrow(a.data()) == narrow(b.data()));
    // No five bits of these hide from the whole hash.
    REQUIRE(wide(a.data()) != wide(b.data()));
    // One bit more, whose column is not empty, and they part.
    unsigned lane = 0;
    while (narrow.column(lane, 0) == 0) ++lane;
    b[lane] ^= 1;
    REQUIRE(narrow(a.data()) != narrow(b.data()));
  }
}

TEST_CASE("a hash that cannot be made is refused") {
  CHECK_THROWS_AS(H3Hash(lanes, 0), std::invalid_argument);
  CHECK_THROWS_AS(H3Hash(lanes, 33), std::invalid_argument);
}

TEST_CASE("the value signature buffer is a table by the hash's low bits") {
  std::mt19937_64 random(4);
  for (const unsigned entries : {0u, 1u, 7u, 64u, 256u}) {
    VsbEntries buffer(entries);
    std::map<std::size_t, std::pair<std::uint32_t, PhysicalRegister>> model;
    for (unsigned n = 0; n < operations; ++n) {
      const auto hash = static_cast<std::uint32_t>(random() % 1024);
      const std::size_t index = entries == 0 ? 0 : hash % entries;
      const auto taken = [&] {
        const auto at = model.find(index);
        const PhysicalRegister r = at == model.end() ? no_register : at->second.second;
        if (at != model.end()) model.erase(at);
        return r;
      };
      switch (random() % 4) {
        case 0: {
          const PhysicalRegister r = reg(random() % 100);
          const PhysicalRegister before = entries == 0 ? r : taken();
          if (entries != 0) model[index] = {hash, r};
          REQUIRE(buffer.insert(hash, r) == before);
          break;
        }
        case 1:
          REQUIRE(buffer.evict(hash) == taken());
          break;
        default: {
          const auto at = model.find(index);
          REQUIRE(buffer.find(hash) ==
                  (at != model.end() && at->second.first == hash ? at->second.second : no_register));
        }
      }
    }
    std::multiset<unsigned> left;
    for (const auto& [index, entry] : model) left.insert(entry.second.value());
    std::multiset<unsigned> cleared;
    buffer.clear([&](PhysicalRegister r) { cleared.insert(r.value()); });
    CHECK(cleared == left);
    CHECK(buffer.find(3) == no_register);
  }
}

TEST_CASE("the verify cache keeps what was used last") {
  std::mt19937_64 random(5);
  for (const unsigned entries : {0u, 1u, 3u, 8u}) {
    ValueCache cache(entries, lanes);
    std::list<std::pair<PhysicalRegister, Value>> model;  // most recently used first
    for (unsigned n = 0; n < operations / 4; ++n) {
      const PhysicalRegister r = reg(random() % 4 * 64 + random() % 3);  // the low bits do not tell all apart
      const auto at = std::find_if(model.begin(), model.end(), [&](const auto& e) { return e.first == r; });
      switch (random() % 4) {
        case 0: {
          const Value v = random_value(random);
          cache.fill(r, v.data());
          if (at != model.end()) model.erase(at);
          model.emplace_front(r, v);
          if (model.size() > entries) model.pop_back();
          break;
        }
        case 1:
          cache.written(r);
          if (at != model.end()) model.erase(at);
          break;
        default: {
          const std::uint32_t* found = cache.find(r);
          REQUIRE((found != nullptr) == (at != model.end()));
          if (found == nullptr) break;
          REQUIRE(std::equal(at->second.begin(), at->second.end(), found));
          model.splice(model.begin(), model, at);
        }
      }
    }
    cache.clear();
    for (unsigned r = 0; r < 12; ++r) CHECK(cache.find(reg(r)) == nullptr);
  }
}

namespace {

ReuseTag random_tag(std::mt19937_64& random) {
  ReuseTag tag;
  tag.opcode = static_cast<std::uint32_t>(random() % 4);
  tag.sources[0] = reg(random() % 6);
  if (random() % 2 == 0) tag.sources[1] = reg(random() % 3);
  if (random() % 8 == 0) {  // as a 64-bit instruction
    for (unsigned i = 1; i < pair_operands; ++i) tag.sources[i] = reg(random() % 2);
  }
  if (tag.opcode == 3) {
    tag.block = static_cast<std::uint16_t>(1 + random() % 2);
    tag.barriers = static_cast<std::uint8_t>(random() % 2);
  }
  return tag;
}

ReuseResult random_result(std::mt19937_64& random) {
  ReuseResult result;
  result[0] = reg(random() % 50);
  if (random() % 3 == 0) result[1] = reg(random() % 50);
  return result;
}

struct Model {
  bool pending = false;
  ReuseTag tag;
  ReuseResult result;
  std::uint64_t owner = 0;
};

std::multiset<unsigned> registers(const Dropped& d) {
  std::multiset<unsigned> all;
  d.for_each([&](PhysicalRegister r) { all.insert(r.value()); });
  return all;
}

std::multiset<unsigned> registers(const std::optional<Model>& m) {
  std::multiset<unsigned> all;
  if (!m) return all;
  for (const PhysicalRegister r : m->tag.sources) {
    if (r != no_register) all.insert(r.value());
  }
  for (const PhysicalRegister r : m->result) {
    if (!m->pending && r != no_register) all.insert(r.value());
  }
  return all;
}

}  // namespace

TEST_CASE("the associative reuse buffer finds every tag among those used last") {
  std::mt19937_64 random(6);
  for (const unsigned entries : {1u, 5u, 32u}) {
    ReuseEntries buffer(entries, true);
    std::list<Model> model;  // most recently used first
    for (unsigned n = 0; n < operations; ++n) {
      const ReuseTag tag = random_tag(random);
      const auto at = std::find_if(model.begin(), model.end(), [&](const Model& m) { return m.tag == tag; });
      const std::uint64_t owner = 1 + random() % 4;
      // The entry that a new one takes: its own tag's, a free one, or the one used longest ago.
      const auto make_room = [&] {
        std::optional<Model> gone;
        if (at != model.end()) {
          gone = *at;
          model.erase(at);
        } else if (model.size() == entries) {
          gone = model.back();
          model.pop_back();
        }
        return registers(gone);
      };
      switch (random() % 6) {
        case 0: {
          const auto gone = make_room();
          REQUIRE(registers(buffer.claim(tag, owner)) == gone);
          model.push_front({true, tag, {}, owner});
          break;
        }
        case 1: {
          const ReuseResult result = random_result(random);
          const auto gone = make_room();
          REQUIRE(registers(buffer.insert(tag, result)) == gone);
          model.push_front({false, tag, result, 0});
          break;
        }
        case 2: {
          const ReuseResult result = random_result(random);
          const bool own = at != model.end() && at->pending && at->owner == owner;
          REQUIRE(buffer.complete(tag, owner, result) == own);
          if (own) {
            at->pending = false;
            at->result = result;
          }
          break;
        }
        case 3: {
          const bool own = at != model.end() && at->pending && at->owner == owner;
          const auto gone = own ? registers(std::optional<Model>(*at)) : std::multiset<unsigned>{};
          REQUIRE(registers(buffer.abandon(tag, owner)) == gone);
          if (own) model.erase(at);
          break;
        }
        default: {
          const ReuseEntries::Lookup found = buffer.find(tag);
          if (at == model.end()) {
            REQUIRE(found.found == ReuseEntries::Found::nothing);
            break;
          }
          REQUIRE(found.found == (at->pending ? ReuseEntries::Found::pending : ReuseEntries::Found::result));
          REQUIRE(found.result == (at->pending ? ReuseResult{} : at->result));
          model.splice(model.begin(), model, at);
        }
      }
    }
  }
}

TEST_CASE("the indexed reuse buffer has one place for a tag") {
  std::mt19937_64 random(7);
  ReuseEntries buffer(16, false);
  std::vector<ReuseTag> tags;
  for (unsigned n = 0; n < 60; ++n) tags.push_back(random_tag(random));
  for (unsigned n = 0; n < operations; ++n) {
    const ReuseTag& tag = tags[random() % tags.size()];
    const std::vector<ReuseEntries::Entry> before = buffer.entries();
    const ReuseResult result = random_result(random);
    const Dropped dropped = buffer.insert(tag, result);
    REQUIRE(buffer.find(tag).found == ReuseEntries::Found::result);
    REQUIRE(buffer.find(tag).result == result);
    // Exactly one entry changed, and what it had is what was dropped.
    unsigned changed = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const ReuseEntries::Entry& now = buffer.entries()[i];
      if (now.valid && now.tag == tag) {
        ++changed;
        std::optional<Model> was;
        if (before[i].valid) was = Model{before[i].pending, before[i].tag, before[i].result, 0};
        REQUIRE(registers(dropped) == registers(was));
      } else {
        REQUIRE(now.valid == before[i].valid);
      }
    }
    REQUIRE(changed == 1);
  }
}

TEST_CASE("loads of a CTA slot leave the reuse buffer with it") {
  ReuseEntries buffer(64, true);
  ReuseTag add;
  add.opcode = 1;
  add.sources[0] = reg(1);
  ReuseTag load = add;
  load.opcode = 2;
  load.block = 3;
  ReuseTag other = load;
  other.block = 4;
  ReuseResult nine;
  nine[0] = reg(9);
  for (const ReuseTag& t : {add, load, other}) buffer.insert(t, nine);
  unsigned dropped = 0;
  buffer.drop_loads(3, [&](const Dropped& d) {
    ++dropped;
    CHECK(registers(d) == std::multiset<unsigned>{1, 9});
  });
  CHECK(dropped == 1);
  CHECK(buffer.find(add).found == ReuseEntries::Found::result);
  CHECK(buffer.find(load).found == ReuseEntries::Found::nothing);
  CHECK(buffer.find(other).found == ReuseEntries::Found::result);
  buffer.drop_loads(0, [&](const Dropped&) { ++dropped; });
  CHECK(dropped == 2);
  CHECK(buffer.find(other).found == ReuseEntries::Found::nothing);
}

TEST_CASE("what the reuse buffer did not find is not there until a tag is entered") {
  ReuseEntries buffer(16, false);
  ReuseTag tag;
  tag.opcode = 1;
  tag.sources[0] = PhysicalRegister(3);
  CHECK(buffer.find(tag).found == ReuseEntries::Found::nothing);
  const std::uint64_t before = buffer.entered();
  CHECK(buffer.find(tag).found == ReuseEntries::Found::nothing);
  CHECK(buffer.entered() == before);
  buffer.claim(tag, 1);
  CHECK(buffer.entered() == before + 1);
  // A result, and what is dropped, make nothing be found that was not.
  ReuseResult result;
  result[0] = PhysicalRegister(4);
  CHECK(buffer.complete(tag, 1, result));
  buffer.evict(tag, tag.fold(), [](PhysicalRegister) {});
  CHECK(buffer.entered() == before + 1);
  buffer.insert(tag, result);
  CHECK(buffer.entered() == before + 2);
}

TEST_CASE("a claim gives up each register that it drops, sources first, as it tells them") {
  std::mt19937_64 random(11);
  ReuseEntries told(16, false);
  ReuseEntries gives_up(16, false);
  for (unsigned n = 1; n <= operations / 10; ++n) {
    const ReuseTag tag = random_tag(random);
    std::vector<PhysicalRegister> all, given;
    told.claim(tag, n).for_each([&](PhysicalRegister r) { all.push_back(r); });
    gives_up.claim(tag, tag.fold(), n, [&](PhysicalRegister r) { given.push_back(r); });
    REQUIRE(given == all);
    CHECK(gives_up.has(tag, tag.fold()));
    if (random() % 2 == 0) continue;
    const ReuseResult result = random_result(random);
    CHECK(told.complete(tag, n, result));
    CHECK(gives_up.complete(tag, tag.fold(), n, result));
  }
}

TEST_CASE("a look whether a tag is there is no use of its entry") {
  ReuseEntries buffer(2, true);
  const auto tag = [](std::uint32_t opcode) {
    ReuseTag t;
    t.opcode = opcode;
    return t;
  };
  buffer.insert(tag(1), {});
  buffer.insert(tag(2), {});
  CHECK(buffer.has(tag(1), tag(1).fold()));
  buffer.insert(tag(3), {});  // in place of the one used longest ago
  CHECK_FALSE(buffer.has(tag(1), tag(1).fold()));
  CHECK(buffer.has(tag(2), tag(2).fold()));
}
