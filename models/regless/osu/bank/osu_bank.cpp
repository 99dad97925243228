// SPDX-License-Identifier: Apache-2.0
#include <regatta/protocol/payload.h>
#include <regatta/regless/osu_bank.h>
#include <regatta/support/config.h>

#include <algorithm>
#include <utility>

namespace regatta::models {

namespace {

/// Tags that one look-up of the energy table compares.
constexpr double tags_per_lookup = 16;
/// Of a warp.
constexpr unsigned most_registers = 256;

const OsuBankConfig& checked(const OsuBankConfig& config) {
  config.validate();
  return config;
}

}  // namespace

void OsuBankConfig::validate() const {
  const auto refuse = [](const std::string& what, unsigned found, const std::string& expected) {
    throw support::ConfigError("configuration: an OSU bank with " + what + " = " + std::to_string(found) +
                               ": expected " + expected);
  };
  if (lines == 0 || lines >= no_line) refuse("lines", lines, "1 to " + std::to_string(no_line - 1));
  if (warps == 0) refuse("warps", warps, "at least 1");
  if (banks == 0) refuse("banks", banks, "at least 1");
  if (line_bytes != 128 && line_bytes != 256) refuse("line_bytes", line_bytes, "128 or 256");
}

OsuBank::OsuBank(const sc_core::sc_module_name& name, const OsuBankConfig& config)
    : sc_module(name),
      access("access"),
      lines_(std::make_unique<OsuLine[]>(checked(config).lines)),
      by_banks_(config.banks),
      bytes_(config.line_bytes),
      line_count_(config.lines),
      warps_(config.warps),
      owner_adds_energy_(config.owner_adds_energy) {
  values_.resize(line_count_, config.line_bytes / trace::bytes_per_lane);
  words_ = values_[0];
  for (std::uint16_t line = 0; line < lines(); ++line) list(BankList::free).push(lines_.get(), line);
  kernel_started(most_registers);
  access.bind(*this);
}

void OsuBank::kernel_started(unsigned registers_per_warp) {
  registers_ = static_cast<std::uint16_t>(registers_per_warp);
  rows_ = static_cast<std::uint16_t>((registers_ + by_banks_.value() - 1) / by_banks_.value());
  table_ = std::make_unique<std::uint16_t[]>(tags());
  std::fill_n(table_.get(), tags(), no_line);
}

void OsuBank::free(std::uint16_t line, std::uint64_t at) {
  std::uint16_t last = list(BankList::free).last();
  if (__builtin_expect(twin_ != nullptr, 0)) twin_free(line, last);
  untag(line);
  if (lines_[line].list != BankList::owned) list(lines_[line].list).remove(lines_.get(), line);
  put(line, BankList::free, at, last);
}

void OsuBank::forget(std::uint16_t line) {
  if (__builtin_expect(twin_ != nullptr, 0)) twin_forget(line);
  untag(line);
}

// The line's bits are set.
bool OsuBank::mark_listed(std::uint16_t line, std::uint64_t at) {
  const OsuLine& l = lines_[line];
  BankList to = l.list;
  if (l.list == BankList::clean && l.is_dirty) to = BankList::dirty;
  if (l.list == BankList::dirty && !l.is_dirty) to = BankList::clean;
  std::uint16_t last = list(to).last();
  if (__builtin_expect(twin_ != nullptr, 0)) twin_mark(line, to, last);
  if (to == l.list) return false;
  list(l.list).remove(lines_.get(), line);
  put(line, to, at, last);
  return true;
}

std::uint64_t OsuBank::next_available(std::uint64_t now) const {
  std::uint64_t next = never;
  for (const BankList l : {BankList::free, BankList::clean, BankList::dirty}) {
    std::uint16_t line = list(l).first();
    while (line != no_line && lines_[line].available_at <= now) line = lines_[line].next;
    if (line != no_line) next = std::min(next, lines_[line].available_at);
  }
  return next;
}

void OsuBank::unwritten(void* to) const {
  std::fill_n(static_cast<std::uint32_t*>(to), bytes_ / sizeof unwritten_word, unwritten_word);
}

// Lanes that nobody wrote must not look like what the line held before.
void OsuBank::merge(std::uint16_t line, const unsigned char* data, const unsigned char* enable) {
  if (!lines_[line].is_defined) unwritten(value_of(line));
  protocol::merge_enabled(reinterpret_cast<unsigned char*>(value_of(line)), data, enable, bytes_);
}

std::string OsuBank::check() const {
  std::vector<unsigned> seen(line_count_);
  std::size_t listed = 0;
  for (const BankList of : {BankList::free, BankList::clean, BankList::dirty}) {
    for (std::uint16_t l = list(of).first(); l != no_line; l = lines_[l].next) {
      if (lines_[l].list != of) return "line " + std::to_string(l) + " is in a list of another state";
      if (++listed > line_count_) return "a list has a loop";
      ++seen[l];
    }
  }
  std::size_t tagged = 0;
  for (std::uint16_t i = 0; i < lines(); ++i) {
    const OsuLine& l = lines_[i];
    const std::string line =
        "line " + std::to_string(i) + " (warp " + std::to_string(l.warp) + " register " + std::to_string(l.reg) + ")";
    if (seen[i] != (l.list != BankList::owned ? 1u : 0u)) return line + " is in " + std::to_string(seen[i]) + " lists";
    if (l.list == BankList::free && is_tagged(i)) return line + " is free and has a tag";
    if (l.list == BankList::clean && l.is_dirty) return line + " is dirty in the clean list";
    if (l.list == BankList::dirty && !l.is_dirty) return line + " is clean in the dirty list";
    if ((l.list == BankList::clean || l.list == BankList::dirty) && !is_tagged(i))
      return line + " is not what its tag leads to";
    tagged += is_tagged(i) ? 1 : 0;
  }
  for (std::size_t tag = 0; tag < tags(); ++tag) tagged -= table_[tag] != no_line ? 1 : 0;
  return tagged == 0 ? "" : "tags and lines do not match one to one";
}

std::string OsuBank::describe() const {
  const auto line_text = [&](std::uint16_t line) {
    const OsuLine& l = lines_[line];
    std::string text = " " + std::to_string(line);
    if (l.list == BankList::free || !is_tagged(line)) return text;
    text += " (w" + std::to_string(l.warp) + " r" + std::to_string(l.reg);
    return text + (l.is_dirty ? ", dirty" : "") + (l.is_defined ? ")" : ", undefined)");
  };
  std::string text = "before it";
  for (const BankList of : {BankList::free, BankList::clean, BankList::dirty}) {
    text += std::string("\n    ") + models::name(of) + ", oldest first:";
    for (std::uint16_t l = list(of).first(); l != no_line; l = lines_[l].next) text += line_text(l);
  }
  text += "\n    owned:";
  for (std::uint16_t line = 0; line < lines(); ++line) {
    if (lines_[line].list == BankList::owned) text += line_text(line);
  }
  return text;
}

void OsuBank::register_stats(support::StatGroup& g) {
  g.counter("reads", read_count_, "warp registers", "operand reads");
  g.counter("writes", write_count_, "warp registers", "operand writes");
  g.counter("conflicts", read_conflicts_, "warp registers", "operand reads that had to wait for the bank");
  g.counter("write_conflicts", write_conflicts_, "warp registers", "operand writes that had to wait for the bank");
  g.counter("read_wait", read_wait_, "cycles", "that operand reads waited for the bank, summed");
  g.counter("write_wait", write_wait_, "cycles", "that operand writes waited for the bank, summed");
  g.counter("tag_lookups", tag_lookups_, "lookups", "for reads, new lines, preloads and invalidations");
  g.counter("fills", fill_count_, "lines", "written with a value that came from memory or the write-back buffer");
  g.counter("readouts", readout_count_, "lines", "read to be written back");
}

void OsuBank::register_energy(support::EnergyGroup& g) {
  if (owner_adds_energy_) return g.costs_nothing("declared by the module that owns the bank");
  const support::ArrayGeometry geometry{static_cast<double>(line_count_ * bytes_), 1};
  add_energy(g, geometry);
  g.leakage("register_structures", "register_file.leakage", geometry);
}

void OsuBank::add_energy(support::EnergyGroup& g, support::ArrayGeometry geometry) const {
  const double registers = static_cast<double>(bytes_) / 128.0;
  const double tags = static_cast<double>(line_count_) / tags_per_lookup;
  g.event("register_structures", "register_file.read", read_count_, registers, geometry);
  g.event("register_structures", "register_file.read", readout_count_, registers, geometry);
  g.event("register_structures", "register_file.write", write_count_, registers, geometry);
  g.event("register_structures", "register_file.write", fill_count_, registers, geometry);
  g.event("register_structures", "osu.tag", tag_lookups_, tags);
}

}  // namespace regatta::models
