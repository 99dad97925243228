// SPDX-License-Identifier: Apache-2.0
//
// The control-side extension points of an SM. Data moves over TLM sockets (payload.h); these small interfaces
// decide. platform/protocol/docs has a page per contract: callers, point in the cycle, what may and must not change.
// platform/protocol/README.md fixes the order of one cycle: write-back, execution, operand collection, load-store
// unit, reuse, issue, fetch, CTA status.
#pragma once

#include <regatta/protocol/decode_point.h>
#include <regatta/protocol/fetch_listener.h>
#include <regatta/protocol/issue_gate.h>
#include <regatta/protocol/operand_cache.h>
#include <regatta/protocol/operand_storage.h>
#include <regatta/protocol/residency.h>
#include <regatta/protocol/reuse_point.h>
#include <regatta/protocol/warp_scheduler.h>
#include <regatta/protocol/writeback_point.h>
