// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>

namespace regatta::schemes {

/// The baseline and every scheme of models, idea by idea. What a program hands to
/// assembly::run_tool(), with schemes of its own added to it.
assembly::SchemeRegistry all();

}  // namespace regatta::schemes
