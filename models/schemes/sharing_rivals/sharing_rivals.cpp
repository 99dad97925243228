// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "scheme_warp_level_divergence.h"

namespace regatta::schemes {

void add_sharing_rivals(assembly::SchemeRegistry& registry) {
  registry.add(std::make_unique<WarpLevelDivergence>());
}

}  // namespace regatta::schemes
