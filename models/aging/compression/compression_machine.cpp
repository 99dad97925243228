// SPDX-License-Identifier: Apache-2.0
#include <regatta/aging/compression_machine.h>

namespace regatta::models::aging {

namespace {

const char* name_of(CompressionMachine::State s) {
  switch (s) {
    case CompressionMachine::State::idle:
      break;
    case CompressionMachine::State::deltas_0:
      return "deltas_0";
    case CompressionMachine::State::deltas_16:
      return "deltas_16";
    case CompressionMachine::State::deltas_32:
      return "deltas_32";
    case CompressionMachine::State::deltas_48:
      return "deltas_48";
  }
  return "idle";
}

}  // namespace

std::string CompressionMachine::describe() const {
  return std::string(name_of(state_)) + " after " + std::to_string(done_) + " of " + std::to_string(beats_) +
         " sub-wavefronts; stored: base " + std::to_string(code_.base) + ", deltas " + std::to_string(element_delta_) +
         " and " + std::to_string(block_delta_) + ", component " + std::to_string(component_);
}

CompressionMachine::Signals CompressionMachine::signals(State s) {
  switch (s) {
    case State::idle:
      break;
    case State::deltas_0:
      return {true, true, false, false, false};
    case State::deltas_16:
    case State::deltas_32:
      return {false, true, true, false, false};
    case State::deltas_48:
      return {false, false, true, true, true};
  }
  return {};
}

CompressionMachine::State CompressionMachine::after(State s) const {
  switch (s) {
    case State::deltas_0:
      return beats_ == 2 ? State::deltas_48 : State::deltas_16;
    case State::deltas_16:
      return beats_ == 3 ? State::deltas_48 : State::deltas_32;
    case State::deltas_32:
      return State::deltas_48;
    case State::idle:
    case State::deltas_48:
      break;
  }
  return State::idle;
}

bool CompressionMachine::beat(const std::uint32_t* c) {
  if (state_ == State::idle) return false;
  const Signals enable = signals(state_);
  ++done_;
  // The subtractors: 14 differences within the two blocks, and one or two between first components.
  const std::uint32_t element = c[1] - c[0];
  const std::uint32_t block = c[block_size] - c[0];
  const std::uint32_t to_element = enable.compare_deltas ? element_delta_ : element;
  const std::uint32_t to_block = enable.compare_deltas ? block_delta_ : block;
  std::uint32_t different = block ^ to_block;
  if (enable.compare_deltas) different |= (c[0] - component_) ^ to_block;
  for (unsigned i = 0; i + 1 < block_size; ++i) {
    different |= ((c[i + 1] - c[i]) ^ to_element) | ((c[block_size + i + 1] - c[block_size + i]) ^ to_element);
  }
  const bool compr = different == 0 && is_delta(to_element) && is_delta(to_block);
  if (enable.write_deltas) {
    code_.base = c[0];
    element_delta_ = element;
    block_delta_ = block;
  }
  if (enable.write_component) component_ = c[block_size];
  if (enable.final_state && enable.write_table && compr) {
    compressible_ = true;
    code_.element = encode_delta(element_delta_);
    code_.block = encode_delta(block_delta_);
  }
  state_ = compr ? after(state_) : State::idle;
  return compr;
}

}  // namespace regatta::models::aging
