// SPDX-License-Identifier: Apache-2.0
//
// Options of a compilation of PTX at run time (CUjit_option): pairs of a number and a value, some of which are places
// for answers.
#pragma once

#include <cstddef>
#include <string>

namespace regatta::capture {

class JitOptions {
 public:
  /// Arrays of `count`, which must outlive the object.
  JitOptions(unsigned count, const int* options, void** values) : count_(count), options_(options), values_(values) {}

  /// Fills in the answers: logs (`error` is empty when all went well), their sizes, and the time.
  void answer(const std::string& error);

 private:
  struct Log {
    char* buffer = nullptr;
    std::size_t bytes = 0;
    void** bytes_out = nullptr;

    void write(const std::string& text) const;
  };

  unsigned count_;
  const int* options_;
  void** values_;
};

}  // namespace regatta::capture
