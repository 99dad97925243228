// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace reference {

/// A sparse matrix in compressed rows.
struct CompressedRows {
  std::vector<std::int32_t> offsets;  ///< of every row's first entry, and of the end
  std::vector<std::int32_t> columns;
};

/// The matrix whose row i begins at mean * i + jitter[i]; `distances` are those of entries from the diagonal, and one
/// that leads out of the matrix ends at its border. `jitter` has an element more than there are rows.
CompressedRows spmv_matrix(const std::vector<std::int32_t>& jitter, const std::vector<std::int32_t>& distances,
                           std::int32_t mean);

/// A x. Eight partial sums a row, each over every eighth entry, added as a tree, as the kernel does: exact.
std::vector<float> spmv(const CompressedRows& rows, const std::vector<float>& values, const std::vector<float>& x);

}  // namespace reference
