// SPDX-License-Identifier: Apache-2.0
#include "execution_units.h"

#include "cta_stage.h"
#include "load_store_unit.h"
#include "operands.h"
#include "writeback.h"

namespace regatta::sm {

using protocol::Unit;

ExecutionUnits::ExecutionUnits(const sc_core::sc_module_name& name, Core& core)
    : sc_module(name), core_(core), reserved_(core.config.has_sub_cores()) {
  auto lay_out = [&](Unit unit, unsigned count) {
    const unsigned schedulers = core.config.schedulers;
    const unsigned partitions = count % schedulers == 0 ? schedulers : 1;
    Kind& kind = kinds_[static_cast<unsigned>(unit)];
    kind.partitions.resize(partitions);
    for (Partition& p : kind.partitions) p.free_at.resize(count / partitions);
  };
  lay_out(Unit::sp, core.config.alu_units + core.config.sp_units);
  lay_out(Unit::sfu, core.config.sfu_units);
  lay_out(Unit::dp, core.config.dp_units);
  if (core.config.tensor.units != 0) lay_out(Unit::tensor, core.config.tensor.units);
  kinds_[static_cast<unsigned>(Unit::lsu)].partitions.resize(1);
  if (core.config.constant_word != 0) constants_.free_at.resize(1);
}

void ExecutionUnits::connect(Operands& operands, LoadStoreUnit& lsu, Writeback& writeback, CtaStage& ctas) {
  operands_ = &operands;
  lsu_ = &lsu;
  writeback_ = &writeback;
  ctas_ = &ctas;
}

namespace {

/// Integers and floating point apart, as in the simulator of Huerta et al. (MICRO 2025), where IMAD is an instruction
/// of the floating-point pipeline. `shared`: an Ampere's integer pipeline takes single precision as well.
std::uint64_t pipelines_by_type(trace::OpClass c, unsigned alu, unsigned sp, bool shared) {
  using trace::OpClass;
  const std::uint64_t integer = (std::uint64_t{1} << alu) - 1;
  const std::uint64_t fp32 = ((std::uint64_t{1} << sp) - 1) << alu;
  switch (c) {
    case OpClass::fp32_add:
    case OpClass::fp32_max:
    case OpClass::fp32_mul:
    case OpClass::fp32_mad:
      return shared ? fp32 | integer : fp32;
    case OpClass::int_mul:
    case OpClass::int_mad:
      return fp32;
    default:
      return integer;
  }
}

/// Which pipelines of a scheduler take an instruction, where those for logic, `alu` of them, come before the `sp`
/// others. An H100 adds and moves as fast as both together; of the floating-point halves, the last multiplies integers.
std::uint64_t pipelines_of(const trace::StaticInstruction& i, const SmConfig& config) {
  using trace::OpClass;
  const unsigned alu = config.alu_units / config.schedulers, sp = config.sp_units / config.schedulers;
  const auto bits = [](unsigned first, unsigned count) { return ((std::uint64_t{1} << count) - 1) << first; };
  if (config.alu_kinds != "logic") return pipelines_by_type(i.op_class, alu, sp, config.alu_kinds == "integer_fp32");
  const bool is_sum = i.opcode.rfind("add", 0) == 0 || i.opcode.rfind("sub", 0) == 0 || i.opcode.rfind("mov", 0) == 0;
  switch (i.op_class) {
    case OpClass::fp32_add:
    case OpClass::fp32_mul:
    case OpClass::fp32_mad:
      return i.destination_predicate_count != 0 ? bits(0, alu) : bits(alu, sp);
    case OpClass::int_mul:
    case OpClass::int_mad:
      return bits(alu + sp - 1, 1);
    case OpClass::int_add:
    case OpClass::int64:
      return is_sum ? bits(0, alu + sp) : bits(0, alu);
    default:
      return bits(0, alu);
  }
}

}  // namespace

void ExecutionUnits::kernel_started() {
  profile_.assign(core_.traits.size(), Count{});
  if (core_.config.alu_units == 0) return;
  pipelines_.clear();
  for (const InstructionTraits& t : core_.traits) pipelines_.push_back(pipelines_of(*t.info, core_.config));
}

ExecutionUnits::Use ExecutionUnits::use_of(trace::OpClass c) {
  using trace::OpClass;
  switch (c) {
    case OpClass::fp32_add:
    case OpClass::fp32_max:
    case OpClass::fp32_mul:
    case OpClass::fp32_mad:
      return Use::fp32;
    case OpClass::sfu:
    case OpClass::int_div:
    case OpClass::fp32_div:
      return Use::special;
    case OpClass::fp64_add:
    case OpClass::fp64_max:
    case OpClass::fp64_mul:
    case OpClass::fp64_mad:
    case OpClass::fp64_div:
      return Use::fp64;
    case OpClass::tensor:
      return Use::tensor;
    case OpClass::constant_load:
      return Use::constant;
    case OpClass::load:
    case OpClass::store:
    case OpClass::atomic:
      return Use::address;
    default:
      return Use::integer;
  }
}

void ExecutionUnits::settle() {
  const auto reads_constant_bank = [](const trace::StaticInstruction& i) {
    return std::any_of(i.operands.begin(), i.operands.end(),
                       [](const trace::Operand& o) { return o.kind == trace::Operand::Kind::constant_bank; });
  };
  Count& constant = uses_[static_cast<unsigned>(Use::constant)];
  const auto add = [&](Count& count, trace::OpClass op_class, unsigned reads, unsigned writes) -> Count& {
    Count& use = uses_[static_cast<unsigned>(use_of(op_class))];
    use.instructions += count.instructions;
    use.lanes += core_.config.lane_gating ? count.lanes : count.instructions * core_.kernel.warp_size;
    expected_reads_ += count.instructions * reads;
    expected_writes_ += count.instructions * writes;
    return use;
  };
  for (std::size_t i = 0; i < profile_.size(); ++i) {
    if (profile_[i].instructions == 0) continue;
    const InstructionTraits& t = core_.traits[i];
    const Count& use = add(profile_[i], t.info->op_class, t.read_count, t.write_count);
    if (t.unit == Unit::tensor) {
      products_ += profile_[i].instructions * TensorConfig::half_products(*t.info);
      matrix_bytes_ += profile_[i].instructions * TensorConfig::shared_bytes(*t.info);
    }
    if (&use != &constant && reads_constant_bank(*t.info)) constant.instructions += profile_[i].instructions;
    profile_[i] = Count{};
  }
  add(moves_, trace::OpClass::int_add, 1, 1);
  moves_ = Count{};
}

void ExecutionUnits::enter(DynamicInstruction& d) {
  if (__builtin_expect(static_cast<int>(!constants_.free_at.empty()), 0) != 0 && goes_to_constants(d)) {
    return constants_.waiting.push(&d);
  }
  Kind& kind = kinds_[static_cast<unsigned>(d.traits->unit)];
  kind.partitions[kind.partitions.size() == 1 ? 0 : d.scheduler].waiting.push(&d);
  ++kind.waiting;
}

void ExecutionUnits::dispatch(DynamicInstruction& d) {
  core_.observers.notify(protocol::Event::operands_delivered,
                         [&](protocol::Observer& o) { o.operands_delivered(core_.now, d); });
  d.dispatched = core_.now;
  // An injected move copies its operand to its result.
  if (__builtin_expect(static_cast<int>(d.injected), 0) != 0) {
    trace::copy_value(d.results[0].lane.data(), d.operands[0].lane.data(),
                      std::size_t{core_.kernel.warp_size} * trace::bytes_per_lane);
  }
  Count& count = d.injected ? moves_ : profile_[d.traits->index];
  ++count.instructions;
  count.lanes += static_cast<unsigned>(__builtin_popcountll(d.active));
  if (__builtin_expect(static_cast<int>(protocol::reaches_barrier(d)), 0) != 0) ctas_->barrier_dispatched(d);
  operands_->dispatched(d);
  core_.progress = true;
}

void ExecutionUnits::cycle(Kind& kind) {
  for (Partition& p : kind.partitions) {
    if (p.waiting.empty()) continue;
    for (Cycle& free_at : p.free_at) {
      if (core_.now < free_at) continue;
      DynamicInstruction& d = *p.waiting.front();
      p.waiting.pop();
      start(d, free_at, kind);
      if (p.waiting.empty()) break;
    }
    if (!p.waiting.empty()) core_.progress = true;
  }
}

[[gnu::always_inline]] inline void ExecutionUnits::start(DynamicInstruction& d, Cycle& free_at, Kind& kind) {
  --kind.waiting;
  dispatch(d);
  free_at = core_.now + d.traits->initiation;
  ++kind.dispatched;
  kind.busy += d.traits->initiation;
  core_.at(core_.now + d.traits->latency, Work::Kind::executed, d.pool_index);
}

void ExecutionUnits::cycle_split(Kind& kind) {
  for (Partition& p : kind.partitions) {
    while (!p.waiting.empty()) {
      DynamicInstruction& d = *p.waiting.front();
      // A move that a gate injects has no static instruction of its own.
      const std::uint64_t may = d.injected ? ~std::uint64_t{0} : pipelines_[d.traits->index];
      std::size_t n = 0;
      while (n < p.free_at.size() && (((may >> n) & 1) == 0 || core_.now < p.free_at[n])) ++n;
      if (n == p.free_at.size()) break;
      p.waiting.pop();
      start(d, p.free_at[n], kind);
    }
    if (!p.waiting.empty()) core_.progress = true;
  }
}

void ExecutionUnits::cycle_reserved(Kind& kind) {
  for (Partition& p : kind.partitions) {
    while (!p.waiting.empty()) {
      DynamicInstruction& d = *p.waiting.front();
      if (core_.now < p.free_at[d.pipeline]) break;
      p.waiting.pop();
      start(d, p.free_at[d.pipeline], kind);
    }
    if (!p.waiting.empty()) core_.progress = true;
  }
}

void ExecutionUnits::cycle_memory() {
  Kind& kind = kinds_[static_cast<unsigned>(Unit::lsu)];
  support::Ring<DynamicInstruction*>& waiting = kind.partitions[0].waiting;
  while (!waiting.empty() && lsu_->can_accept()) {
    DynamicInstruction& d = *waiting.front();
    waiting.pop();
    --kind.waiting;
    dispatch(d);
    ++kind.dispatched;
    lsu_->accept(d);
  }
}

namespace {

/// Addresses from which the active lanes of a constant load by register read. The low half tells: a bank has 64 KB.
unsigned constant_words(const DynamicInstruction& d) {
  const auto word = [&](unsigned lane) { return d.operands[0].lane[lane]; };
  unsigned count = 0;
  for (LaneMask left = d.active; left != 0; ++count) {
    const std::uint32_t next = word(static_cast<unsigned>(__builtin_ctzll(left)));
    for (LaneMask m = left; m != 0; m &= m - 1) {
      if (word(static_cast<unsigned>(__builtin_ctzll(m))) == next) left &= ~(m & -m);
    }
  }
  return count;
}

}  // namespace

void ExecutionUnits::cycle_constants() {
  while (!constants_.waiting.empty() && core_.now >= constants_.free_at[0]) {
    DynamicInstruction& d = *constants_.waiting.front();
    constants_.waiting.pop();
    dispatch(d);
    const unsigned words = std::max(1u, constant_words(d));
    constant_words_ += words;
    Kind& kind = kinds_[static_cast<unsigned>(d.traits->unit)];
    ++kind.dispatched;
    constants_.free_at[0] = core_.now + std::uint64_t{words} * core_.config.constant_word;
    const std::uint64_t latency =
        core_.config.constant_latency != 0 ? core_.config.constant_latency : d.traits->latency;
    core_.at(core_.now + latency + std::uint64_t{words - 1} * core_.config.constant_word, Work::Kind::executed,
             d.pool_index);
  }
  if (!constants_.waiting.empty()) core_.at(constants_.free_at[0], Work::Kind::tick, 0);
}

void ExecutionUnits::cycle() {
  if (writeback_->holds_pipelines()) return;
  if (__builtin_expect(static_cast<int>(!constants_.waiting.empty()), 0) != 0) cycle_constants();
  for (unsigned u = static_cast<unsigned>(Unit::sp); u <= static_cast<unsigned>(Unit::tensor); ++u) {
    if (kinds_[u].waiting == 0) continue;
    if (__builtin_expect(static_cast<int>(!pipelines_.empty()), 0) != 0 && u == static_cast<unsigned>(Unit::sp)) {
      reserved_ ? cycle_reserved(kinds_[u]) : cycle_split(kinds_[u]);
    } else {
      cycle(kinds_[u]);
    }
  }
  if (kinds_[static_cast<unsigned>(Unit::lsu)].waiting != 0) cycle_memory();
}

void ExecutionUnits::register_stats(support::StatGroup& g) {
  static constexpr std::array<const char*, use_count> names{"integer",  "fp32",    "special", "fp64",
                                                            "constant", "address", "matrix"};
  for (unsigned u = 0; u < use_count; ++u) {
    if (static_cast<Use>(u) == Use::tensor && core_.config.tensor.units == 0) continue;
    g.counter(std::string(names[u]) + "_instructions", uses_[u].instructions, "warp instructions",
              static_cast<Use>(u) == Use::constant
                  ? "executed that read the constant bank, as loads or with an operand"
                  : std::string("executed, of the kind that costs the energy of: ") + names[u]);
    g.counter(std::string(names[u]) + "_lanes", uses_[u].lanes, "thread instructions",
              "lanes of these that consume energy");
  }
  g.counter("source_registers", expected_reads_, "warp registers",
            "source registers of dispatched instructions, from the static code and its executions");
  g.counter("destination_registers", expected_writes_, "warp registers",
            "destination registers of dispatched instructions, from the static code and its executions");
  if (core_.config.tensor.units != 0) {
    g.counter("matrix_products", products_, "products",
              "of matrix elements, in products of f16: those of narrower elements count less, by their bits");
    g.counter("matrix_shared_bytes", matrix_bytes_, "bytes",
              "of shared memory that products of warp groups read: A once for all columns, B once for four warps");
  }
  if (!constants_.free_at.empty()) {
    g.counter("constant_words", constant_words_, "words", "that the constant unit read, one after another");
  }
  for (Unit u : {Unit::sp, Unit::sfu, Unit::dp, Unit::tensor, Unit::lsu}) {
    const Kind& kind = kinds_[static_cast<unsigned>(u)];
    if (kind.partitions.empty()) continue;
    const std::string name = protocol::to_string(u);
    g.counter(name + "_instructions", kind.dispatched, "warp instructions", "dispatched to the " + name + " pipelines");
    if (u != Unit::lsu) {
      g.counter(name + "_busy", kind.busy, "pipeline cycles",
                "in which a " + name + " pipeline took no new instruction");
    }
  }
}

}  // namespace regatta::sm
