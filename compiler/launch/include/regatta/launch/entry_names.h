// SPDX-License-Identifier: Apache-2.0
//
// Which entry of which PTX file a launch means. C++ compilers mangle the names of kernels, and everybody else writes
// them as in the source.
#pragma once

#include <regatta/launch/launch_file.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace regatta::launch {

/// A PTX file and its entries, as they are called there.
struct EntryNames {
  std::string file;
  std::vector<std::string> entries;
};

struct EntryPlace {
  std::size_t module = 0, entry = 0;  ///< indices of the file and of its entry
};

/// A name of an Itanium ABI mangling ("_Z3fooPf") as C++ writes it ("foo(float*)"), without a function's result; other
/// names as they are. Names that are long or refer back often stay mangled too: their text might fill the memory.
std::string readable_name(const std::string& name);

/// The entry that `name` means: one called exactly so; else one whose C++ name it is, with or without parameter types,
/// template arguments and enclosing namespaces; else one without mangling, extern "C", when `name` is a C++ name of it.
/// `module`: in this file alone. Throws trace::InputError, `prefix` first, when that is none or several.
EntryPlace find_entry(const std::vector<EntryNames>& files, const std::string& name, std::optional<std::size_t> module,
                      const std::string& prefix);

/// Replaces the entry of every launch by its name in PTX and sets its file; `files` are those of LaunchFile::ptx.
void resolve_entries(LaunchFile& file, const std::vector<EntryNames>& files);

}  // namespace regatta::launch
