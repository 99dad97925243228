// SPDX-License-Identifier: Apache-2.0
#include <regatta/test/trace_builder.h>

#include <algorithm>
#include <map>

namespace regatta::test {

using trace::LaneMask;
using trace::MemorySpace;
using trace::OpClass;

TraceBuilder::TraceBuilder(unsigned warp_size) {
  kernel_.name = "hand_made";
  kernel_.ptx_file = "hand_made.ptx";
  kernel_.warp_size = warp_size;
}

trace::StaticInstruction& TraceBuilder::add(OpClass c, const std::string& opcode) {
  trace::StaticInstruction i;
  i.op_class = c;
  i.opcode = opcode;
  i.opcode_id = static_cast<std::uint32_t>(c);
  i.ptx_line = static_cast<std::uint32_t>(kernel_.instructions.size() + 1);
  kernel_.instructions.push_back(i);
  return kernel_.instructions.back();
}

std::uint32_t TraceBuilder::op(OpClass c, std::vector<unsigned> destinations, std::vector<unsigned> sources) {
  trace::StaticInstruction& i = add(c, trace::to_string(c));
  for (unsigned d : destinations) i.destinations[i.destination_count++] = static_cast<std::uint8_t>(d);
  for (unsigned s : sources) i.sources[i.source_count++] = static_cast<std::uint8_t>(s);
  for (unsigned r : destinations) kernel_.registers_per_thread = std::max(kernel_.registers_per_thread, r + 1);
  for (unsigned r : sources) kernel_.registers_per_thread = std::max(kernel_.registers_per_thread, r + 1);
  return static_cast<std::uint32_t>(kernel_.instructions.size() - 1);
}

std::uint32_t TraceBuilder::guarded_op(OpClass c, unsigned guard, std::vector<unsigned> destinations,
                                       std::vector<unsigned> sources) {
  const std::uint32_t index = op(c, std::move(destinations), std::move(sources));
  kernel_.instructions[index].guard.predicate = static_cast<std::int8_t>(guard);
  kernel_.predicates = std::max(kernel_.predicates, guard + 1);
  return index;
}

std::uint32_t TraceBuilder::set_predicate(unsigned predicate, std::vector<unsigned> sources) {
  const std::uint32_t index = op(OpClass::int_add, {}, std::move(sources));
  trace::StaticInstruction& i = kernel_.instructions[index];
  i.destination_predicates[i.destination_predicate_count++] = static_cast<std::uint8_t>(predicate);
  kernel_.predicates = std::max(kernel_.predicates, predicate + 1);
  return index;
}

std::uint32_t TraceBuilder::load(MemorySpace space, unsigned destination, unsigned address_register, unsigned bytes) {
  std::vector<unsigned> destinations;
  for (unsigned w = 0; w < std::max(1u, bytes / 4); ++w) destinations.push_back(destination + w);
  const std::uint32_t index = op(OpClass::load, destinations, {address_register});
  trace::StaticInstruction& i = kernel_.instructions[index];
  i.space = space;
  i.access_bytes = static_cast<std::uint8_t>(bytes);
  i.reads_memory = true;
  return index;
}

std::uint32_t TraceBuilder::store(MemorySpace space, unsigned address_register, unsigned value, unsigned bytes) {
  const std::uint32_t index = op(OpClass::store, {}, {address_register, value});
  trace::StaticInstruction& i = kernel_.instructions[index];
  i.space = space;
  i.access_bytes = static_cast<std::uint8_t>(bytes);
  i.writes_memory = true;
  return index;
}

std::uint32_t TraceBuilder::barrier(unsigned id, unsigned threads) {
  trace::StaticInstruction& i = add(OpClass::barrier, "bar.sync");
  i.barrier_id = static_cast<std::uint8_t>(id);
  i.barrier_threads = threads;
  return static_cast<std::uint32_t>(kernel_.instructions.size() - 1);
}

std::uint32_t TraceBuilder::fence() { return op(OpClass::fence, {}, {}); }

std::uint32_t TraceBuilder::branch(std::uint32_t target) {
  trace::StaticInstruction& i = add(OpClass::branch, "bra");
  i.branch_target = static_cast<std::int32_t>(target);
  return static_cast<std::uint32_t>(kernel_.instructions.size() - 1);
}

std::uint32_t TraceBuilder::exit() { return op(OpClass::exit, {}, {}); }

void TraceBuilder::launch(std::uint64_t ctas, unsigned threads, unsigned shared_bytes) {
  LaunchData data;
  data.launch.grid = {static_cast<std::uint32_t>(ctas), 1, 1};
  data.launch.block = {threads, 1, 1};
  data.launch.shared_bytes_per_cta = shared_bytes;
  data.launch.dynamic_shared_bytes = shared_bytes;
  launches_.push_back(std::move(data));
}

void TraceBuilder::begin_cta() {
  LaunchData& l = launches_.back();
  trace::Cta cta;
  cta.launch = static_cast<std::uint32_t>(launches_.size() - 1);
  cta.index = l.ctas.size();
  l.ctas.push_back(cta);
}

void TraceBuilder::begin_warp() {
  const LaunchData& l = launches_.back();
  const auto warp = static_cast<unsigned>(l.ctas.back().warps.size());
  const unsigned threads = l.launch.threads_per_cta();
  warp_.registers.assign(trace::max_general_registers, trace::WarpValue{});
  warp_.exists = trace::all_lanes(std::min(kernel_.warp_size, threads - warp * kernel_.warp_size));
  for (unsigned r = 0; r < trace::max_general_registers; ++r) {
    for (unsigned lane = 0; lane < trace::max_lanes; ++lane) warp_.registers[r].lane[lane] = 0;
  }
  encoder_ = std::make_unique<trace::WarpEncoder>(kernel_);
}

void TraceBuilder::execute(std::uint32_t index, LaneMask active) { execute(index, active, {}); }

void TraceBuilder::execute(std::uint32_t index, LaneMask active, const std::vector<std::uint64_t>& addresses) {
  const trace::StaticInstruction& i = kernel_.instructions[index];
  const bool guarded = i.guard.predicate >= 0;
  const LaneMask lanes = active == 0 && !guarded ? warp_.exists : active & warp_.exists;
  encoder_->instruction(index, guarded ? warp_.exists : lanes, lanes);
  const LaunchData& l = launches_.back();
  const std::uint64_t salt =
      l.ctas.back().index * 1315423911u + l.ctas.back().warps.size() * 2654435761u + index * 40503u;
  std::vector<trace::WarpValue> results(i.destination_count);
  for (unsigned d = 0; d < i.destination_count; ++d) {
    for (unsigned lane = 0; lane < kernel_.warp_size; ++lane) {
      std::uint64_t mix = salt + d * 97 + (uniform_values ? 0 : lane) * 0x9e3779b97f4a7c15u;
      for (unsigned s = 0; s < i.source_count; ++s) {
        mix = (mix ^ warp_.registers[i.sources[s]].lane[lane]) * 0xbf58476d1ce4e5b9u;
        mix ^= mix >> 31;
      }
      results[d].lane[lane] = static_cast<std::uint32_t>(mix);
      if (rule_) {
        std::vector<std::uint32_t> sources;
        for (unsigned s = 0; s < i.source_count; ++s) sources.push_back(warp_.registers[i.sources[s]].lane[lane]);
        results[d].lane[lane] = rule_(index, lane, sources);
      }
    }
    encoder_->result(results[d]);
  }
  for (unsigned d = 0; d < i.destination_count; ++d) {
    for (unsigned lane = 0; lane < kernel_.warp_size; ++lane) {
      if ((lanes >> lane) & 1) warp_.registers[i.destinations[d]].lane[lane] = results[d].lane[lane];
    }
  }
  for (unsigned d = 0; d < i.destination_predicate_count; ++d) encoder_->predicate(lanes);
  if (i.reads_memory || i.writes_memory) {
    std::vector<std::uint64_t> address = addresses;
    address.resize(trace::max_lanes, address.empty() ? 0 : address.back());
    encoder_->addresses(address.data());
    if (kernel_.shared_values && trace::shared_lanes(i, lanes, address.data()) != 0) {
      // The last sources are what a store writes. Lanes have addresses of their own.
      const unsigned words = trace::shared_write_words(i);
      for (unsigned w = 0; w < words; ++w) {
        encoder_->stored(warp_.registers[i.sources[i.source_count - words + w]]);
      }
    }
  }
}

void TraceBuilder::execute_straight(const std::vector<std::uint64_t>& addresses) {
  for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i) execute(i, warp_.exists, addresses);
}

