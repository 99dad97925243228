// SPDX-License-Identifier: Apache-2.0
#include "images.h"

#include "../fat_binary_head.h"

#include <cstdio>
#include <cstring>

namespace regatta::capture {

namespace {

constexpr std::uint32_t wrapper_magic = 0x466243b1;
constexpr std::size_t elf_head_bytes = 64;

struct Wrapper {
  std::uint32_t magic, version;
  const std::uint8_t* container;
  const void* const* linked;  ///< with version 2: the containers that were linked, ended by nullptr
};

std::vector<std::uint8_t> container_bytes(const std::uint8_t* from) {
  FatBinaryHead head{};
  std::memcpy(&head, from, sizeof head);
  if (head.magic != fat_binary_magic) return {};
  return {from, from + head.head_bytes + head.bytes};
}

}  // namespace

std::vector<std::uint8_t> wrapped_image(const void* from) {
  Wrapper wrapper{};
  std::memcpy(&wrapper, from, sizeof wrapper);
  std::vector<std::uint8_t> image;
  if (wrapper.magic != wrapper_magic) return image;
  if (wrapper.version == 2 && wrapper.linked != nullptr) {
    for (const void* const* part = wrapper.linked; *part != nullptr; ++part) {
      const std::vector<std::uint8_t> more = container_bytes(static_cast<const std::uint8_t*>(*part));
      image.insert(image.end(), more.begin(), more.end());
    }
  }
  return image.empty() ? container_bytes(wrapper.container) : image;
}

std::vector<std::uint8_t> image_at(const void* image) {
  const auto* const bytes = static_cast<const std::uint8_t*>(image);
  // A text may be shorter than a number.
  const std::size_t text = strnlen(static_cast<const char*>(image), elf_head_bytes);
  if (text < sizeof(std::uint32_t)) return {bytes, bytes + text};
  std::uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  if (magic == wrapper_magic) return wrapped_image(image);
  if (magic == fat_binary_magic) return container_bytes(bytes);
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  sizeof magic) == 0)
    return {bytes, bytes + elf_head_bytes};
  return {bytes, bytes + std::strlen(static_cast<const char*>(image))};
}

bool read_image(const std::string& path, std::vector<std::uint8_t>& bytes) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  std::uint8_t part[65536];
  for (std::size_t got = 0; (got = std::fread(part, 1, sizeof part, file)) != 0;) {
    bytes.insert(bytes.end(), part, part + got);
  }
  const bool is_good = std::ferror(file) == 0;
  std::fclose(file);
  return is_good;
}

}  // namespace regatta::capture
