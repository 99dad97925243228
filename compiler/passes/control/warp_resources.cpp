// SPDX-License-Identifier: Apache-2.0
#include "warp_resources.h"

namespace regatta::passes {

WarpAccess access_of(const trace::StaticInstruction& i) {
  WarpAccess a;
  for (unsigned s = 0; s < i.source_count; ++s) a.registers_read.set(i.sources[s]);
  for (unsigned d = 0; d < i.destination_count; ++d) a.written.set(i.destinations[d]);
  for (unsigned p = 0; p < i.source_predicate_count; ++p)
    a.read_at_issue.set(first_predicate_resource + i.source_predicates[p]);
  for (unsigned p = 0; p < i.destination_predicate_count; ++p)
    a.written.set(first_predicate_resource + i.destination_predicates[p]);
  if (i.guard.predicate >= 0) a.read_at_issue.set(first_predicate_resource + static_cast<unsigned>(i.guard.predicate));
  if (i.reads_carry) a.read_at_issue.set(carry_resource);
  if (i.writes_carry) a.written.set(carry_resource);
  return a;
}

}  // namespace regatta::passes
