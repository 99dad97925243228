// SPDX-License-Identifier: Apache-2.0
#include "copies.h"

#include "constants.h"

#include <cstring>

namespace regatta::capture {

namespace {

MessageWriter rows_message(const void* address, std::uint64_t pitch, BoxSize size) {
  return MessageWriter().put(address_of(address)).put(pitch).put(size.width).put(size.rows);
}

/// Rows of which either end is a constant variable.
Error copy_rows_of_constants(std::uint8_t* to, std::uint64_t to_pitch, const std::uint8_t* from,
                             std::uint64_t from_pitch, BoxSize size) {
  std::vector<std::uint8_t> row(size.width);
  for (std::uint64_t r = 0; r < size.rows; ++r) {
    const ConstantPlace source = constant_at(from + r * from_pitch), target = constant_at(to + r * to_pitch);
    Error error = source.variable != nullptr ? read_constant(source, row.data(), size.width)
                                             : copy_bytes(row.data(), from + r * from_pitch, size.width);
    if (error == success) {
      error = target.variable != nullptr ? write_constant(target, row.data(), size.width)
                                         : copy_bytes(to + r * to_pitch, row.data(), size.width);
    }
    if (error != success) return error;
  }
  return success;
}

/// One slice.
Error copy_rows(std::uint8_t* to, std::uint64_t to_pitch, const std::uint8_t* from, std::uint64_t from_pitch,
                BoxSize size) {
  const State& s = State::get();
  if (constant_at(to).variable != nullptr || constant_at(from).variable != nullptr) {
    return copy_rows_of_constants(to, to_pitch, from, from_pitch, size);
  }
  const bool to_device = s.is_device(to), from_device = s.is_device(from);
  if (!to_device && !from_device) {
    for (std::uint64_t r = 0; r < size.rows; ++r) std::memmove(to + r * to_pitch, from + r * from_pitch, size.width);
    return success;
  }
  if (to_device && from_device) {
    MessageWriter message = rows_message(to, to_pitch, size);
    message.put(address_of(from)).put(from_pitch).put(size.width).put(size.rows);
    return error_of(ask(Request::copy, message));
  }
  if (to_device) {
    if (from_pitch == size.width || size.rows == 1) {
      return error_of(ask(Request::write, rows_message(to, to_pitch, size), from, size.width * size.rows));
    }
    std::vector<std::uint8_t> packed(size.width * size.rows);
    for (std::uint64_t r = 0; r < size.rows; ++r) {
      std::memcpy(packed.data() + r * size.width, from + r * from_pitch, size.width);
    }
    return error_of(ask(Request::write, rows_message(to, to_pitch, size), packed.data(), packed.size()));
  }
  const Reply reply = ask(Request::read, rows_message(from, from_pitch, size));
  if (!reply.is_done()) return error_of(reply);
  for (std::uint64_t r = 0; r < size.rows; ++r) {
    std::memcpy(to + r * to_pitch, reply.bytes.data() + r * size.width, size.width);
  }
  return success;
}

}  // namespace

Error copy_box(void* to, Box to_box, const void* from, Box from_box, BoxSize size) {
  if (size.width == 0 || size.rows == 0 || size.slices == 0) return success;
  if (to == nullptr || from == nullptr) return invalid_value;
  State::get().flush();
  for (std::uint64_t z = 0; z < size.slices; ++z) {
    const Error error =
        copy_rows(static_cast<std::uint8_t*>(to) + z * to_box.slice_pitch, to_box.pitch,
                  static_cast<const std::uint8_t*>(from) + z * from_box.slice_pitch, from_box.pitch, size);
    if (error != success) return error;
  }
  return success;
}

Error copy_bytes(void* to, const void* from, std::uint64_t bytes) {
  return copy_box(to, {bytes, bytes}, from, {bytes, bytes}, {bytes, 1, 1});
}

Error fill_box(void* to, Box box, BoxSize size, std::uint32_t value, unsigned element) {
  if (size.width == 0 || size.rows == 0 || size.slices == 0) return success;
  if (to == nullptr) return invalid_value;
  const bool is_device = State::get().is_device(to);
  for (std::uint64_t z = 0; z < size.slices; ++z) {
    auto* const slice = static_cast<std::uint8_t*>(to) + z * box.slice_pitch;
    if (constant_at(slice).variable != nullptr) {
      std::vector<std::uint8_t> row(size.width);
      for (std::uint64_t i = 0; i < size.width; ++i) row[i] = static_cast<std::uint8_t>(value >> (8 * (i % element)));
      for (std::uint64_t r = 0; r < size.rows; ++r) {
        const Error error = copy_bytes(slice + r * box.pitch, row.data(), size.width);
        if (error != success) return error;
      }
      continue;
    }
    if (is_device) {
      MessageWriter message = rows_message(slice, box.pitch, size);
      message.put(value).put(std::uint32_t{element});
      const Error error = error_of(ask(Request::fill, message));
      if (error != success) return error;
      continue;
    }
    for (std::uint64_t r = 0; r < size.rows; ++r) {
      for (std::uint64_t i = 0; i < size.width; ++i) {
        slice[r * box.pitch + i] = static_cast<std::uint8_t>(value >> (8 * (i % element)));
      }
    }
  }
  return success;
}

}  // namespace regatta::capture
