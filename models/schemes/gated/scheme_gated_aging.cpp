// SPDX-License-Identifier: Apache-2.0
//
// The compression axis of the gated schemes: the codec in front of the rows and what it needs at issue. Also the
// recording of cell wear.
#include "scheme_gated_aging.h"

#include <regatta/assembly/connect_lookup.h>
#include <regatta/support/cycle_scheduler.h>

#include "scheme_gated.h"

#include <sstream>

namespace regatta::schemes {

using models::aging::CompressedRows;
using models::aging::CompressionConfig;
using models::aging::MoveInserter;
using models::aging::RegisterCompression;
using models::aging::WarpedCompression;
using protocol::Cycle;
using protocol::Event;

void GatedAgingConfig::declare(support::OptionSet& o) {
  o.add("wear.enabled", wear, "record the time that every bit of the file is 0, 1 and off");
  o.add("wear.rows_file", rows_file, "CSV file by row: the bits that are 0 or 1 longest (with wear.enabled)");
  o.add("wear.bits_file", bits_file, "CSV file by bit position: means over the rows (with wear.enabled)");
  compression.declare(o);
  nbti.declare(o);
  energy.declare(o);
}

void GatedAgingConfig::validate() const {
  nbti.validate();
  energy.validate();
  for (const auto* file : {&rows_file, &bits_file}) {
    if (wear || file->empty()) continue;
    throw support::ConfigError("configuration: wear." + std::string(file == &rows_file ? "rows" : "bits") +
                               "_file = " + *file + " needs wear.enabled = true, found false");
  }
}

CompressionConfig GatedScheme::compression_config(const assembly::BuildContext& c) const {
  CompressionConfig config = aging_.compression;
  config.slices = c.machine.sm.sub_cores;
  config.rows = c.machine.register_file.registers;
  return config;
}

std::unique_ptr<CompressedRows> GatedScheme::compressed_rows(const assembly::BuildContext& c,
                                                             models::RowPower& power) const {
  const CompressionConfig config = compression_config(c);
  if (axes_.compression == "wc") return std::make_unique<WarpedCompression>("compression", config, power);
  config.validate();
  return std::make_unique<RegisterCompression>("compression", config, power, c.clock_period);
}

std::unique_ptr<MoveInserter> GatedScheme::move_inserter(CompressedRows& rows) const {
  return std::make_unique<MoveInserter>("move_inserter", rows);
}

void GatedScheme::validate_twins(unsigned lanes) const {
  const cosim::TwinOptions& twin = aging_.compression.twin;
  if (twin.implementation == "model") return;
  if (axes_.compression != "rc") {
    throw support::ConfigError("configuration: compression.implementation = " + twin.implementation +
                               " needs gated.compression = rc, found " + axes_.compression);
  }
  models::aging::compression_twins().validate(twin, {lanes});
  models::aging::decompression_twins().validate(twin, {lanes});
}

void GatedScheme::add_twins(const Sm& sm, RegisterCompression& rows) const {
  cosim::TwinConfig config;
  config.options = aging_.compression.twin;
  config.clock_period = sm.context.clock_period;
  const models::aging::UnitShape shape{sm.context.machine.sm.lanes};
  config.name = "decompressor_rtl";
  auto decompressor = models::aging::decompression_twins().make(config, shape);
  config.name = "compression_unit_rtl";
  config.state = [&rows] { return rows.describe_compression_unit(); };
  auto unit = models::aging::compression_twins().make(config, shape);
  rows.set_twins(unit.twin, decompressor.twin);
  for (auto* module : {&unit.module, &decompressor.module}) {
    if (*module != nullptr) sm.parts.modules.push_back(std::move(*module));
  }
}

void GatedScheme::add_compression(const Sm& sm, Handles& handles) const {
  if (axes_.compression == "none") return;
  std::unique_ptr<CompressedRows> rows = compressed_rows(sm.context, sm.transistors);
  std::unique_ptr<MoveInserter> moves = move_inserter(*rows);
  handles.aging.compression = rows.get();
  if (auto* delta = dynamic_cast<RegisterCompression*>(rows.get()); delta != nullptr) {
    handles.aging.delta = delta;
    add_twins(sm, *delta);
    delta->connect_lookups([&](const char* name, auto& from, auto& to) {
      assembly::connect_lookup(sm.context, sm.parts, name, from, to);
    });
  }
  handles.aging.warped = dynamic_cast<const WarpedCompression*>(rows.get());
  handles.aging.moves = moves.get();
  // Of a register in the table only the first sub-wavefront is read from the row.
  sm.file.set_codec(*rows, 16.0 / sm.context.machine.sm.lanes);
  sm.file.add_listener(*rows);
  if (models::RowObserver* observer = rows->row_observer()) sm.transistors.add_observer(*observer);
  sm.parts.gates.push_back(std::move(moves));
  sm.parts.modules.push_back(std::move(rows));
}

namespace {

/// Owns the recorder, and tells it of the end of a launch.
class WearObserver : public protocol::Observer {
 public:
  explicit WearObserver(std::unique_ptr<models::WearRecorder> recorder) : recorder_(std::move(recorder)) {}
  std::vector<Event> interests() const override { return {Event::kernel_finished}; }
  bool keeps_cycle_time() const override { return true; }
  void kernel_finished(Cycle at, const protocol::KernelContext&) override { recorder_->kernel_finished(at); }
  void kernel_broken_off(Cycle at, const protocol::KernelContext&) override { recorder_->kernel_finished(at); }

