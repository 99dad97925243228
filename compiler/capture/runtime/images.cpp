// SPDX-License-Identifier: Apache-2.0
#include "images.h"

#include "../fat_binary_head.h"

#include <cstdio>
#include <cstring>

namespace regatta::capture {

namespace {

constexpr std::size_t elf_head_bytes = 64;

struct Wrapper {
  std::uint32_t magic, version;
  const std::uint8_t* container;
  const void* const* linked;  ///< with version 2: the containers that were linked, ended by nullptr
};

/// In a head's version: another container follows. Of joined_images() alone, so that one address tells all of them.
constexpr std::uint16_t more_follow = 0x8000;

std::vector<std::uint8_t> container_bytes(const std::uint8_t* from) {
  std::uint64_t bytes = 0;
  for (bool more = true; more;) {
    FatBinaryHead head{};
    std::memcpy(&head, from + bytes, sizeof head);
    if (head.magic != fat_binary_magic) return {};
    bytes += head.head_bytes + head.bytes;
    more = (head.version & more_follow) != 0;
  }
  return {from, from + bytes};
}

}  // namespace

std::vector<std::uint8_t> wrapped_image(const void* from) {
  Wrapper wrapper{};
  std::memcpy(&wrapper, from, sizeof wrapper);
  std::vector<std::uint8_t> image;
  if (wrapper.magic != fat_binary_wrapper_magic) return image;
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
  if (magic == fat_binary_wrapper_magic) return wrapped_image(image);
  if (magic == fat_binary_magic) return container_bytes(bytes);
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  sizeof magic) == 0)
    return {bytes, bytes + elf_head_bytes};
  return {bytes, bytes + std::strlen(static_cast<const char*>(image))};
}

std::vector<std::uint8_t> joined_images(const std::vector<std::vector<std::uint8_t>>& images) {
  std::vector<std::uint8_t> all;
  const auto append = [&](const void* from, std::size_t bytes) {
    all.insert(all.end(), static_cast<const std::uint8_t*>(from), static_cast<const std::uint8_t*>(from) + bytes);
  };
  for (const std::vector<std::uint8_t>& image : images) {
    const std::uint16_t more = &image == &images.back() ? 0 : more_follow;
    if (is_fat_binary(image.data(), image.size())) {
      const std::size_t at = all.size();
      append(image.data(), image.size());
      FatBinaryHead head{};
      std::memcpy(&head, all.data() + at, sizeof head);
      head.version = static_cast<std::uint16_t>(head.version | more);
      std::memcpy(all.data() + at, &head, sizeof head);
      continue;
    }
    constexpr std::size_t alignment = 8;
    FatBinaryPartHead part;
    part.kind = fat_binary_ptx;
    part.head_bytes = sizeof part;
    part.bytes = (image.size() + alignment - 1) / alignment * alignment;
    const FatBinaryHead head{fat_binary_magic, static_cast<std::uint16_t>(1 | more), sizeof head,
                             sizeof part + part.bytes};
    append(&head, sizeof head);
    append(&part, sizeof part);
    append(image.data(), image.size());
    all.resize(all.size() + part.bytes - image.size());
  }
  return all;
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
