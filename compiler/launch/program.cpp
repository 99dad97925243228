// SPDX-License-Identifier: Apache-2.0
#include <regatta/ir/half.h>
#include <regatta/launch/program.h>

#include <cstring>
#include <utility>

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

Program::Program(const LaunchFile& file, Device& device) : file_(file), device_(device) {
  for (const Buffer& b : file.buffers) {
    // In this order: a size that the device does not have is refused before it is filled.
    address_.push_back(device.allocate(b));
    if (b.contents.fill.init == Init::none) continue;
    const std::vector<std::uint8_t> bytes = make_contents(file, b.contents, b.where);
    device.write(address_.back(), bytes.data(), bytes.size());
  }
}

void Program::run() { run_steps(file_.steps); }

std::vector<std::uint8_t> Program::buffer(std::size_t index) const {
  std::vector<std::uint8_t> bytes(file_.buffers[index].contents.bytes);
  device_.read(address_[index], bytes.data(), bytes.size());
  return bytes;
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
        std::swap(address_[s.first], address_[s.second]);
        break;
      case Step::Kind::repeat:
        for (std::uint64_t i = 0; i < s.times; ++i) {
          if (!s.counter.empty()) counters_[s.counter] = i;
          run_steps(s.steps);
        }
        break;
      case Step::Kind::loop_while:
        run_while(s);
        break;
    }
  }
}

void Program::run_while(const Step& s) {
  std::uint32_t flag = 1;
  for (std::uint64_t i = 0; flag != 0; ++i) {
    if (i == s.max) {
      file_.fail(s.where, "buffer '" + file_.buffers[s.flag].name + "' is still not zero after " +
                              std::to_string(s.max) + " rounds ('max')");
    }
    if (!s.counter.empty()) counters_[s.counter] = i;
    flag = 0;
    device_.write(address_[s.flag], &flag, sizeof flag);
    run_steps(s.steps);
    device_.read(address_[s.flag], &flag, sizeof flag);
  }
}

void Program::run_launch(const Launch& l) {
  ParameterBytes parameters;
  for (const Parameter& p : l.parameters) {
    parameters.emplace_back(p.bytes);
    put_parameter(p, parameters.back().data());
  }
  device_.launch(l, parameters);
}

void Program::put_parameter(const Parameter& p, std::uint8_t* to) const {
  switch (p.kind) {
    case Parameter::Kind::scalar: {
      const unsigned size = ir::size_of(p.type);
      for (std::size_t n = 0; n < p.bits.size(); ++n) std::memcpy(to + n * size, &p.bits[n], size);
      break;
    }
    case Parameter::Kind::buffer: {
      const std::uint64_t address = address_[p.buffer] + p.buffer_offset;
      std::memcpy(to, &address, sizeof address);
      break;
    }
    case Parameter::Kind::counter: {
      const std::uint64_t bits = counter_bits(p, counters_.at(p.counter));
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
    file.fail(g.where, "variable '" + g.name + "' of " + std::to_string(bytes) + " bytes is no whole number of " +
                           ir::to_string(contents.fill.type) + " elements");
  }
  std::vector<std::uint8_t> result = make_contents(file, contents, g.where);
  check_size(result.size());
  return result;
}

}  // namespace regatta::launch
