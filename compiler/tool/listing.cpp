// SPDX-License-Identifier: Apache-2.0
#include <regatta/tool/compile.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

namespace regatta::tool {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> paths_of(const ir::Function& f, const std::string& source) {
  return {source, (fs::path(f.ptx_file).parent_path() / fs::path(source).filename()).string()};
}

/// Lines of the source files that the PTX names, where they can be read.
class Sources {
 public:
  explicit Sources(const ir::Function& f) : f_(f) {}

  /// The line without its indentation, "" when it is not to be had.
  std::string line(std::uint32_t file, std::uint32_t number) {
    const auto [found, added] = files_.try_emplace(file);
    if (added) read(f_.source_files[file], found->second);
    return number <= found->second.size() ? found->second[number - 1] : "";
  }

 private:
  static constexpr std::uintmax_t max_bytes = 1 << 24;

  void read(const std::string& name, std::vector<std::string>& lines) const {
    for (const std::string& path : paths_of(f_, name)) {
      std::error_code error;
      if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > max_bytes) continue;
      std::ifstream in(path, std::ios::binary);
      for (std::string text; std::getline(in, text);) {
        const std::size_t begin = text.find_first_not_of(" \t");
        const std::size_t end = text.find_last_not_of(" \t\r");
        lines.push_back(begin == std::string::npos ? "" : text.substr(begin, end - begin + 1));
      }
      return;
    }
  }

  const ir::Function& f_;
  std::map<std::uint32_t, std::vector<std::string>> files_;
};

std::string block_list(const std::vector<std::uint32_t>& blocks) {
  std::string text;
  for (const std::uint32_t b : blocks) text += (text.empty() ? "B" : " B") + std::to_string(b);
  return text.empty() ? "-" : text;
}

/// "3 registers: R0 R4-R5 P0"; neighbours are drawn together.
std::string live_text(const analysis::BitSet& live) {
  constexpr std::uint32_t first_predicate = analysis::Variables::first_physical_predicate;
  std::vector<std::uint32_t> members;
  live.for_each([&](std::uint32_t v) { members.push_back(v); });
  std::string text;
  std::size_t registers = 0;
  for (std::size_t i = 0; i < members.size();) {
    std::size_t end = i + 1;
    while (end < members.size() && members[end] == members[end - 1] + 1 && members[end] != first_predicate) ++end;
    const bool predicate = members[i] >= first_predicate;
    const auto name = [&](std::uint32_t v) {
      return (predicate ? "P" : "R") + std::to_string(predicate ? v - first_predicate : v);
    };
    if (!predicate) registers += end - i;
    text += " " + name(members[i]);
    if (end - i > 1) text += "-" + name(members[end - 1]);
    i = end;
  }
  return std::to_string(registers) + (registers == 1 ? " register" : " registers") + (text.empty() ? "" : ":") + text;
}

std::string head(const CompiledKernel& kernel) {
  const ir::Function& f = *kernel.function;
  std::string text = "// kernel " + f.name + " from " + f.ptx_file + "\n";
  text += "// " + std::to_string(f.registers_used) + " registers, " + std::to_string(f.predicates_used) +
          " predicates, " + std::to_string(f.static_shared_bytes) + " bytes static shared, " +
          std::to_string(f.local_bytes) + " bytes local per thread, " + std::to_string(f.instruction_count()) +
          " instructions, " + std::to_string(f.blocks.size()) + " blocks\n";
  text += "// register budget " + std::to_string(kernel.budget.registers) + ", set by " + kernel.budget.set_by + "\n";
  text += "// " + kernel.allocation_note + "\n";
  for (const ir::Parameter& p : f.parameters) {
    text += "// parameter " + p.name + " at " + std::to_string(p.offset) + ", " + std::to_string(p.bytes) + " bytes\n";
  }
  for (const ir::SharedVariable& v : f.shared_variables) {
    text += "// shared " + v.name + " at " + std::to_string(v.offset) + ", " +
            (v.bytes == 0 ? std::string("dynamic") : std::to_string(v.bytes) + " bytes") + "\n";
  }
  std::string columns = "columns: instruction, general registers live after it, code, PTX line and source line";
  for (std::size_t p = 0; p < kernel.passes.size(); ++p) {
    const auto& pass = kernel.passes[p];
    if (!kernel.left_out[p].empty()) {
      text += "// no annotation '" + pass->name() + "': " + kernel.left_out[p] + "\n";
      continue;
    }
    const std::string line = pass->listing_head();
    if (!line.empty()) text += "// " + line + "\n";
    const std::string column = pass->listing_column();
    if (!column.empty()) columns += ", " + column;
  }
  return text + "// " + columns + "\n";
}

