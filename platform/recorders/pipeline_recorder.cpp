// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <regatta/recorders/pipeline_recorder.h>
#include <regatta/support/config.h>
#include <regatta/trace/instruction_text.h>

#include <algorithm>
#include <charconv>

namespace regatta::recorders {

using protocol::Cycle;
using protocol::DynamicInstruction;
using protocol::Event;

Window parse_window(const std::string& text, const std::string& option) {
  Window w;
  const auto refuse = [&] {
    throw support::ConfigError(option + ": found '" + text +
                               "', expected FIRST:LAST, FIRST: or :LAST with FIRST <= LAST, " + "or one number");
  };
  const auto number = [&](const std::string& part, std::uint64_t otherwise) {
    if (part.empty()) return otherwise;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size()) refuse();
    return value;
  };
  const std::size_t colon = text.find(':');
  if (text.empty() || text == ":") refuse();
  w.first = number(text.substr(0, colon), 0);
  w.last = colon == std::string::npos ? w.first : number(text.substr(colon + 1), UINT64_MAX);
  if (w.first > w.last) refuse();
  return w;
}

KanataFile::KanataFile(const std::string& path, Window cycles, Window ctas)
    : file_(path), cycles_(cycles), ctas_(ctas) {
  file_.write("Kanata\t0004\n");
}

void KanataFile::advance(std::uint64_t now) {
  while (!pending_.empty() && pending_.begin()->first < now) {
    const auto& [cycle, lines] = *pending_.begin();
    file_.write(begun_ ? fmt::format("C\t{}\n", cycle - cycle_) : fmt::format("C=\t{}\n", cycle));
    file_.write(lines);
    begun_ = true;
    cycle_ = cycle;
    pending_.erase(pending_.begin());
  }
}

void KanataFile::finish() {
  advance(UINT64_MAX);
  file_.commit();
}

std::vector<Event> PipelineRecorder::interests() const {
  return {
      Event::kernel_started,   Event::cta_launched, Event::cta_switched, Event::cta_finished, Event::warp_started,
      Event::fetched,          Event::arrived,      Event::issued,       Event::bypassed,     Event::operands_delivered,
      Event::register_written, Event::retired};
}

void PipelineRecorder::kernel_started(Cycle, const protocol::KernelContext& context) {
  launch_ = context.launch_index;
  fetched_.clear();
}

PipelineRecorder::Cta& PipelineRecorder::cta(protocol::CtaSlot slot) {
  if (ctas_.size() <= slot.value()) ctas_.resize(slot.value() + 1u);
  return ctas_[slot.value()];
}

void PipelineRecorder::cta_launched(Cycle, const protocol::CtaInfo& info) { cta(info.cta).index = info.cta_index; }

void PipelineRecorder::cta_switched(Cycle now, protocol::CtaSlot slot, bool active) {
  file_.advance(now.value());
  Cta& c = cta(slot);
  if (active) return close(c.pending, now.value(), false);
  if (!file_.cycles().contains(now.value()) || !file_.ctas().contains(c.index)) return;
  c.pending.id = file_.new_id();
  // A thread of its own, behind those of the warp slots.
  file_.line(now.value(),
             fmt::format("I\t{0}\t{0}\t{1}\nL\t{0}\t0\tsm{2} CTA {3} pending\n"
                         "L\t{0}\t1\tlaunch {4}, CTA slot {5}",
                         c.pending.id, sm_ * 4096 + 2048 + slot.value(), sm_, c.index, launch_, slot.value()));
  enter(c.pending, now.value(), 'P');
}

// A pending CTA can end: its last result was a load that was steered.
void PipelineRecorder::cta_finished(Cycle now, const protocol::CtaInfo& info) {
  Record& pending = cta(info.cta).pending;
  if (pending.id == not_recorded) return;
  file_.advance(now.value());
  close(pending, now.value(), false);
}

std::deque<PipelineRecorder::Fetched>& PipelineRecorder::queue(protocol::WarpSlot slot) {
  if (fetched_.size() <= slot.value()) fetched_.resize(slot.value() + 1u);
  return fetched_[slot.value()];
}

PipelineRecorder::Record& PipelineRecorder::record(const DynamicInstruction& d) {
  if (issued_.size() <= d.pool_index) issued_.resize(d.pool_index + 1u);
  return issued_[d.pool_index];
}

