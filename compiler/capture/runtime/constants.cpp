// SPDX-License-Identifier: Apache-2.0
#include "constants.h"

#include <cstring>

namespace regatta::capture {

namespace {

MessageWriter message_of(ConstantPlace place, std::uint64_t bytes) {
  MessageWriter message;
  message.put(place.variable->module->index).put_text(place.variable->name).put(place.offset).put(bytes);
  return message;
}

bool is_inside(ConstantPlace place, std::uint64_t bytes) {
  const std::uint64_t all = place.variable->description.bytes;
  return place.offset <= all && bytes <= all - place.offset;
}

}  // namespace

ConstantPlace constant_at(const void* address) {
  const State& s = State::get();
  const auto after = s.constants.upper_bound(address_of(address));
  if (after == s.constants.begin()) return {};
  const auto& [base, variable] = *std::prev(after);
  const std::uint64_t offset = address_of(address) - base;
  if (offset >= variable->description.bytes) return {};
  return {variable, offset};
}

std::uint64_t address_of_variable(Variable& variable) {
  if (variable.description.is_constant == 0) return variable.description.address;
  State& s = State::get();
  for (const auto& [address, known] : s.constants) {
    if (known == &variable) return address;
  }
  const Reply reply = ask(Request::reserve, MessageWriter().put(variable.description.bytes));
  if (!reply.is_done()) refuse("the address of constant variable '" + variable.name + "': " + reply.text());
  const auto address = reply.reader().get<std::uint64_t>();
  s.constants[address] = &variable;
  return address;
}

Error write_constant(ConstantPlace to, const void* from, std::uint64_t bytes) {
  if (!is_inside(to, bytes)) return invalid_value;
  return error_of(ask(Request::write_variable, message_of(to, bytes), from, bytes));
}

Error read_constant(ConstantPlace from, void* to, std::uint64_t bytes) {
  if (!is_inside(from, bytes)) return invalid_value;
  const Reply reply = ask(Request::read_variable, message_of(from, bytes));
  if (!reply.is_done()) return error_of(reply);
  std::memcpy(to, reply.bytes.data(), bytes);
  return success;
}

}  // namespace regatta::capture
