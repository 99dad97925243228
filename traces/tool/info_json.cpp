// SPDX-License-Identifier: Apache-2.0
// regatta-trace info --json: what a trace holds, for programs. Other than the text it also lists the instructions.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "text.h"

namespace regatta::tool {
namespace {

using namespace trace;
using Json = nlohmann::ordered_json;

template <class Items>
Json first_of(const Items& items, std::size_t count) {
  return std::vector<unsigned>(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count));
}

Json known_line(std::uint32_t line) { return line == 0 ? Json() : Json(line); }

Json instruction_json(const Kernel& kernel, std::size_t index, std::size_t block) {
  const StaticInstruction& i = kernel.instructions[index];
  Json j;
  j["index"] = index;
  j["block"] = block;
  j["opcode"] = i.opcode;
  j["class"] = to_string(i.op_class);
  j["text"] = instruction_text(i);
  j["guard"] =
      i.guard.predicate < 0 ? Json() : Json((i.guard.negated ? "!P" : "P") + std::to_string(int{i.guard.predicate}));
  j["sources"] = first_of(i.sources, i.source_count);
  j["destinations"] = first_of(i.destinations, i.destination_count);
  j["source_predicates"] = first_of(i.source_predicates, i.source_predicate_count);
  j["destination_predicates"] = first_of(i.destination_predicates, i.destination_predicate_count);
  j["space"] = i.space == MemorySpace::none ? Json() : Json(to_string(i.space));
  j["access_bytes"] = i.access_bytes;
  j["branch_target"] = i.branch_target < 0 ? Json() : Json(i.branch_target);
  j["ptx_line"] = known_line(i.ptx_line);
  const bool has_source = i.source_line != 0 && i.source_file < kernel.source_files.size();
  j["source_file"] = has_source ? Json(kernel.source_files[i.source_file]) : Json();
  j["source_line"] = has_source ? known_line(i.source_line) : Json();
  return j;
}

Json kernel_json(std::size_t number, const Kernel& kernel, const SectionRegistry& sections) {
  std::vector<std::size_t> block_of(kernel.instructions.size());
  for (std::size_t b = 0; b < kernel.blocks.size(); ++b) {
    for (std::uint32_t n = 0; n < kernel.blocks[b].count; ++n) block_of.at(kernel.blocks[b].first + n) = b;
  }
  Json j;
  j["kernel"] = number;
  j["name"] = kernel.name;
  j["ptx_file"] = kernel.ptx_file;
  j["warp_size"] = kernel.warp_size;
  j["registers_per_thread"] = kernel.registers_per_thread;
  if (kernel.launch_registers != 0) j["launch_registers"] = kernel.launch_registers;
  j["predicates"] = kernel.predicates;
  j["spilled_registers"] = kernel.spilled_registers;
  if (kernel.version_tags) j["version_tags"] = true;
  j["static_shared_bytes"] = kernel.static_shared_bytes;
  j["local_bytes_per_thread"] = kernel.local_bytes_per_thread;
  j["basic_blocks"] = kernel.blocks.size();
  Json inserted = Json::object();
  for (const InsertedInstruction& i : kernel.inserted) {
    Json& count = inserted[i.instruction.scheme];
    count = count.is_null() ? 1 : count.get<std::uint64_t>() + 1;
  }
  j["inserted"] = std::move(inserted);
  Json annotations = Json::array();
  for (const AnnotationSection& a : kernel.annotations) {
    annotations.push_back(Json{{"name", a.name}, {"version", a.version}, {"bytes", a.payload.size()}});
  }
  j["annotations"] = std::move(annotations);
  Json details = Json::array();
  for (const auto& format : sections.formats())
    for (const InfoRow& r : format->info(kernel)) details.push_back(Json{{"name", r.name}, {"text", r.text}});
  j["details"] = std::move(details);
  Json instructions = Json::array();
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    instructions.push_back(instruction_json(kernel, i, block_of[i]));
  }
  j["instructions"] = std::move(instructions);
  return j;
}

Json launch_json(std::size_t number, const Launch& launch, const std::vector<Kernel>& kernels) {
  const Kernel& kernel = kernels[launch.kernel];
  return Json{{"launch", number},
              {"kernel", launch.kernel},
              {"name", kernel.name},
              {"grid", launch.grid},
              {"block", launch.block},
              {"warps_per_cta", launch.warps_per_cta(kernel.warp_size)},
              {"shared_bytes_per_cta", launch.shared_bytes_per_cta},
              {"dynamic_shared_bytes", launch.dynamic_shared_bytes},
              {"first_cta", launch.first_cta},
              {"ctas", launch.cta_count},
              {"warp_instructions", launch.warp_instructions},
              {"thread_instructions", launch.thread_instructions}};
}

}  // namespace

void info_json(const Reader& reader) {
  Json kernels = Json::array();
  for (std::size_t i = 0; i < reader.kernels().size(); ++i) {
    kernels.push_back(kernel_json(i, reader.kernels()[i], reader.sections()));
  }
  Json launches = Json::array();
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  for (std::size_t i = 0; i < reader.launches().size(); ++i) {
    const Launch& launch = reader.launches()[i];
    warp_instructions += launch.warp_instructions;
    thread_instructions += launch.thread_instructions;
    launches.push_back(launch_json(i, launch, reader.kernels()));
  }
  std::uint64_t raw = 0;
  for (const Reader::CtaEntry& cta : reader.ctas()) raw += cta.raw_bytes + cta.segment_raw_bytes;
  Json j;
  j["trace"] = reader.path();
  j["format_version"] = reader.version();
  j["producer"] = reader.producer();
  j["file_bytes"] = reader.file_bytes();
  j["decompressed_bytes"] = raw;
  j["ctas"] = reader.ctas().size();
  j["warp_instructions"] = warp_instructions;
  j["thread_instructions"] = thread_instructions;
  if (reader.variants().size() > 1) {
    j["variant"] = reader.variant().name;
    Json variants = Json::array();
    for (const Reader::VariantEntry& v : reader.variants()) {
      variants.push_back(Json{{"name", v.variant.name},
                              {"schemes", v.variant.schemes},
                              {"options", v.variant.options},
                              {"bytes", v.bytes},
                              {"ctas", v.ctas}});
    }
    j["variants"] = std::move(variants);
  }
  j["kernels"] = std::move(kernels);
  j["launches"] = std::move(launches);
  // Names come from a file: what is no UTF-8 is replaced, so that any trace gives valid JSON.
  std::printf("%s\n", j.dump(1, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace regatta::tool
