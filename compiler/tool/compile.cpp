// SPDX-License-Identifier: Apache-2.0
#include "compile.h"

#include <regatta/trace/types.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace regatta::tool {

CompiledKernel compile(ir::Function function, const passes::AllocationOptions& options) {
  CompiledKernel k;
  k.function = std::make_unique<ir::Function>(std::move(function));
  const passes::AllocationResult allocation = passes::allocate_registers(*k.function, options);
  ir::build_edges(*k.function);
  k.analyses = std::make_unique<analysis::FunctionAnalyses>(*k.function);
  k.immediate_post_dominator = k.analyses->post_dominators().immediate();
  k.allocation_note = "register pressure " + std::to_string(allocation.pressure) + ", " +
                      std::to_string(allocation.spilled_registers) + " spilled to " +
                      std::to_string(allocation.spill_bytes) + " bytes of local memory, " +
                      std::to_string(allocation.rematerialized) + " rematerialized, " +
                      std::to_string(allocation.removed_copies) + " copies removed";
  return k;
}

EntryReport report_of(const CompiledKernel& kernel) {
  EntryReport r;
  const ir::Function& f = *kernel.function;
  r.name = f.name;
  r.accepted = true;
  r.registers = f.registers_used;
  r.spills = f.spilled_registers;
  r.spill_bytes = f.spill_bytes;
  r.instructions = f.instruction_count();
  r.blocks = f.blocks.size();
  return r;
}

namespace {

std::string block_list(const std::vector<std::uint32_t>& blocks) {
  std::string text;
  for (const std::uint32_t b : blocks) text += (text.empty() ? "B" : " B") + std::to_string(b);
  return text.empty() ? "-" : text;
}

std::string live_text(const analysis::BitSet& live) {
  std::string text;
  std::size_t registers = 0;
  live.for_each([&](std::uint32_t v) {
    const bool predicate = v >= analysis::Variables::first_physical_predicate;
    registers += predicate ? 0 : 1;
    text +=
        (predicate ? " P" : " R") + std::to_string(predicate ? v - analysis::Variables::first_physical_predicate : v);
  });
  return std::to_string(registers) + (registers == 1 ? " register" : " registers") + (text.empty() ? "" : ":") + text;
}

}  // namespace

std::string listing_of(CompiledKernel& kernel) {
  const ir::Function& f = *kernel.function;
  const analysis::Liveness& live = kernel.analyses->simt_liveness();
  std::string text = "// kernel " + f.name + " from " + f.ptx_file + "\n";
  text += "// " + std::to_string(f.registers_used) + " registers, " + std::to_string(f.predicates_used) +
          " predicates, " + std::to_string(f.static_shared_bytes) + " bytes static shared, " +
          std::to_string(f.local_bytes) + " bytes local per thread, " + std::to_string(f.instruction_count()) +
          " instructions, " + std::to_string(f.blocks.size()) + " blocks\n";
  text += "// " + kernel.allocation_note + "\n";
  for (const ir::Parameter& p : f.parameters) {
    text += "// parameter " + p.name + " at " + std::to_string(p.offset) + ", " + std::to_string(p.bytes) + " bytes\n";
  }
  for (const ir::SharedVariable& v : f.shared_variables) {
    text += "// shared " + v.name + " at " + std::to_string(v.offset) + ", " +
            (v.bytes == 0 ? std::string("dynamic") : std::to_string(v.bytes) + " bytes") + "\n";
  }
  std::uint32_t index = 0;
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    const ir::Block& block = f.blocks[b];
    const std::int32_t join = kernel.immediate_post_dominator[b];
    text += "\nB" + std::to_string(b) + ":";
    if (!block.label.empty()) text += "  // " + block.label;
    text += "\n  // from " + block_list(block.predecessors) + ", to " + block_list(block.successors) +
            ", reconverges at " + (join < 0 ? "exit" : "B" + std::to_string(join)) + "\n";
    text += "  // live in: " + live_text(live.live_in(static_cast<std::uint32_t>(b))) + "\n";
    for (const ir::Instruction& i : block.instructions) {
      char number[16];
      std::snprintf(number, sizeof number, "  %4u  ", index++);
      std::string line = number + ir::to_text(i, true);
      if (line.size() < 64) line.resize(64, ' ');
      line += "  // " + f.ptx_file + ":" + std::to_string(i.where.line);
      if (i.where.source_line != 0 && i.where.source_file < f.source_files.size()) {
        line += ", " + f.source_files[i.where.source_file] + ":" + std::to_string(i.where.source_line);
      }
      if (!i.scheme.empty()) line += ", only for " + i.scheme;
      text += line + "\n";
    }
  }
  return text;
}

void write_file(const std::string& path, const std::string& bytes) {
  const std::string partial = path + ".partial";
  std::error_code error;
  {
    std::ofstream out(partial, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.flush();
    if (!out) {
      out.close();
      std::filesystem::remove(partial, error);
      throw trace::InputError("error: cannot write '" + path + "'");
    }
  }
  std::filesystem::rename(partial, path, error);
  if (error) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    throw trace::InputError("error: cannot write '" + path + "': " + error.message());
  }
}

}  // namespace regatta::tool
