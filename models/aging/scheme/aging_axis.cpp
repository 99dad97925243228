// SPDX-License-Identifier: Apache-2.0
//
// Windows, the codec in front of the rows and what it needs at issue, and the recording of cell wear.
#include "aging_axis.h"

#include <regatta/aging/rotating_windows.h>
#include <regatta/aging/round_robin_windows.h>
#include <regatta/assembly/connect_lookup.h>
#include <regatta/assembly/waits.h>
#include <regatta/support/clock_domain.h>

#include <sstream>

namespace regatta::schemes {

using models::aging::CompressedRows;
using models::aging::FileCompression;
using models::aging::MoveInserter;
using models::aging::RegisterCompression;
using models::aging::WarpedCompression;
using protocol::Cycle;
using protocol::Event;

void AgingConfig::declare(support::OptionSet& o) {
  o.add(
      "gated.windows", windows,
      "rows of a warp: those of its slot, the same rotated at every reassignment (RAR), or the next free window (ARGO)",
      {"fixed", "rotating", "round_robin"});
  o.add("gated.compression", compression,
        "register compression: none, a base and two deltas beside the file (RC), or a base and deltas in the row "
        "(Warped-Compression)",
        {"none", "rc", "wc"});
  o.add("wear.enabled", wear, "record the time that every bit of the file is 0, 1 and off");
  o.add("wear.rows_file", rows_file, "CSV file by row: the bits that are 0 or 1 longest (with wear.enabled)");
  o.add("wear.bits_file", bits_file, "CSV file by bit position: means over the rows (with wear.enabled)");
  compressor.declare(o);
  nbti.declare(o);
  energy.declare(o);
}

void AgingConfig::validate() const {
  nbti.validate();
  energy.validate();
  for (const auto* file : {&rows_file, &bits_file}) {
    if (wear || file->empty()) continue;
    throw support::ConfigError("configuration: wear." + std::string(file == &rows_file ? "rows" : "bits") +
                               "_file = " + *file + " needs wear.enabled = true, found false");
  }
}

void AgingAxis::validate(const assembly::MachineConfig& machine) const {
  config_.validate();
  validate_twins(machine.sm.lanes);
}

std::vector<std::pair<std::string, std::string>> AgingAxis::written_files() const {
  const cosim::TwinOptions& twin = config_.compressor.twin;
  return {{"--wear.rows_file", config_.rows_file},
          {"--wear.bits_file", config_.bits_file},
          {"--compression.waveform", twin.implementation == "model" ? "" : twin.waveform}};
}

std::string AgingAxis::needs_file() const {
  if (config_.windows != "fixed") return "gated.windows = " + config_.windows;
  if (config_.compression != "none") return "gated.compression = " + config_.compression;
  return config_.wear ? "wear.enabled = true" : "";
}

std::unique_ptr<models::WindowPolicy> AgingAxis::window_policy(unsigned slices) const {
  if (config_.windows == "rotating") return std::make_unique<models::RotatingWindows>(slices);
  if (config_.windows == "round_robin") return std::make_unique<models::RoundRobinWindows>(slices);
  return nullptr;
}

std::vector<unsigned> AgingAxis::segments(unsigned lanes) const {
  return config_.compression == "wc" ? models::aging::warped_segments(lanes) : std::vector<unsigned>{};
}

const models::RowCodec* AgingAxis::add_parts(const GatedParts& sm) {
  slices_ = sm.context.machine.sm.sub_cores;
  row_lanes_ = sm.context.machine.sm.lanes;
  cycle_ns_ = sm.context.clock.period().to_seconds() * 1e9;
  sleep_leakage_ = sm.transistors_config.sleep_leakage;
  off_leakage_ = sm.transistors_config.off_leakage;
  Handles handles;
  handles.transistors = &sm.transistors;
  handles.file = &sm.file;
  add_wear(sm, handles);
  add_compression(sm, handles);
  sms_.push_back(handles);
  return handles.compression;
}

void AgingAxis::add_waits(assembly::Waits& waits) const {
  waits.add("sm*.compression.table*.refresh_conflicts", assembly::Wait::Of::warps, {"compression.refresh_period"});
}

FileCompression AgingAxis::compression_config(const assembly::BuildContext& c) const {
  return {config_.compressor, c.machine.sm.sub_cores, c.machine.register_file.registers};
}

std::unique_ptr<CompressedRows> AgingAxis::compressed_rows(const assembly::BuildContext& c) const {
  const FileCompression config = compression_config(c);
  if (config_.compression == "wc") return std::make_unique<WarpedCompression>("compression", config);
  config.validate();
  return std::make_unique<RegisterCompression>("compression", config, c.clock);
}

std::unique_ptr<MoveInserter> AgingAxis::move_inserter(CompressedRows& rows) const {
  return std::make_unique<MoveInserter>("move_inserter", rows);
}

void AgingAxis::validate_twins(unsigned lanes) const {
  const cosim::TwinOptions& twin = config_.compressor.twin;
  if (twin.implementation == "model") return;
  if (config_.compression != "rc") {
    throw support::ConfigError("configuration: compression.implementation = " + twin.implementation +
                               " needs gated.compression = rc, found " + config_.compression);
  }
  models::aging::compression_twins().validate(twin, {lanes});
  models::aging::decompression_twins().validate(twin, {lanes});
}

void AgingAxis::add_twins(const GatedParts& sm, RegisterCompression& rows) const {
  cosim::TwinConfig config;
  config.options = config_.compressor.twin;
  config.clock = &sm.context.clock;
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

void AgingAxis::add_compression(const GatedParts& sm, Handles& handles) const {
  if (config_.compression == "none") return;
  std::unique_ptr<CompressedRows> rows = compressed_rows(sm.context);
  rows->power.bind(sm.transistors.votes);
  std::unique_ptr<MoveInserter> moves = move_inserter(*rows);
  handles.compression = rows.get();
  if (auto* delta = dynamic_cast<RegisterCompression*>(rows.get()); delta != nullptr) {
    handles.delta = delta;
    add_twins(sm, *delta);
    delta->connect_lookups([&](const char* name, auto& from, auto& to) {
      assembly::connect_lookup(sm.context, sm.parts, name, from, to);
    });
  }
  handles.warped = dynamic_cast<const WarpedCompression*>(rows.get());
  handles.moves = moves.get();
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

void AgingAxis::add_wear(const GatedParts& sm, Handles& handles) {
  if (!config_.wear) return;
  // Opened before the run, so that a path that cannot be written is reported at once.
  const auto open = [](std::unique_ptr<base::OutputFile>& file, const std::string& path) {
    if (!path.empty() && file == nullptr) file = std::make_unique<base::OutputFile>(path);
  };
  open(rows_file_, config_.rows_file);
  open(bits_file_, config_.bits_file);
  auto& clock = sm.context.clock;
  auto wear = std::make_unique<models::WearRecorder>([&clock] { return Cycle(clock.now()); }, slices_,
                                                     segments(sm.context.machine.sm.lanes));
  handles.wear = wear.get();
  sm.transistors.add_observer(*wear);
  sm.file.add_observer(*wear);
  sm.file.add_listener(*wear);
  sm.parts.observers.push_back(std::make_unique<WearObserver>(std::move(wear)));
}

void AgingAxis::report() const {
  const auto write = [this](base::OutputFile* file, const char* header, auto&& lines) {
    if (file == nullptr) return;
    std::ostringstream text;
    text << header << '\n';
    for (unsigned sm = 0; sm < sms_.size(); ++sm) lines(*sms_[sm].wear, text, sm);
    file->write(text.str());
    file->commit();
  };
  using models::WearRecorder;
  write(rows_file_.get(), WearRecorder::rows_header,
        [](const WearRecorder& wear, std::ostream& out, unsigned sm) { wear.write_rows(out, sm); });
  write(bits_file_.get(), WearRecorder::bits_header,
        [](const WearRecorder& wear, std::ostream& out, unsigned sm) { wear.write_bits(out, sm); });
}

void AgingAxis::register_stats(support::StatGroup& g) const {
  const auto total = [this](auto&& of) {
    return [this, of] {
      double all = 0;
      for (const Handles& sm : sms_) all += static_cast<double>(of(sm));
      return all;
    };
  };
  if (sms_.empty()) return;
  const char* const registers = "warp registers";
  const Handles& first = sms_.front();
  if (first.delta != nullptr) {
    using models::aging::Pattern;
    for (const Pattern p : {Pattern::constant, Pattern::single_delta, Pattern::double_delta, Pattern::other}) {
      g.derived(std::string("writes.") + to_string(p),
                total([p](const Handles& sm) { return sm.delta->pattern_writes(p); }), registers,
                std::string("written, of pattern ") + to_string(p));
    }
    g.derived("refreshes", total([](const Handles& sm) { return sm.delta->refreshes(); }), "accesses",
              "of compression tables to keep entries charged");
  }
  if (first.warped != nullptr) {
    using models::aging::PackedAs;
    for (const PackedAs p : {PackedAs::base, PackedAs::bytes, PackedAs::halves, PackedAs::whole}) {
      g.derived(std::string("writes.") + to_string(p),
                total([p](const Handles& sm) { return sm.warped->form_writes(p); }), registers,
                std::string("written, kept as: ") + to_string(p));
    }
  }
  if (first.compression != nullptr) {
    g.derived("movs_inserted", total([](const Handles& sm) { return sm.moves->inserted(); }), "warp instructions",
              "before divergent writes of compressed registers");
    g.derived("divergent_writes", total([](const Handles& sm) { return sm.compression->counters().divergent_writes; }),
              registers, "written in part");
  }
  g.derived("rows_woken", total([](const Handles& sm) { return sm.transistors->wakeups(models::PowerState::off); }),
            "rows", "that began to wake from off, as a whole or in part");
  if (first.wear != nullptr) register_wear_stats(g);
  register_energy_stats(g);
}

void AgingAxis::register_wear_stats(support::StatGroup& g) const {
  using models::WearRecorder;
  using Summary = WearRecorder::Summary;
  // Means over the slices in use of all SMs; of the bits' means, over the SMs.
  const auto slices = [this](auto&& of) {
    return [this, of] {
      double sum = 0;
      std::size_t count = 0;
      for (const Handles& sm : sms_) {
        const Summary& s = sm.wear->summary();
        for (std::size_t i = 0; i < s.longest_zero.size(); ++i) sum += of(s.longest_zero[i], s.longest_one[i]);
        count += s.longest_zero.size();
      }
      return count == 0 ? 0.0 : sum / static_cast<double>(count);
    };
  };
  const auto files = [this](auto&& of) {
    return [this, of] {
      double sum = 0;
      for (const Handles& sm : sms_) sum += of(sm.wear->summary().mean);
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
  const models::NbtiConfig& nbti = config_.nbti;
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

SliceEnergy AgingAxis::energy_of(const Handles& sm) const {
  using models::PowerState;
  const double row_bytes = row_lanes_ * trace::bytes_per_lane;
  const double beats = row_lanes_ / 16;
  const auto rows = [&](PowerState s) { return sm.transistors->row_cycles(s); };
  SliceEvents e;
  e.leaking_bytes = row_bytes * (rows(PowerState::on) + sleep_leakage_ * rows(PowerState::sleep) +
                                 off_leakage_ * rows(PowerState::off));
  e.woken_bytes = row_bytes * static_cast<double>(sm.transistors->wakeups(PowerState::off));
  if (sm.compression == nullptr) {
    e.slice_reads = beats * static_cast<double>(sm.file->row_reads());
    e.slice_writes = beats * static_cast<double>(sm.file->row_writes());
    return slice_energy(config_.energy, nullptr, e, cycle_ns_);
  }
  const CompressedRows::Counters& c = sm.compression->counters();
  e.slice_reads = static_cast<double>(c.slice_reads);
  e.slice_writes = static_cast<double>(c.slice_writes);
  e.compressions = static_cast<double>(c.compression_beats);
  e.decompressions = static_cast<double>(c.decompression_beats);
  const double file_rows = sm.file->capacity_registers();
  e.slice_cycles = slices_ * (rows(PowerState::on) + rows(PowerState::sleep) + rows(PowerState::off)) / file_rows;
  if (sm.delta == nullptr) return slice_energy(config_.energy, &config_.energy.wc, e, cycle_ns_);
  e.table_reads = static_cast<double>(sm.delta->table_reads());
  e.table_writes = static_cast<double>(sm.delta->table_writes());
  e.refreshes = static_cast<double>(sm.delta->refreshes());
  return slice_energy(config_.energy, &config_.energy.rc, e, cycle_ns_);
}

void AgingAxis::register_energy_stats(support::StatGroup& g) const {
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