 private:
  std::unique_ptr<models::WearRecorder> recorder_;
};

}  // namespace

void GatedScheme::add_wear(const Sm& sm, Handles& handles, const std::vector<unsigned>& segments) {
  if (!aging_.wear) return;
  // Opened before the run, so that a path that cannot be written is reported at once.
  const auto open = [](std::unique_ptr<base::OutputFile>& file, const std::string& path) {
    if (!path.empty() && file == nullptr) file = std::make_unique<base::OutputFile>(path);
  };
  open(rows_file_, aging_.rows_file);
  open(bits_file_, aging_.bits_file);
  auto& clock = support::CycleScheduler::of(sm.context.clock_period);
  auto wear = std::make_unique<models::WearRecorder>([&clock] { return Cycle(clock.now()); },
                                                     sm.context.machine.sm.sub_cores, segments);
  handles.aging.wear = wear.get();
  sm.transistors.add_observer(*wear);
  sm.file.add_observer(*wear);
  sm.file.add_listener(*wear);
  sm.parts.observers.push_back(std::make_unique<WearObserver>(std::move(wear)));
}

void GatedScheme::report(nlohmann::ordered_json&) const {
  const auto write = [this](base::OutputFile* file, const char* header, auto&& lines) {
    if (file == nullptr) return;
    std::ostringstream text;
    text << header << '\n';
    for (unsigned sm = 0; sm < sms_.size(); ++sm) lines(*sms_[sm].aging.wear, text, sm);
    file->write(text.str());
    file->commit();
  };
  using models::WearRecorder;
  write(rows_file_.get(), WearRecorder::rows_header,
        [](const WearRecorder& wear, std::ostream& out, unsigned sm) { wear.write_rows(out, sm); });
  write(bits_file_.get(), WearRecorder::bits_header,
        [](const WearRecorder& wear, std::ostream& out, unsigned sm) { wear.write_bits(out, sm); });
}

void GatedScheme::register_aging_stats(support::StatGroup& g) const {
  const auto total = [this](auto&& of) {
    return [this, of] {
      double all = 0;
      for (const Handles& sm : sms_) all += static_cast<double>(of(sm));
      return all;
    };
  };
  if (sms_.empty()) return;
  const char* const registers = "warp registers";
  const GatedAging& first = sms_.front().aging;
  if (first.delta != nullptr) {
    using models::aging::Pattern;
    for (const Pattern p : {Pattern::constant, Pattern::single_delta, Pattern::double_delta, Pattern::other}) {
      g.derived(std::string("writes.") + to_string(p),
                total([p](const Handles& sm) { return sm.aging.delta->pattern_writes(p); }), registers,
                std::string("written, of pattern ") + to_string(p));
    }
    g.derived("refreshes", total([](const Handles& sm) { return sm.aging.delta->refreshes(); }), "accesses",
              "of compression tables to keep entries charged");
  }
  if (first.warped != nullptr) {
    using models::aging::PackedAs;
    for (const PackedAs p : {PackedAs::base, PackedAs::bytes, PackedAs::halves, PackedAs::whole}) {
      g.derived(std::string("writes.") + to_string(p),
                total([p](const Handles& sm) { return sm.aging.warped->form_writes(p); }), registers,
                std::string("written, kept as: ") + to_string(p));
    }
  }
  if (first.compression != nullptr) {
    g.derived("movs_inserted", total([](const Handles& sm) { return sm.aging.moves->inserted(); }), "warp instructions",
              "before divergent writes of compressed registers");
    g.derived("divergent_writes",
              total([](const Handles& sm) { return sm.aging.compression->counters().divergent_writes; }), registers,
              "written in part");
  }
  g.derived("rows_woken", total([](const Handles& sm) { return sm.transistors->wakeups(models::PowerState::off); }),
            "rows", "that began to wake from off, as a whole or in part");
  if (first.wear != nullptr) register_wear_stats(g);
  register_energy_stats(g);
}

void GatedScheme::register_wear_stats(support::StatGroup& g) const {
  using models::WearRecorder;
  using Summary = WearRecorder::Summary;
  // Means over the slices in use of all SMs; of the bits' means, over the SMs.
  const auto slices = [this](auto&& of) {
    return [this, of] {
      double sum = 0;
      std::size_t count = 0;
      for (const Handles& sm : sms_) {
        const Summary& s = sm.aging.wear->summary();
        for (std::size_t i = 0; i < s.longest_zero.size(); ++i) sum += of(s.longest_zero[i], s.longest_one[i]);
        count += s.longest_zero.size();
      }
      return count == 0 ? 0.0 : sum / static_cast<double>(count);
    };
  };
  const auto files = [this](auto&& of) {
    return [this, of] {
      double sum = 0;
      for (const Handles& sm : sms_) sum += of(sm.aging.wear->summary().mean);
      return sum / static_cast<double>(sms_.size());
    };
  };
  using Duty = WearRecorder::Duty;
  const char* const share = "ratio";
  g.derived("duty.zero.longest", slices([](const Duty& zero, const Duty&) { return zero.zero; }), share,
            "fraction of time that the longest-zero bit of a slice is 0, mean over the slices in use");
  g.derived("duty.zero.longest_one", slices([](const Duty& zero, const Duty&) { return zero.one; }), share,
            "fraction of time that the longest-zero bit of a slice is 1, mean over the slices in use");
  g.derived("duty.zero.longest_off", slices([](const Duty& zero, const Duty&) { return zero.off; }), share,
            "fraction of time that the longest-zero bit of a slice is off, mean over the slices in use");
  g.derived("duty.zero.mean", files([](const Duty& mean) { return mean.zero; }), share,
            "fraction of time that a bit is 0, mean over all bits");
  g.derived("duty.one.longest", slices([](const Duty&, const Duty& one) { return one.one; }), share,
            "fraction of time that the longest-one bit of a slice is 1, mean over the slices in use");
  g.derived("duty.one.longest_zero", slices([](const Duty&, const Duty& one) { return one.zero; }), share,
            "fraction of time that the longest-one bit of a slice is 0, mean over the slices in use");
  g.derived("duty.one.longest_off", slices([](const Duty&, const Duty& one) { return one.off; }), share,
            "fraction of time that the longest-one bit of a slice is off, mean over the slices in use");
  g.derived("duty.one.mean", files([](const Duty& mean) { return mean.one; }), share,
            "fraction of time that a bit is 1, mean over all bits");
  g.derived("duty.off.mean", files([](const Duty& mean) { return mean.off; }), share,
            "fraction of time that a bit is off or in a row that was not used yet, mean over all bits");
  const models::NbtiConfig& nbti = aging_.nbti;
  g.derived(
      "vth.t0", slices([&nbti](const Duty& zero, const Duty&) { return nbti.threshold_shift(zero.zero); }), share,
      "threshold voltage shift of the transistor that 0 wears most in a slice, relative to the largest possible shift");
  g.derived(
      "vth.t1", slices([&nbti](const Duty&, const Duty& one) { return nbti.threshold_shift(one.one); }), share,
      "threshold voltage shift of the transistor that 1 wears most in a slice, relative to the largest possible shift");
  g.derived(
      "ts_increase", slices([&nbti](const Duty& zero, const Duty& one) {
        return nbti.switching_delay_increase(std::max(nbti.threshold_shift(zero.zero), nbti.threshold_shift(one.one)));
      }),
      share, "increase of the switching delay of the most worn transistor of a slice, mean over the slices in use");
}

SliceEnergy GatedScheme::energy_of(const Handles& sm) const {
  using models::PowerState;
  const double row_bytes = row_lanes_ * trace::bytes_per_lane;
  const double beats = row_lanes_ / 16;
  const auto rows = [&](PowerState s) { return sm.transistors->row_cycles(s); };
  SliceEvents e;
  e.leaking_bytes = row_bytes * (rows(PowerState::on) + transistors_.sleep_leakage * rows(PowerState::sleep) +
                                 transistors_.off_leakage * rows(PowerState::off));
  e.woken_bytes = row_bytes * static_cast<double>(sm.transistors->wakeups(PowerState::off));
  if (sm.aging.compression == nullptr) {
    e.slice_reads = beats * static_cast<double>(sm.file->row_reads());
    e.slice_writes = beats * static_cast<double>(sm.file->row_writes());
    return slice_energy(aging_.energy, nullptr, e, cycle_ns_);
  }
  const CompressedRows::Counters& c = sm.aging.compression->counters();
  e.slice_reads = static_cast<double>(c.slice_reads);
  e.slice_writes = static_cast<double>(c.slice_writes);
  e.compressions = static_cast<double>(c.compression_beats);
  e.decompressions = static_cast<double>(c.decompression_beats);
  const double file_rows = sm.file->capacity_registers();
  e.slice_cycles = slices_ * (rows(PowerState::on) + rows(PowerState::sleep) + rows(PowerState::off)) / file_rows;
  if (sm.aging.delta == nullptr) return slice_energy(aging_.energy, &aging_.energy.wc, e, cycle_ns_);
  e.table_reads = static_cast<double>(sm.aging.delta->table_reads());
  e.table_writes = static_cast<double>(sm.aging.delta->table_writes());
  e.refreshes = static_cast<double>(sm.aging.delta->refreshes());
  return slice_energy(aging_.energy, &aging_.energy.rc, e, cycle_ns_);
}

void GatedScheme::register_energy_stats(support::StatGroup& g) const {
  const auto add = [&](const char* name, double SliceEnergy::*part, const char* what) {
    g.derived(
        std::string("energy.") + name,
        [this, part] {
          double all = 0;
          for (const Handles& sm : sms_) all += energy_of(sm).*part;
          return all;
        },
        "nJ", what);
  };
  add("slice_leakage", &SliceEnergy::slice_leakage, "of the slices' cells (aging paper, Table 2 and Figure 21)");
  add("logic_leakage", &SliceEnergy::logic_leakage, "of compression and decompression units and tables");
  add("slice_dynamic", &SliceEnergy::slice_dynamic, "of accesses of the slices' cells");
  add("logic_dynamic", &SliceEnergy::logic_dynamic, "of compression and decompression units and tables");
  add("wakeup", &SliceEnergy::wakeup, "of rows that wake from off");
}

}  // namespace regatta::schemes
