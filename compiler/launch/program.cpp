// SPDX-License-Identifier: Apache-2.0
#include <regatta/ir/half.h>
#include <regatta/launch/program.h>

#include <cstring>
#include <utility>

#include "computed.h"

namespace regatta::launch {
namespace {

/// Steps of the host after which its program counts as endless.
constexpr std::uint64_t max_steps = 100'000'000;

std::uint64_t counter_bits(const Parameter& p, std::uint64_t iteration) {
  const auto wrapped = static_cast<std::uint64_t>(p.offset) + static_cast<std::uint64_t>(p.scale) * iteration;
  const auto number = static_cast<std::int64_t>(wrapped);
  std::uint64_t bits = wrapped;
  if (ir::is_small_float(p.type)) {
    bits = ir::double_to_small(p.type, static_cast<double>(number), ir::Rounding::rn);
  } else if (p.type == ir::Type::f32) {
    const auto v = static_cast<float>(number);
    bits = 0;
    std::memcpy(&bits, &v, sizeof v);
  } else if (p.type == ir::Type::f64) {
    const auto v = static_cast<double>(number);
    std::memcpy(&bits, &v, sizeof v);
  }
  return bits;
}

}  // namespace

void Device::copy(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  std::vector<std::uint8_t> moved(bytes);
  read(from, moved.data(), bytes);
  write(to, moved.data(), bytes);
}

Program::Program(const LaunchFile& file, Device& device) : file_(file), device_(device) {
  address_.resize(file.buffers.size());
  exists_.resize(file.buffers.size());
  for (std::size_t b = 0; b < file.buffers.size(); ++b) {
    if (!file.buffers[b].from_step) make(b);
  }
  make_textures();
  for (const Global& g : file.globals) {
    const std::uint64_t size = device.variable_bytes(g);
    if (g.contents.fill.init == Init::none) continue;
    const std::vector<std::uint8_t> bytes = variable_contents(file, g, size);
    device.write_variable(g, 0, bytes.data(), bytes.size());
  }
  check_variables();
  for (const Placement& p : file.placements) place(p);
  check_sizes(file.steps);
}

void Program::check_sizes(const std::vector<Step>& steps) const {
  for (const Step& s : steps) {
    check_sizes(s.steps);
    switch (s.kind) {
      case Step::Kind::run:
      case Step::Kind::repeat:
      case Step::Kind::swap:
      case Step::Kind::allocate:
      case Step::Kind::release:
        continue;
      case Step::Kind::loop_while:
      case Step::Kind::fill:
      case Step::Kind::copy:
        break;
    }
    if (s.from.is_array() || s.to.is_array()) {
      check_array_copy(s);
      continue;
    }
    const std::uint64_t bytes = bytes_of(s);
    const auto check = [&](const Memory& m) {
      const std::uint64_t size = size_of(m);
      if (m.offset <= size && bytes <= size - m.offset) return;
      file_.fail(s.where, std::to_string(bytes) + " bytes from byte " + std::to_string(m.offset) + " on, '" +
                              name_of(m) + "' has " + std::to_string(size));
    };
    check(s.kind == Step::Kind::loop_while ? s.flag : s.to);
    if (s.kind == Step::Kind::copy) check(s.from);
    if (s.kind == Step::Kind::fill && bytes % ir::size_of(s.contents.fill.type) != 0) {
      file_.fail(s.where, "the " + std::to_string(bytes) + " bytes of '" + name_of(s.to) + "' are no whole number of " +
                              ir::to_string(s.contents.fill.type) + " elements");
    }
  }
}

void Program::make(std::size_t buffer) {
  const Buffer& b = file_.buffers[buffer];
  // In this order: a size that the device does not have is refused before it is filled.
  address_[buffer] = device_.allocate(b);
  exists_[buffer] = true;
  const Init init = b.contents.fill.init;
  if (init == Init::none || (init == Init::zero && b.from_step)) return;  // zero is what the device gives
  const std::vector<std::uint8_t> bytes = make_contents(file_, b.contents, b.where);
  device_.write(address_[buffer], bytes.data(), bytes.size());
}

void Program::begin(const Step& s) {
  if (exists(s.item)) file_.fail(s.where, text_of(s.item) + " exists already");
  switch (s.item.kind) {
    case Item::Kind::buffer:
      return make(s.item.index);
    case Item::Kind::array:
      return make_array(s.item.index);
    case Item::Kind::texture:
      return make_texture(s.item.index);
    case Item::Kind::surface:
      return make_surface(s.item.index);
  }
}

void Program::end(const Step& s) {
  check_exists(s.item, s.where);
  const std::size_t i = s.item.index;
  switch (s.item.kind) {
    case Item::Kind::buffer:
      device_.release(address_[i]);
      exists_[i] = false;
      break;
    case Item::Kind::array:
      device_.destroy_array(*arrays_[i]);
      arrays_[i].reset();
      break;
    case Item::Kind::texture:
      device_.destroy_texture(file_.textures[i], *textures_[i]);
      textures_[i].reset();
      break;
    case Item::Kind::surface:
      device_.destroy_surface(file_.surfaces[i], *surfaces_[i]);
      surfaces_[i].reset();
      break;
  }
}

bool Program::exists(const Item& item) const {
  switch (item.kind) {
    case Item::Kind::buffer:
      return exists_[item.index];
    case Item::Kind::array:
      return arrays_[item.index].has_value();
    case Item::Kind::texture:
      return textures_[item.index].has_value();
    case Item::Kind::surface:
      break;
  }
  return surfaces_[item.index].has_value();
}

std::string Program::text_of(const Item& item) const {
  switch (item.kind) {
    case Item::Kind::buffer:
      return "buffer '" + file_.buffers[item.index].name + "'";
    case Item::Kind::array:
      return "array '" + file_.arrays[item.index].data.name + "'";
    case Item::Kind::texture:
      return "texture '" + file_.textures[item.index].name + "'";
    case Item::Kind::surface:
      break;
  }
  return "surface '" + file_.surfaces[item.index].name + "'";
}

void Program::check_exists(const Item& item, const Position& where) const {
  if (exists(item)) return;
  const bool is_memory = item.kind == Item::Kind::buffer || item.kind == Item::Kind::array;
  file_.fail(where, text_of(item) + " does not exist here: a step " +
                        (is_memory ? "allocates it later, or has freed it" : "creates it later, or has destroyed it"));
}

void Program::check_exists(const Memory& m, const Position& where) const {
  if (m.is_variable()) return;
  check_exists(Item{m.is_array() ? Item::Kind::array : Item::Kind::buffer, m.index}, where);
}

std::uint64_t Program::size_of(const Memory& m) const {
  return m.is_variable() ? device_.variable_bytes(file_.globals[m.index]) : file_.buffers[m.index].contents.bytes;
}

const std::string& Program::name_of(const Memory& m) const {
  if (m.is_array()) return file_.arrays[m.index].data.name;
  return m.is_variable() ? file_.globals[m.index].name : file_.buffers[m.index].name;
}

std::uint64_t Program::bytes_of(const Step& s) const {
  if (s.bytes != 0) return s.bytes;
  const bool is_flag = s.kind == Step::Kind::loop_while;
  const Memory& whole = is_flag ? s.flag : s.kind == Step::Kind::fill ? s.to : s.from;
  const std::uint64_t size = size_of(whole);
  if (whole.offset >= size) {
    file_.fail(s.where, "'offset' is " + std::to_string(whole.offset) + ", '" + name_of(whole) + "' has " +
                            std::to_string(size) + " bytes");
  }
  return is_flag ? default_flag_bytes(size - whole.offset) : size - whole.offset;
}

void Program::write(const Memory& m, const void* from, std::size_t bytes) {
  if (m.is_variable()) {
    device_.write_variable(file_.globals[m.index], m.offset, from, bytes);
  } else {
    device_.write(address_[m.index] + m.offset, from, bytes);
  }
}

void Program::read(const Memory& m, void* to, std::size_t bytes) const {
  if (m.is_variable()) {
    device_.read_variable(file_.globals[m.index], m.offset, to, bytes);
  } else {
    device_.read(address_[m.index] + m.offset, to, bytes);
  }
}

void Program::run() { run_steps(file_.steps); }

std::vector<std::uint8_t> Program::buffer(std::size_t index) const {
  std::vector<std::uint8_t> bytes(file_.buffers[index].contents.bytes);
  check_exists(Item{Item::Kind::buffer, index}, file_.buffers[index].where);
  device_.read(address_[index], bytes.data(), bytes.size());
  return bytes;
}

std::optional<std::uint64_t> Program::address(std::size_t index) const {
  if (!exists_[index]) return std::nullopt;
  return address_[index];
}

void Program::run_steps(const std::vector<Step>& steps) {
  for (const Step& s : steps) {
    if (++steps_done_ > max_steps) {
      file_.fail(s.where, "the program has run " + std::to_string(max_steps) + " steps and goes on: an endless loop?");
    }
    switch (s.kind) {
      case Step::Kind::run:
        run_launch(file_.launches[s.launch]);
        break;
      case Step::Kind::swap:
        check_exists(Item{Item::Kind::buffer, s.first}, s.where);
        check_exists(Item{Item::Kind::buffer, s.second}, s.where);
        std::swap(address_[s.first], address_[s.second]);
        break;
      case Step::Kind::allocate:
        begin(s);
        break;
      case Step::Kind::release:
        end(s);
        break;
      case Step::Kind::repeat:
        run_repeat(s);
        break;
      case Step::Kind::loop_while:
        run_while(s);
        break;
      case Step::Kind::fill: {
        check_exists(s.to, s.where);
        Contents contents = s.contents;
        contents.bytes = bytes_of(s);
        const std::vector<std::uint8_t> bytes = make_contents(file_, contents, s.where);
        if (s.to.is_array()) {
          device_.write_array(*arrays_[s.to.index], s.to.part, bytes.data());
        } else {
          write(s.to, bytes.data(), bytes.size());
        }
        break;
      }
      case Step::Kind::copy:
        copy(s);
        break;
    }
  }
}

void Program::copy(const Step& s) {
  const std::uint64_t bytes = bytes_of(s);
  check_exists(s.from, s.where);
  check_exists(s.to, s.where);
  if (s.from.is_array() || s.to.is_array()) return copy_with_array(s);
  if (s.from.is_buffer() && s.to.is_buffer()) {
    device_.copy(address_[s.to.index] + s.to.offset, address_[s.from.index] + s.from.offset, bytes);
    return;
  }
  std::vector<std::uint8_t> moved(bytes);
  read(s.from, moved.data(), bytes);
  write(s.to, moved.data(), bytes);
}

void Program::run_repeat(const Step& s) {
  const std::uint64_t times =
      s.formula.empty() ? s.times : value_in(file_, s.formula.front(), counters_, "'repeat'", INT64_MAX);
  for (std::uint64_t i = 0; i < times; ++i) {
    if (!s.counter.empty()) counters_[s.counter] = i;
    run_steps(s.steps);
  }
}

void Program::run_while(const Step& s) {
  const std::uint64_t bytes = bytes_of(s);
  check_exists(s.flag, s.where);
  std::uint64_t flag = 1;
  for (std::uint64_t i = 0; flag != 0; ++i) {
    if (i == s.max) {
      file_.fail(s.where, (s.flag.is_variable() ? "variable '" : "buffer '") + name_of(s.flag) +
                              "' is still not zero after " + std::to_string(s.max) + " rounds ('max')");
    }
    if (!s.counter.empty()) counters_[s.counter] = i;
    flag = 0;
    write(s.flag, &flag, bytes);
    run_steps(s.steps);
    read(s.flag, &flag, bytes);
  }
}

void Program::run_launch(const Launch& l) {
  if (!l.computed.empty()) return device_.launch(computed_launch(file_, l, counters_), parameter_bytes(l));
  device_.launch(l, parameter_bytes(l));
}

ParameterBytes Program::parameter_bytes(const Launch& l) const {
  ParameterBytes parameters;
  for (const Parameter& p : l.parameters) {
    parameters.emplace_back(p.bytes);
    put_parameter(p, parameters.back().data());
  }
  return parameters;
}

void Program::put_parameter(const Parameter& p, std::uint8_t* to) const {
  switch (p.kind) {
    case Parameter::Kind::scalar: {
      const unsigned size = ir::size_of(p.type);
      for (std::size_t n = 0; n < p.bits.size(); ++n) std::memcpy(to + n * size, &p.bits[n], size);
      break;
    }
    case Parameter::Kind::buffer: {
      check_exists(Item{Item::Kind::buffer, p.buffer}, p.where);
      std::uint64_t offset = p.buffer_offset;
      if (!p.formula.empty()) {
        const auto bytes = static_cast<std::int64_t>(file_.buffers[p.buffer].contents.bytes);
        offset = value_in(file_, p.formula.front(), counters_, "'offset'", bytes);
      }
      const std::uint64_t address = address_[p.buffer] + offset;
      std::memcpy(to, &address, sizeof address);
      break;
    }
    case Parameter::Kind::texture:
    case Parameter::Kind::surface: {
      const bool is_texture = p.kind == Parameter::Kind::texture;
      check_exists(Item{is_texture ? Item::Kind::texture : Item::Kind::surface, p.object}, p.where);
      const std::uint64_t handle = is_texture ? *textures_[p.object] : *surfaces_[p.object];
      std::memcpy(to, &handle, sizeof handle);
      break;
    }
    case Parameter::Kind::tensor_map: {
      check_exists(Item{Item::Kind::buffer, p.buffer}, p.where);
      ir::TensorMap map = file_.tensor_maps[p.object];
      map.address += address_[p.buffer];
      const ir::TensorMap::Encoded bytes = map.encode();
      std::memcpy(to, bytes.data(), bytes.size());
      break;
    }
    case Parameter::Kind::counter: {
      const std::uint64_t bits = counter_bits(p, counters_.at(p.counter));
      std::memcpy(to, &bits, ir::size_of(p.type));
      break;
    }
    case Parameter::Kind::expression: {
      const std::uint64_t bits = expression_bits(file_, p, counters_);
      std::memcpy(to, &bits, ir::size_of(p.type));
      break;
    }
    case Parameter::Kind::structure:
      for (const Parameter& m : p.members) put_parameter(m, to + m.at);
      break;
  }
}

std::vector<std::uint8_t> variable_contents(const LaunchFile& file, const Global& g, std::uint64_t bytes) {
  Contents contents = g.contents;
  if (contents.bytes == 0 && contents.fill.init != Init::file) contents.bytes = bytes;
  const auto check_size = [&](std::uint64_t given) {
    if (given <= bytes) return;
    file.fail(g.where,
              std::to_string(given) + " bytes for variable '" + g.name + "', which has " + std::to_string(bytes));
  };
  check_size(contents.bytes);
  if (contents.bytes % ir::size_of(contents.fill.type) != 0) {
    file.fail(g.where, "variable '" + g.symbol + "' of " + std::to_string(bytes) + " bytes is no whole number of " +
                           ir::to_string(contents.fill.type) + " elements");
  }
  std::vector<std::uint8_t> result = make_contents(file, contents, g.where);
  check_size(result.size());
  return result;
}

}  // namespace regatta::launch
