// SPDX-License-Identifier: Apache-2.0
//
// The compression unit: Table 1 state by state, and the whole machine against Equation 2 evaluated as it stands.
#include <regatta/aging/compression_machine.h>
#include <regatta/test/catch.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

using namespace regatta::models::aging;

namespace {

using State = CompressionMachine::State;
using Register = std::array<std::uint32_t, 64>;

constexpr std::array<std::uint32_t, 8> deltas{0, 1, 2, 4, 8, 16, 32, 64};

/// Small and fast: ten million registers are drawn from it.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((*this)() >> 32) % n); }

 private:
  std::uint64_t state_;
};

/// Equation 2.
Register pattern(std::uint32_t base, std::uint32_t element, std::uint32_t block) {
  Register r{};
  for (std::uint32_t i = 0; i < 64; ++i) r[i] = base + i / 8 * block + i % 8 * element;
  return r;
}

/// What is compressible, from the definition alone: the only deltas that could do are those between the first
/// components, and then every component has to be what Equation 2 makes of them.
std::optional<DeltaCode> direct(const Register& r, unsigned lanes) {
  const std::uint32_t element = r[1] - r[0];
  const std::uint32_t block = r[8] - r[0];
  const auto log = [](std::uint32_t d) -> int {
    for (int n = 0; n <= 6; ++n) {
      if (d == 1u << n) return n;
    }
    return d == 0 ? 7 : -1;
  };
  if (log(element) < 0 || log(block) < 0) return std::nullopt;
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < lanes; ++i) wrong |= r[i] ^ (r[0] + i / 8 * block + i % 8 * element);
  if (wrong != 0) return std::nullopt;
  return DeltaCode{r[0], static_cast<std::uint8_t>(log(element)), static_cast<std::uint8_t>(log(block))};
}

bool restores(const DeltaCode& code, const Register& r, unsigned lanes) {
  Register out{};
  for (unsigned beat = 0; beat < lanes; beat += 16) decompress(code, beat, 16, out.data() + beat);
  for (unsigned i = 0; i < lanes; ++i) {
    if (out[i] != r[i]) return false;
  }
  return true;
}

/// What unit and definition disagree about; "" if nothing.
std::string disagreement(CompressionMachine& unit, const Register& r, unsigned lanes) {
  const std::optional<DeltaCode> wanted = direct(r, lanes);
  const bool got = compress(unit, r.data(), lanes);
  if (got != wanted.has_value()) return got ? "accepted" : "refused";
  if (!got) return {};
  if (!(unit.code() == *wanted)) return "coded otherwise";
  return restores(unit.code(), r, lanes) ? "" : "not restored";
}

}  // namespace

TEST_CASE("compression unit: the control module's signals are those of Table 1") {
  const auto row = [](State s) {
    const CompressionMachine::Signals x = CompressionMachine::signals(s);
    return std::array<bool, 5>{x.write_deltas, x.write_component, x.compare_deltas, x.final_state, x.write_table};
  };
  CHECK(row(State::idle) == std::array<bool, 5>{false, false, false, false, false});
  CHECK(row(State::deltas_0) == std::array<bool, 5>{true, true, false, false, false});
  CHECK(row(State::deltas_16) == std::array<bool, 5>{false, true, true, false, false});
  CHECK(row(State::deltas_32) == std::array<bool, 5>{false, true, true, false, false});
  CHECK(row(State::deltas_48) == std::array<bool, 5>{false, false, true, true, true});
}

TEST_CASE("compression unit: a compressible register goes through all states, any other falls to idle") {
  CompressionMachine unit;
  CHECK(unit.state() == State::idle);
  const Register good = pattern(2, 2, 8);
  unit.start(4);
  const std::array<State, 4> states{State::deltas_0, State::deltas_16, State::deltas_32, State::deltas_48};
  for (unsigned b = 0; b < 4; ++b) {
    CHECK(unit.state() == states[b]);
    CHECK_FALSE(unit.compressible());
    CHECK(unit.beat(good.data() + 16 * b));
  }
  CHECK(unit.state() == State::idle);
  CHECK(unit.compressible());
  CHECK(unit.code() == DeltaCode{2, 1, 3});  // the example of section 5.1.1

  for (unsigned bad = 0; bad < 4; ++bad) {
    Register r = good;
    r[bad * 16 + 5] += 1;
    unit.start(4);
    for (unsigned b = 0; b < 4; ++b) {
      CHECK(unit.state() == (b <= bad ? states[b] : State::idle));
      CHECK(unit.beat(r.data() + 16 * b) == (b < bad));
    }
    CHECK_FALSE(unit.compressible());
    CHECK(unit.beats_worked() == bad + 1);
  }

  // 32 lanes: the first and the last state.
  unit.start(2);
  CHECK(unit.state() == State::deltas_0);
  CHECK(unit.beat(good.data()));
  CHECK(unit.state() == State::deltas_48);
  CHECK(unit.beat(good.data() + 16));
  CHECK(unit.compressible());
}

