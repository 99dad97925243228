// SPDX-License-Identifier: Apache-2.0
#include <regatta/recorders/timeline.h>

#include <algorithm>

namespace regatta::recorders {

Timeline::Timeline(const std::string& path, const Options& options)
    : file_(path, options.cycles),
      options_(options),
      run_(file_.add_process("run (1 ns = 1 cycle)", 999)),
      run_counters_(file_.add_track(run_, "counters", 1)),
      launches_(file_, run_, "launches", 0) {}

TimelineRecorder& Timeline::add_sm(const TimelineRecorder::Shape& shape, const support::ClockDomain& clock) {
  auto& sm = sms_["sm" + std::to_string(shape.sm)];
  sm = std::make_unique<TimelineRecorder>(file_, shape, options_.ctas, clock);
  return *sm;
}

void Timeline::launch(std::uint64_t now, std::uint32_t index, const trace::Kernel& kernel,
                      const trace::Launch& launch) {
  launches_.close(now + 1);
  launches_.open(now + 1, kernel.name,
                 {{"launch", index},
                  {"CTAs", launch.cta_count},
                  {"threads per CTA", launch.threads_per_cta()},
                  {"registers per thread", kernel.registers_per_thread},
                  {"shared bytes per CTA", launch.shared_bytes_per_cta},
                  {"clock MHz", options_.clock_mhz}});
}

TimelineFile::Track Timeline::describe(const support::CounterIncrements::Counter& counter, unsigned rank) {
  const std::string& path = counter.group->path();
  TimelineFile::Track& module = modules_[path];
  if (module == 0) {
    const std::string sm = path.substr(0, path.find('.'));
    const auto recorder = counter.within_sm.empty() ? sms_.end() : sms_.find(sm);
    // Behind the counters that an SM's recorder has.
    const auto after = static_cast<unsigned>(modules_.size()) + 1;
    module = recorder == sms_.end() ? file_.add_track(run_counters_, path, after)
                                    : file_.add_track(recorder->second->counters(), counter.within_sm, after);
  }
  return file_.add_counter(module, counter.stat->name, counter.stat->unit, rank);
}

void Timeline::sample(std::uint64_t cycle) {
  const std::uint64_t from = sampled_;
  sampled_ = cycle + 1;
  counters_->next();
  const auto& counters = counters_->all();
  tracks_.resize(counters.size());
  for (std::size_t i = 0; i < counters.size(); ++i) {
    CounterTrack& t = tracks_[i];
    const std::uint64_t value = counters[i].increment;
    const bool changed = counters[i].is_maximum ? value != t.shown : value != 0 || !t.is_zero;
    if (!changed || !file_.shows(from, sampled_)) continue;
    if (t.track == 0) t.track = describe(counters[i], static_cast<unsigned>(i));
    file_.set(t.track, from, static_cast<std::int64_t>(value));
    t.is_zero = value == 0;
    t.shown = value;
  }
  for (auto& [name, sm] : sms_) sm->sample(from, sampled_);
  file_.flush();
}

void Timeline::finish(std::uint64_t now) {
  launches_.close(now + 1);
  // The last interval, which the end of the run cuts short.
  if (counters_ && now >= sampled_) sample(now);
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    // What was counted last does not go on.
    if (!counters_->all()[i].is_maximum && !tracks_[i].is_zero) file_.set(tracks_[i].track, sampled_, std::int64_t{0});
  }
  for (auto& [name, sm] : sms_) sm->finish(now + 1);
  file_.finish();
}

bool Timeline::empty() const {
  return std::all_of(sms_.begin(), sms_.end(), [](const auto& sm) { return sm.second->empty(); });
}

}  // namespace regatta::recorders
