// SPDX-License-Identifier: Apache-2.0
#include <regatta/cosim/lockstep.h>
#include <regatta/regless/compressor_twins.h>

namespace regatta::models {

namespace {

using protocol::LookupTarget;

// The compressor sends at most one request a cycle to each unit.
constexpr unsigned open_requests = 64;

void check_latency(const char* knob, unsigned latency, unsigned most) {
  if (latency >= 1 && latency <= most) return;
  throw support::ConfigError("configuration: compressor.implementation is one in RTL, and " + std::string(knob) +
                             " = " + std::to_string(latency) + "; expected 1 to " + std::to_string(most) +
                             ", the latencies that it is built for");
}

template <class Request, class Answer>
using Twin = cosim::Transactor<Request, Answer>;
template <class Request, class Answer>
using PinsOf = std::function<cosim::PinsFactory<Request, Answer>(unsigned latency)>;

template <class Request, class Answer>
std::unique_ptr<Twin<Request, Answer>> twin(const std::string& name, const CompressorUnitsConfig& c, unsigned window,
                                            cosim::PinsFactory<Request, Answer> pins) {
  cosim::TransactorConfig config;
  config.window = window;
  config.waveform = c.waveform;
  config.refuse_answers = c.refuse_answers;
  return std::make_unique<Twin<Request, Answer>>(name.c_str(), config, *c.clock, std::move(pins));
}

// Each of the following adds the modules of one unit and returns the user's port.

template <class Model, class Request, class Answer>
LookupTarget<Request, Answer>* modelled(const std::string& name, CompressorUnits& units) {
  auto model = std::make_unique<Model>(name.c_str());
  LookupTarget<Request, Answer>* const port = &model->lookups;
  units.modules.push_back(std::move(model));
  return port;
}

template <class Model, class Request, class Answer>
LookupTarget<Request, Answer>* replaced(const std::string& name, const CompressorUnitsConfig& c, unsigned latency,
                                        const PinsOf<Request, Answer>& pins, CompressorUnits& units) {
  if (pins == nullptr) return modelled<Model, Request, Answer>(name, units);
  auto rtl = twin<Request, Answer>(name, c, 0, pins(latency));
  LookupTarget<Request, Answer>* const port = &rtl->lookups;
  units.modules.push_back(std::move(rtl));
  return port;
}

template <class Model, class Request, class Answer>
LookupTarget<Request, Answer>* compared(const std::string& name, const CompressorUnitsConfig& c, unsigned latency,
                                        bool check_latency, const PinsOf<Request, Answer>& pins,
                                        CompressorUnits& units) {
  if (pins == nullptr) return modelled<Model, Request, Answer>(name, units);
  auto rtl = twin<Request, Answer>(name + "_rtl", c, c.window, pins(latency));
  auto model = std::make_unique<Model>(name.c_str());
  cosim::LockstepConfig config;
  config.latency = check_latency && c.refuse_answers == 0 ? latency : 0;
  config.open = open_requests;
  config.waveform = c.waveform;
  auto both = std::make_unique<cosim::Lockstep<Request, Answer>>((name + "_lockstep").c_str(), config, *c.clock,
                                                                 model->lookups, *rtl);
  LookupTarget<Request, Answer>* const port = &both->lookups;
  units.modules.push_back(std::move(rtl));
  units.modules.push_back(std::move(model));
  units.modules.push_back(std::move(both));
  return port;
}

}  // namespace

CompressorImplementation rtl_units(MatcherRtl matcher, ExpanderRtl expander, unsigned latencies) {
  CompressorImplementation made;
  made.validate = [m = matcher != nullptr, e = expander != nullptr, latencies](const CompressorUnitsConfig& c) {
    if (latencies == 0) return;
    if (m) check_latency("compressor.match_latency", c.match_latency, latencies);
    if (e) check_latency("compressor.expand_latency", c.expand_latency, latencies);
  };
  made.make = [matcher = std::move(matcher), expander = std::move(expander)](const CompressorUnitsConfig& c) {
    const std::string number = std::to_string(c.shard);
    CompressorUnits units;
    units.matcher = replaced<PatternMatcher>("matcher" + number, c, c.match_latency, matcher, units);
    units.expander = replaced<PatternExpander>("expander" + number, c, c.expand_latency, expander, units);
    return units;
  };
  return made;
}

CompressorImplementation lockstep_units(MatcherRtl matcher, ExpanderRtl expander, unsigned latencies) {
  CompressorImplementation made = rtl_units(matcher, expander, latencies);
  made.make = [matcher = std::move(matcher), expander = std::move(expander),
               check = latencies != 0](const CompressorUnitsConfig& c) {
    const std::string number = std::to_string(c.shard);
    CompressorUnits units;
    units.matcher = compared<PatternMatcher>("matcher" + number, c, c.match_latency, check, matcher, units);
    units.expander = compared<PatternExpander>("expander" + number, c, c.expand_latency, check, expander, units);
    return units;
  };
  return made;
}

}  // namespace regatta::models