void PipelineRecorder::enter(Record& r, std::uint64_t cycle, char stage) {
  if (r.id == not_recorded) return;
  cycle = std::max(cycle, r.since);
  if (r.stage != 0) file_.line(cycle, fmt::format("E\t{}\t0\t{}", r.id, r.stage));
  file_.line(cycle, fmt::format("S\t{}\t0\t{}", r.id, stage));
  r.stage = stage;
  r.since = cycle;
}

void PipelineRecorder::close(Record& r, std::uint64_t cycle, bool flushed) {
  if (r.id == not_recorded) return;
  cycle = std::max(cycle, r.since);
  file_.line(cycle,
             fmt::format("E\t{}\t0\t{}\nR\t{}\t{}\t{}", r.id, r.stage, r.id, file_.new_retirement(), flushed ? 1 : 0));
  r = Record{};
}

void PipelineRecorder::warp_started(Cycle, const protocol::WarpInfo& warp) { queue(warp.warp).clear(); }

void PipelineRecorder::fetched(Cycle now, const protocol::WarpInfo& warp, const protocol::InstructionTraits& t) {
  file_.advance(now.value());
  Fetched f;
  if (file_.cycles().contains(now.value()) && file_.ctas().contains(warp.cta_index)) {
    f.record.id = file_.new_id();
    const trace::StaticInstruction& info = *t.info;
    std::string operands = t.write_count + t.read_count != 0 ? "," : "";
    for (unsigned i = 0; i < t.write_count; ++i) operands += " " + trace::register_name(t.writes[i].value());
    if (t.read_count != 0) operands += " <-";
    for (unsigned i = 0; i < t.read_count; ++i) operands += " " + trace::register_name(t.reads[i].value());
    file_.line(now.value(),
               fmt::format("I\t{0}\t{0}\t{1}\nL\t{0}\t0\tsm{2} CTA {3} warp {4}: {5:#06x} {6}\n"
                           "L\t{0}\t1\tlaunch {7}, slot {8}, unit {9}{10}{11}",
                           f.record.id, sm_ * 4096 + warp.warp.value(), sm_, warp.cta_index, warp.warp_in_cta,
                           t.index * trace::bytes_per_instruction, trace::instruction_text(info), launch_,
                           warp.warp.value(), protocol::to_string(t.unit), operands,
                           info.ptx_line != 0 ? fmt::format(", PTX line {}", info.ptx_line) : ""));
    enter(f.record, now.value(), 'F');
  }
  queue(warp.warp).push_back(f);
}

void PipelineRecorder::arrived(Cycle now, const protocol::WarpInfo& warp) {
  file_.advance(now.value());
  for (Fetched& f : queue(warp.warp)) {
    if (f.arrived) continue;
    f.arrived = true;
    enter(f.record, now.value(), 'D');
  }
}

void PipelineRecorder::issued(Cycle now, const DynamicInstruction& d) {
  file_.advance(now.value());
  if (d.injected) {  // it was not fetched: not recorded
    record(d) = Record{};
    return;
  }
  std::deque<Fetched>& waiting = queue(d.warp);
  Record& r = record(d);
  r = waiting.front().record;
  waiting.pop_front();
  enter(r, now.value(), 'I');
  if (d.traits->unit != protocol::Unit::none) enter(r, now.value() + 1, 'O');
}

void PipelineRecorder::bypassed(Cycle now, const DynamicInstruction& d) {
  file_.advance(now.value());
  enter(record(d), now.value(), 'W');
}

void PipelineRecorder::operands_delivered(Cycle now, const DynamicInstruction& d) {
  file_.advance(now.value());
  const bool memory = d.traits->unit == protocol::Unit::lsu;
  enter(record(d), now.value(), memory ? 'M' : 'X');
  // Execution takes as long as it takes; what comes after is waiting for and doing the write-back.
  if (!memory) enter(record(d), now.value() + d.traits->latency, 'W');
}

void PipelineRecorder::register_written(Cycle now, const DynamicInstruction& d, unsigned, bool) {
  Record& r = record(d);
  if (r.stage == 'W') return;
  file_.advance(now.value());
  enter(r, now.value(), 'W');
}

void PipelineRecorder::retired(Cycle now, const DynamicInstruction& d) {
  file_.advance(now.value());
  close(record(d), now.value(), false);
}

void PipelineRecorder::finish(std::uint64_t now) {
  for (auto& waiting : fetched_) {
    for (Fetched& f : waiting) close(f.record, now, true);
    waiting.clear();
  }
  for (Record& r : issued_) close(r, now, true);
  for (Cta& c : ctas_) close(c.pending, now, true);
}

}  // namespace regatta::recorders
