// SPDX-License-Identifier: Apache-2.0
// regatta-trace dump: what each warp did, instruction by instruction.
#include <cinttypes>
#include <cstdio>

#include "commands.h"
#include "text.h"

namespace regatta::tool {
namespace {

using namespace trace;

/// Lanes' values in the shortest form that says them all: "0x10", "0x10 +4 per lane", or one by one. `digits` is the
/// width in hexadecimal digits.
template <class T, class Signed>
std::string lanes_text(const T* value, LaneMask active, unsigned warp_size, int digits) {
  if (active == 0) return "(no lane active)";
  unsigned first = 0;
  while (((active >> first) & 1) == 0) ++first;
  char text[64];
  T step = 0;
  bool regular = true;
  bool second = false;
  for (unsigned i = first + 1; i < warp_size && regular; ++i) {
    if (((active >> i) & 1) == 0) continue;
    const auto gap = static_cast<T>(i - first);
    if (!second) {
      const auto difference = static_cast<Signed>(value[i] - value[first]);
      step = static_cast<T>(difference / static_cast<Signed>(gap));
      second = true;
    }
    regular = value[i] == static_cast<T>(value[first] + step * gap);
  }
  if (regular) {
    std::snprintf(text, sizeof text, "0x%0*" PRIx64, digits, static_cast<std::uint64_t>(value[first]));
    std::string out = text;
    if (step != 0) {
      std::snprintf(text, sizeof text, " %+" PRId64 " per lane", static_cast<std::int64_t>(static_cast<Signed>(step)));
      out += text;
      if (first != 0) out += " from lane " + std::to_string(first);
    }
    return out;
  }
  std::string out = "[";
  for (unsigned i = 0; i < warp_size; ++i) {
    if (i != 0) out += ' ';
    if (((active >> i) & 1) == 0) {
      out += '-';
      continue;
    }
    std::snprintf(text, sizeof text, "%" PRIx64, static_cast<std::uint64_t>(value[i]));
    out += text;
  }
  return out + "]";
}

/// What stands in one scheme's stream in front of an instruction.
class Inserted {
 public:
  Inserted(const Kernel& kernel, const SectionRegistry& sections)
      : kernel_(kernel), sections_(sections), first_(kernel.instructions.size() + 1) {
    for (const InsertedInstruction& i : kernel.inserted) ++first_[i.before + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  }
  void print(std::uint32_t index) const {
    for (std::size_t i = first_[index]; i < first_[index + 1]; ++i) {
      const InsertedInstruction& inserted = kernel_.inserted[i];
      const std::string edge = inserted.after < 0 ? "" : "  ; from index " + std::to_string(inserted.after) + " only";
      std::printf("  %17s %s%s\n", "", inserted_text(inserted.instruction, sections_).c_str(), edge.c_str());
    }
  }

 private:
  const Kernel& kernel_;
  const SectionRegistry& sections_;
  std::vector<std::size_t> first_;
};

/// What the sections say of each instruction of a kernel, as it stands behind the instruction.
std::vector<std::string> notes_of(const Kernel& kernel, const SectionRegistry& sections) {
  std::vector<std::string> notes(kernel.instructions.size());
  for (const auto& format : sections.formats()) {
    const std::vector<std::string> texts = format->notes(kernel);
    for (std::size_t i = 0; i < texts.size(); ++i)
      if (!texts[i].empty()) notes.at(i) += "  ; " + printable(texts[i]);
  }
  return notes;
}

void dump_warp(const Kernel& kernel, const SectionRegistry& sections, const std::vector<std::string>& notes,
               const WarpColumns& columns, std::uint64_t limit) {
  WarpCursor cursor(kernel, columns);
  WarpValue value{};
  std::uint64_t address[max_lanes] = {};
  std::vector<StackEvent> events;
  const Inserted inserted(kernel, sections);
  std::printf("  %8s %6s  %-*s  %-*s  instruction\n", "position", "index", static_cast<int>(kernel.warp_size / 4),
              "mask", static_cast<int>(kernel.warp_size / 4), "active");
  while (cursor.next()) {
    if (limit != 0 && cursor.position() > limit) {
      std::printf("  ... %s more\n", grouped(columns.warp_instructions - limit).c_str());
      return;
    }
    const StaticInstruction& instruction = cursor.instruction();
    const LaneMask active = cursor.active_mask();
    inserted.print(cursor.index());
    std::printf("  %8" PRIu64 " %6" PRIu32 "  %s  %s  %s", cursor.position() - 1, cursor.index(),
                mask_text(cursor.simt_mask(), kernel.warp_size).c_str(), mask_text(active, kernel.warp_size).c_str(),
                instruction_text(instruction).c_str());
    if (instruction.ptx_line != 0) std::printf("  ; PTX line %" PRIu32, instruction.ptx_line);
    std::printf("%s\n", notes[cursor.index()].c_str());
    const auto note = [](const std::string& name, const std::string& text) {
      std::printf("  %17s %s = %s\n", "", name.c_str(), text.c_str());
    };
    if (has_addresses(instruction)) {
      cursor.addresses(address);
      const std::string name = std::string(to_string(instruction.space)) + " address";
      note(name, lanes_text<std::uint64_t, std::int64_t>(address, active, kernel.warp_size, 1));
      for (unsigned n = 0; n < cursor.further_texels(); ++n) {
        note("texel " + std::to_string(n + 1),
             lanes_text<std::uint64_t, std::int64_t>(cursor.further_texel(n), active, kernel.warp_size, 1));
      }
      const unsigned words = cursor.stored_words();
      for (unsigned i = 0; i < words; ++i) {
        cursor.stored(value);
        note("shared word " + std::to_string(i),
             lanes_text<std::uint32_t, std::int32_t>(value.lane.data(), cursor.stored_lanes(), kernel.warp_size, 8));
      }
    }
    for (unsigned d = 0; d < instruction.destination_count; ++d) {
      cursor.result(value);
      note("R" + std::to_string(instruction.destinations[d]),
           lanes_text<std::uint32_t, std::int32_t>(value.lane.data(), active, kernel.warp_size, 8));
    }
    for (unsigned d = 0; d < instruction.destination_predicate_count; ++d) {
      note("P" + std::to_string(instruction.destination_predicates[d]),
           mask_text(cursor.predicate(), kernel.warp_size));
    }
    events.clear();
    cursor.stack_events(events);
    for (const StackEvent& event : events) {
      if (event.push) {
        note("push", mask_text(event.mask, kernel.warp_size) + " until index " + std::to_string(event.resume_index));
      } else {
        std::printf("  %17s pop\n", "");
      }
    }
  }
}

[[noreturn]] void beyond(const Reader& reader, const char* option, std::uint64_t found, const std::string& what,
                         std::uint64_t count) {
  throw InputError(reader.path() + ": --" + option + " " + std::to_string(found) + ": " + what + " has " +
                   std::to_string(count) + ", numbered from 0");
}

}  // namespace

void dump(const Reader& reader, const Selection& selection) {
  const std::uint64_t count = reader.ctas().size();
  if (selection.cta && *selection.cta >= count) beyond(reader, "cta", *selection.cta, "the trace", count);
  const std::size_t first = static_cast<std::size_t>(selection.cta.value_or(0));
  const auto stream = reader.stream(first, selection.cta ? 1 : static_cast<std::size_t>(count));
  std::vector<std::vector<std::string>> notes;
  for (const Kernel& kernel : reader.kernels()) notes.push_back(notes_of(kernel, reader.sections()));
  for (std::size_t position = first; const auto cta = stream->next(); ++position) {
    const std::uint32_t number = reader.launches()[cta->launch].kernel;
    const Kernel& kernel = reader.kernels()[number];
    if (selection.warp && *selection.warp >= cta->warps.size()) {
      beyond(reader, "warp", *selection.warp, "CTA " + std::to_string(position), cta->warps.size());
    }
    for (std::size_t w = 0; w < cta->warps.size(); ++w) {
      if (selection.warp && *selection.warp != w) continue;
      const WarpColumns& warp = cta->warps[w];
      std::printf("CTA %zu of the file: launch %" PRIu32 " (%s), CTA index %" PRIu64
                  ", warp %zu: %s warp instructions, "
                  "%s thread instructions\n",
                  position, cta->launch, printable(kernel.name).c_str(), cta->index, w,
                  grouped(warp.warp_instructions).c_str(), grouped(warp.thread_instructions).c_str());
      try {
        dump_warp(kernel, reader.sections(), notes[number], warp, selection.limit);
      } catch (const InputError& e) {
        throw InputError(reader.path() + ": " + e.what());
      }
    }
  }
}

}  // namespace regatta::tool
