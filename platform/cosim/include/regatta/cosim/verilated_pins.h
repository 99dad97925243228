// SPDX-License-Identifier: Apache-2.0
//
// The part of Pins that all Verilated top modules have in common: clk, rst_n, req_valid, req_ready, rsp_valid,
// rsp_ready, and the waveform. Needs Verilator's headers; a binding adds the pins of requests and answers.
#pragma once

#include <regatta/cosim/pins.h>
// Plain C++ (--cc), also where SystemC was included before: Verilator's headers then ask SystemC for the time, unlike
// in the files that Verilator made.
#pragma push_macro("SYSTEMC_VERSION")
#undef SYSTEMC_VERSION
#include <verilated.h>
#include <verilated_fst_c.h>
#pragma pop_macro("SYSTEMC_VERSION")

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

namespace regatta::cosim {

/// Include this header before that of `Top`, the class that `verilator --cc --trace-fst` made.
template <class Top, class Request, class Answer>
class VerilatedPins : public Pins<Request, Answer> {
 public:
  explicit VerilatedPins(bool recorded) {
    context_.traceEverOn(recorded);
    top_ = std::make_unique<Top>(&context_, "rtl");
  }
  ~VerilatedPins() override {
    if (trace_ != nullptr) trace_->close();
    top_->final();
  }
  void drive_reset(bool asserted) final { top_->rst_n = !asserted; }
  void drive_answer_ready(bool ready) final { top_->rsp_ready = ready; }
  void settle() final {
    top_->clk = 0;
    top_->eval();
    if (trace_ != nullptr) trace_->dump(10 * cycle_ - 5);
  }
  void edge() final {
    top_->clk = 1;
    top_->eval();
    if (trace_ != nullptr) trace_->dump(10 * cycle_);
  }
  bool request_ready() const final { return top_->req_ready != 0; }
  bool answer_valid() const final { return top_->rsp_valid != 0; }
  bool record(const std::string& path) final {
    // Verilator ends the program if it cannot write.
    if (!std::ofstream(path)) return false;
    trace_ = std::make_unique<VerilatedFstC>();
    top_->trace(trace_.get(), 99);
    trace_->open(path.c_str());
    return trace_->isOpen();
  }
  void name_cycle(std::uint64_t cycle) final { cycle_ = cycle; }

 protected:
  Top& top() { return *top_; }
  const Top& top() const { return *top_; }

 private:
  VerilatedContext context_;
  std::unique_ptr<Top> top_;
  std::unique_ptr<VerilatedFstC> trace_;
  std::uint64_t cycle_ = 0;
};

}  // namespace regatta::cosim
