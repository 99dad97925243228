// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/base/input_file.h>
#include <regatta/launch/launch_file.h>

namespace regatta::launch {

/// What `read` returns; what it throws names the place that asked for the file.
template <class Read>
auto at_place(const LaunchFile& launch, const Position& where, Read read) {
  try {
    return read();
  } catch (const base::InputError& e) {
    launch.fail(where, e.what());
  }
}

}  // namespace regatta::launch
