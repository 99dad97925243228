// SPDX-License-Identifier: Apache-2.0
//
// The trace of one kernel launch, as Accel-Sim's tracer writes it: .traceg, .traceg.xz, or the paged .tracez.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "line_reader.h"

namespace regatta::import {

/// The lines "-key = value" at the head of a file.
struct Header {
  std::string name;  ///< of the kernel, mangled
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint32_t shared_bytes = 0;  ///< per CTA, static and dynamic
  std::uint32_t registers = 0;     ///< per thread
  std::uint32_t binary_version = 0;
  std::uint32_t tracer_version = 0;
  bool has_line_numbers = false;
  std::uint64_t shared_base = 0, local_base = 0;  ///< generic addresses of the two windows; 0: not known
  std::vector<std::string> remarks;               ///< what it says that cannot be, and what is taken instead

  std::uint64_t ctas() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
  std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
  std::uint32_t warps() const { return (threads() + 31) / 32; }
};

/// One line of a warp.
struct InstructionLine {
  std::uint64_t pc = 0;
  std::uint32_t mask = 0;  ///< lanes that execute it
  std::string_view opcode;
  std::vector<std::uint8_t> destinations, sources;
  unsigned memory_width = 0;                ///< 0: no addresses
  std::array<std::uint64_t, 32> address{};  ///< of the lanes of `mask`
  /// For messages: the reader that is at the line, and where its opcode begins.
  const LineReader* at = nullptr;
  std::size_t opcode_column = 1;
};

/// What a file holds, in its order: CTAs with their warps 0, 1, ..., each with its instructions.
class KernelVisitor {
 public:
  virtual ~KernelVisitor() = default;
  /// `index`: linear. `at`: for messages, as the others.
  virtual void begin_cta(std::uint64_t index, const LineReader& at) = 0;
  virtual void begin_warp(std::uint32_t warp, const LineReader& at) = 0;
  virtual void instruction(const InstructionLine& line) = 0;
  virtual void end_warp(const LineReader& at) = 0;
  virtual void end_cta(const LineReader& at) = 0;
};

class KernelFile {
 public:
  virtual ~KernelFile() = default;
  const Header& header() const { return header_; }
  /// Reads the CTAs from the first to the last, as often as it is called. CTAs are in ascending order without a gap,
  /// and each has all its warps. Throws trace::InputError "path:line:column: error: ...".
  virtual void read(KernelVisitor& visitor) = 0;

 protected:
  Header header_;
};

/// By the file's first bytes and its name: a name that ends in ".tracez" is paged.
std::unique_ptr<KernelFile> open_kernel_file(const std::string& path);
/// The same of bytes in memory, which must live as long.
std::unique_ptr<KernelFile> open_kernel_bytes(const std::string& path, std::string_view bytes, bool paged);

}  // namespace regatta::import
