// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

/// Least costs of paths to `rows` further rows of the wall, in `stream`: from `before` to `after`, `columns` each.
cudaError_t advance(int columns, int rows, const int* wall, const int* before, int* after, cudaStream_t stream);
