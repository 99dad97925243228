// SPDX-License-Identifier: Apache-2.0
//
// The parts that every instruction passes: register file, trace cursor, coalescer, value checker.
#include <regatta/baseline/register_file.h>
#include <regatta/checker/value_checker.h>
#include <regatta/test/clock.h>
#include <regatta/trace/file.h>

#include <benchmark/benchmark.h>

#include <memory>
#include <systemc>
#include <vector>

#include "coalescer.h"

using namespace regatta;

namespace {

constexpr unsigned lanes = 32;
constexpr unsigned registers = 32;
constexpr trace::LaneMask warp_mask = trace::all_lanes(lanes);

trace::WarpValue pattern(std::uint32_t seed, bool affine) {
  trace::WarpValue v{};
  for (std::uint32_t lane = 0; lane < lanes; ++lane)
    v.lane[lane] = affine ? seed + 4 * lane : (seed + lane) * 2654435761u;
  return v;
}

// --- register file ---

class Storage : public sc_core::sc_module, tlm::tlm_bw_transport_if<> {
 public:
  protocol::OperandInitiatorSocket reads{"reads"}, writes{"writes"};
  models::RegisterFile file;

  explicit Storage(const sc_core::sc_module_name& name)
      : sc_module(name), file("file", unbounded(), test::clock(sc_core::sc_time(1, sc_core::SC_NS))) {
    reads.bind(*this);
    writes.bind(*this);
    reads.bind(file.reads);
    writes.bind(file.writes);
    protocol::KernelContext context;
    context.registers_per_warp = registers;
    file.kernel_started(context);
    for (std::uint16_t w = 0; (w + 1u) * registers <= models::RegisterFileConfig{}.registers; ++w) {
      protocol::WarpInfo warp;
      warp.warp = protocol::WarpSlot(w);
      file.warp_started(warp);
    }
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
    return tlm::TLM_ACCEPTED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

 private:
  /// Time stands still in a benchmark, so a write comes as late as its bank is free: nothing is ever held.
  static models::RegisterFileConfig unbounded() { return models::RegisterFileConfig{}; }
};

Storage* storage = nullptr;

void access(benchmark::State& state, tlm::tlm_command command, trace::LaneMask mask) {
  protocol::OperandPayload p;
  trace::WarpValue value = pattern(1, false);
  const bool write = command == tlm::TLM_WRITE_COMMAND;
  protocol::OperandInitiatorSocket& socket = write ? storage->writes : storage->reads;
  std::uint32_t i = 0;
  // Requests arrive a cycle apart per round of the banks, as in a pipeline that keeps them busy.
  std::uint64_t arrival = 1000000;
  static std::uint64_t latest = 0;
  arrival += latest;
  const std::uint64_t start = arrival;
  for (auto _ : state) {
    p.prepare(command, protocol::WarpSlot(static_cast<std::uint16_t>(i >> 5 & 63)),
              protocol::RegisterId(static_cast<std::uint8_t>(i & 31)), mask, lanes, value);
    ++i;
    if (i % 8 == 0) ++arrival;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::sc_time::from_value(arrival * 1000);
    benchmark::DoNotOptimize(socket->nb_transport_fw(p.payload(), phase, delay));
  }
  latest += arrival - start + 1000000;
  state.SetItemsProcessed(state.iterations());
}

void register_read(benchmark::State& state) { access(state, tlm::TLM_READ_COMMAND, warp_mask); }
void register_write(benchmark::State& state) { access(state, tlm::TLM_WRITE_COMMAND, warp_mask); }
void register_write_masked(benchmark::State& state) { access(state, tlm::TLM_WRITE_COMMAND, 0x0ff0f0f1); }
BENCHMARK(register_read);
BENCHMARK(register_write);
BENCHMARK(register_write_masked);

// --- trace ---

/// A kernel of arithmetic and loads, and one warp that runs it `rounds` times.
struct Program {
  explicit Program(bool affine, unsigned rounds = 64) {
    kernel.name = "bench";
    kernel.warp_size = lanes;
    kernel.registers_per_thread = registers;
    for (unsigned i = 0; i < 32; ++i) {
      trace::StaticInstruction s;
      s.op_class = i % 8 == 7 ? trace::OpClass::load : trace::OpClass::int_add;
      s.source_count = 2;
      s.sources = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>((i + 5) % registers)};
      s.destination_count = 1;
      s.destinations = {static_cast<std::uint8_t>((i + 9) % registers)};
      if (i % 8 == 7) {
        s.space = trace::MemorySpace::global;
        s.access_bytes = 4;
        s.reads_memory = true;
      }
      kernel.instructions.push_back(s);
    }
    trace::WarpEncoder encoder(kernel);
    std::vector<std::uint64_t> addresses(trace::max_lanes);
    for (unsigned round = 0; round < rounds; ++round) {
      for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
        encoder.instruction(i, warp_mask, warp_mask);
        encoder.result(pattern(round * 77 + i, affine));
        if (!kernel.instructions[i].reads_memory) continue;
        for (unsigned lane = 0; lane < lanes; ++lane) addresses[lane] = 0x10000 + round * 512 + lane * 4;
        encoder.addresses(addresses.data());
      }
    }
    columns = encoder.finish();
  }
  trace::Kernel kernel;
  trace::WarpColumns columns;
};

