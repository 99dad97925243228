// SPDX-License-Identifier: Apache-2.0
#include "traceg_writer.h"

#include <cstdio>

namespace regatta::test {
namespace {

using trace::MemorySpace;
using trace::OpClass;
using Registers = std::vector<unsigned>;

constexpr std::uint64_t shared_base = 0x7f0000000000, local_base = 0x7f0001000000;

const char* opcode_of(OpClass c) {
  switch (c) {
    case OpClass::nop:
      return "NOP";
    case OpClass::int_max:
      return "IMNMX";
    case OpClass::int_mul:
      return "IMUL";
    case OpClass::int_mad:
      return "IMAD";
    case OpClass::convert:
      return "I2FP";
    case OpClass::fp32_add:
      return "FADD.FTZ";
    case OpClass::fp32_max:
      return "FMNMX";
    case OpClass::fp32_mul:
      return "FMUL";
    case OpClass::fp32_mad:
      return "FFMA";
    case OpClass::sfu:
      return "MUFU.RCP";
    case OpClass::shuffle:
      return "VOTE.ANY";
    case OpClass::constant_load:
      return "S2R";
    case OpClass::fence:
      return "MEMBAR.SC.GPU";
    case OpClass::barrier:
      return "BAR.SYNC";
    case OpClass::branch:
      return "BRA";
    case OpClass::exit:
      return "EXIT";
    default:
      return "IADD3";
  }
}

std::string list(const Registers& registers) {
  std::string text = std::to_string(registers.size());
  for (const unsigned r : registers) text += " R" + std::to_string(r);
  return text;
}

std::string width(unsigned bytes) {
  return bytes == 4 ? "" : "." + std::string(bytes < 4 ? "U" : "") + std::to_string(8 * bytes);
}

/// The first registers of the groups among the operands from `from` on, and all of them, one by one.
struct Groups {
  Registers first, all;
  bool pairs = true;  ///< each has two words
};
Groups groups(const trace::StaticInstruction& i, std::size_t from, std::size_t to) {
  Groups g;
  for (std::size_t n = from; n < to; ++n) {
    const trace::Operand& o = i.operands[n];
    if (o.kind != trace::Operand::Kind::reg) continue;
    g.first.push_back(static_cast<unsigned>(o.value));
    for (unsigned w = 0; w < o.words; ++w) g.all.push_back(static_cast<unsigned>(o.value) + w);
    g.pairs = g.pairs && o.words == 2;
  }
  return g;
}

const char* space_letter(MemorySpace s) {
  return s == MemorySpace::global ? "G" : s == MemorySpace::shared ? "S" : s == MemorySpace::local ? "L" : "";
}

void memory(const trace::StaticInstruction& i, TracegInstruction& out) {
  out.has_addresses = true;
  out.access_bytes = i.access_bytes;
  const std::size_t d = i.operand_destinations;
  const bool address_in_register = d < i.operands.size() && i.operands[d].kind == trace::Operand::Kind::reg;
  const bool wide = address_in_register && i.operands[d].words == 2;
  const unsigned words = i.access_bytes <= 4 ? 1 : i.access_bytes / 4u;
  const Groups address = address_in_register ? groups(i, d, d + 1) : Groups{{255}, {}};
  const Groups results = groups(i, 0, d);
  const std::string space = space_letter(i.space);
  out.destinations = results.all;
  out.sources = address.all;
  const std::string e = wide ? ".E" : "";
  if (i.op_class == OpClass::load) {
    out.line = list(results.all) + " LD" + space + e + width(i.access_bytes) + " " + list(address.first);
    return;
  }
  // A vector is named by its first register; values that are no registers by the zero register.
  const Groups values = groups(i, d + 1, i.operands.size());
  Registers listed = address.first;
  if (i.op_class == OpClass::store) {
    const bool all = values.all.size() == words;
    listed.push_back(all ? values.first[0] : 255);
    if (all) out.sources.insert(out.sources.end(), values.all.begin(), values.all.end());
    out.line = "0 ST" + space + e + width(i.access_bytes) + " " + list(listed);
    return;
  }
  listed.insert(listed.end(), values.first.begin(), values.first.end());
  for (const unsigned v : values.first) {
    for (unsigned w = 0; w < words; ++w) out.sources.push_back(v + w);
  }
  if (results.all.empty()) {
    out.line = "0 " +
               std::string(i.space == MemorySpace::shared   ? "ATOMS"
                           : i.space == MemorySpace::global ? "RED"
                                                            : "ATOM") +
               e + ".ADD" + width(i.access_bytes) + " " + list(listed);
    // ATOM takes the first of three sources for its destination.
    if (i.space == MemorySpace::generic && listed.size() > 2) listed.resize(2);
    return;
  }
  if (i.space == MemorySpace::shared || listed.size() < 2) {
    out.line = list({results.first[0]}) + " ATOM" + space + e + ".ADD" + width(i.access_bytes) + " " + list(listed);
    return;
  }
  listed.insert(listed.begin(), results.first[0]);
  out.line = "0 ATOM" + space + e + ".ADD" + width(i.access_bytes) + " " + list(listed);
}

std::string address_text(const trace::StaticInstruction& i, trace::LaneMask active, const std::uint64_t* address,
                         std::uint64_t thread, std::uint64_t local_bytes) {
  std::vector<std::uint64_t> all;
  bool contiguous = true;
  int before = -1;
  for (trace::LaneMask m = active; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
    std::uint64_t a = address[lane];
    const std::uint64_t window = base::window_number(a);
    if (window == base::window_number(trace::local_window)) {
      a -= trace::local_window + (thread + lane) * local_bytes;
      if (i.space != MemorySpace::local) a += local_base;
    } else if (window == base::window_number(trace::shared_window)) {
      a = (a & base::window_offset_mask) + shared_base;
    }
    all.push_back(a);
    contiguous = contiguous && (before < 0 || before + 1 == static_cast<int>(lane));
    before = static_cast<int>(lane);
  }
  if (all.empty()) return "1 0x0 0 ";
  char text[64];
  bool stride = contiguous;
  for (std::size_t n = 2; n < all.size(); ++n) stride = stride && all[n] - all[n - 1] == all[1] - all[0];
  std::snprintf(text, sizeof text, "%d 0x%llx ", stride ? 1 : 2, static_cast<unsigned long long>(all[0]));
  std::string out = text;
  if (stride) return out + std::to_string(all.size() < 2 ? 0 : static_cast<std::int64_t>(all[1] - all[0])) + " ";
  if (all[0] % 3 == 0) {  // now and then one by one
    out = "0 ";
    for (const std::uint64_t a : all) {
      std::snprintf(text, sizeof text, "0x%llx ", static_cast<unsigned long long>(a));
      out += text;
    }
    return out;
  }
  for (std::size_t n = 1; n < all.size(); ++n)
    out += std::to_string(static_cast<std::int64_t>(all[n] - all[n - 1])) + " ";
  return out;
}

}  // namespace

TracegInstruction traceg_instruction(const trace::StaticInstruction& i) {
  TracegInstruction out;
  out.op_class = i.op_class;
  if (trace::has_addresses(i)) {
    memory(i, out);
    return out;
  }
  const Groups results = groups(i, 0, i.operand_destinations),
               values = groups(i, i.operand_destinations, i.operands.size());
  out.destinations = results.all;
  out.sources = values.all;
  const bool doubles = i.op_class >= OpClass::fp64_add && i.op_class <= OpClass::fp64_mad && results.pairs &&
                       values.pairs && results.first.size() <= 1;
  if (doubles) {
    const char* name = i.op_class == OpClass::fp64_add   ? "DADD"
                       : i.op_class == OpClass::fp64_max ? "DMNMX"
                       : i.op_class == OpClass::fp64_mul ? "DMUL"
                                                         : "DFMA";
    out.line = list(results.first) + " " + name + " " + list(values.first);
    return out;
  }
  if (i.op_class == OpClass::shuffle && results.all.size() == 1 && values.all.size() > 1) {
    Registers listed = results.all;
    listed.insert(listed.end(), values.all.begin(), values.all.end());
    out.line = "0 SHFL.IDX " + list(listed);
    return out;
  }
  const std::string opcode = opcode_of(i.op_class);
  if (opcode == "IADD3") out.op_class = OpClass::int_add;
  if (i.op_class == OpClass::barrier) out.sources.clear();
  out.line = list(out.destinations) + " " + opcode + " " + list(out.sources);
  return out;
}

std::string traceg_of(const trace::Reader& reader, std::uint32_t number) {
  const trace::Launch& launch = reader.launches()[number];
  const trace::Kernel& kernel = reader.kernels()[launch.kernel];
  const auto dim = [](const std::array<std::uint32_t, 3>& d) {
    return "(" + std::to_string(d[0]) + "," + std::to_string(d[1]) + "," + std::to_string(d[2]) + ")";
  };
  std::string text =
      "-kernel name = " + kernel.name + "\n-kernel id = " + std::to_string(number + 1) +
      "\n-grid dim = " + dim(launch.grid) + "\n-block dim = " + dim(launch.block) +
      "\n-shmem = " + std::to_string(launch.shared_bytes_per_cta) +
      "\n-nregs = " + std::to_string(kernel.registers_per_thread) +
      "\n-binary version = 70\n-cuda stream id = 0\n-shmem base_addr = 0x00007f0000000000\n"
      "-local mem base_addr = 0x00007f0001000000\n-nvbit version = 1.5.5\n-accelsim tracer version = 4\n"
      "-enable lineinfo = 0\n\n#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] "
      "mem_width [adrrescompress?] [mem_addresses]\n";
  std::vector<TracegInstruction> code;
  for (const trace::StaticInstruction& i : kernel.instructions) code.push_back(traceg_instruction(i));
  for (std::size_t position = 0; position < reader.ctas().size(); ++position) {
    const auto cta = reader.read(position);
    if (cta->launch != number) continue;
    const std::uint64_t x = cta->index % launch.grid[0], y = cta->index / launch.grid[0] % launch.grid[1],
                        z = cta->index / launch.grid[0] / launch.grid[1];
    text +=
        "\n#BEGIN_TB\n\nthread block = " + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + "\n";
    for (std::size_t w = 0; w < cta->warps.size(); ++w) {
      text += "\nwarp = " + std::to_string(w) + "\ninsts = " + std::to_string(cta->warps[w].warp_instructions) + "\n";
      trace::WarpCursor cursor(kernel, cta->warps[w]);
      const std::uint64_t thread = cta->index * launch.threads_per_cta() + w * 32;
      while (cursor.next()) {
        char head[48];
        std::snprintf(head, sizeof head, "%04x %08x ", cursor.index() * 16u,
                      static_cast<unsigned>(cursor.active_mask()));
        const TracegInstruction& i = code[cursor.index()];
        text += head + i.line + " ";
        if (i.has_addresses) {
          std::uint64_t address[trace::max_lanes];
          cursor.addresses(address);
          text +=
              std::to_string(i.access_bytes) + " " +
              address_text(cursor.instruction(), cursor.active_mask(), address, thread, kernel.local_bytes_per_thread);
        } else {
          text += "0 ";
        }
        text += "\n";
      }
    }
    text += "\n#END_TB\n";
  }
  return text;
}

}  // namespace regatta::test
