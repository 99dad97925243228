// SPDX-License-Identifier: Apache-2.0
//
// What is needed for the waveform of the last cycles of a block in RTL, without a trace of the whole run.
#pragma once

#include <regatta/cosim/pins.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace regatta::cosim {

/// The inputs of one clock cycle.
template <class Request>
struct PinCycle {
  std::uint64_t cycle = 0;  ///< the number of the cycle that its edge begins
  bool reset = false, valid = false, ready = false;
  Request request{};
};

/// Keeps the inputs of the last cycles, and the block's state at the beginning of them. A waveform is made by a fresh
/// instance that starts from that state. A block that cannot save its state starts from its reset: what happened before
/// the first of these cycles is missing.
template <class Request, class Answer>
class PinRecorder {
 public:
  /// `window`: cycles of a waveform at least (as far as the run has them); 0: none are kept.
  PinRecorder(PinsFactory<Request, Answer> factory, unsigned window, unsigned reset_cycles)
      : factory_(std::move(factory)), window_(window), reset_cycles_(reset_cycles), log_(2 * std::size_t{window}) {}

  std::unique_ptr<Pins<Request, Answer>> make(bool recorded) const {
    std::unique_ptr<Pins<Request, Answer>> pins = factory_(recorded);
    for (unsigned i = 0; i < reset_cycles_; ++i) apply(*pins, PinCycle<Request>{0, true, false, false, {}});
    return pins;
  }
  /// The inputs of the next edge, before it is made.
  void note(Pins<Request, Answer>& pins, std::uint64_t cycle, bool reset, const Request* request, bool ready) {
    if (window_ != 0) {
      if (edges_ % window_ == 0) {
        older_ = std::exchange(newer_, Checkpoint{edges_, false, {}});
        newer_.saved = pins.save(newer_.state);
      }
      PinCycle<Request>& c = log_[edges_ % log_.size()];
      c.cycle = cycle;
      c.reset = reset;
      c.valid = request != nullptr;
      c.ready = ready;
      if (request != nullptr) c.request = *request;
    }
    ++edges_;
  }
  std::uint64_t edges() const { return edges_; }

  /// Writes the waveform and returns what to tell the user.
  std::string write(const std::string& path) const {
    if (window_ == 0) return "no waveform (its window is 0 cycles)";
    const std::unique_ptr<Pins<Request, Answer>> pins = make(true);
    const Checkpoint& from = edges_ > window_ ? older_ : newer_;
    const bool restored = from.edge != 0 && from.saved && pins->restore(from.state);
    if (!pins->record(path)) return "no waveform (cannot write " + path + ")";
    PinCycle<Request> last;
    for (std::uint64_t n = from.edge; n != edges_; ++n) {
      last = log_[n % log_.size()];
      apply(*pins, last);
    }
    last.valid = false;
    last.ready = true;
    for (unsigned i = 0; i < 4; ++i) {
      ++last.cycle;
      apply(*pins, last);
    }
    return "waveform of the last " + std::to_string(edges_ - from.edge) + " clock cycles: " + path +
           " (cycle c is time 10 x c)" +
           (from.edge != 0 && !restored ? "; what was in the block before is missing" : "");
  }

 private:
  struct Checkpoint {
    std::uint64_t edge = 0;
    bool saved = false;
    std::string state;
  };

  static void apply(Pins<Request, Answer>& pins, const PinCycle<Request>& c) {
    pins.drive_reset(c.reset);
    pins.drive_request(c.valid ? &c.request : nullptr);
    pins.drive_answer_ready(c.ready);
    pins.name_cycle(c.cycle);
    pins.settle();
    pins.edge();
  }

  PinsFactory<Request, Answer> factory_;
  const unsigned window_, reset_cycles_;
  std::vector<PinCycle<Request>> log_;  ///< of edge n at n % size
  std::uint64_t edges_ = 0;
  Checkpoint older_, newer_;  ///< before edges that are multiples of the window
};

}  // namespace regatta::cosim
