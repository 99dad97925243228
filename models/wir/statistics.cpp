// SPDX-License-Identifier: Apache-2.0
//
// Statistics of the renamed register file, and their mapping to events of the energy table.
#include <regatta/models/wir/physical_register_file.h>
#include <regatta/support/energy.h>

namespace regatta::models::wir {

void PhysicalRegisterFile::register_stats(support::StatGroup& g) {
  const RegisterState::Counters& n = state_->counters;
  const char* const regs = "warp registers";
  const char* const insns = "warp instructions";
  BankedFile::register_stats(g);  // reads and writes: operands and results; waits: all accesses to banks
  g.counter("bank_reads", bank_reads_, regs, "bank reads: operands, verify-reads and dummy MOVs");
  g.counter("unmapped_reads", unmapped_reads_, regs, "operands that no instruction has written: no bank is read");
  g.counter("verify_reads", verify_reads_, regs, "candidates read from a bank to be compared");
  g.counter("verify_retries", verify_retries_, "attempts", "of verify-reads that found their bank busy");
  g.counter("moves", moves_, regs, "copied for the inactive lanes of a divergent write: a read and a write each");

  g.counter("instructions", n.instructions, insns, "renamed");
  g.counter("lookups", n.lookups, insns, "looked up in the reuse buffer");
  g.counter("wide_immediates", n.wide_immediates, insns,
            "lookups whose immediates exceed the tag's unused operand fields");
  g.counter("reused_arithmetic", n.reused_arithmetic, insns, "bypassed with a result of the reuse buffer");
  g.counter("reused_load", n.reused_load, insns, "loads bypassed with a result of the reuse buffer");
  g.counter("reused_pending", n.reused_pending, insns, "bypassed with a result that they waited for");
  g.counter("reused_registers", n.reused_registers, "warp registers", "results of the instructions so bypassed");
  g.counter("racy_loads", n.racy_loads, insns,
            "loads of a racy kernel whose reusable result was not the traced one, and which were executed");
  g.counter("queued", n.queued, insns, "that waited for a pending result");
  g.counter("queue_full", n.queue_full, insns, "that found no place to wait and were executed");
  g.counter("retries", n.retries, "lookups", "of waiting instructions");
  g.counter("signature_hits", n.signature_hits, regs, "results whose hash was in the value signature buffer");
  g.counter("signature_misses", n.signature_misses, regs, "results whose hash was not in it");
  g.counter("false_positives", n.false_positives, regs, "candidates of the same hash with another value");
  g.counter("verify_cache_hits", n.verify_hits, regs, "candidates compared in the verify cache");
  g.counter("verify_cache_misses", n.verify_misses, regs, "candidates that missed in the verify cache");
  g.counter("verify_forwarded", n.verify_forwarded, regs, "candidates compared on their way to the bank");
  g.counter("dummy_movs", n.dummy_movs, insns, "injected for first divergent writes");
  g.counter("allocations", n.allocations, regs, "taken from the free pool");
  g.counter("rename_reads", n.rename_reads, "entries", "of the rename tables read");
  g.counter("rename_writes", n.rename_writes, "entries", "of the rename tables written");
  g.counter("reuse_reads", n.reuse_reads, "entries", "of the reuse buffer read, retries aside");
  g.counter("reuse_writes", n.reuse_writes, "entries", "of the reuse buffer written");
  g.counter("hashes", n.hashes, regs, "whose hash was computed");
  g.counter("signature_reads", n.signature_reads, "entries", "of the value signature buffer read");
  g.counter("signature_writes", n.signature_writes, "entries", "of the value signature buffer written");
  g.counter("references", n.counts, "references", "to physical registers counted; each is given up again");
  g.counter("verify_cache_fills", n.verify_fills, regs, "put into the verify cache");
  g.counter("long_renames", n.long_renames, insns, "with more registers than the rename tables' ports read in a cycle");
  g.counter("reuse_read_waits", n.reuse_read_waits, "attempts",
            "to look up that found the reuse buffer's read ports taken");
  g.counter("reuse_write_waits", n.reuse_write_waits, "cycles",
            "waited for a write port of the reuse buffer, to look up and claim or to retire, summed");
  g.counter("signature_read_waits", n.signature_read_waits, "cycles",
            "that results waited for a read port of the value signature buffer, summed");
  g.counter("signature_write_waits", n.signature_write_waits, "cycles",
            "that results waited for a write port of the value signature buffer, summed");
  g.counter("allocator_waits", n.allocator_waits, "cycles", "that results waited for the free pool's port, summed");
  g.counter("saturations", state_->allocator.saturations(), "references", "refused because a counter was at its end");
  g.counter("starved_cycles", n.starved, "cycles", "that results waited for a physical register, summed");
  g.counter("in_place", n.in_place, regs, "overwritten because there was no free one");
  g.counter("low_evictions", n.low_evictions, "entries", "of the buffers looked at for eviction in low-register mode");
  g.counter("refused_issues", n.refused_issues, "attempts",
            "to issue an instruction that would overwrite a register which is still to be read");
  g.derived(
      "low_register_cycles", [this] { return double(state_->low_cycles()); }, "cycles", "in low-register mode");
  g.derived(
      "physical_registers_peak", [this] { return double(state_->allocator.peak()); }, regs, "in use at most");
  g.derived(
      "physical_register_cycles", [this] { return double(state_->allocator.register_cycles(clock_.now())); },
      "register cycles", "registers in use, summed over cycles");
  g.counter("repeats_sampled", n.repeats_sampled, insns, "sampled in windows of 1,000");
  g.counter("repeats_found", n.repeats_found, insns, "sampled that repeat a computation of their window");
  g.counter("repeats_loads", n.repeats_loads, insns,
            "sampled that read memory and repeat a computation of their window");
  g.counter("repeats_often", n.repeats_often, insns,
            "sampled whose computation appears more than 10 times in its window");
}

void PhysicalRegisterFile::register_energy(support::EnergyGroup& g) {
  const RegisterState::Counters& n = state_->counters;
  const double rows = warp_size_ / 32.0;
  const support::ArrayGeometry size{double(wir_.physical()) * double(value_bytes_), double(config_.banks)};
  g.event("register_structures", "register_file.read", bank_reads_, rows, size);
  g.event("register_structures", "register_file.write", ports_.writes(), rows, size);
  g.event("register_structures", "register_file.write", moves_, rows, size);
  g.leakage("register_structures", "register_file.leakage", size);
  // Table III, per operation.
  const char* const reuse = "reuse_structures";
  g.event(reuse, "wir.rename_table", n.rename_reads);
  g.event(reuse, "wir.rename_table", n.rename_writes);
  g.event(reuse, "wir.reuse_buffer", n.reuse_reads);
  g.event(reuse, "wir.reuse_buffer", n.retries);
  g.event(reuse, "wir.reuse_buffer", n.reuse_writes);
  g.event(reuse, "wir.hash", n.hashes, rows);
  g.event(reuse, "wir.value_signature_buffer", n.signature_reads);
  g.event(reuse, "wir.value_signature_buffer", n.signature_writes);
  g.event(reuse, "wir.register_allocator", n.allocations, 2);  // a register leaves the pool, and comes back
  g.event(reuse, "wir.reference_count", n.counts, 2);          // and each reference is given up again
  g.event(reuse, "wir.verify_cache", n.verify_hits, rows);
  g.event(reuse, "wir.verify_cache", n.verify_misses, rows);
  g.event(reuse, "wir.verify_cache", n.verify_fills, rows);
}

}  // namespace regatta::models::wir
