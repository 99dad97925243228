// SPDX-License-Identifier: Apache-2.0
//
// The wear recorder against the obvious way: every bit of every row looked at in every cycle.
#include <regatta/aging/nbti.h>
#include <regatta/aging/wear_recorder.h>
#include <regatta/support/config.h>
#include <regatta/test/catch.h>

#include <array>
#include <cstdint>
#include <random>
#include <sstream>
#include <vector>

using namespace regatta;
using models::PowerState;
using models::RegisterWindow;
using models::Row;
using models::SegmentMask;
using models::WearRecorder;
using protocol::Cycle;
using protocol::LaneMask;
using protocol::WarpSlot;

namespace {

constexpr std::uint32_t rows = 6;

/// Looks at every bit in every cycle.
class Naive {
 public:
  Naive(unsigned lanes, std::vector<unsigned> segments) : lanes_(lanes), segments_(std::move(segments)) {
    if (segments_.empty()) segments_ = {lanes * 32};
    for (Rowful& r : rows_) {
      r.cells.assign(lanes, 0);
      r.times.assign(std::size_t{lanes} * 32, WearRecorder::Times{});
    }
  }
  void start() {
    for (Rowful& r : rows_) {
      r.off = 0;
      r.used = false;
    }
  }
  void use(std::uint32_t row) { rows_[row].used = true; }
  void write(std::uint32_t row, const std::vector<std::uint32_t>& bits, LaneMask lanes) {
    for (unsigned l = 0; l < lanes_; ++l) {
      if (((lanes >> l) & 1) != 0) rows_[row].cells[l] = bits[l];
    }
    clear(rows_[row]);
  }
  void turn(std::uint32_t row, SegmentMask segments, PowerState state) {
    SegmentMask& off = rows_[row].off;
    off = static_cast<SegmentMask>(state == PowerState::off ? off | segments : off & ~segments);
    clear(rows_[row]);
  }
  void cycle() {
    for (Rowful& r : rows_) {
      for (unsigned b = 0; b < lanes_ * 32; ++b) {
        if (!r.used || is_off(r, b)) {
          ++r.times[b].off;
        } else {
          ++(((r.cells[b / 32] >> (b % 32)) & 1) != 0 ? r.times[b].one : r.times[b].zero);
        }
      }
    }
  }
  const std::vector<WearRecorder::Times>& times(std::uint32_t row) const { return rows_[row].times; }

 private:
  struct Rowful {
    std::vector<std::uint32_t> cells;
    SegmentMask off = 0;
    bool used = false;
    std::vector<WearRecorder::Times> times;
  };
  bool is_off(const Rowful& r, unsigned bit) const {
    unsigned s = 0;
    while (bit >= segments_[s]) ++s;
    return ((r.off >> s) & 1) != 0;
  }
  void clear(Rowful& r) {
    for (unsigned b = 0; b < lanes_ * 32; ++b) {
      if (is_off(r, b)) r.cells[b / 32] &= ~(1u << (b % 32));
    }
  }
  unsigned lanes_;
  std::vector<unsigned> segments_;
  std::array<Rowful, rows> rows_;
};

bool same(const WearRecorder& recorder, const Naive& naive) {
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::vector<WearRecorder::Times> got = recorder.times(row);
    const std::vector<WearRecorder::Times>& wanted = naive.times(row);
    if (got.size() != wanted.size()) return false;
    for (std::size_t b = 0; b < got.size(); ++b) {
      if (got[b].zero != wanted[b].zero || got[b].one != wanted[b].one || got[b].off != wanted[b].off) return false;
    }
  }
  return true;
}

