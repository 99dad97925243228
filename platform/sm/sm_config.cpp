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
    case OpClass::tensor:  // TensorConfig
    case OpClass::async:
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
    case OpClass::tensor:
      return Unit::tensor;
    case OpClass::load:
    case OpClass::store:
    case OpClass::atomic:
    case OpClass::async:
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

void SmConfig::declare(support::OptionSet& o, const Policies& policies) {
  o.add("sm.ctas", max_ctas, "CTAs", "maximum number of active CTAs per SM", 1, 1024);
  o.add("sm.warps", max_warps, "warps", "maximum number of active warps per SM", 1, 1024);
  o.add("sm.threads", max_threads, "threads", "maximum number of active threads per SM", 1, 65536);
  o.add("sm.lanes", lanes, "lanes", "lanes of a warp: 32, or 64 for wavefronts; traces are made for one of them", 32,
        64);
  o.add("sm.registers_per_thread", registers_per_thread, "registers", "maximum number of registers per thread", 1, 256);
  o.add("sm.register_granularity", register_granularity, "warp registers",
        "the registers of a warp are rounded up to a multiple of this", 1, 256);
  o.add("sm.schedulers", schedulers, "schedulers", "warp schedulers per SM", 1, 16);
  o.add("sm.sub_cores", sub_cores, "sub-cores",
        "parts into which an SM divides warps and register capacity (with register_file.mapping sub_core: also the "
        "banks)",
        1, 16);
  o.add("sm.scheduler", scheduler, "warp scheduling policy (also --scheduler): " + policies.schedulers_help,
        policies.schedulers);
  o.add("sm.residency", residency, "policy of CTA residency: " + policies.residencies_help, policies.residencies);
  o.add("sm.issue_width", issue_width, "warp instructions",
        "warp instructions that a scheduler issues per cycle, all from one warp", 1, 4);
  o.add("sm.issue_interval", issue_interval, "cycles", "cycles between two issue slots of a scheduler", 1, 64);
  o.add("sm.barrier_latency", barrier_latency, "cycles", "cycles from the last arrival at a barrier to its release", 1,
        1000);
  o.add("sm.barrier_interval", barrier_interval, "cycles",
        "cycles between two warps whose arrival at a barrier an SM takes note of; 0: any number at once", 0, 1000);
  o.add("sm.cta_launch", cta_launch, "cycles",
        "cycles for which the launch of a CTA occupies an SM's launcher, ahead of those for its warps", 0, 100000);
  o.add("sm.warp_launch", warp_launch, "cycles", "cycles for which the launch of a warp occupies an SM's launcher", 0,
        100000);
  o.add(
      "sm.watchdog", watchdog_cycles, "cycles",
      "cycles of retries without progress after which a run ends as deadlocked; waiting for a due event does not count",
      1000);
  icache.declare(o, "icache", "an instruction cache");
  constant_cache.declare(o, "constant_cache", "a constant cache");
  o.add("fetch.width", fetch_width, "instructions",
        "instructions per fetch, for which the buffer must have room; one warp fetches per scheduler and cycle", 1, 16);
  o.add("fetch.instruction_bytes", instruction_bytes, "bytes",
        "bytes of an instruction in the instruction cache, a power of two; NVIDIA GPUs: 8 up to Pascal, 16 since", 1,
        32);
  o.add("fetch.latency", fetch_latency, "cycles", "cycles from fetch to the instruction buffer", 1, 1000);
  o.add("fetch.buffer_entries", buffer_entries, "instructions", "instructions in the buffer of one warp", 1, 64);
  o.add("fetch.branch_latency", branch_latency, "cycles", "cycles from the issue of a branch to the warp's next fetch",
        1, 1000);
  o.add("sm.operand_path", operand_path,
        "how instructions get their operands: by collector units, or in the stages of a modern sub-core: allocation of "
        "read ports ahead, a bypass, queues for instructions of variable latency",
        {"collectors", "sub_core"});
  o.add("sm.dependences", dependences,
        "how a warp knows that it may issue: by a scoreboard, or by the control bits that the compiler wrote into the "
        "instructions (regatta-annotate --control), which nothing checks",
        {"scoreboard", "control_bits"});
  const std::string in_sub_core = ", with sm.operand_path = sub_core";
  o.add("sub_core.window", sub_core.window, "cycles",
        "cycles in which an allocated instruction of fixed latency reads its operands" + in_sub_core, 1, 6);
  o.add("sub_core.result_queue", sub_core.result_queue, "warp instructions",
        "instructions of fixed latency of a sub-core that execute or wait for the write of their results" + in_sub_core,
        1, 64);
  o.add("sub_core.memory_queue", sub_core.memory_queue, "warp instructions",
        "memory instructions in the queue of a sub-core, beside the one in its latch" + in_sub_core, 1, 64);
  o.add("sub_core.unit_queue", sub_core.unit_queue, "warp instructions",
        "other instructions of variable latency in the queue of a sub-core and kind of unit" + in_sub_core, 1, 64);
  o.add("sub_core.memory_latency", sub_core.memory_latency, "cycles",
        "least cycles from the issue of a memory instruction to the load-store unit" + in_sub_core, 6, 1000);
  o.add("sub_core.memory_interval", sub_core.memory_interval, "cycles",
        "cycles between two memory instructions that leave a sub-core" + in_sub_core, 1, 1000);
  o.add("sub_core.memory_sm_interval", sub_core.memory_sm_interval, "cycles",
        "cycles between two memory instructions that leave the sub-cores of an SM" + in_sub_core, 1, 1000);
  const std::string in_scoreboard = in_sub_core + " and sm.dependences = scoreboard";
  o.add("scoreboard.release", scoreboard.release,
        "when a register with a result of fixed latency on its way is free: as soon as the bypass brings it to an "
        "instruction that issues, or when the instruction retires" +
            in_scoreboard,
        {"bypass", "retirement"});
  o.add("scoreboard.readers", scoreboard.readers,
        "instructions that keep their source registers from being written until they have read them: those of variable "
        "latency, or all" +
            in_scoreboard,
        {"variable", "all"});
  o.add("scoreboard.war_consumers", scoreboard.war_consumers, "warp instructions",
        "readers of a register that are counted at once; the next one waits" + in_scoreboard, 1, 63);
  o.add("collector.units", collectors, "units", "operand collector units per scheduler, for any instruction", 0, 64);
  const std::string own = " instructions only, per SM (used before those of collector.units)";
  o.add("collector.sp", sp_collectors, "units", "operand collector units for integer and single-precision" + own, 0,
        64);
  o.add("collector.sfu", sfu_collectors, "units", "operand collector units for special-function" + own, 0, 64);
  o.add("collector.dp", dp_collectors, "units", "operand collector units for double-precision" + own, 0, 64);
  o.add("collector.mem", memory_collectors, "units", "operand collector units for memory" + own, 0, 64);
  o.add("writeback.width", writeback_width, "warp instructions", "warp instructions that may write back per cycle", 1,
        64);
  o.add("writeback.order", writeback_order,
        "order of write-back: by completion, or results of pipelines or of memory first",
        {"completion", "pipelines", "memory"});
  o.add("writeback.queue", writeback_queue, "warp instructions",
        "results that may wait for write-back before execution units stall", 1, 4096);
  o.add("unit.sp", sp_units, "pipelines", "integer and single-precision pipelines", 1, 64);
  o.add("unit.alu", alu_units, "pipelines",
        "pipelines for integer logic, shifts, comparisons, minima and selections, as many for each scheduler; the sp "
        "pipelines then take floating point and multiplications (of integers one for each scheduler), additions and "
        "moves go to either. 0: the sp pipelines take all",
        0, 64);
  o.add("unit.alu_kinds", alu_kinds,
        "what the pipelines of unit.alu take: logic (as unit.alu says); integer: all integer instructions and moves, "
        "except multiplications, which go to the sp pipelines; integer_fp32: the same, and single precision goes to "
        "either",
        {"logic", "integer", "integer_fp32"});
  o.add("unit.sfu", sfu_units, "pipelines", "special-function pipelines", 1, 64);
  o.add("unit.dp", dp_units, "pipelines", "double-precision pipelines", 1, 64);
  tensor.declare(o);
  const std::string passes = " pipeline; a wider warp takes several passes";
  o.add("unit.sp_lanes", sp_lanes, "lanes", "width of an sp" + passes, 1, trace::max_lanes);
  o.add("unit.sfu_lanes", sfu_lanes, "lanes", "width of an sfu" + passes, 1, trace::max_lanes);
  o.add("unit.dp_lanes", dp_lanes, "lanes", "width of a dp" + passes, 1, trace::max_lanes);
  for (unsigned c = 0; c < trace::op_class_count; ++c) {
    const auto op_class = static_cast<OpClass>(c);
    if (!has_timing(op_class)) continue;
    const std::string name = trace::to_string(op_class);
    o.add("latency." + name, timing[c].latency, "cycles",
          "result latency of class " + name + " for a whole warp; at least its passes", 1, UINT16_MAX);
    o.add("initiation." + name, timing[c].initiation, "cycles",
          "cycles between two instructions of class " + name + "; at least its passes", 1, UINT16_MAX);
  }
  o.add("latency.predicate", predicate_latency, "cycles",
        "least latency of a result in a predicate; 0: as of the class of the instruction", 0, UINT16_MAX);
  o.add("latency.constant_word", constant_latency, "cycles",
        "with initiation.constant_word: result latency of a constant load by register of one address; 0: as of the "
        "others, latency.constant_load",
        0, UINT16_MAX);
  o.add("initiation.constant_word", constant_word, "cycles",
        "cycles that an SM's constant unit takes for each different address of a constant load by register; 0: such "
        "loads are like the others",
        0, 1000);
  o.add("lsu.queue", lsu_queue, "warp instructions", "warp instructions that may wait for address generation", 1, 1024);
  o.add("lsu.lanes", lsu_lanes, "lanes", "lanes whose addresses are generated per cycle", 1, trace::max_lanes);
  texture.declare(o);
  async.declare(o);
  o.add("shared.bytes", shared_bytes, "bytes", "shared memory per SM", 0, 1 << 24);
  o.add("shared.granularity", shared_granularity, "bytes",
        "the shared memory of a CTA is rounded up to a multiple of this", 1, 65536);
  o.add("shared.cta_bytes", shared_cta_bytes, "bytes", "maximum shared memory per CTA; 0: all of the SM's", 0, 1 << 24);
  o.add("shared.banks", shared_banks, "banks", "shared memory banks of 4 bytes", 1, 64);
  o.add("shared.latency", shared_latency, "cycles", "latency of a shared memory access without conflicts", 1, 10000);
}

