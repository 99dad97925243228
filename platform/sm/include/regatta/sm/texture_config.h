// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/config.h>

namespace regatta::sm {

/// The texture units of an SM, and its texture cache, where it has one: set-associative, LRU, read-only, with sectors.
/// Without one, fetches go to the L1 as requests of class `texture` (l1.texture_policy).
struct TextureConfig {
  unsigned lanes = 4;     ///< lanes whose texels are addressed per cycle; of a filter in three dimensions half as many
  unsigned latency = 40;  ///< cycles from the last texel to the result

  bool cache = false;
  unsigned size_bytes = 12 * 1024;
  unsigned ways = 24;
  unsigned mshrs = 32;        ///< fetches that it can have under way
  unsigned hit_latency = 60;  ///< cycles from lookup to texel

  /// Declares texture.* and texture_cache.*.
  void declare(support::OptionSet& options);
  /// `line_bytes`: of a line of the L1, which is one of this cache too.
  void validate(unsigned line_bytes) const;
};

}  // namespace regatta::sm
