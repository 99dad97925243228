// SPDX-License-Identifier: Apache-2.0
//
// What Program writes before the first step, and what it finds in variables after the last one.
#include <regatta/launch/program.h>

#include <cstring>

namespace regatta::launch {

void Program::place(const Placement& p) {
  const std::uint64_t bytes = p.bytes(), size = size_of(p.to);
  if (p.to.offset > size || bytes > size - p.to.offset) {
    file_.fail(p.where, std::to_string(bytes) + " bytes from byte " + std::to_string(p.to.offset) + " on, '" +
                            name_of(p.to) + "' has " + std::to_string(size));
  }
  check_exists(p.to, p.where);
  std::vector<std::uint8_t> value(p.value.bytes);
  put_parameter(p.value, value.data());
  if (p.count == 1) return write(p.to, value.data(), value.size());
  std::uint64_t address = 0;
  std::memcpy(&address, value.data(), sizeof address);
  if (p.stride == sizeof address) {
    std::vector<std::uint64_t> all(p.count);
    for (std::uint64_t i = 0; i < p.count; ++i) all[i] = address + i * p.step;
    return write(p.to, all.data(), bytes);
  }
  // What lies between the pointers stays.
  Memory to = p.to;
  for (std::uint64_t i = 0; i < p.count; ++i) {
    write(to, &address, sizeof address);
    address += p.step;
    to.offset += p.stride;
  }
}

void Program::check_variables() const {
  for (const Global& g : file_.globals) {
    const std::uint64_t bytes = device_.variable_bytes(g);
    if (g.expect.file.empty() || bytes % ir::size_of(g.expect.type) == 0) continue;
    file_.fail(g.where, "variable '" + g.name + "' of " + std::to_string(bytes) + " bytes is no whole number of " +
                            ir::to_string(g.expect.type) + " elements");
  }
}

std::vector<std::uint8_t> Program::variable(std::size_t index) const {
  std::vector<std::uint8_t> bytes(device_.variable_bytes(file_.globals[index]));
  device_.read_variable(file_.globals[index], 0, bytes.data(), bytes.size());
  return bytes;
}

}  // namespace regatta::launch
