// SPDX-License-Identifier: Apache-2.0
//
// Modules of a program that was compiled in parts (nvcc -rdc=true), as one.
#pragma once

#include <string>
#include <vector>

namespace regatta::ptx {

/// PTX of one translation unit.
struct LinkUnit {
  std::string file;  ///< for messages
  std::string text;
};

/// One module with what all units define. An `.extern` declaration gives way to the definition in another unit; of
/// several `.weak` or `.common` definitions the first stays; what is neither `.visible` nor one of these belongs to its
/// unit, and is renamed where another unit has the name too. Sections with debug data are left out; `.file` numbers are
/// made distinct. Names that no unit defines stay `.extern`: they are errors where a kernel uses them.
///
/// Throws trace::InputError for text that is no PTX, and for a name that two units define. One unit stays as it is.
std::string link(const std::vector<LinkUnit>& units);

}  // namespace regatta::ptx
