// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/wir/wir_config.h>

namespace regatta::models::wir {

void WirConfig::declare(support::OptionSet& o) {
  o.add("wir.model", model,
        "of WIR section VII-A: r, with loads l, pending-retry p, verify cache v, capped registers c; without signature "
        "buffer; affine energy",
        {"r", "rl", "rlp", "rlpv", "rpv", "rlpvc", "novsb", "affine", "affine_rlpv"});
  o.add("wir.physical_registers", physical_registers, "warp registers",
        "of an SM, which also bound the resident CTAs; 0: register_file.registers", 0, 65534);
  o.add("wir.hash_bits", hash_bits, "bits", "of a value's hash (Table III: 32)", 1, 32);
  o.add("wir.delay", delay, "cycles", "added by rename, reuse and register allocation together (section VII-G: 3 to 7)",
        3, 7);
  o.add("wir.rename_ports", rename_ports, "reads",
        "of a scheduler's half of the rename tables per cycle; an instruction with more registers takes longer (Table "
        "III: 4)",
        1, 16);
  o.add("wir.allocator_ports", allocator_ports, "warp registers",
        "taken from the free pool per cycle, and given back to it (Table III: 1)", 1, 64);
  o.add("wir.counter_bits", counter_bits, "bits", "of a reference counter (Table III: 10)", 2, 32);
  o.add("wir.release_latency", release_latency, "cycles", "from a register's last reference to the free pool", 1, 64);
  o.add("wir.barrier_bits", barrier_bits, "bits", "of a CTA's barrier count, at whose end its loads are reused no more",
        1, 8);
  o.add("wir.verify_patience", verify_patience, "cycles", "for which a verify-read lets operand reads go first", 0,
        1000);
  o.add("wir.recount", recount_interval, "instructions",
        "between recounts of all references to physical registers; 0: at the end of a kernel only");
  o.add("wir.repeats", repeats, "sample the share of computations repeated within 1,000 instructions (figure 2)");
  o.add("reuse_buffer.entries", reuse_entries, "entries", "(WIR Table II: 256)", 1, 65535);
  o.add("reuse_buffer.associative", reuse_associative, "search all entries, not the one that the tag's hash names");
  o.add("reuse_buffer.ports", reuse_ports, "accesses", "reads, and as many writes, per cycle (Table III: 2)", 1, 16);
  o.add("reuse_buffer.pairs", reuse_pairs,
        "entries with room for two results and six sources, so that 64-bit results can be reused (figure 9 has one and "
        "three)");
  o.add("value_signature_buffer.entries", signature_entries, "entries",
        "(WIR Table II: 256); 0: every value gets a register of its own", 0, 65535);
  o.add("value_signature_buffer.ports", signature_ports, "accesses",
        "reads, and as many writes, per cycle (Table III: 2)", 1, 16);
  o.add("verify_cache.entries", verify_entries, "values", "(WIR Table II: 8)", 0, 65535);
  o.add("verify_cache.ports", verify_ports, "accesses", "reads per cycle (Table III: 2)", 1, 16);
  o.add("retry_queue.entries", retry_entries, "instructions", "that may wait for a pending result (section VI-B: 16)",
        0, 1024);
}

}  // namespace regatta::models::wir
