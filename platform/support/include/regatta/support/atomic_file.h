// SPDX-License-Identifier: Apache-2.0
//
// Result files that are either whole or not there: written under a temporary name beside the final one, then renamed.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace regatta::support {

/// A file in the making. Destroyed without commit(), it leaves nothing behind and what was there before stays.
/// A path that names a device or a pipe (/dev/stdout) is written directly. All errors are ConfigErrors of the form
/// "cannot write 'path': No such file or directory".
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// After a failure every further write, and commit(), fails as it did: part of a file never gets its name.
  void write(std::string_view text);
  /// Flushes to the disk and renames. Nothing may be written afterwards.
  void commit();

 private:
  [[noreturn]] void fail(int error) const;

  std::string path_;
  std::string temporary_;  ///< empty: written directly
  std::FILE* file_ = nullptr;
  int error_ = 0;  ///< of the first write that failed
};

/// Writes the whole of `text` as the file `path`.
void write_text_file(const std::string& path, std::string_view text);
/// The whole of a file; ConfigError "cannot read 'path': ..." when it cannot be read.
std::string read_text_file(const std::string& path);
/// Is `name`, which may as well be a built-in thing's, the path of a .toml file?
bool is_toml_path(const std::string& name);
/// The path that `file` means by `name`: relative ones begin at its folder. What is no path of a .toml file stays as it
/// is.
std::string beside(const std::string& file, const std::string& name);

}  // namespace regatta::support
