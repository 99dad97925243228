// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/wir_config.h>

namespace regatta::models::wir {

void WirConfig::declare(support::OptionSet& o) {
  o.add("wir.model", model,
        "model of WIR section VII-A: r reuses, with l loads, p pending-retry, v verify cache, c capped registers; "
        "novsb has no signature buffer, affine models energy",
        {"r", "rl", "rlp", "rlpv", "rpv", "rlpvc", "novsb", "affine", "affine_rlpv"});
  o.add("wir.physical_registers", physical_registers, "warp registers",
        "physical warp registers per SM, which also bound the resident CTAs; 0: register_file.registers", 0, 65534);
  o.add("wir.hash_bits", hash_bits, "bits", "width of a value's hash (Table III: 32)", 1, 32);
  o.add("wir.delay", delay, "cycles",
        "cycles that rename, reuse and register allocation add together (section VII-G: 3 to 7)", 3, 7);
  o.add("wir.rename_ports", rename_ports, "reads",
        "reads per cycle of a scheduler's half of the rename tables; an instruction with more registers takes longer "
        "(Table III: 4)",
        1, 16);
  o.add("wir.allocator_ports", allocator_ports, "warp registers",
        "registers allocated from the free pool, and released to it, per cycle (Table III: 1)", 1, 64);
  o.add("wir.counter_bits", counter_bits, "bits", "width of a reference counter (Table III: 10)", 2, 32);
  o.add("wir.release_latency", release_latency, "cycles", "cycles from a register's last reference to the free pool", 1,
        64);
  o.add("wir.barrier_bits", barrier_bits, "bits",
        "width of a CTA's barrier counter; when it is exhausted, loads of the CTA are no longer reused", 1, 8);
  o.add("wir.verify_patience", verify_patience, "cycles", "cycles for which a verify-read yields to operand reads", 0,
        1000);
  o.add("wir.recount", recount_interval, "instructions",
        "instructions between recounts of all references to physical registers; 0: only at the end of a kernel");
  o.add("wir.repeats", repeats, "sample the fraction of computations repeated within 1,000 instructions (figure 2)");
  o.add("reuse_buffer.entries", reuse_entries, "entries", "entries of the reuse buffer (WIR Table II: 256)", 1, 65535);
  o.add("reuse_buffer.associative", reuse_associative,
        "search all entries instead of the one selected by the tag's hash");
  o.add("reuse_buffer.ports", reuse_ports, "accesses", "reads per cycle, and as many writes (Table III: 2)", 1, 16);
  o.add("reuse_buffer.claim_writes", reuse_claim_writes,
        "the claim of an entry for a pending result is a write of its own; false: it is part of the lookup, and an "
        "instruction writes once, at retirement (Table III: at most one write per instruction)");
  o.add("reuse_buffer.pairs", reuse_pairs,
        "entries have room for two results and six sources, so 64-bit results can be reused (figure 9: one and three)");
  o.add("vsb.entries", vsb_entries, "entries",
        "entries of the value signature buffer (WIR Table II: 256); 0: every value gets its own register", 0, 65535);
  o.add("vsb.ports", signature_ports, "accesses", "reads per cycle, and as many writes (Table III: 2)", 1, 16);
  reuse_twin.declare(o, "reuse_buffer", "entries of the reuse buffer");
  vsb_twin.declare(o, "vsb", "hash and entries of the value signature buffer");
  o.add("verify_cache.entries", verify_entries, "values", "values in the verify cache (WIR Table II: 8)", 0, 65535);
  o.add("verify_cache.ports", verify_ports, "accesses", "reads per cycle (Table III: 2)", 1, 16);
  o.add("retry_queue.entries", retry_entries, "instructions",
        "instructions that may wait for a pending result (section VI-B: 16)", 0, 1024);
}

}  // namespace regatta::models::wir
