// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <vector>

#include "outcome.h"
#include "probes.h"

namespace regatta::test {
namespace {

using namespace trace;

/// A file in memory alone.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& bytes) : fd_(::memfd_create("trace", MFD_CLOEXEC)) {
    if (fd_ < 0) throw std::runtime_error("memfd_create failed");
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t written = ::write(fd_, bytes.data() + at, bytes.size() - at);
      if (written <= 0) {
        ::close(fd_);
        throw std::runtime_error("writing to memory failed");
      }
      at += static_cast<std::size_t>(written);
    }
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

void decode(const Kernel& kernel, const WarpColumns& warp) {
  WarpCursor cursor(kernel, warp);
  PathCursor path(kernel, warp);  // walks ahead in a fetch stage: the two must agree
  WarpValue value;
  std::uint64_t address[max_lanes];
  std::vector<StackEvent> events;
  while (cursor.next()) {
    const StaticInstruction& i = cursor.instruction();
    if (has_addresses(i)) cursor.addresses(address);
    for (unsigned d = 0; d < i.destination_count; ++d) cursor.result(value);
    for (unsigned d = 0; d < i.destination_predicate_count; ++d) cursor.predicate();
    for (unsigned w = cursor.stored_words(); w > 0; --w) cursor.stored(value);
    cursor.stack_events(events);
    if (!path.next() || path.index() != cursor.index()) throw std::logic_error("the cursors of a warp disagree");
    if (!path.at_end() && path.peek_index() >= kernel.instructions.size()) {
      throw std::logic_error("a cursor goes on behind the kernel's last instruction");
    }
  }
}

/// Every CTA of a variant.
void read_all(const std::string& path, const std::string& variant) {
  const Reader reader(path, SectionRegistry::with_builtin(), variant);
  const auto stream = reader.stream(0, reader.ctas().size());
  while (const auto cta = stream->next()) {
    const Kernel& kernel = reader.kernels()[reader.launches()[cta->launch].kernel];
    for (const WarpColumns& warp : cta->warps) {
      try {
        decode(kernel, warp);
      } catch (const InputError& e) {
        // A cursor knows kernel, CTA and warp; the file is its user's to name.
        throw InputError(path + ": " + e.what());
      }
    }
  }
}

}  // namespace

Outcome probe_trace_file(const std::string& path) {
  return outcome_of(path, [&] {
    const Reader first(path);
    for (const Reader::VariantEntry& v : first.variants()) read_all(path, v.variant.name);
  });
}

Outcome probe_trace(const std::string& bytes) { return probe_trace_file(MemoryFile(bytes).path()); }

}  // namespace regatta::test