std::string block_head(CompiledKernel& kernel, std::uint32_t b) {
  const ir::Block& block = kernel.function->blocks[b];
  const analysis::WarpLiveness& warp = kernel.analyses->warp_liveness();
  const analysis::Liveness& live = warp.running();
  const std::int32_t join = kernel.reconvergence[b];
  const std::uint32_t depth = kernel.analyses->loops().depth(b);
  std::string text = "\nB" + std::to_string(b) + ":";
  if (!block.label.empty()) text += "  // " + block.label;
  text += "\n  // from " + block_list(block.predecessors) + ", to " + block_list(block.successors) +
          ", reconverges at " + (join < 0 ? "exit" : "B" + std::to_string(join));
  if (depth != 0) text += ", loop depth " + std::to_string(depth);
  text += "\n  // live in: " + live_text(live.live_in(b)) + "\n  // live out: " + live_text(live.live_out(b)) + "\n";
  if (warp.waiting(b).any()) text += "  // lanes that wait elsewhere need: " + live_text(warp.waiting(b)) + "\n";
  return text;
}

}  // namespace

std::string listing_of(CompiledKernel& kernel) {
  const ir::Function& f = *kernel.function;
  const std::vector<std::uint32_t> live = live_registers(kernel);
  Sources sources(f);
  std::string text = head(kernel);
  std::uint32_t index = 0;
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    text += block_head(kernel, static_cast<std::uint32_t>(b));
    std::pair<std::uint32_t, std::uint32_t> shown{0, 0};
    for (const ir::Instruction& i : f.blocks[b].instructions) {
      std::string notes;
      for (std::size_t p = 0; p < kernel.passes.size(); ++p) {
        if (!kernel.left_out[p].empty()) continue;
        text += kernel.passes[p]->listing_above(kernel.trace_kernel, index);
        const std::string note = kernel.passes[p]->listing_note(kernel.trace_kernel, index);
        if (!note.empty()) notes += "; " + note;
      }
      const ir::Location& at = i.where;
      const bool has_source = at.source_line != 0 && at.source_file < f.source_files.size();
      if (has_source && shown != std::pair(at.source_file, at.source_line)) {
        shown = {at.source_file, at.source_line};
        const std::string source = sources.line(at.source_file, at.source_line);
        if (!source.empty()) text += "              ; " + source + "\n";
      }
      char number[32];
      std::snprintf(number, sizeof number, "  %4u  %3u  ", index, live[index]);
      ++index;
      std::string line = number + ir::to_text(i, true);
      if (line.size() < 64) line.resize(64, ' ');
      line += "  // " + std::to_string(at.line);
      if (has_source) line += ", " + f.source_files[at.source_file] + ":" + std::to_string(at.source_line);
      if (at.caller_line != 0 && at.caller_file < f.source_files.size()) {
        line += ", inlined in " + f.source_files[at.caller_file] + ":" + std::to_string(at.caller_line);
      }
      text += line + notes + "\n";
    }
  }
  return text;
}

std::vector<std::string> source_paths(const ir::Function& f) {
  std::vector<std::string> paths;
  for (const std::string& source : f.source_files) {
    for (std::string& path : paths_of(f, source)) paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace regatta::tool
