// SPDX-License-Identifier: Apache-2.0
#include "unnamed_functions.h"

#include "../fat_binary_head.h"
#include "abi.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace regatta::capture {

namespace {

/// A text that the runtime has and little else.
constexpr const char* text_of_runtime = "cudaErrorMixedDeviceExecution";
/// Larger libraries are not searched; the runtime has 0.7 MB.
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;

struct Segment {
  std::uint64_t begin = 0, end = 0;
  bool is_code = false;

  const std::uint8_t* at(std::uint64_t address) const { return static_cast<const std::uint8_t*>(pointer_to(address)); }
  bool has(std::uint64_t address, std::uint64_t bytes) const {
    return address >= begin && address <= end && bytes <= end - address;
  }
};

template <class T>
T load(std::uint64_t address) {
  T value;
  std::memcpy(&value, pointer_to(address), sizeof value);
  return value;
}

class Object {
 public:
  explicit Object(const dl_phdr_info& info) : base_(info.dlpi_addr) {
    for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& p = info.dlpi_phdr[i];
      const std::uint64_t at = base_ + p.p_vaddr;
      if (p.p_type == PT_GNU_EH_FRAME) frame_table_ = at;
      if (p.p_type != PT_LOAD || (p.p_flags & PF_R) == 0) continue;
      segments_.push_back({at, at + p.p_filesz, (p.p_flags & PF_X) != 0});
      bytes_ += p.p_filesz;
    }
  }

  std::vector<RuntimeFunction> functions() {
    if (bytes_ > most_bytes || !has_runtime() || !read_starts()) return {};
    find_names();
    add_neighbours();
    std::vector<RuntimeFunction> found;
    for (const auto& [start, names] : names_) {
      if (names.size() == 1) found.push_back({start - base_, starts_[start], *names.begin()});
    }
    return has_registration_ ? found : std::vector<RuntimeFunction>();
  }

 private:
  const Segment* segment_of(std::uint64_t address, std::uint64_t bytes) const {
    for (const Segment& s : segments_) {
      if (s.has(address, bytes)) return &s;
    }
    return nullptr;
  }

  bool has_runtime() const {
    const std::size_t count = std::strlen(text_of_runtime);
    return std::any_of(segments_.begin(), segments_.end(), [&](const Segment& s) {
      return !s.is_code && memmem(pointer_to(s.begin), s.end - s.begin, text_of_runtime, count) != nullptr;
    });
  }

