// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/effective_ctas.h>

#include <algorithm>

namespace regatta::models {

SharingPlan effective_ctas(std::uint64_t resource, std::uint64_t per_cta, const Threshold& t, unsigned most) {
  const std::uint64_t alone = resource / per_cta;
  // (R / R_tb - b) / t, of a remainder that is a whole number of units.
  const std::uint64_t more = t.quotient(resource % per_cta, per_cta);
  const std::uint64_t ctas = std::min({alone + more, 2 * alone, std::uint64_t{most}});
  SharingPlan plan;
  plan.ctas = static_cast<unsigned>(ctas);
  plan.pairs = static_cast<unsigned>(ctas > alone ? ctas - alone : 0);
  return plan;
}

}  // namespace regatta::models
