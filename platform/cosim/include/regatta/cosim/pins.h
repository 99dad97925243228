// SPDX-License-Identifier: Apache-2.0
//
// The pins of a block in RTL that answers requests: a request channel, an answer channel, a clock and a reset.
// platform/cosim/README.md states the protocol.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace regatta::cosim {

/// One instance of a block. A binding implements it for each top module; VerilatedPins has the common part.
template <class Request, class Answer>
class Pins {
 public:
  virtual ~Pins() = default;
  /// Inputs. They take effect at the next settle().
  virtual void drive_reset(bool asserted) = 0;
  /// Null: req_valid is low.
  virtual void drive_request(const Request* request) = 0;
  virtual void drive_answer_ready(bool ready) = 0;
  /// Outputs follow the inputs; the clock is low.
  virtual void settle() = 0;
  /// A rising edge. The outputs that follow state alone (rsp_*) are up to date behind it.
  virtual void edge() = 0;
  virtual bool request_ready() const = 0;
  virtual bool answer_valid() const = 0;
  virtual void read_answer(Answer& answer) const = 0;
  /// Records a waveform from now on, with time 10 x cycle at the rising edge that begins `cycle`. False: this instance
  /// cannot, or not at that path.
  virtual bool record(const std::string& /*path*/) { return false; }
  /// Writes the whole state, between two edges, to `state`; false: this instance cannot.
  virtual bool save(std::string& /*state*/) { return false; }
  /// Takes over a state that another instance of the block has saved.
  virtual bool restore(const std::string& /*state*/) { return false; }
  /// The number of the cycle that the next edge begins, for the waveform.
  virtual void name_cycle(std::uint64_t /*cycle*/) {}
};

/// Makes an instance; `recorded`: one whose waveform will be written.
template <class Request, class Answer>
using PinsFactory = std::function<std::unique_ptr<Pins<Request, Answer>>(bool recorded)>;

}  // namespace regatta::cosim