  /// Begin and size of each function, from the sorted table for unwinding (.eh_frame_hdr).
  bool read_starts() {
    constexpr std::uint8_t version = 1, count_encoding = 0x03, table_encoding = 0x3b;
    constexpr std::uint64_t head_bytes = 12, entry_bytes = 8, range_offset = 12;
    if (frame_table_ == 0 || segment_of(frame_table_, head_bytes) == nullptr) return false;
    const auto head = load<std::uint32_t>(frame_table_);
    // Four bytes each: version, then how three numbers are written.
    if ((head & 0xff) != version || ((head >> 16) & 0xff) != count_encoding || (head >> 24) != table_encoding) {
      return false;
    }
    const auto count = load<std::uint32_t>(frame_table_ + 8);
    if (segment_of(frame_table_ + head_bytes, entry_bytes * count) == nullptr) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t entry = frame_table_ + head_bytes + entry_bytes * i;
      const std::uint64_t start = frame_table_ + static_cast<std::uint64_t>(std::int64_t{load<std::int32_t>(entry)});
      const std::uint64_t frame =
          frame_table_ + static_cast<std::uint64_t>(std::int64_t{load<std::int32_t>(entry + 4)});
      if (segment_of(frame + range_offset, 4) == nullptr) return false;
      starts_[start] = load<std::uint32_t>(frame + range_offset);
    }
    return !starts_.empty();
  }

  /// The name of a function of CUDA, as a text at an address; empty: it is none.
  std::string name_at(std::uint64_t address) const {
    constexpr std::size_t most = 80;
    const Segment* const s = segment_of(address - 1, most);
    if (s == nullptr || s->is_code || *s->at(address - 1) != 0) return {};
    const auto* const text = reinterpret_cast<const char*>(s->at(address));
    if (std::strncmp(text, "cuda", 4) != 0 && std::strncmp(text, "__cuda", 6) != 0) return {};
    const std::size_t count = strnlen(text, most - 1);
    return count < most - 1 ? std::string(text, count) : std::string();
  }

  /// Calls `use` with the address behind each "lea register, [rip + distance]" and where that points to.
  template <class Use>
  static void each_lea(std::uint64_t from, std::uint64_t end, Use use) {
    constexpr std::uint64_t bytes = 7;
    for (std::uint64_t at = from; at + bytes <= end; ++at) {
      const auto code = load<std::uint32_t>(at);
      const std::uint32_t prefix = code & 0xff, opcode = (code >> 8) & 0xff, operands = (code >> 16) & 0xff;
      if ((prefix != 0x48 && prefix != 0x4c) || opcode != 0x8d || (operands & 0xc7) != 5) continue;
      use(at + bytes, at + bytes + static_cast<std::uint64_t>(std::int64_t{load<std::int32_t>(at + 3)}));
    }
  }

  void find_names() {
    for (const Segment& s : segments_) {
      if (!s.is_code) continue;
      each_lea(s.begin, s.end, [&](std::uint64_t behind, std::uint64_t target) {
        const std::string name = name_at(target);
        const auto after = starts_.upper_bound(behind - 1);
        if (name.empty() || after == starts_.begin()) return;
        const auto& [start, bytes] = *std::prev(after);
        if (behind <= start + bytes) names_[start].insert(name);
      });
    }
  }

  /// Whether the compiler's code registers a fat binary with this function: its argument has the magic number.
  bool registers_fat_binary(std::uint64_t function) const {
    constexpr std::uint64_t call_bytes = 5, before = 16;
    for (const Segment& s : segments_) {
      if (!s.is_code) continue;
      for (std::uint64_t at = s.begin + before; at + call_bytes <= s.end; ++at) {
        if (*s.at(at) != 0xe8) continue;
        const std::uint64_t target =
            at + call_bytes + static_cast<std::uint64_t>(std::int64_t{load<std::int32_t>(at + 1)});
        if (target != function) continue;
        bool has_wrapper = false;
        each_lea(at - before, at,
                 [&](std::uint64_t, std::uint64_t argument) { has_wrapper = has_wrapper || is_wrapper(argument); });
        // Without position-independent code: mov edi, address.
        for (std::uint64_t m = at - before; m + 5 <= at; ++m) {
          has_wrapper = has_wrapper || (*s.at(m) == 0xbf && is_wrapper(load<std::uint32_t>(m + 1)));
        }
        if (has_wrapper) return true;
      }
    }
    return false;
  }
  bool is_wrapper(std::uint64_t address) const {
    return segment_of(address, sizeof fat_binary_wrapper_magic) != nullptr &&
           load<std::uint32_t>(address) == fat_binary_wrapper_magic;
  }

  void add_neighbours() {
    // In this order since textures went with CUDA 12.
    constexpr const char* before[] = {
        "__cudaRegisterFatBinary",  "__cudaRegisterFatBinaryEnd", "__cudaUnregisterFatBinary", "__cudaRegisterVar",
        "__cudaRegisterManagedVar", "__cudaRegisterHostVar",      "__cudaRegisterFunction"};
    constexpr const char* behind[] = {"__cudaPushCallConfiguration", "__cudaPopCallConfiguration", "__cudaGetKernel",
                                      "__cudaLaunchKernel", "__cudaLaunchKernel_ptsz"};
    for (const auto& [start, names] : names_) {
      if (names != std::set<std::string>{"__cudaInitModule"}) continue;
      const auto known = starts_.find(start);
      if (std::distance(starts_.begin(), known) < static_cast<std::ptrdiff_t>(std::size(before)) ||
          std::distance(known, starts_.end()) <= static_cast<std::ptrdiff_t>(std::size(behind))) {
        return;
      }
      auto at = std::prev(known, std::size(before));
      if (!registers_fat_binary(at->first)) return;
      std::map<std::uint64_t, std::set<std::string>> more;
      for (const char* name : before) more[at++->first] = {name};
      for (const char* name : behind) more[(++at)->first] = {name};
      names_.insert(more.begin(), more.end());
      has_registration_ = true;
      return;
    }
  }

  std::uint64_t base_;
  std::uint64_t frame_table_ = 0;
  std::uint64_t bytes_ = 0;
  std::vector<Segment> segments_;
  std::map<std::uint64_t, std::uint64_t> starts_;         ///< bytes by the function's begin
  std::map<std::uint64_t, std::set<std::string>> names_;  ///< that the function's code points to
  bool has_registration_ = false;
};

}  // namespace

std::vector<RuntimeFunction> unnamed_runtime_functions(const dl_phdr_info& object) {
  return Object(object).functions();
}

}  // namespace regatta::capture
