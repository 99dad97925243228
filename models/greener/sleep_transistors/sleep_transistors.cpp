// SPDX-License-Identifier: Apache-2.0
#include <regatta/greener/sleep_transistors.h>

#include <regatta/support/energy.h>

#include <algorithm>

namespace regatta::models {

using protocol::Cycle;

namespace {
constexpr unsigned index(PowerState s) { return static_cast<unsigned>(s); }
}  // namespace

void SleepTransistorConfig::declare(support::OptionSet& o) {
  o.add("sleep_transistors.wake_sleep", wake_sleep, "cycles", "latency from sleep to on", 0, 1000);
  o.add("sleep_transistors.wake_off", wake_off, "cycles", "latency from off to on", 0, 1000);
  o.add("sleep_transistors.wakes_per_cycle", wakes_per_cycle, "rows",
        "rows that may begin to wake per cycle; 0: any number", 0, 1 << 20);
  o.add("sleep_transistors.sleep_leakage", sleep_leakage, "of on",
        "leakage of a sleeping row, as a fraction (0 to 1) of a row that is on");
  o.add("sleep_transistors.off_leakage", off_leakage, "of on",
        "leakage of a row that is off, as a fraction (0 to 1) of a row that is on");
}

void SleepTransistorConfig::validate() const {
  const auto check = [](const char* knob, double value) {
    if (value >= 0 && value <= 1) return;
    throw support::ConfigError("configuration: sleep_transistors." + std::string(knob) + " = " + std::to_string(value) +
                               ", expected a part of what the row leaks when on, 0 to 1");
  };
  check("sleep_leakage", sleep_leakage);
  check("off_leakage", off_leakage);
  if (off_leakage > sleep_leakage) {
    throw support::ConfigError("configuration: sleep_transistors.off_leakage = " + std::to_string(off_leakage) +
                               " exceeds sleep_transistors.sleep_leakage = " + std::to_string(sleep_leakage) +
                               ": a row that is off leaks no more than one that keeps its value");
  }
}

SleepTransistorController::SleepTransistorController(const sc_core::sc_module_name& name,
                                                     const SleepTransistors& config, support::ClockDomain& clock)
    : sc_module(name), votes("votes"), cells("cells"), config_(config), clock_(clock) {
  votes.bind(*this);
  config.validate();
  segment_count_ = config.segments.empty() ? 1 : static_cast<unsigned>(config.segments.size());
  if (segment_count_ > max_segments) {
    throw support::ConfigError("sleep transistors: a row has at most " + std::to_string(max_segments) +
                               " segments, found " + std::to_string(segment_count_));
  }
  present_ = static_cast<Mask>((1u << segment_count_) - 1);
}

unsigned SleepTransistorController::add_voter(const std::string& name) {
  voters_.push_back(Voter{name, {}});
  return static_cast<unsigned>(voters_.size() - 1);
}

void SleepTransistorController::lay_out(unsigned row_bits) {
  row_bits_ = row_bits;
  if (config_.segments.empty()) {
    segment_bits_[0] = row_bits;
    return;
  }
  unsigned from = 0;
  for (unsigned s = 0; s < segment_count_; ++s) {
    const unsigned to = config_.segments[s];
    if (to <= from) throw support::ConfigError("sleep transistors: the segments of a row must rise");
    segment_bits_[s] = to - from;
    from = to;
  }
  if (from != row_bits) {
    throw support::ConfigError("sleep transistors: the segments of a row have " + std::to_string(from) +
                               " bits together, expected the row's " + std::to_string(row_bits));
  }
}

void SleepTransistorController::rows_started(std::uint32_t rows, unsigned warp_size) {
  advance();
  lay_out(warp_size * trace::bytes_per_lane * 8);
  rows_.assign(rows, RowState{States{present_, 0}, 0});
  for (Voter& v : voters_) v.rows.assign(rows, States{present_, 0});
  bits_in_ = {};
  bits_in_[index(PowerState::on)] = row_bits_ * rows;
}

void SleepTransistorController::advance() {
  const std::uint64_t now = clock_.now();
  for (unsigned s = 0; s < power_state_count; ++s) bit_cycles_[s] += bits_in_[s] * (now - since_);
  since_ = now;
}

std::uint64_t SleepTransistorController::bits(Mask segments) const {
  if (segments == present_) return row_bits_;
  std::uint64_t sum = 0;
  for (unsigned s = 0; s < segment_count_; ++s) sum += ((segments >> s) & 1) * segment_bits_[s];
  return sum;
}

SleepTransistorController::States SleepTransistorController::agreed(std::uint32_t row) const {
  Mask on = present_;
  Mask kept = present_;  // on or asleep
  for (const Voter& v : voters_) {
    on &= v.rows[row].on;
    kept &= static_cast<Mask>(v.rows[row].on | v.rows[row].sleeping);
  }
  return States{on, static_cast<Mask>(kept & ~on)};
}

Cycle SleepTransistorController::vote(unsigned voter, Row row, PowerState state, SegmentMask segments) {
  States& mine = voters_[voter].rows[row.value()];
  const auto which = static_cast<Mask>(segments & present_);
  mine.on = static_cast<Mask>(state == PowerState::on ? mine.on | which : mine.on & ~which);
  mine.sleeping = static_cast<Mask>(state == PowerState::sleep ? mine.sleeping | which : mine.sleeping & ~which);
  const States to = voters_.size() == 1 ? mine : agreed(row.value());
  const States& from = rows_[row.value()].now;
  if (to.on != from.on || to.sleeping != from.sleeping) change(row.value(), to);
  return ready(row);
}

std::uint64_t SleepTransistorController::start_waking(std::uint64_t now) {
  if (config_.wakes_per_cycle == 0) return now;
  if (waking_cycle_ < now) {
    waking_cycle_ = now;
    waking_count_ = 0;
  }
  if (waking_count_ == config_.wakes_per_cycle) {
    ++waking_cycle_;
    waking_count_ = 0;
  }
  ++waking_count_;
  if (waking_cycle_ != now) ++delayed_wakes_;
  return waking_cycle_;
}

void SleepTransistorController::change(std::uint32_t row, States to) {
  advance();
  RowState& r = rows_[row];
  const States from = r.now;
  const Mask from_off = static_cast<Mask>(present_ & ~(from.on | from.sleeping));
  const Mask to_off = static_cast<Mask>(present_ & ~(to.on | to.sleeping));
  const std::uint64_t now = since_;
  bits_in_[index(PowerState::on)] += bits(to.on) - bits(from.on);
  bits_in_[index(PowerState::sleep)] += bits(to.sleeping) - bits(from.sleeping);
  bits_in_[index(PowerState::off)] += bits(to_off) - bits(from_off);
  r.now = to;
  const auto risen_from_sleep = static_cast<Mask>(to.on & from.sleeping);
  const auto risen_from_off = static_cast<Mask>((to.on | to.sleeping) & from_off);
  std::uint64_t access = r.ready == never ? now : std::max(now, r.ready);
  if ((risen_from_sleep | risen_from_off) != 0) {
    const std::uint64_t start = start_waking(now);
    if (risen_from_sleep != 0) {
      ++wakeups_[index(PowerState::sleep)];
      bits_woken_[index(PowerState::sleep)] += bits(risen_from_sleep);
      access = std::max(access, start + config_.wake_sleep);
    }
    if (risen_from_off != 0) {
      ++wakeups_[index(PowerState::off)];
      bits_woken_[index(PowerState::off)] += bits(risen_from_off);
      access = std::max(access, start + config_.wake_off);
    }
  }
  if (to.sleeping != 0 || to.on == 0) access = never;
  r.ready = access;
  const auto lost = static_cast<Mask>(to_off & ~from_off);
  if (lost != 0 || (to.sleeping & ~from.sleeping) != 0) ++falls_;
  if (lost != 0 && cells_ != nullptr) tell_lost(row, lost);
  for (RowObserver* o : observers_) {
    const auto tell = [&](Mask segments, PowerState state) {
      if (segments != 0) o->switched(Cycle(now), Row(row), segments, state);
    };
    tell(static_cast<Mask>(to.on & ~from.on), PowerState::on);
    tell(static_cast<Mask>(to.sleeping & ~from.sleeping), PowerState::sleep);
    tell(lost, PowerState::off);
  }
}

void SleepTransistorController::tell_lost(std::uint32_t row, Mask segments) {
  unsigned from = 0;
  for (unsigned s = 0; s < segment_count_; ++s) {
    const auto to = static_cast<unsigned>(from + segment_bits_[s]);
    if (((segments >> s) & 1) != 0) cells_->lost(Row(row), from, to);
    from = to;
  }
}

PowerState SleepTransistorController::vote_of(unsigned voter, Row row) const {
  const States& s = voters_[voter].rows[row.value()];
  return (s.on & 1) != 0 ? PowerState::on : (s.sleeping & 1) != 0 ? PowerState::sleep : PowerState::off;
}

PowerState SleepTransistorController::state(Row row, unsigned segment) const {
  const States& s = rows_[row.value()].now;
  const auto bit = static_cast<Mask>(1u << segment);
  return (s.on & bit) != 0 ? PowerState::on : (s.sleeping & bit) != 0 ? PowerState::sleep : PowerState::off;
}

double SleepTransistorController::row_cycles(PowerState s) const {
  if (row_bits_ == 0) return 0;
  const std::uint64_t until_now = bit_cycles_[index(s)] + bits_in_[index(s)] * (clock_.now() - since_);
  return static_cast<double>(until_now) / static_cast<double>(row_bits_);
}

void SleepTransistorController::register_stats(support::StatGroup& g) {
  const char* const what[] = {"off: their values are gone", "asleep: they keep their values", "on, or waking"};
  for (unsigned s = 0; s < power_state_count; ++s) {
    const auto state = static_cast<PowerState>(s);
    g.derived(
        std::string("row_cycles_") + to_string(state), [this, state] { return row_cycles(state); }, "row-cycles",
        std::string("of rows ") + what[s]);
  }
  g.counter("wakeups_sleep", wakeups_[index(PowerState::sleep)], "rows", "that began to wake from sleep");
  g.counter("wakeups_off", wakeups_[index(PowerState::off)], "rows", "that began to wake from off");
  g.counter("bits_woken_sleep", bits_woken_[index(PowerState::sleep)], "bits", "of rows that woke from sleep");
  g.counter("bits_woken_off", bits_woken_[index(PowerState::off)], "bits", "of rows that woke from off");
  g.counter("falls", falls_, "rows", "rows put to sleep or switched off, at least in part");
  g.counter("delayed_wakes", delayed_wakes_, "rows", "rows whose wake-up was delayed by others in the same cycle");
}

void SleepTransistorController::register_energy(support::EnergyGroup& g) {
  advance();
  const double lanes = 32 * trace::bytes_per_lane * 8;  // bits that the table's wake-ups are of
  const double off_factor = config_.wake_off_energy == "wake_off" ? config_.wake_factor : 1;
  g.event("register_structures", "sleep_transistors.wake_sleep", bits_woken_[index(PowerState::sleep)],
          config_.wake_factor / lanes);
  g.event("register_structures", "sleep_transistors." + config_.wake_off_energy, bits_woken_[index(PowerState::off)],
          off_factor / lanes);
  if (rows_.empty()) return;
  const double bytes = static_cast<double>(row_bits_) / 8 * static_cast<double>(rows_.size());
  const support::ArrayGeometry size{bytes, double(config_.banks)};
  const std::array<double, power_state_count> factor{config_.off_leakage, config_.sleep_leakage, 1};
  for (unsigned s = 0; s < power_state_count; ++s) {
    g.leakage("register_structures", "register_file.leakage", size,
              support::LeakageState{&bit_cycles_[s], bytes * 8, factor[s]});
  }
}

}  // namespace regatta::models
