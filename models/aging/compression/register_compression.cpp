// SPDX-License-Identifier: Apache-2.0
#include <regatta/aging/register_compression.h>

#include <algorithm>

namespace regatta::models::aging {

using protocol::Cycle;
using protocol::LookupReply;
using protocol::WarpAccess;

RegisterCompression::RegisterCompression(const sc_core::sc_module_name& name, const FileCompression& config,
                                         support::ClockDomain& clock)
    : CompressedRows(name, config),
      compression("compression", *this),
      decompression("decompression", *this),
      clock_(clock),
      entries_((config.rows + config.slices - 1) / config.slices),
      unit_("unit"),
      decompressor_("decompressor"),
      again_(
          clock, [](void* c) { static_cast<RegisterCompression*>(c)->try_again(); }, this) {
  for (unsigned s = 0; s < config.slices; ++s) {
    tables_.push_back(std::make_unique<Slice>("table" + std::to_string(s), config, entries_, clock, *this));
  }
}

void RegisterCompression::launch_started(std::uint32_t) {
  for (const auto& slice : tables_) slice->table.reset();
}

void RegisterCompression::forget(Row row) { table_of(row).invalidate(entry_of(row)); }

namespace {
template <class Tables, class F>
std::uint64_t sum_over(const Tables& tables, F&& of) {
  std::uint64_t all = 0;
  for (const auto& slice : tables) all += of(slice->table);
  return all;
}
}  // namespace

std::uint64_t RegisterCompression::table_reads() const {
  return sum_over(tables_, [](const CompressionTable& t) { return t.table_reads(); });
}
std::uint64_t RegisterCompression::table_writes() const {
  return sum_over(tables_, [](const CompressionTable& t) { return t.table_writes(); });
}
std::uint64_t RegisterCompression::refreshes() const {
  return sum_over(tables_, [](const CompressionTable& t) { return t.refreshes(); });
}

RegisterCompression::Waiting* RegisterCompression::waiting(const WarpAccess& access) {
  if (__builtin_expect(static_cast<int>(tag_of_.empty()), 1) != 0) return nullptr;
  const auto found = tag_of_.find(&access);
  return found == tag_of_.end() ? nullptr : &waiting_.at(found->second);
}

std::uint32_t RegisterCompression::tag_for(const WarpAccess& access) {
  if (__builtin_expect(static_cast<int>(tag_of_.empty()), 1) != 0) return ++next_tag_;
  const auto found = tag_of_.find(&access);
  return found == tag_of_.end() ? ++next_tag_ : found->second;
}

void RegisterCompression::wait(const WarpAccess& access, std::uint32_t tag, LookupReply reply) {
  Waiting& w = waiting_[tag];
  w.access = &access;
  tag_of_[&access] = tag;
  if (reply == LookupReply::later) return;
  refused_.push_back(&access);
  again_.request(clock_.now() + 1);
}

void RegisterCompression::done_waiting(const WarpAccess& access) {
  const auto found = tag_of_.find(&access);
  if (found == tag_of_.end()) return;
  waiting_.erase(found->second);
  tag_of_.erase(found);
}

void RegisterCompression::ready(const Waiting& w) {
  if (client_ != nullptr) client_->codec_ready(*w.access);
}

void RegisterCompression::try_again() {
  std::vector<const WarpAccess*> now;
  now.swap(refused_);
  for (const WarpAccess* const access : now) {
    if (client_ != nullptr) client_->codec_ready(*access);
  }
}

RegisterCompression::Waiting& RegisterCompression::asking(std::uint32_t tag, bool Waiting::*has) {
  const auto found = waiting_.find(tag);
  if (found == waiting_.end() || found->second.*has) {
    protocol::unexpected_answer(name(), clock_.now(), tag);
  }
  return found->second;
}

void RegisterCompression::answered(std::uint32_t tag, const CompressionVerdict& verdict) {
  Waiting& w = asking(tag, &Waiting::has_verdict);
  w.has_verdict = true;
  w.verdict = verdict;
  ready(w);
}

void RegisterCompression::answered(std::uint32_t tag, const TableAnswer& answer) {
  Waiting& w = asking(tag, &Waiting::has_entry);
  w.has_entry = true;
  w.entry = answer;
  ready(w);
}

void RegisterCompression::answered(std::uint32_t tag, const protocol::WarpValue& value) {
  Waiting& w = asking(tag, &Waiting::has_value);
  w.has_value = true;
  w.value = value;
  ready(w);
}

RegisterCompression::Stored RegisterCompression::write(const WarpAccess& access, Row row, const std::uint32_t* values,
                                                       std::uint32_t* cells, Cycle) {
  if (!passes_unit(access)) {
    ++counters_.writes;
    ++patterns_[static_cast<unsigned>(Pattern::other)];
    if (access.lanes != all_lanes()) ++counters_.divergent_writes;
    if (access.instruction != nullptr && access.instruction->injected) ++counters_.moves;
    return store(access, row, values, cells, 0);
  }
  CompressionVerdict verdict;
  const Waiting* const waited = waiting(access);
  if (waited != nullptr && waited->has_verdict) {
    verdict = waited->verdict;
    done_waiting(access);
  } else {
    CompressionRequest request;
    request.components = values;
    request.lanes = warp_size();
    const std::uint32_t tag = tag_for(access);
    const LookupReply reply = compression.requests->look_up(request, tag, verdict);
    if (__builtin_expect(static_cast<int>(reply != LookupReply::answered), 0) != 0) {
      wait(access, tag, reply);
      return Stored{false, 0, true};
    }
    if (waited != nullptr) done_waiting(access);
  }
  ++counters_.writes;
  counters_.compression_beats += verdict.beats;
  if (!verdict.compressible) {
    ++patterns_[static_cast<unsigned>(Pattern::other)];
    return store(access, row, values, cells, verdict.beats);
  }
  ++patterns_[static_cast<unsigned>(verdict.code.pattern())];
  (asked(row) != 0 ? counters_.slice_writes : counters_.cancelled_writes) += beats();
  was_compressed(access);
  const unsigned extra = table_of(row).enter(entry_of(row), verdict.code);
  ask(row, 0);
  return Stored{false, extra};
}

RegisterCompression::Stored RegisterCompression::store(const WarpAccess& access, Row row, const std::uint32_t* values,
                                                       std::uint32_t* cells, unsigned beats_before) {
  unsigned extra = 0;
  TableWrites& table = table_of(row);
  if (table.valid(entry_of(row))) extra = table.clear(entry_of(row));
  counters_.slice_writes += beats();
  if (ask(row, all_segments)) {
    // What wakes holds nothing; the sub-wavefronts that came while it was off are written again.
    std::fill_n(cells, warp_size(), 0);
    extra += beats_before;
  }
  merge(cells, values, access.lanes, warp_size());
  return Stored{true, extra};
}

RegisterCompression::Read RegisterCompression::read(const WarpAccess& access, Row row, const std::uint32_t*,
                                                    std::uint32_t* values) {
  Waiting* waited = waiting(access);
  TableAnswer entry;
  if (waited != nullptr && waited->has_entry) {
    entry = waited->entry;
  } else {
    TableQuery query;
    query.entry = entry_of(row);
    const std::uint32_t tag = tag_for(access);
    const LookupReply reply = tables_[row.value() / entries_]->port.requests->look_up(query, tag, entry);
    if (__builtin_expect(static_cast<int>(reply != LookupReply::answered), 0) != 0) {
      wait(access, tag, reply);
      return Read::later;
    }
  }
  if (entry.valid) {
    protocol::WarpValue value;
    if (waited != nullptr && waited->has_value) {
      value = waited->value;
    } else {
      DecompressionRequest request;
      request.code = entry.code;
      request.lanes = warp_size();
      const std::uint32_t tag = tag_for(access);
      const LookupReply reply = decompression.requests->look_up(request, tag, value);
      if (__builtin_expect(static_cast<int>(reply != LookupReply::answered), 0) != 0) {
        wait(access, tag, reply);
        waited = waiting(access);
        waited->has_entry = true;
        waited->entry = entry;
        return Read::later;
      }
    }
    trace::copy_value(values, value.lane.data(), std::size_t{warp_size()} * trace::bytes_per_lane);
  }
  if (waited != nullptr) done_waiting(access);
  ++counters_.reads;
  if (!entry.valid) {
    ++counters_.decompression_beats;  // the unit is switched off when the first entry is seen not to be valid
    counters_.slice_reads += beats();
    return Read::row;
  }
  counters_.decompression_beats += beats();
  counters_.slice_reads += 1;
  counters_.cancelled_reads += beats() - 1;
  return Read::elsewhere;
}

void RegisterCompression::register_stats(support::StatGroup& g) {
  CompressedRows::register_stats(g);
  for (unsigned p = 0; p < pattern_count; ++p) {
    g.counter(std::string("writes_") + to_string(static_cast<Pattern>(p)), patterns_[p], "warp registers",
              std::string("written, of pattern ") + to_string(static_cast<Pattern>(p)));
  }
}

}  // namespace regatta::models::aging
