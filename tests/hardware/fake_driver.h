// SPDX-License-Identifier: Apache-2.0
//
// A driver for tests: its memory is this process's, its kernels are functions of this file's user. It checks how it is
// called and can be told to fail.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cuda_driver.h"

namespace regatta::hardware {

/// What a fake kernel gets: addresses are those of host memory.
struct FakeLaunch {
  unsigned grid = 0;   ///< x
  unsigned block = 0;  ///< x
  void** parameters = nullptr;
};

struct FakeDevice {
  std::map<std::string, std::function<void(const FakeLaunch&)>> kernels;
  std::map<std::string, std::vector<unsigned char>> variables;
  CudaResult load_result = 0;  ///< what loading a module returns
  int gpus = 1;
  int allocations = 0;  ///< not freed
  int modules = 0;      ///< not unloaded
  int contexts = 0;     ///< not released
};

/// The state behind fake_driver(); a test sets it up anew.
FakeDevice& fake_device();

/// Entry points that work on fake_device().
CudaDriver fake_driver();

}  // namespace regatta::hardware