TEST_CASE("compression unit: all patterns are what Equation 2 says, and come back as they were") {
  CompressionMachine unit;
  for (const std::uint32_t base : {0u, 1u, 2u, 0x7fffffc1u, 0x80000000u, 0xffffff81u, 0xffffffffu}) {
    for (const std::uint32_t element : deltas) {
      for (const std::uint32_t block : deltas) {
        const Register r = pattern(base, element, block);
        for (const unsigned lanes : {32u, 64u}) {
          INFO("base " << base << " deltas " << element << ", " << block << " lanes " << lanes);
          CHECK(disagreement(unit, r, lanes).empty());
          CHECK(unit.compressible());
        }
        const Pattern p = unit.code().pattern();
        if (element == 0 && block == 0) {
          CHECK(p == Pattern::constant);
        } else {
          CHECK((p == Pattern::single_delta) == (block == 8 * element));
        }
      }
    }
  }
  // What the circuit cannot keep: larger, negative and other deltas, and a sequence whose block delta would be 128.
  for (const std::uint32_t element : {3u, 5u, 16u, 65u, 96u, 128u, 0x80000000u, 0xffffffffu}) {
    CHECK_FALSE(compress(unit, pattern(7, element, 8 * element).data(), 64));
    if (element != 16) CHECK_FALSE(compress(unit, pattern(7, element, 0).data(), 64));
  }
  for (const std::uint32_t block : {3u, 128u, 256u, 0xfffffff8u}) {
    CHECK_FALSE(compress(unit, pattern(7, 4, block).data(), 64));
  }
}

TEST_CASE("compression unit: one changed bit of any component of any pattern is seen") {
  CompressionMachine unit;
  for (const std::uint32_t element : deltas) {
    for (const std::uint32_t block : deltas) {
      const Register r = pattern(0x12345678, element, block);
      unsigned wrong = 0;
      for (unsigned i = 0; i < 64; ++i) {
        for (unsigned bit = 0; bit < 32; ++bit) {
          Register near = r;
          near[i] ^= 1u << bit;
          wrong += disagreement(unit, near, 64).empty() ? 0 : 1;
          // A register that differs in one component of the first 32 only: still not the same.
          wrong += disagreement(unit, near, 32).empty() ? 0 : 1;
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("compression unit: ten million random and near-miss registers") {
  CompressionMachine unit;
  Random random(20260722);
  constexpr unsigned count = 10'000'000;
  std::uint64_t accepted = 0;
  std::uint64_t near_misses = 0;
  std::array<std::uint64_t, pattern_count> seen{};
  Register r{};
  for (unsigned n = 0; n < count; ++n) {
    const auto kind = static_cast<unsigned>(n % 8);
    if (kind == 0) {
      // Noise, narrow or wide.
      const unsigned shift = random.below(32);
      for (std::uint32_t& c : r) c = static_cast<std::uint32_t>(random() >> 32) >> shift;
    } else {
      // A pattern, its deltas mostly such as can be kept, with up to two components or a whole block moved a little.
      const std::uint32_t element = kind == 1 ? random.below(130) : deltas[random.below(8)];
      const std::uint32_t block = kind == 2 ? random.below(130) : deltas[random.below(8)];
      r = pattern(static_cast<std::uint32_t>(random() >> 32), element, kind == 3 ? 8 * element : block);
      const std::uint64_t draw = random();
      const unsigned moves = kind < 4 ? 0 : static_cast<unsigned>(draw & 3);
      if (moves == 3) {
        for (unsigned i = 0; i < 8; ++i) r[(draw >> 8 & 7) * 8 + i] += static_cast<std::uint32_t>(draw >> 16 & 3);
      } else {
        for (unsigned m = 0; m < moves; ++m) r[draw >> (8 + 8 * m) & 63] += 1u << (draw >> (32 + 8 * m) & 31);
      }
      near_misses += moves != 0 ? 1 : 0;
    }
    const unsigned lanes = (n & 16) != 0 ? 64 : 32;
    const std::string wrong = disagreement(unit, r, lanes);
    if (!wrong.empty()) FAIL("register " << n << " of " << lanes << " lanes: " << wrong);
    if (unit.compressible()) {
      ++accepted;
      ++seen[static_cast<unsigned>(unit.code().pattern())];
    }
  }
  // Both answers were asked for often, and every pattern.
  CHECK(accepted > count / 4);
  CHECK(count - accepted > count / 4);
  CHECK(near_misses > count / 4);
  for (unsigned p = 0; p < static_cast<unsigned>(Pattern::other); ++p) CHECK(seen[p] > count / 1000);
}
