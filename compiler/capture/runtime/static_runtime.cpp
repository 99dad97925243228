// SPDX-License-Identifier: Apache-2.0
//
// Programs that have the CUDA runtime linked into them (nvcc's default). Their calls reach that runtime, which nothing
// can stand in front of; but the names of its functions are in the symbol table. So before main(), each of these
// functions becomes a jump to ours. In a program without a symbol table (strip) they are found by what their code
// points to. Where that fails, the program's runtime finds libcuda.so.1, which refuses it with a sentence.
#include "abi.h"
#include "connection.h"
#include "unnamed_functions.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace regatta::capture {

namespace {

/// A file mapped for reading.
class Mapping {
 public:
  explicit Mapping(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status {};
    if (fstat(file, &status) == 0 && status.st_size > 0) {
      bytes_ = static_cast<std::size_t>(status.st_size);
      void* const at = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
      data_ = at == MAP_FAILED ? nullptr : static_cast<const std::uint8_t*>(at);
    }
    close(file);
  }
  ~Mapping() {
    if (data_ != nullptr) munmap(const_cast<std::uint8_t*>(data_), bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  /// `count` objects from an offset; nullptr if the file has not so many.
  template <class T>
  const T* at(std::uint64_t offset, std::uint64_t count = 1) const {
    if (data_ == nullptr || offset > bytes_ || count > (bytes_ - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(data_ + offset);
  }

 private:
  const std::uint8_t* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The functions of the runtime that an object's symbol table has.
std::vector<RuntimeFunction> runtime_functions(const Mapping& file) {
  std::vector<RuntimeFunction> found;
  const auto* const head = file.at<ElfW(Ehdr)>(0);
  if (head == nullptr || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return found;
  const auto* const sections = file.at<ElfW(Shdr)>(head->e_shoff, head->e_shnum);
  for (unsigned i = 0; sections != nullptr && i < head->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= head->e_shnum) continue;
    const ElfW(Shdr)& names = sections[sections[i].sh_link];
    const std::uint64_t count = sections[i].sh_size / sizeof(ElfW(Sym));
    const auto* const symbols = file.at<ElfW(Sym)>(sections[i].sh_offset, count);
    const auto* const text = file.at<char>(names.sh_offset, names.sh_size);
    if (symbols == nullptr || text == nullptr) continue;
    for (std::uint64_t s = 0; s < count; ++s) {
      if (symbols[s].st_shndx == SHN_UNDEF || (symbols[s].st_info & 15) != STT_FUNC) continue;
      if (symbols[s].st_name >= names.sh_size) continue;
      const char* const name = text + symbols[s].st_name;
      if (std::strncmp(name, "cuda", 4) != 0 && std::strncmp(name, "__cuda", 6) != 0) continue;
      found.push_back({symbols[s].st_value, symbols[s].st_size, name});
    }
  }
  return found;
}

#if defined(__x86_64__)
constexpr std::size_t jump_bytes = 5;       ///< jmp with a distance of 32 bits
constexpr std::size_t far_jump_bytes = 14;  ///< jmp through the address behind it

/// Memory that a short jump from `near` reaches.
std::uint8_t* memory_near(std::uint64_t near, std::size_t bytes) {
  constexpr std::uint64_t step = 1 << 20, reach = std::uint64_t{1} << 30;
  const std::uint64_t page = near & ~std::uint64_t{4095};
  for (std::uint64_t distance = step; distance < reach; distance += step) {
    for (const std::uint64_t at : {page + distance, page - distance}) {
      void* const got =
          mmap(pointer_to(at), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got == pointer_to(at)) return static_cast<std::uint8_t*>(got);
      if (got != MAP_FAILED) munmap(got, bytes);
    }
  }
  return nullptr;
}

void make_writable(std::uint64_t address, std::size_t bytes, bool writable) {
  const std::uint64_t first = address & ~std::uint64_t{4095};
  mprotect(pointer_to(first), address + bytes - first, PROT_READ | PROT_EXEC | (writable ? PROT_WRITE : 0));
}

void replace(std::uint64_t base, const std::vector<RuntimeFunction>& functions, void* ours) {
  std::vector<std::pair<std::uint64_t, void*>> jumps;
  for (const RuntimeFunction& f : functions) {
    void* const target = dlsym(ours, f.name.c_str());
    if (target != nullptr && f.bytes >= jump_bytes) jumps.emplace_back(base + f.value, target);
  }
  if (jumps.empty()) return;
  const std::size_t bytes = (jumps.size() * far_jump_bytes + 4095) / 4096 * 4096;
  std::uint8_t* const far = memory_near(jumps.front().first, bytes);
  if (far == nullptr) return;
  for (std::size_t i = 0; i < jumps.size(); ++i) {
    const auto& [from, target] = jumps[i];
    std::uint8_t* const hop = far + i * far_jump_bytes;
    const std::uint8_t through_next[6] = {0xff, 0x25, 0, 0, 0, 0};
    std::memcpy(hop, through_next, sizeof through_next);
    std::memcpy(hop + sizeof through_next, &target, sizeof target);
    const auto distance = static_cast<std::int32_t>(reinterpret_cast<std::uint64_t>(hop) - (from + jump_bytes));
    std::uint8_t jump[jump_bytes] = {0xe9};
    std::memcpy(jump + 1, &distance, sizeof distance);
    make_writable(from, jump_bytes, true);
    std::memcpy(pointer_to(from), jump, sizeof jump);
    make_writable(from, jump_bytes, false);
  }
  mprotect(far, bytes, PROT_READ | PROT_EXEC);
}
#else
void replace(std::uint64_t, const std::vector<RuntimeFunction>&, void*) {}
#endif

struct LoadedObject {
  std::string path;
  dl_phdr_info info;
};

/// Before the program's own constructors, which register its fat binaries.
__attribute__((constructor)) void stand_in_front() {
  if (getenv(socket_variable) == nullptr) return;
  std::vector<LoadedObject> objects;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        const std::string path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        auto& list = *static_cast<std::vector<LoadedObject>*>(out);
        list.push_back({list.empty() && path.empty() ? "/proc/self/exe" : path, *info});
        return 0;
      },
      &objects);
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&stand_in_front), &self) == 0) return;
  void* const ours = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (ours == nullptr) return;
  for (const LoadedObject& o : objects) {
    // Libraries of the system have no part in this.
    const bool is_ours = o.path == self.dli_fname || o.path.find("libregatta_cuda.so") != std::string::npos;
    if (o.path.empty() || is_ours || o.path.find("/libc.so") != std::string::npos) continue;
    const Mapping file(o.path.c_str());
    std::vector<RuntimeFunction> functions = runtime_functions(file);
    if (functions.empty()) functions = unnamed_runtime_functions(o.info);
    replace(o.info.dlpi_addr, functions, ours);
  }
  dlclose(ours);
}

}  // namespace

}  // namespace regatta::capture
