// SPDX-License-Identifier: Apache-2.0
#include <regatta/cosim/lockstep.h>
#include <regatta/models/compressor_rtl/compressor_pins.h>
#include <regatta/models/compressor_rtl/compressor_rtl.h>

#include "expander_rtl1.h"
#include "expander_rtl2.h"
#include "expander_rtl3.h"
#include "matcher_rtl1.h"
#include "matcher_rtl2.h"
#include "matcher_rtl3.h"

namespace regatta::models {

namespace {

using protocol::LookupTarget;

// The compressor sends at most one request a cycle to each unit, and the units take one a cycle.
constexpr unsigned open_requests = 64;

void check_latency(const char* knob, unsigned latency) {
  if (latency >= 1 && latency <= rtl_latencies) return;
  throw support::ConfigError("configuration: compressor.implementation is one in RTL, and " + std::string(knob) +
                             " = " + std::to_string(latency) + "; expected 1 to " + std::to_string(rtl_latencies) +
                             ", the latencies that it is built for");
}

void check_latencies(const CompressorUnitsConfig& c) {
  check_latency("compressor.match_latency", c.match_latency);
  check_latency("compressor.expand_latency", c.expand_latency);
}

template <class Request, class Answer>
using Twin = cosim::Transactor<Request, Answer>;

template <class Request, class Answer>
std::unique_ptr<Twin<Request, Answer>> twin(const std::string& name, const CompressorUnitsConfig& c, unsigned window,
                                            cosim::PinsFactory<Request, Answer> pins) {
  cosim::TransactorConfig config;
  config.window = window;
  return std::make_unique<Twin<Request, Answer>>(name.c_str(), config, c.clock_period, std::move(pins));
}

// Adds model, twin and comparison of one unit; the user's port.
template <class Model, class Request, class Answer>
LookupTarget<Request, Answer>* compared(const std::string& name, const CompressorUnitsConfig& c, unsigned latency,
                                        cosim::PinsFactory<Request, Answer> pins, CompressorUnits& units) {
  auto rtl = twin<Request, Answer>(name + "_rtl", c, c.window, std::move(pins));
  auto model = std::make_unique<Model>(name.c_str());
  cosim::LockstepConfig config;
  config.latency = latency;
  config.open = open_requests;
  config.waveform = c.waveform;
  auto both = std::make_unique<cosim::Lockstep<Request, Answer>>((name + "_lockstep").c_str(), config, c.clock_period,
                                                                 model->lookups, *rtl);
  LookupTarget<Request, Answer>* const port = &both->lookups;
  units.modules.push_back(std::move(rtl));
  units.modules.push_back(std::move(model));
  units.modules.push_back(std::move(both));
  return port;
}

}  // namespace

MatcherPinsFactory matcher_rtl(unsigned latency) {
  return latency == 1   ? matcher_pins_of<matcher_rtl1>()
         : latency == 2 ? matcher_pins_of<matcher_rtl2>()
                        : matcher_pins_of<matcher_rtl3>();
}

ExpanderPinsFactory expander_rtl(unsigned latency) {
  return latency == 1   ? expander_pins_of<expander_rtl1>()
         : latency == 2 ? expander_pins_of<expander_rtl2>()
                        : expander_pins_of<expander_rtl3>();
}

CompressorImplementation rtl_units(std::function<MatcherPinsFactory(unsigned)> matcher,
                                   std::function<ExpanderPinsFactory(unsigned)> expander) {
  return {check_latencies, [matcher = std::move(matcher), expander = std::move(expander)](const auto& c) {
            const std::string number = std::to_string(c.shard);
            auto m = twin("matcher" + number, c, 0, matcher(c.match_latency));
            auto e = twin("expander" + number, c, 0, expander(c.expand_latency));
            CompressorUnits units;
            units.matcher = &m->lookups;
            units.expander = &e->lookups;
            units.modules.push_back(std::move(m));
            units.modules.push_back(std::move(e));
            return units;
          }};
}

CompressorImplementation lockstep_units(std::function<MatcherPinsFactory(unsigned)> matcher,
                                        std::function<ExpanderPinsFactory(unsigned)> expander) {
  return {check_latencies, [matcher = std::move(matcher), expander = std::move(expander)](const auto& c) {
            const std::string number = std::to_string(c.shard);
            CompressorUnits units;
            units.matcher =
                compared<PatternMatcher>("matcher" + number, c, c.match_latency, matcher(c.match_latency), units);
            units.expander =
                compared<PatternExpander>("expander" + number, c, c.expand_latency, expander(c.expand_latency), units);
            return units;
          }};
}

void add_compressor_rtl() {
  compressor_implementations()["rtl"] = rtl_units(matcher_rtl, expander_rtl);
  compressor_implementations()["lockstep"] = lockstep_units(matcher_rtl, expander_rtl);
}

}  // namespace regatta::models
