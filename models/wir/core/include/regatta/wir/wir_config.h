// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/baseline/register_file_config.h>
#include <regatta/cosim/twin.h>
#include <regatta/support/config.h>

#include <cstdint>
#include <string>

namespace regatta::models::wir {

/// The knobs of warp instruction reuse, and the parts implied by the model's name (WIR section VII-A).
struct WirConfig {
  std::string model = "rlpv";
  unsigned physical_registers = 0;  ///< warp registers; 0: as many as the register file has
  unsigned hash_bits = 32;
  unsigned delay = 4;             ///< additional cycles of an executed instruction
  unsigned rename_ports = 4;      ///< reads of a scheduler's half of the rename tables per cycle
  unsigned allocator_ports = 1;   ///< registers allocated from, and released to, the free pool per cycle
  unsigned counter_bits = 10;     ///< of a reference counter
  unsigned release_latency = 2;   ///< cycles from the last reference to the free pool
  unsigned barrier_bits = 5;      ///< of a CTA's barrier count
  unsigned verify_patience = 16;  ///< cycles for which a verify-read yields to operand reads
  unsigned recount_interval = 0;  ///< retirements between recounts of all references; 0: only at the end of a kernel
  unsigned reuse_entries = 256;
  bool reuse_associative = false;
  unsigned reuse_ports = 2;  ///< reads, and writes, per cycle
  /// A claim is a write, and the result's is another; false: an instruction writes once, at retirement (Table III)
  bool reuse_claim_writes = false;
  bool reuse_pairs = false;  ///< an entry has room for two results, and for as many sources as there can be
  unsigned vsb_entries = 256;
  unsigned signature_ports = 2;             ///< reads, and writes, per cycle
  cosim::TwinOptions reuse_twin, vsb_twin;  ///< RTL for the state of the two buffers (rtl/README.md)
  unsigned verify_entries = 8;
  unsigned verify_ports = 2;  ///< reads per cycle
  unsigned retry_entries = 16;
  bool repeats = false;  ///< sample repeated computations (figure 2)

  void declare(support::OptionSet& options);

  /// False: the machine without reuse, with only affine energy accounting.
  bool reuses() const { return model != "affine"; }
  bool loads() const { return reuses() && model != "r" && model != "rpv" && model != "novsb"; }
  bool pending() const { return loads() ? model != "rl" : model == "rpv"; }
  bool verify_cache() const { return pending() && model != "rlp" && verify_entries != 0; }
  bool signatures() const { return model != "novsb" && vsb_entries != 0; }
  bool capped() const { return model == "rlpvc"; }
  bool affine() const { return model == "affine" || model == "affine_rlpv"; }
  /// Cycles of the rename and reuse stages, and of the register allocation stage: half of the delay each, the odd cycle
  /// with the hash (4: two and two, as in section VII-E).
  unsigned front_delay() const { return delay / 2; }
  unsigned back_delay() const { return delay - delay / 2; }
};

/// The knobs, and the SM that has the blocks.
struct WirMachine : WirConfig {
  RegisterFileConfig file;  ///< its banks, their ports and timing
  // Bounds of the resident warps.
  unsigned max_warps = 48;
  unsigned max_ctas = 8;
  unsigned schedulers = 2;

  /// Physical warp registers.
  unsigned physical() const { return physical_registers == 0 ? file.registers : physical_registers; }
};

}  // namespace regatta::models::wir