/// Three launches of random writes, in full and in part, of switching and of windows.
void compare(unsigned lanes, const std::vector<unsigned>& segments, unsigned pause, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uint64_t now = 17;
  WearRecorder recorder([&] { return Cycle(now); }, 2, segments);
  Naive naive(lanes, segments);
  std::vector<std::uint32_t> bits(lanes);
  const LaneMask all = trace::all_lanes(lanes);
  std::uint64_t cycles = 0;
  for (unsigned launch = 0; launch < 3; ++launch) {
    recorder.kernel_started(Cycle(now), rows, lanes);
    naive.start();
    for (unsigned step = 0; step < 400; ++step) {
      const auto row = static_cast<std::uint32_t>(random() % rows);
      switch (random() % 8) {
        case 0: {
          const auto which = static_cast<SegmentMask>(segments.empty() ? 1 : 1 + random() % 15);
          const auto state = static_cast<PowerState>(random() % 3);
          recorder.switched(Cycle(now), Row(row), which, state);
          naive.turn(row, which, state);
          break;
        }
        case 1:
          recorder.window_taken(WarpSlot(0), RegisterWindow{row, row, 256}, row + 1 < rows ? 2 : 1);
          naive.use(row);
          if (row + 1 < rows) naive.use(row + 1);
          break;
        default: {
          const unsigned shift = random() % 33;
          for (std::uint32_t& b : bits) b = shift == 32 ? 0 : static_cast<std::uint32_t>(random()) >> shift;
          const LaneMask mask = random() % 3 == 0 ? all & ((LaneMask{random()} << 32) | random()) : all;
          recorder.written(Cycle(now), Row(row), bits.data(), mask);
          naive.write(row, bits, mask);
        }
      }
      for (unsigned n = random() % pause; n != 0; --n) {
        naive.cycle();
        ++now;
        ++cycles;
      }
    }
    recorder.kernel_finished(Cycle(now));
    CHECK(recorder.cycles() == cycles);
    CHECK(same(recorder, naive));
    now += 100;  // between launches nothing is recorded
  }

  // The summaries, from the naive times.
  WearRecorder::Duty mean;
  for (unsigned slice = 0; slice < 2; ++slice) {
    WearRecorder::Duty longest_zero;
    double longest_one = 0;
    for (std::uint32_t row = slice * 3; row < slice * 3 + 3; ++row) {
      for (const WearRecorder::Times& t : naive.times(row)) {
        const auto total = static_cast<double>(cycles);
        mean.one += static_cast<double>(t.one) / total / (rows * lanes * 32);
        mean.off += static_cast<double>(t.off) / total / (rows * lanes * 32);
        longest_one = std::max(longest_one, static_cast<double>(t.one) / total);
        longest_zero.zero = std::max(longest_zero.zero, static_cast<double>(t.zero) / total);
      }
    }
    CHECK(recorder.summary().longest_zero[slice].zero == Approx(longest_zero.zero));
    CHECK(recorder.summary().longest_one[slice].one == Approx(longest_one));
  }
  CHECK(recorder.summary().mean.one == Approx(mean.one));
  CHECK(recorder.summary().mean.off == Approx(mean.off));
  double by_bit = 0;
  for (const WearRecorder::Duty& d : recorder.by_bit()) by_bit += d.one / (lanes * 32);
  CHECK(by_bit == Approx(mean.one));
}

}  // namespace

TEST_CASE("wear: equal to looking at every bit in every cycle") {
  std::uint32_t seed = 1;
  for (const unsigned pause : {2u, 3u, 7u, 40u}) {
    for (const unsigned lanes : {32u, 64u}) {
      compare(lanes, {}, pause, seed++);
      compare(lanes, {32, 32 + 8 * (lanes - 1), 32 + 16 * (lanes - 1), 32 * lanes}, pause, seed++);
    }
  }
}

