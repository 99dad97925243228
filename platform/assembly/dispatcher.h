// SPDX-License-Identifier: Apache-2.0
//
// The GPU's CTA dispatcher: hands out the CTAs of the running launch in grid order to whichever SM asks.
#pragma once

#include <regatta/sm/cta_source.h>
#include <regatta/trace/file.h>

#include <memory>

namespace regatta::assembly {

class CtaDispatcher : public sc_core::sc_module, public sm::CtaSource {
 public:
  CtaDispatcher(const sc_core::sc_module_name& name, const trace::Reader& trace)
      : sc_module(name), stream_(trace.stream(0, trace.ctas().size())) {}

  /// The next launch's CTAs follow in the stream.
  void begin(std::uint64_t ctas) {
    waiting_ = ctas;
    unfinished_ = ctas;
  }
  std::uint64_t unfinished() const { return unfinished_; }

  std::uint64_t waiting() const override { return waiting_; }
  std::shared_ptr<const trace::Cta> take() override {
    if (waiting_ == 0) return nullptr;
    --waiting_;
    return stream_->next();
  }
  void finished() override { --unfinished_; }

 private:
  std::unique_ptr<trace::Reader::Stream> stream_;
  std::uint64_t waiting_ = 0;
  std::uint64_t unfinished_ = 0;
};

}  // namespace regatta::assembly
