// SPDX-License-Identifier: Apache-2.0
#include <regatta/sm/sm_config.h>

#include <regatta/trace/warp_stream.h>

#include <algorithm>
#include <cstdint>

namespace regatta::sm {

using trace::OpClass;

std::array<ClassTiming, trace::op_class_count> SmConfig::default_timing() {
  std::array<ClassTiming, trace::op_class_count> t{};
  auto set = [&](OpClass c, unsigned latency, unsigned initiation) {
    t[static_cast<unsigned>(c)] = ClassTiming{latency, initiation};
  };
  set(OpClass::nop, 1, 1);
  set(OpClass::int_add, 4, 1);
  set(OpClass::int_max, 13, 1);
  set(OpClass::int_mul, 4, 1);
  set(OpClass::int_mad, 5, 1);
  set(OpClass::int_div, 145, 32);
  set(OpClass::int64, 8, 2);
  set(OpClass::convert, 4, 1);
  set(OpClass::fp32_add, 4, 1);
  set(OpClass::fp32_max, 13, 1);
  set(OpClass::fp32_mul, 4, 1);
  set(OpClass::fp32_mad, 4, 1);
  set(OpClass::fp32_div, 39, 8);
  set(OpClass::fp64_add, 8, 8);
  set(OpClass::fp64_max, 19, 8);
  set(OpClass::fp64_mul, 8, 8);
  set(OpClass::fp64_mad, 8, 8);
  set(OpClass::fp64_div, 330, 130);
  set(OpClass::sfu, 20, 4);
  set(OpClass::shuffle, 32, 2);
  set(OpClass::constant_load, 8, 1);
  set(OpClass::branch, 1, 1);
  set(OpClass::exit, 1, 1);
  set(OpClass::barrier, 1, 1);
  set(OpClass::fence, 1, 1);
  return t;
}

namespace {

bool has_timing(OpClass c) {
  switch (c) {
    case OpClass::nop:
    case OpClass::load:
    case OpClass::store:
    case OpClass::atomic:
    case OpClass::fence:
    case OpClass::barrier:
    case OpClass::branch:
    case OpClass::exit:
    case OpClass::metadata:
      return false;
    default:
      return true;
  }
}

protocol::Unit unit_of(OpClass c) {
  using protocol::Unit;
  switch (c) {
    case OpClass::int_div:
    case OpClass::fp32_div:
    case OpClass::sfu:
      return Unit::sfu;
    case OpClass::fp64_add:
    case OpClass::fp64_max:
    case OpClass::fp64_mul:
    case OpClass::fp64_mad:
    case OpClass::fp64_div:
      return Unit::dp;
    case OpClass::load:
    case OpClass::store:
    case OpClass::atomic:
      return Unit::lsu;
    case OpClass::nop:
    case OpClass::fence:
    case OpClass::barrier:
    case OpClass::branch:
    case OpClass::exit:
    case OpClass::metadata:
      return Unit::none;
    default:
      return Unit::sp;
  }
}

}  // namespace

void SmConfig::declare(support::OptionSet& o) {
  o.add("sm.ctas", max_ctas, "CTAs", "resident CTAs of one SM at most", 1, 1024);
  o.add("sm.warps", max_warps, "warps", "resident warps of one SM at most", 1, 1024);
  o.add("sm.threads", max_threads, "threads", "resident threads of one SM at most", 1, 65536);
  o.add("sm.register_granularity", register_granularity, "warp registers",
        "a warp's register allocation is rounded up to a multiple of this", 1, 256);
  o.add("sm.schedulers", schedulers, "schedulers", "warp schedulers of one SM", 1, 16);
  o.add("sm.scheduler", scheduler, "warp scheduling policy (also --scheduler)", {"gto", "lrr", "two_level"});
  o.add("sm.issue_width", issue_width, "warp instructions", "issued per scheduler and cycle, from one warp", 1, 4);
  o.add("sm.barrier_latency", barrier_latency, "cycles", "from the last arrival at a barrier to its release", 1, 1000);
  o.add("sm.watchdog", watchdog_cycles, "cycles", "without progress before a run is given up as deadlocked", 1000);
  o.add("fetch.width", fetch_width, "instructions", "per fetch; one warp fetches per scheduler and cycle", 1, 16);
  o.add("fetch.latency", fetch_latency, "cycles", "from fetch to the instruction buffer", 1, 1000);
  o.add("fetch.buffer_entries", buffer_entries, "instructions", "instruction buffer of one warp", 1, 64);
  o.add("fetch.branch_latency", branch_latency, "cycles", "from issue of a branch to the warp's next fetch", 1, 1000);
  o.add("collector.units", collectors, "units", "generic operand collector units per scheduler", 1, 64);
  o.add("writeback.width", writeback_width, "warp instructions", "that may write back per cycle", 1, 64);
  o.add("writeback.queue", writeback_queue, "warp instructions",
        "results that may wait for write-back before units are held", 1, 4096);
  o.add("unit.sp", sp_units, "pipelines", "integer and single-precision pipelines, a warp wide", 1, 64);
  o.add("unit.sfu", sfu_units, "pipelines", "special-function pipelines", 1, 64);
  o.add("unit.dp", dp_units, "pipelines", "double-precision pipelines", 1, 64);
  for (unsigned c = 0; c < trace::op_class_count; ++c) {
    const auto op_class = static_cast<OpClass>(c);
    if (!has_timing(op_class)) continue;
    const std::string name = trace::to_string(op_class);
    o.add("latency." + name, timing[c].latency, "cycles", "result latency of class " + name, 1, 100000);
    o.add("initiation." + name, timing[c].initiation, "cycles", "between two instructions of class " + name, 1, 100000);
  }
  o.add("lsu.queue", lsu_queue, "warp instructions", "waiting for the address stage", 1, 1024);
  o.add("shared.bytes", shared_bytes, "bytes", "shared memory of one SM", 0, 1 << 24);
  o.add("shared.granularity", shared_granularity, "bytes", "a CTA's shared memory is rounded up to a multiple", 1,
        65536);
  o.add("shared.banks", shared_banks, "banks", "4-byte wide shared memory banks", 1, 64);
  o.add("shared.latency", shared_latency, "cycles", "of a conflict-free shared memory access", 1, 10000);
}

void SmConfig::validate() const {
  auto refuse = [](const std::string& message) { throw support::ConfigError("configuration: " + message); };
  if (max_warps > schedulers * protocol::max_warps_per_scheduler) {
    refuse("sm.warps = " + std::to_string(max_warps) + " needs at least " +
           std::to_string((max_warps + protocol::max_warps_per_scheduler - 1) / protocol::max_warps_per_scheduler) +
           " schedulers (a scheduler handles at most 64 warps), found sm.schedulers = " + std::to_string(schedulers));
  }
  if ((shared_banks & (shared_banks - 1)) != 0) {
    refuse("shared.banks must be a power of two, found " + std::to_string(shared_banks));
  }
  for (unsigned c = 0; c < trace::op_class_count; ++c) {
    if (has_timing(static_cast<OpClass>(c)) && timing[c].latency < 1) {
      refuse(std::string("latency.") + trace::to_string(static_cast<OpClass>(c)) + " must be at least 1 cycle");
    }
  }
}

protocol::SmLimits SmConfig::limits(unsigned warp_size, std::uint64_t storage_registers) const {
  protocol::SmLimits l;
  l.warp_size = warp_size;
  l.ctas = max_ctas;
  l.warps = max_warps;
  l.threads = max_threads;
  l.registers = storage_registers;
  l.register_granularity = register_granularity;
  l.shared_bytes = shared_bytes;
  l.shared_granularity = shared_granularity;
  return l;
}

std::vector<protocol::InstructionTraits> make_traits(const trace::Kernel& kernel, const SmConfig& config) {
  using protocol::RegisterId;
  std::vector<protocol::InstructionTraits> all;
  all.reserve(kernel.instructions.size());
  for (std::size_t index = 0; index < kernel.instructions.size(); ++index) {
    const trace::StaticInstruction& s = kernel.instructions[index];
    protocol::InstructionTraits t;
    protocol::RegisterSet accessed;
    t.info = &s;
    t.index = static_cast<std::uint32_t>(index);
    t.unit = unit_of(s.op_class);
    const ClassTiming timing = config.of(s.op_class);
    t.latency = static_cast<std::uint16_t>(std::min<unsigned>(timing.latency, UINT16_MAX));
    t.initiation = static_cast<std::uint16_t>(std::min<unsigned>(timing.initiation, UINT16_MAX));
    for (unsigned i = 0; i < s.source_count; ++i) {
      const RegisterId r(s.sources[i]);
      accessed.add(r);
      bool seen = false;
      for (unsigned k = 0; k < t.read_count; ++k) seen = seen || t.reads[k] == r;
      if (!seen) t.reads[t.read_count++] = r;
    }
    for (unsigned i = 0; i < s.destination_count; ++i) {
      t.writes[t.write_count++] = RegisterId(s.destinations[i]);
      accessed.add(RegisterId(s.destinations[i]));
    }
    for (unsigned i = 0; i < s.source_predicate_count; ++i) {
      accessed.predicates |= static_cast<std::uint8_t>(1u << s.source_predicates[i]);
    }
    if (s.guard.predicate >= 0) accessed.predicates |= static_cast<std::uint8_t>(1u << s.guard.predicate);
    for (unsigned i = 0; i < s.destination_predicate_count; ++i) {
      const auto bit = static_cast<std::uint8_t>(1u << s.destination_predicates[i]);
      accessed.predicates |= bit;
      t.written_predicates |= bit;
    }
    t.accessed = accessed.general;
    t.accessed_predicates = accessed.predicates;
    t.is_control = s.op_class == OpClass::branch || s.op_class == OpClass::exit;
    t.is_exit = s.op_class == OpClass::exit;
    t.is_barrier = s.op_class == OpClass::barrier;
    t.is_fence = s.op_class == OpClass::fence;
    t.is_memory = t.unit == protocol::Unit::lsu;
    t.has_addresses = trace::has_addresses(s);
    t.is_long_latency = t.is_memory && s.space != trace::MemorySpace::shared;
    all.push_back(t);
  }
  return all;
}

}  // namespace regatta::sm
