// SPDX-License-Identifier: Apache-2.0
//
// The one way in which the tools write files: under a name of its own beside the final one, then renamed. So a file
// under its final name is whole, however many processes write to it at once; the last to commit wins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace regatta::base {

class Temporary;

/// A file in the making. Destroyed without commit(), it leaves nothing behind and what was there before stays. The same
/// holds when a signal ends the process (SIGKILL excepted), in a program that called remove_temporaries_at_signals().
///
/// Symbolic links are followed, also to files that do not exist yet. Devices and pipes are written directly. So is the
/// file behind standard output or standard error (`--out /dev/stdout > file`): what the program prints stays in it.
/// A named pipe that no process reads within `pipe_wait_ms` is refused.
///
/// All errors are InputErrors of the form "cannot write 'path': No such file or directory".
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// The name as the caller gave it.
  const std::string& path() const { return path_; }
  /// After a failure every further write, and commit(), fails as it did: part of a file never gets its name.
  void write(std::string_view bytes);
  void write(const void* data, std::size_t bytes) { write({static_cast<const char*>(data), bytes}); }
  /// Whether patch() can be called: not for what is written directly.
  bool can_patch() const { return temporary_ != nullptr; }
  /// Overwrites bytes that were written before.
  void patch(std::uint64_t offset, std::string_view bytes);
  /// Flushes to the disk and renames. Nothing may be written afterwards.
  void commit();

 private:
  [[noreturn]] void fail(int error) const;
  void take(int descriptor);
  void open_directly(bool is_pipe);
  void open_temporary();

  std::string path_;
  std::string target_;              ///< path_ with links followed
  Temporary* temporary_ = nullptr;  ///< nullptr: written directly
  std::FILE* file_ = nullptr;
  int error_ = 0;             ///< of the first write that failed
  std::uint64_t unsent_ = 0;  ///< bytes since the disk was last asked to begin with what there is
};

/// Writes the whole of `bytes` as the file `path`.
void write_file(const std::string& path, std::string_view bytes);

/// How long a named pipe may stay without a process at its other end, in milliseconds.
inline constexpr int pipe_wait_ms = 5000;

}  // namespace regatta::base
