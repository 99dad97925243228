// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/kernel.h>

#include <regatta/support/config.h>

namespace regatta::sm {

/// Tensor pipelines: each takes a matrix product of a warp for as many cycles as its products take.
struct TensorConfig {
  unsigned units = 0;  ///< pipelines per SM; 0: none
  /// Bits of products that a pipeline makes per cycle, a product counting the bits of an element of A: half as many
  /// products of tf32 as of f16, and twice as many of bytes. Integers, and floats of 8 bits too.
  unsigned product_bits = 4096;
  unsigned group_product_bits = 8192;  ///< the same of products of a warp group (wgmma)
  unsigned latency = 8;                ///< cycles from the operands to the result, beside twice those of its products

  /// Declares unit.tensor and tensor.*.
  void declare(support::OptionSet& options);
  /// Cycles for which a product occupies its pipeline; 1 if the opcode does not state its shape.
  unsigned cycles(const trace::StaticInstruction& instruction) const;
  /// The products that it makes, in products of f16: others count by their bits. 0 if the opcode does not state them.
  static std::uint64_t half_products(const trace::StaticInstruction& instruction);
  /// Bytes of shared memory that it reads. A is read once for all columns of a product of a warp group, B once for its
  /// four warps.
  static unsigned shared_bytes(const trace::StaticInstruction& instruction);
  /// Cycles to the result: both halves of its k go through the pipeline one after the other.
  unsigned result_latency(const trace::StaticInstruction& i) const { return latency + 2 * cycles(i); }
};

}  // namespace regatta::sm
