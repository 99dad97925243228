// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <regatta/support/config.h>

#include <string>

/// The message of the ConfigError that `action` throws, or a text that no message equals.
template <typename Action>
std::string thrown(Action action) {
  try {
    action();
  } catch (const regatta::support::ConfigError& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}
