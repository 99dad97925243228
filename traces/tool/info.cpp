// SPDX-License-Identifier: Apache-2.0
// regatta-trace info: what a trace holds, from its index and static parts alone.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>

#include "commands.h"
#include "text.h"

namespace regatta::tool {
namespace {

using namespace trace;

std::string dimensions(const std::array<std::uint32_t, 3>& d) {
  return std::to_string(d[0]) + " x " + std::to_string(d[1]) + " x " + std::to_string(d[2]);
}

void row(const char* name, const std::string& text) { std::printf("  %-22s %s\n", name, text.c_str()); }

void show_kernel(std::size_t number, const Kernel& kernel, const SectionRegistry& sections) {
  std::printf("\nkernel %zu: %s\n", number, printable(kernel.name).c_str());
  if (!kernel.ptx_file.empty()) row("PTX", printable(kernel.ptx_file));
  row("warp size", std::to_string(kernel.warp_size) + " lanes");
  row("registers per thread", std::to_string(kernel.registers_per_thread) + " of 32 bits, " +
                                  std::to_string(kernel.predicates) + " predicates, " +
                                  std::to_string(kernel.spilled_registers) + " spilled");
  if (kernel.launch_registers != 0) {
    row("register budgets", std::to_string(kernel.launch_registers) + " registers per thread at launch, at most " +
                                std::to_string(most_registers(kernel)));
  }
  row("static shared", grouped(kernel.static_shared_bytes) + " bytes per CTA");
  row("local", grouped(kernel.local_bytes_per_thread) + " bytes per thread");
  row("code", std::to_string(kernel.instructions.size()) + " instructions in " + std::to_string(kernel.blocks.size()) +
                  " basic blocks");
  std::map<std::string, std::size_t> inserted;
  for (const InsertedInstruction& i : kernel.inserted) ++inserted[i.instruction.scheme];
  for (const auto& [scheme, count] : inserted) {
    row("inserted", std::to_string(count) + " instructions, for the scheme " + printable(scheme) + " only");
  }
  for (const SharedVariable& v : kernel.shared_variables) {
    row("shared variable", printable(v.name) + " at " + std::to_string(v.offset) + ", " +
                               (v.bytes == 0 ? "sized by the launch" : grouped(v.bytes) + " bytes"));
  }
  if (kernel.version_tags) row("register values", "version tags: the program's values are not in the trace");
  if (kernel.shared_values) row("shared values", "the contents of shared memory after each write of it");
  for (const AnnotationSection& a : kernel.annotations) {
    row("annotation",
        printable(a.name) + " version " + std::to_string(a.version) + ", " + grouped(a.payload.size()) + " bytes");
  }
  for (const auto& format : sections.formats())
    for (const InfoRow& r : format->info(kernel)) row(r.name.c_str(), printable(r.text));
}

/// "load 1,234 (12.3%), branch 12 (0.1%)", the largest first.
template <std::size_t size, class Name>
std::string shares(const std::array<std::uint64_t, size>& counts, Name name) {
  std::vector<std::size_t> order;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < size; ++i) {
    total += counts[i];
    if (counts[i] != 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  std::string text;
  for (const std::size_t i : order) {
    char share[16];
    std::snprintf(share, sizeof share, " %.1f%%", 100.0 * static_cast<double>(counts[i]) / static_cast<double>(total));
    text += (text.empty() ? "" : ", ") + std::string(name(i)) + share;
  }
  return text;
}

std::string words(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& word : all) text += (text.empty() ? "" : ", ") + printable(word);
  return text;
}

/// The codes of the program: for which schemes, with which options, and how much of the file each one is.
void show_variants(const Reader& reader) {
  for (const Reader::VariantEntry& entry : reader.variants()) {
    const Variant& v = entry.variant;
    const bool is_plain = &entry == &reader.variants().front();
    std::printf("\nvariant %s%s\n", printable(v.name).c_str(), v.name == reader.variant().name ? ", shown below" : "");
    row("schemes", is_plain ? "those that no other variant is for" : words(v.schemes));
    if (!v.options.empty()) row("options", printable(v.options));
    row("size", grouped(entry.bytes) + " bytes (" + size_text(entry.bytes) + "), " + grouped(entry.ctas) + " CTAs");
  }
}

void show_signature(const LaunchSignature& s) {
  if (const std::string text = shares(s.classes, [](std::size_t i) { return to_string(static_cast<OpClass>(i)); });
      !text.empty()) {
    row("classes", text);
  }
  if (const std::string text =
          shares(s.values, [](std::size_t i) { return value_kind_name(static_cast<unsigned>(i)); });
      !text.empty()) {
    row("register results", text);
  }
  row("global memory", grouped(s.lines) + " lines of " + std::to_string(LaunchSignature::line_bytes) + " bytes in " +
                           grouped(s.requests) + " requests, " + grouped(s.bytes) + " bytes moved");
}

void show_launch(std::size_t number, const Launch& launch, const std::vector<Kernel>& kernels) {
  const Kernel& kernel = kernels[launch.kernel];
  std::printf("\nlaunch %zu: kernel %" PRIu32 " (%s)\n", number, launch.kernel, printable(kernel.name).c_str());
  row("grid", dimensions(launch.grid) + " CTAs");
  row("block", dimensions(launch.block) + " threads, " + std::to_string(launch.warps_per_cta(kernel.warp_size)) +
                   " warps per CTA");
  row("shared", grouped(launch.shared_bytes_per_cta) + " bytes per CTA, " + grouped(launch.dynamic_shared_bytes) +
                    " of them dynamic");
  std::string traced = grouped(launch.cta_count);
  if (launch.cta_count != 0) {
    traced += " (" + std::to_string(launch.first_cta) + " to " +
              std::to_string(launch.first_cta + launch.cta_count - 1) + ")";
  }
  row("traced CTAs", traced);
  row("warp instructions", grouped(launch.warp_instructions));
  row("thread instructions", grouped(launch.thread_instructions));
  if (launch.signature) show_signature(*launch.signature);
}

}  // namespace

void info(const Reader& reader) {
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  double lanes = 0;
  for (const Launch& launch : reader.launches()) {
    warp_instructions += launch.warp_instructions;
    thread_instructions += launch.thread_instructions;
    lanes += static_cast<double>(launch.warp_instructions) * reader.kernels()[launch.kernel].warp_size;
  }
  std::uint64_t raw = 0;
  for (const Reader::CtaEntry& cta : reader.ctas()) raw += cta.raw_bytes + cta.segment_raw_bytes;
  std::uint64_t bytes = reader.file_bytes();
  for (const Reader::VariantEntry& v : reader.variants())
    bytes -= v.variant.name == reader.variant().name ? 0 : v.bytes;

  std::printf("trace %s\n", printable(reader.path()).c_str());
  row("format version", std::to_string(reader.version()));
  if (!reader.producer().empty()) row("written by", printable(reader.producer()));
  row("file", grouped(reader.file_bytes()) + " bytes (" + size_text(reader.file_bytes()) + ")");
  if (reader.variants().size() > 1) row("variants", grouped(reader.variants().size()));
  row("kernels", grouped(reader.kernels().size()));
  row("launches", grouped(reader.launches().size()));
  row("CTAs", grouped(reader.ctas().size()) + ", " + size_text(raw) + " decompressed");
  row("warp instructions", grouped(warp_instructions));
  row("thread instructions", grouped(thread_instructions));
  if (warp_instructions != 0) {
    char text[96];
    const auto count = static_cast<double>(warp_instructions);
    std::snprintf(text, sizeof text, "%.1f%% of lanes", 100.0 * static_cast<double>(thread_instructions) / lanes);
    row("active", text);
    std::snprintf(text, sizeof text, "%.2f bytes in the file, %.2f decompressed", static_cast<double>(bytes) / count,
                  static_cast<double>(raw) / count);
    row("per warp instruction", text);
  }
  if (reader.variants().size() > 1) show_variants(reader);
  for (std::size_t i = 0; i < reader.kernels().size(); ++i) {
    show_kernel(i, reader.kernels()[i], reader.sections());
  }
  for (std::size_t i = 0; i < reader.launches().size(); ++i) show_launch(i, reader.launches()[i], reader.kernels());
}

}  // namespace regatta::tool
