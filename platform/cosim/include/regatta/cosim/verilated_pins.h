// SPDX-License-Identifier: Apache-2.0
//
// The part of Pins that all Verilated top modules have in common: clk, rst_n, req_valid, req_ready, rsp_valid,
// rsp_ready, and the waveform. Needs Verilator's headers; a binding adds the pins of requests and answers.
#pragma once

#ifdef VERILATOR_VERILATED_H_
#error "include <regatta/cosim/verilated_pins.h> before the headers of Verilator's classes"
#endif

#include <regatta/cosim/pins.h>
// Plain C++ (--cc), also where SystemC was included before: Verilator's headers then ask SystemC for the time, unlike
// in the files that Verilator made.
#pragma push_macro("SYSTEMC_VERSION")
#undef SYSTEMC_VERSION
#include <verilated.h>
#include <verilated_fst_c.h>
#include <verilated_save.h>
#pragma pop_macro("SYSTEMC_VERSION")

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace regatta::cosim {

/// Verilator's stream of a state, into memory. One is used again and again: it has a buffer of 256 KB.
class StateWriter final : public VerilatedSerialize {
 public:
  ~StateWriter() override = default;
  template <class Top>
  void save(Top& top, std::string& state) {
    state.clear();
    state_ = &state;
    m_isOpen = true;
    *this << top;
    flush();
    m_isOpen = false;
  }
  void flush() override {
    state_->append(reinterpret_cast<const char*>(m_bufp), static_cast<std::size_t>(m_cp - m_bufp));
    m_cp = m_bufp;
  }

 private:
  std::string* state_ = nullptr;
};
class StateReader final : public VerilatedDeserialize {
 public:
  ~StateReader() override = default;
  template <class Top>
  void restore(Top& top, const std::string& state) {
    rest_ = &state;
    m_isOpen = true;
    m_cp = m_endp = m_bufp;
    fill();
    *this >> top;
    m_isOpen = false;
  }
  void fill() override {
    // What is not read yet moves to the front.
    uint8_t* end = std::copy(m_cp, m_endp, m_bufp);
    const std::size_t count =
        std::min<std::size_t>(static_cast<std::size_t>(m_bufp + bufferSize() - end), rest_->size() - taken_);
    end = std::copy_n(reinterpret_cast<const uint8_t*>(rest_->data()) + taken_, count, end);
    taken_ += count;
    m_cp = m_bufp;
    m_endp = end;
  }

 private:
  const std::string* rest_ = nullptr;
  std::size_t taken_ = 0;
};

/// Whether `Top` was made with --savable, which regatta_verilate() does.
template <class Top, class = void>
struct IsSavable : std::false_type {};
template <class Top>
struct IsSavable<Top, std::void_t<decltype(std::declval<VerilatedSerialize&>() << std::declval<Top&>())>>
    : std::true_type {};

/// Include this header before that of `Top`, the class that `verilator --cc --trace-fst` made.
template <class Top, class Request, class Answer>
class VerilatedPins : public Pins<Request, Answer> {
 public:
  explicit VerilatedPins(bool recorded) : recorded_(recorded) {
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
    if (trace_ != nullptr && cycle_ != 0) trace_->dump(10 * cycle_ - 5);  // a waveform begins at time 0
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
  bool save(std::string& state) final {
    if constexpr (IsSavable<Top>::value) {
      if (writer_ == nullptr) writer_ = std::make_unique<StateWriter>();
      writer_->save(*top_, state);
    }
    return IsSavable<Top>::value;
  }
  bool restore(const std::string& state) final {
    if constexpr (IsSavable<Top>::value) StateReader().restore(*top_, state);
    context_.traceEverOn(recorded_);  // the other instance's answer was restored as well
    return IsSavable<Top>::value;
  }

 protected:
  Top& top() { return *top_; }
  const Top& top() const { return *top_; }

 private:
  const bool recorded_;
  VerilatedContext context_;
  std::unique_ptr<Top> top_;
  std::unique_ptr<VerilatedFstC> trace_;
  std::unique_ptr<StateWriter> writer_;
  std::uint64_t cycle_ = 0;
};

}  // namespace regatta::cosim
