// SPDX-License-Identifier: Apache-2.0
//
// The compression unit at the output of a SIMD unit (aging-aware register file, section 5.1.1): a computing deltas
// module and the five-state machine that drives it (Figures 8 and 9, Table 1). The unit sees a result as it leaves the
// SIMD unit, 16 components per cycle, and knows after the last one whether the register can be stored as a base and two
// deltas.
#pragma once

#include <regatta/aging/delta_code.h>

#include <cstdint>
#include <string>

namespace regatta::models::aging {

class CompressionMachine {
 public:
  /// Components of a sub-wavefront: the lanes of a SIMD unit.
  static constexpr unsigned beat_lanes = 16;

  /// Figure 9. A machine of 32 lanes has two sub-wavefronts: the first and the last of these states.
  enum class State : std::uint8_t { idle, deltas_0, deltas_16, deltas_32, deltas_48 };
  /// Table 1: the signals that the control module enables in a state.
  struct Signals {
    bool write_deltas = false;     ///< Wen_delta: both deltas of this sub-wavefront are stored
    bool write_component = false;  ///< Wen_C: so is the first component of its last block
    bool compare_deltas = false;   ///< comp_deltas: compare with the stored deltas, not with the ones just computed
    bool final_state = false;      ///< final_st: compr is the verdict on the register
    bool write_table = false;      ///< Wen_ct: it goes to the compression table, if compr
  };
  static Signals signals(State s);

  /// The SIMD unit begins to deliver a register of `beats` sub-wavefronts, 2 to 4.
  void start(unsigned beats) {
    state_ = State::deltas_0;
    beats_ = beats;
    done_ = 0;
    compressible_ = false;
  }
  /// A sub-wavefront: 16 components. Returns compr and advances to the next state. In the idle state (an earlier
  /// sub-wavefront was not compressible) the unit is switched off and nothing happens.
  bool beat(const std::uint32_t* components);

  State state() const { return state_; }
  /// After the last sub-wavefront: whether the register is compressible, and its code.
  bool compressible() const { return compressible_; }
  const DeltaCode& code() const { return code_; }
  /// Sub-wavefronts of this register in which the unit was active.
  unsigned beats_worked() const { return done_; }
  /// State and buffers as a line of text.
  std::string describe() const;

 private:
  State after(State s) const;

  State state_ = State::idle;
  unsigned beats_ = 4;
  unsigned done_ = 0;
  bool compressible_ = false;
  DeltaCode code_;
  std::uint32_t element_delta_ = 0;  ///< the buffers behind Wen_delta
  std::uint32_t block_delta_ = 0;
  std::uint32_t component_ = 0;  ///< the buffer behind Wen_C
};

/// Compresses a whole register of `lanes` components, 32 or 64, by sub-wavefronts, until it is known to be
/// incompressible.
inline bool compress(CompressionMachine& unit, const std::uint32_t* components, unsigned lanes) {
  const unsigned beats = lanes / CompressionMachine::beat_lanes;
  unit.start(beats);
  for (unsigned b = 0; b < beats; ++b) {
    if (!unit.beat(components + b * CompressionMachine::beat_lanes)) return false;
  }
  return unit.compressible();
}

}  // namespace regatta::models::aging
