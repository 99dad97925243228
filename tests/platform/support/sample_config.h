// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <regatta/support/config.h>

#include <string>

/// A configuration with one knob of every type.
struct SampleConfig {
  unsigned mshrs = 32;
  std::uint64_t bytes = 49152;
  bool write_back = false;
  double scale = 1.5;
  std::string scheduler = "gto";
  std::string trace_name;

  void declare(regatta::support::OptionSet& o) {
    o.add("l1.mshrs", mshrs, "entries", "misses in flight", 1, 1024);
    o.add("l1.bytes", bytes, "bytes", "capacity", 1);
    o.add("l1.write_back", write_back, "keep dirty lines");
    o.add("energy.scale", scale, "pJ", "scale of the read energy");
    o.add("issue.scheduler", scheduler, "which ready warp goes first", {"lrr", "gto", "two_level"});
    o.add("record.pipeline.file", trace_name, "where the pipeline view goes");
  }
};
