// SPDX-License-Identifier: Apache-2.0
//
// Compression and decompression unit in RTL as twins of their models.
#pragma once

#include <regatta/aging/unit_operations.h>
#include <regatta/cosim/pins.h>

#include <string>

namespace regatta::models::aging {

/// Edges that the RTL takes from a register to its verdict: one in which the register is taken, and one for each
/// sub-wavefront until the verdict is known.
unsigned compression_edges(const CompressionOperation& operation, const CompressionVerdict& verdict);
/// The same from a table entry to the register.
unsigned decompression_edges(const DecompressionRequest& request, const DecompressedRegister& value);

/// The RTL of this repository.
cosim::PinsFactory<CompressionOperation, CompressionVerdict> compression_rtl();
cosim::PinsFactory<DecompressionRequest, DecompressedRegister> decompression_rtl();

/// Adds twins made of any RTL with these pins and edges: `prefix` + "rtl" and "lockstep".
void add_unit_twins(const cosim::PinsFactory<CompressionOperation, CompressionVerdict>& compression,
                    const cosim::PinsFactory<DecompressionRequest, DecompressedRegister>& decompression,
                    const std::string& prefix);
/// Adds "rtl" and "lockstep" with the RTL of this repository.
void add_aging_compression_rtl();

}  // namespace regatta::models::aging
