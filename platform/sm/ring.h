// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/ring.h>

namespace regatta::sm {

using support::Ring;

}  // namespace regatta::sm
