// SPDX-License-Identifier: Apache-2.0
#include "setting.h"

namespace regatta::assembly {

Setting setting_of(const Scheme& scheme, const std::string& machine) {
  Setting s;
  const std::optional<Published> published = scheme.published();
  if (published) s.published = published->machine;
  s.as_published = published && machine.empty();
  if (s.as_published) s.of = *published;
  s.machine = !machine.empty() ? machine : s.as_published ? s.of.machine : usual_machine;
  return s;
}

void Setting::apply(support::OptionSet& knobs, const std::string& scheme) const {
  for (const auto& [name, value] : of.knobs) knobs.set(name, value, "paper", "scheme " + scheme + ", as published");
}

std::string Setting::told(const Scheme& scheme) const {
  if (as_published) {
    std::string text = ", as published" + (of.source.empty() ? "" : " (" + of.source + ")");
    const char* before = ": ";
    for (const auto& [name, value] : of.knobs) {
      text += before + name + " = " + value;
      before = ", ";
    }
    return text;
  }
  if (!published.empty() && published != machine) return " (" + scheme.name() + " is published on " + published + ")";
  return "";
}

std::string Setting::for_baseline() const {
  if (!as_published) return "";
  MachineConfig config;
  support::OptionSet of_machine;
  config.declare(of_machine);
  std::string text = "--machine " + machine;
  for (const auto& [name, value] : of.knobs) {
    if (of_machine.find(name) != nullptr) text += " --" + name + " " + value;
  }
  return text;
}

}  // namespace regatta::assembly