void TraceBuilder::end_warp() { launches_.back().ctas.back().warps.push_back(encoder_->finish()); }
void TraceBuilder::end_cta() {}

void TraceBuilder::run_all(const std::vector<std::uint64_t>& addresses) {
  const trace::Launch& l = launches_.back().launch;
  for (std::uint64_t c = 0; c < std::uint64_t{l.grid[0]}; ++c) {
    begin_cta();
    for (unsigned w = 0; w < l.warps_per_cta(kernel_.warp_size); ++w) {
      begin_warp();
      execute_straight(addresses);
      end_warp();
    }
    end_cta();
  }
}

std::string TraceBuilder::write(const std::string& name) {
  if (kernel_.blocks.empty()) {
    trace::BasicBlock block;
    block.count = static_cast<std::uint32_t>(kernel_.instructions.size());
    kernel_.blocks.push_back(block);
  }
  if (rule_) {
    // Opcodes were given by name.
    std::map<std::string, std::uint32_t> ids;
    for (trace::StaticInstruction& i : kernel_.instructions) {
      i.opcode_id = ids.emplace(i.opcode, static_cast<std::uint32_t>(ids.size())).first->second;
    }
  }
  const std::string path = name + ".rgt";
  trace::Writer writer(path);
  writer.set_producer("regatta tests");
  writer.add_kernel(kernel_);
  for (LaunchData& l : launches_) {
    writer.begin_launch(l.launch);
    for (const trace::Cta& cta : l.ctas) writer.add_cta(cta);
  }
  writer.finish();
  return path;
}

}  // namespace regatta::test