void SmConfig::validate() const {
  icache.validate("icache", line_bytes);
  constant_cache.validate("constant_cache", line_bytes);
  texture.validate(line_bytes);
  auto refuse = [](const std::string& message) { throw support::ConfigError("configuration: " + message); };
  if (max_warps > schedulers * protocol::max_warps_per_scheduler) {
    refuse("sm.warps = " + std::to_string(max_warps) + " needs at least " +
           std::to_string((max_warps + protocol::max_warps_per_scheduler - 1) / protocol::max_warps_per_scheduler) +
           " schedulers (a scheduler handles at most 64 warps), found sm.schedulers = " + std::to_string(schedulers));
  }
  if (lanes != 32 && lanes != 64) {
    refuse("sm.lanes = " + std::to_string(lanes) + ": expected 32, or 64 for wavefronts");
  }
  if (alu_units == 0 && alu_kinds != "logic") {
    refuse("unit.alu_kinds = " + alu_kinds + " with unit.alu = 0: expected unit.alu above 0, found no such pipeline");
  }
  if (constexpr unsigned most = 63; alu_units != 0 && (alu_units + sp_units) / schedulers > most) {
    refuse("unit.alu = " + std::to_string(alu_units) + " and unit.sp = " + std::to_string(sp_units) +
           ": expected at most " + std::to_string(most) + " of both for each scheduler");
  }
  if (alu_units != 0 && (alu_units % schedulers != 0 || sp_units % schedulers != 0)) {
    refuse("unit.alu = " + std::to_string(alu_units) + " and unit.sp = " + std::to_string(sp_units) + " with " +
           std::to_string(schedulers) + " schedulers: expected multiples of the schedulers, or unit.alu = 0");
  }
  const struct {
    unsigned units;
    const char* knob;
    const char* what;
  } kinds[] = {{sp_collectors, "collector.sp", "integer and single-precision"},
               {sfu_collectors, "collector.sfu", "special-function"},
               {dp_collectors, "collector.dp", "double-precision"},
               {memory_collectors, "collector.mem", "memory"}};
  for (const auto& kind : kinds) {
    if (collectors == 0 && kind.units == 0) {
      refuse(std::string(kind.knob) + " = 0 and collector.units = 0: " + kind.what +
             " instructions find no collector unit, expected at least one of the two above 0");
    }
  }
  if ((instruction_bytes & (instruction_bytes - 1)) != 0) {
    refuse("fetch.instruction_bytes = " + std::to_string(instruction_bytes) + ": expected a power of two");
  }
  if (buffer_entries < fetch_width) {
    refuse("fetch.buffer_entries = " + std::to_string(buffer_entries) + " holds less than a fetch of fetch.width = " +
           std::to_string(fetch_width) + " brings: expected at least as many");
  }
  if (obeys_control_bits() && !has_sub_cores()) {
    refuse("sm.dependences = control_bits: expected sm.operand_path = sub_core, whose latencies are fixed, found " +
           operand_path);
  }
  if (has_sub_cores()) {
    const auto needs = [&](bool fits, const std::string& knob, unsigned found, const std::string& expected) {
      if (fits) return;
      refuse("sm.operand_path = sub_core: expected " + knob + " = " + expected + ", found " + std::to_string(found));
    };
    const std::string each = std::to_string(schedulers) + ", a sub-core for each of sm.schedulers";
    needs(sub_cores == schedulers, "sm.sub_cores", sub_cores, each);
    needs(issue_width == 1, "sm.issue_width", issue_width, "1");
    needs(sp_units % schedulers == 0, "unit.sp", sp_units,
          "a multiple of sm.schedulers = " + std::to_string(schedulers));
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

unsigned SmConfig::allocated_registers(unsigned per_thread) const {
  return std::max(1u, (per_thread + register_granularity - 1) / register_granularity) * register_granularity;
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
  l.shared_cta_bytes = shared_cta_bytes == 0 ? shared_bytes : std::min(shared_cta_bytes, shared_bytes);
  l.sub_cores = sub_cores;
  return l;
}

namespace {

void check_kernel(const trace::Kernel& kernel, const SmConfig& config) {
  if (kernel.warp_size != config.lanes) {
    const std::string option = "--warp-size " + std::to_string(config.lanes);
    throw support::UnfitTrace("kernel " + kernel.name + " was traced with warps of " +
                                  std::to_string(kernel.warp_size) + " lanes, this machine's have " +
                                  std::to_string(config.lanes) + " (sm.lanes): annotate it with " + option,
                              option);
  }
  // A budget of 256 has the registers R0 to R254, as has one of 255.
  const unsigned most = std::min(trace::most_registers(kernel), trace::max_general_registers);
  if (most > config.registers_per_thread) {
    const std::string have = std::to_string(config.registers_per_thread);
    const std::string found = "kernel " + kernel.name + " uses " + std::to_string(most) +
                              " registers per thread, this machine's threads have " + have +
                              " (sm.registers_per_thread): ";
    if (config.registers_per_thread < trace::min_register_budget) {
      throw support::ConfigError(found + "kernels cannot be compiled for fewer than " +
                                 std::to_string(trace::min_register_budget));
    }
    throw support::UnfitTrace(found + "annotate it with --max-registers " + have, "--max-registers " + have);
  }
  for (const trace::StaticInstruction& i : kernel.instructions) {
    if (i.op_class != OpClass::tensor || config.tensor.units != 0) continue;
    throw support::ConfigError("kernel " + kernel.name + " has matrix products ('" + i.opcode +
                               "'), and this machine has no tensor pipelines (unit.tensor = 0): expected a machine "
                               "with some, as h100");
  }
}

/// Barriers and prints that read or write general registers do so in an SP pipeline; the others need no unit.
protocol::Unit unit_of(const trace::StaticInstruction& s) {
  if (s.async != trace::AsyncKind::none)
    return trace::async_lists(s.async) != 0 ? protocol::Unit::lsu : protocol::Unit::none;
  const protocol::Unit unit = unit_of(s.op_class);
  const bool registers = s.source_count != 0 || s.destination_count != 0;
  return unit == protocol::Unit::none && registers ? protocol::Unit::sp : unit;
}

/// Cycles that a pipeline of the unit needs to take a warp, given the pipeline's width in lanes.
unsigned unit_passes(protocol::Unit unit, const SmConfig& config) {
  const auto passes = [&](unsigned width) { return (config.lanes + width - 1) / width; };
  switch (unit) {
    case protocol::Unit::sp:
      return passes(config.sp_lanes);
    case protocol::Unit::sfu:
      return passes(config.sfu_lanes);
    case protocol::Unit::dp:
      return passes(config.dp_lanes);
    default:
      return 1;
  }
}

}  // namespace

protocol::InstructionTraits traits_of(const trace::StaticInstruction& s, std::uint32_t index, const SmConfig& config) {
  using protocol::RegisterId;
  protocol::InstructionTraits t;
  protocol::RegisterSet accessed;
  t.info = &s;
  t.index = index;
  t.unit = unit_of(s);
  const ClassTiming timing = config.of(s.op_class);
  const unsigned least = unit_passes(t.unit, config);
  t.latency = static_cast<std::uint16_t>(std::clamp<unsigned>(timing.latency, least, UINT16_MAX));
  t.initiation = static_cast<std::uint16_t>(std::clamp<unsigned>(timing.initiation, least, UINT16_MAX));
  if (t.unit == protocol::Unit::tensor) {
    t.latency = static_cast<std::uint16_t>(std::min<unsigned>(config.tensor.result_latency(s), UINT16_MAX));
    t.initiation = static_cast<std::uint16_t>(config.tensor.cycles(s));
  }
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
  // The carry is one more predicate to the scoreboard.
  constexpr auto carry = static_cast<std::uint8_t>(1u << trace::max_predicates);
  if (s.reads_carry || s.writes_carry) accessed.predicates |= carry;
  if (s.writes_carry) t.written_predicates |= carry;
  if (s.destination_predicate_count != 0) {
    t.latency = std::max(t.latency, static_cast<std::uint16_t>(config.predicate_latency));
  }
  t.accessed = accessed.general;
  t.accessed_predicates = accessed.predicates;
  t.is_control = s.op_class == OpClass::branch || s.op_class == OpClass::exit;
  t.is_exit = s.op_class == OpClass::exit;
  t.is_barrier = s.op_class == OpClass::barrier;
  t.is_arrival = t.is_barrier && s.barrier_arrives;
  const bool waits_for_groups = s.async == trace::AsyncKind::wait || s.async == trace::AsyncKind::wait_all ||
                                s.async >= trace::AsyncKind::bulk_wait;
  t.is_fence = s.op_class == OpClass::fence || s.register_budget != 0 || waits_for_groups;
  t.is_memory = t.unit == protocol::Unit::lsu;
  t.has_addresses = trace::has_addresses(s);
  t.is_long_latency = t.is_memory && s.space != trace::MemorySpace::shared;
  return t;
}

std::vector<protocol::InstructionTraits> make_traits(const trace::Kernel& kernel, const SmConfig& config) {
  check_kernel(kernel, config);
  std::vector<protocol::InstructionTraits> all;
  all.reserve(kernel.instructions.size());
  for (const trace::StaticInstruction& s : kernel.instructions) {
    all.push_back(traits_of(s, static_cast<std::uint32_t>(all.size()), config));
  }
  return all;
}

}  // namespace regatta::sm
