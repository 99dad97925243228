// SPDX-License-Identifier: Apache-2.0
#include <regatta/finereg/live_vector_cache.h>

#include <regatta/support/config.h>
#include <regatta/support/energy.h>

#include <string>

namespace regatta::models {

namespace {

constexpr unsigned vector_bytes = 8;
/// Section V-D: six bits "to cover 63 per-thread registers".
constexpr unsigned most_registers = 63;
constexpr std::uint64_t list_space = std::uint64_t{1} << 24;  ///< bytes of address space for a launch's list

}  // namespace

LiveVectorCache::LiveVectorCache(const sc_core::sc_module_name& name, unsigned entries, const LineMemory& memory,
                                 support::ClockDomain& clock)
    : sc_module(name),
      lookups("lookup", *this),
      clock_(clock),
      memory_("memory", memory, clock, *this),
      wakeup_(
          clock, [](void* c) { static_cast<LiveVectorCache*>(c)->fill(); }, this),
      changed_("changed", &clock),
      line_bytes_(memory.line_bytes),
      entries_(entries) {}

void LiveVectorCache::kernel_started(const protocol::KernelContext& context) {
  const trace::Kernel& kernel = *context.kernel;
  if (kernel.registers_per_thread > most_registers) {
    throw support::UnfitTrace("kernel " + kernel.name + " uses " + std::to_string(kernel.registers_per_thread) +
                                  " registers per thread, and FineReg's bit vectors and tags have room for " +
                                  std::to_string(most_registers) + ": annotate it with --max-registers " +
                                  std::to_string(most_registers),
                              "--max-registers " + std::to_string(most_registers));
  }
  std::optional<trace::LiveRegisters> live = trace::find_live_registers(kernel);
  if (!live) {
    throw support::UnfitTrace("kernel " + kernel.name +
                              ": its trace has no live registers (section 'liveness'), which FineReg needs: write the "
                              "trace anew with this version's regatta-annotate");
  }
  live_ = std::move(*live);
  // A list of its own for every launch: what an earlier kernel left in the caches below is not this one's.
  list_ = base::first_address(base::Window::annotations) + context.launch_index * list_space;
  entries_.assign(entries_.size(), Entry{});
  with_twin(twin_, RmuOperation::clear(), RmuResult{});
  miss_.reset();
}

protocol::LookupReply LiveVectorCache::look_up(const std::uint32_t& pc, std::uint32_t tag, std::uint64_t& vector) {
  if (miss_) return protocol::LookupReply::busy;
  const Entry& e = entries_[pc % entries_.size()];  // five low bits of the PC, which counts instructions here
  const bool hit = e.valid && e.pc == pc;
  const RmuResult found = with_twin(twin_, RmuOperation::lookup(pc), RmuResult::of_vector(hit, hit ? e.vector : 0));
  if (found.ok) {
    ++hits_;
    vector = found.vector;
    return protocol::LookupReply::answered;
  }
  ++misses_;
  miss_ = Miss{pc, tag, ++last_read_};
  const std::uint64_t address = list_ + std::uint64_t{pc} * vector_bytes;
  const std::uint64_t line = address / line_bytes_ * line_bytes_;
  const auto sector = static_cast<unsigned>((address - line) / protocol::sector_bytes);
  memory_.read(line, protocol::AccessClass::metadata, static_cast<std::uint8_t>(1u << sector), last_read_);
  return protocol::LookupReply::later;
}

void LiveVectorCache::memory_answered(std::uint32_t tag, const unsigned char*, std::uint64_t when) {
  if (!miss_ || miss_->read != tag) return;  // of a launch that has ended
  miss_->answered = true;
  wakeup_.request(clock_.now(), when);
}

void LiveVectorCache::fill() {
  if (!miss_ || !miss_->answered) return;
  const Miss done = *miss_;
  miss_.reset();
  const std::uint64_t vector = live_.vector(done.pc);
  Entry& e = entries_[done.pc % entries_.size()];
  const bool replaces = e.valid && e.pc != done.pc;
  e = Entry{true, done.pc, vector};
  with_twin(twin_, RmuOperation::fill(done.pc, vector), RmuResult::of_vector(replaces, 0));
  changed_.notify();
  lookups.answers->answered(done.tag, vector);
}

void LiveVectorCache::register_stats(support::StatGroup& g) {
  g.counter("hits", hits_, "lookups", "of PCs whose vector was there");
  g.counter("misses", misses_, "lookups", "that read a vector from memory");
}

void LiveVectorCache::register_energy(support::EnergyGroup& g) {
  g.event("cta_switching", "cta_switching.vector", hits_);
  g.event("cta_switching", "cta_switching.vector", misses_, 2);  // looked up, then filled
}

}  // namespace regatta::models
