// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <regatta/support/config.h>

#include <string>

#include "sample_config.h"
#include "thrown.h"

/// The sample configuration and its options.
struct SampleOptions {
  SampleConfig config;
  regatta::support::OptionSet options;
  SampleOptions() { config.declare(options); }
  std::string refusal(const std::string& name, const std::string& text, const std::string& place = "command line") {
    return thrown([&] { options.set(name, text, "command line", place); });
  }
  std::string toml_refusal(const std::string& text) {
    return thrown([&] { options.load_toml(text, "my.toml", "file"); });
  }
};