void decode(benchmark::State& state, bool affine) {
  const Program program(affine);
  trace::WarpValue value;
  std::uint64_t addresses[trace::max_lanes];
  std::int64_t instructions = 0;
  for (auto _ : state) {
    trace::WarpCursor cursor(program.kernel, program.columns);
    while (cursor.next()) {
      cursor.result(value);
      if (cursor.instruction().reads_memory) cursor.addresses(addresses);
      ++instructions;
    }
    benchmark::DoNotOptimize(value);
  }
  state.SetItemsProcessed(instructions);
}

void decode_affine(benchmark::State& state) { decode(state, true); }
void decode_raw(benchmark::State& state) { decode(state, false); }
BENCHMARK(decode_affine);
BENCHMARK(decode_raw);

// --- coalescer ---

void coalesce(benchmark::State& state) {
  std::uint64_t addresses[trace::max_lanes];
  for (unsigned lane = 0; lane < trace::max_lanes; ++lane) {
    addresses[lane] = 0x10000 + std::uint64_t{lane} * static_cast<std::uint64_t>(state.range(0));
  }
  auto list = std::make_unique<sm::LineList>();
  for (auto _ : state) {
    sm::coalesce(addresses, warp_mask, 4, 128, *list);
    benchmark::DoNotOptimize(list->count);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(coalesce)->ArgName("stride")->Arg(0)->Arg(4)->Arg(16)->Arg(128);

void shared_passes(benchmark::State& state) {
  std::uint64_t addresses[trace::max_lanes];
  for (unsigned lane = 0; lane < trace::max_lanes; ++lane) {
    addresses[lane] = std::uint64_t{lane} * static_cast<std::uint64_t>(state.range(0));
  }
  for (auto _ : state) benchmark::DoNotOptimize(sm::shared_passes(addresses, warp_mask, 4, lanes, 32, false));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(shared_passes)->ArgName("stride")->Arg(4)->Arg(8)->Arg(128);

// --- value checker ---

/// Issue and delivery of an instruction with two sources and a result.
void check_values(benchmark::State& state) {
  const Program program(false, 1);
  std::vector<protocol::InstructionTraits> traits(1);
  protocol::InstructionTraits& t = traits[0];
  t.info = &program.kernel.instructions[0];
  t.read_count = 2;
  t.reads = {protocol::RegisterId(0), protocol::RegisterId(5)};
  checker::ValueChecker checker([](const checker::Mismatch&) { std::abort(); });
  trace::Launch launch;
  protocol::KernelContext context;
  context.kernel = &program.kernel;
  context.launch = &launch;
  context.traits = &traits;
  context.registers_per_warp = registers;
  checker.kernel_started(protocol::Cycle(0), context);
  protocol::WarpInfo warp;
  warp.lanes = warp_mask;
  checker.warp_started(protocol::Cycle(0), warp);
  auto d = std::make_unique<protocol::DynamicInstruction>();
  d->traits = &t;
  d->info = t.info;
  d->active = warp_mask;
  d->results[0] = pattern(3, false);
  for (auto& operand : d->operands) operand = trace::WarpValue{};
  for (auto _ : state) {
    checker.issued(protocol::Cycle(1), *d);
    checker.operands_delivered(protocol::Cycle(3), *d);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(check_values);

}  // namespace

int sc_main(int argc, char** argv) {
  Storage module("storage");
  storage = &module;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
