// SPDX-License-Identifier: Apache-2.0
//
// From the words in a kernel's stream back to regions.
#include <regatta/trace/region_words.h>

#include <stdexcept>
#include <string>

namespace regatta::trace {

namespace {

class Parser {
 public:
  explicit Parser(const Kernel& kernel) : kernel_(kernel) {}

  RegionStream run() {
    stream_.words.resize(kernel_.inserted.size());
    bool any = false;
    for (at_ = 0; at_ < kernel_.inserted.size(); ++at_) {
      const InsertedInstruction& inserted = kernel_.inserted[at_];
      if (inserted.instruction.scheme != region_scheme) continue;
      try {
        word(inserted.before, decode_region_word(region_word(inserted.instruction)));
      } catch (const std::invalid_argument& e) {
        fail(e.what());
      }
      any = true;
    }
    if (any) close(static_cast<std::uint32_t>(kernel_.instructions.size()), "the end");
    return std::move(stream_);
  }

 private:
  std::vector<PlacedRegion>& regions() { return stream_.regions; }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument("inserted instruction " + std::to_string(at_) + ": " + what);
  }

  void word(std::uint32_t before, const DecodedWord& d) {
    for (const RegionEntry& e : d.entries)
      if (e.reg >= kernel_.registers_per_thread)
        throw std::invalid_argument("names register R" + std::to_string(e.reg) + ", the kernel has " +
                                    std::to_string(kernel_.registers_per_thread));
    if (d.starts_region()) {
      close(before, "it");
      PlacedRegion region;
      region.begin = before;
      region.first_word = static_cast<std::uint32_t>(at_);
      region.words.lines = d.lines;
      regions().push_back(std::move(region));
      compact_ = d.opcode == RegionOpcode::compact;
    } else {
      if (regions().empty()) throw std::invalid_argument("belongs to no region");
      if (compact_) throw std::invalid_argument("belongs to a region whose only word is compact");
      const RegionWords& words = regions().back().words;
      const std::uint32_t place = regions().back().begin + static_cast<std::uint32_t>(words.uses.size());
      if (before != place || (d.opcode == RegionOpcode::more && !words.uses.empty()))
        throw std::invalid_argument("is not at its place in its region");
    }
    PlacedRegion& region = regions().back();
    ++region.word_count;
    RegionWordPlace& place = stream_.words[at_];
    place.region = static_cast<std::uint32_t>(regions().size() - 1);
    place.starts = d.starts_region();
    place.completes = region.words.uses.empty() && !d.uses.empty();
    if (place.completes) region.head_words = region.word_count;
    region.words.entries.insert(region.words.entries.end(), d.entries.begin(), d.entries.end());
    region.words.uses.insert(region.words.uses.end(), d.uses.begin(), d.uses.end());
  }

  /// The region under way ends before instruction `end`.
  void close(std::uint32_t end, const std::string& what) {
    if (regions().empty()) {
      if (end != 0) throw std::invalid_argument("the first region does not begin with the kernel");
      return;
    }
    PlacedRegion& region = regions().back();
    const std::uint32_t size = end - region.begin;
    if (size == 0) throw std::invalid_argument("a region without instructions stands before " + what);
    std::vector<SlotUses>& uses = region.words.uses;
    if (uses.size() < size) throw std::invalid_argument("the region before " + what + " is longer than its marks");
    if (!compact_ && uses.size() >= size + uses_per_word)
      throw std::invalid_argument("the region before " + what + " has more marks than instructions");
    for (std::size_t i = size; i < uses.size(); ++i)
      for (const LastUse use : uses[i])
        if (use != LastUse::none)
          throw std::invalid_argument("the region before " + what + " marks an instruction behind its end");
    uses.resize(size);
    region.end = end;
  }

  const Kernel& kernel_;
  RegionStream stream_;
  std::size_t at_ = 0;
  bool compact_ = false;
};

}  // namespace

RegionStream read_region_stream(const Kernel& kernel) { return Parser(kernel).run(); }

std::vector<PlacedRegion> regions_of(const Kernel& kernel) { return read_region_stream(kernel).regions; }

}  // namespace regatta::trace