TEST_CASE("wear: a known history") {
  std::uint64_t now = 100;
  WearRecorder recorder([&] { return Cycle(now); });
  std::vector<std::uint32_t> bits(32, 0);
  recorder.kernel_started(Cycle(100), 2, 32);
  recorder.window_taken(WarpSlot(0), RegisterWindow{0, 0, 256}, 1);
  bits[3] = 0x80000001;
  recorder.written(Cycle(110), Row(0), bits.data(), trace::all_lanes(32));
  recorder.switched(Cycle(140), Row(0), 1, PowerState::off);
  recorder.switched(Cycle(150), Row(0), 1, PowerState::on);
  now = 200;
  recorder.kernel_finished(Cycle(200));
  const auto times = recorder.times(0);
  CHECK(times[3 * 32].one == 30);
  CHECK(times[3 * 32 + 31].one == 30);
  CHECK(times[3 * 32].off == 10);
  CHECK(times[3 * 32].zero == 60);
  CHECK(times[0].zero == 90);
  CHECK(recorder.times(1)[5].off == 100);  // nobody's
  CHECK(recorder.summary().longest_one[0].one == Approx(0.3));
  CHECK(recorder.summary().longest_zero[0].zero == Approx(0.9));
  std::ostringstream file;
  recorder.write_rows(file, 0);
  CHECK(file.str() == "0,0,0,0.9,0,0.1,0.6,0.3,0.1\n0,1,0,0,0,1,0,0,1\n");
}

TEST_CASE("wear: times beyond what a row's counters hold at a time") {
  std::uint64_t now = 0;
  WearRecorder recorder([&] { return Cycle(now); });
  recorder.kernel_started(Cycle(0), 1, 64);
  recorder.window_taken(WarpSlot(0), RegisterWindow{0, 0, 256}, 1);
  std::mt19937 random(5);
  std::vector<std::uint32_t> bits(64, 0);
  std::vector<std::uint64_t> one(64 * 32, 0);
  for (unsigned n = 0; n < 40; ++n) {
    const std::uint64_t length = (std::uint64_t{random()} << (random() % 4)) + 1;
    for (unsigned b = 0; b < one.size(); ++b) one[b] += ((bits[b / 32] >> (b % 32)) & 1) * length;
    now += length;
    for (std::uint32_t& w : bits) w = static_cast<std::uint32_t>(random());
    recorder.written(Cycle(now), Row(0), bits.data(), ~LaneMask{0});
  }
  recorder.kernel_finished(Cycle(now));
  const auto times = recorder.times(0);
  bool equal = true;
  for (unsigned b = 0; b < one.size(); ++b) equal = equal && times[b].one == one[b] && times[b].zero == now - one[b];
  CHECK(equal);
  CHECK_THROWS_AS(recorder.kernel_started(Cycle(now), 1, 32), support::ConfigError);
}

TEST_CASE("wear: the shift of a threshold voltage by Equation 3, normalised") {
  models::NbtiConfig nbti;
  CHECK(nbti.threshold_shift(1) == Approx(1));
  CHECK(nbti.threshold_shift(0) == Approx(0));
  // A duty that is 58 % shorter makes the shift a little more than half as large (section 6.4: 54 %).
  CHECK(nbti.threshold_shift(0.42) == Approx(0.4423).epsilon(1e-3));
  for (unsigned percent = 1; percent <= 100; ++percent) {
    CHECK(nbti.threshold_shift(percent / 100.0) > nbti.threshold_shift((percent - 1) / 100.0));
  }
  CHECK(nbti.switching_delay_increase(1) == Approx(0.139));
  nbti.lifetime = 48;  // 16 times 3 years: the fourth root is 2
  CHECK(nbti.switching_delay_increase(0.5) == Approx(0.139));
  CHECK(nbti.threshold_shift(0.42) == Approx(0.4423).epsilon(1e-3));
  nbti.eta = 0;  // nothing recovers
  CHECK(nbti.threshold_shift(0.0625) == Approx(0.5));
  CHECK_NOTHROW(nbti.validate());
  nbti.lifetime = 0;
  CHECK_THROWS_WITH(nbti.validate(), Catch::Contains("nbti.lifetime = 0"));
}
