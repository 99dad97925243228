# SPDX-License-Identifier: Apache-2.0
"""Names, types and units of regatta-sim's knobs, of all schemes: for type checkers and editors. Written by
platform/python/write_knobs.py; blocks of your own may have further ones."""

from typing import TypedDict

Knobs = TypedDict("Knobs", {
    "async.bulk_queue": int,  # copies
    "async.bulk_sectors": int,  # sectors
    "async.bulk_setup": int,  # cycles
    "async.copies": int,  # warp instructions
    "capacity_manager.fall_through": int,  # cycles
    "capacity_manager.metadata_words": int,  # words
    "collector.dp": int,  # units
    "collector.mem": int,  # units
    "collector.sfu": int,  # units
    "collector.sp": int,  # units
    "collector.units": int,  # units
    "compression.implementation": str,
    "compression.loads": bool,
    "compression.refresh_period": int,  # cycles
    "compression.retention": int,  # cycles
    "compression.wake": str,
    "compression.waveform": str,
    "compression.waveform_cycles": int,  # cycles
    "compressor.enabled": bool,
    "compressor.expand_latency": int,  # cycles
    "compressor.fetches": int,  # lines
    "compressor.implementation": str,
    "compressor.lines": int,  # lines
    "compressor.lookup_latency": int,  # cycles
    "compressor.match_latency": int,  # cycles
    "compressor.queue": int,  # requests
    "compressor.refuse_answers": int,  # of 1000 cycles
    "compressor.waveform": str,
    "compressor.waveform_cycles": int,  # cycles
    "constant_cache.enabled": bool,
    "constant_cache.latency": int,  # cycles
    "constant_cache.line_bytes": int,  # bytes
    "constant_cache.mshrs": int,  # entries
    "constant_cache.size_bytes": int,  # bytes
    "constant_cache.ways": int,  # ways
    "dram.bandwidth": int,  # 10^6 bytes/s
    "dram.banks": int,  # banks
    "dram.ccd": int,  # command cycles
    "dram.cdlr": int,  # command cycles
    "dram.cl": int,  # command cycles
    "dram.clock_mhz": int,  # MHz
    "dram.latency": int,  # cycles
    "dram.mapping": str,
    "dram.queue": int,  # entries
    "dram.ras": int,  # command cycles
    "dram.rc": int,  # command cycles
    "dram.rcd": int,  # command cycles
    "dram.row_bytes": int,  # bytes
    "dram.rp": int,  # command cycles
    "dram.rrd": int,  # command cycles
    "dram.scheduler": str,
    "dram.starvation_limit": int,  # requests
    "dram.turnaround": int,  # command cycles
    "dram.wl": int,  # command cycles
    "dram.wr": int,  # command cycles
    "energy.chip_constant": float,  # mW
    "energy.constant_cache_access": float,  # pJ
    "energy.dram_activate": float,  # pJ
    "energy.dram_background": float,  # mW
    "energy.dram_read": float,  # pJ
    "energy.dram_write": float,  # pJ
    "energy.execution_fp32": float,  # pJ
    "energy.execution_fp64": float,  # pJ
    "energy.execution_integer": float,  # pJ
    "energy.execution_special": float,  # pJ
    "energy.instruction_buffer_instruction": float,  # pJ
    "energy.instruction_cache_access": float,  # pJ
    "energy.interconnect_flit": float,  # pJ
    "energy.l1_read": float,  # pJ
    "energy.l1_write": float,  # pJ
    "energy.l2_leakage": float,  # mW
    "energy.l2_read": float,  # pJ
    "energy.l2_write": float,  # pJ
    "energy.lane_gating": bool,
    "energy.load_store_address": float,  # pJ
    "energy.memory_controller_access": float,  # pJ
    "energy.node_nm": float,  # nm
    "energy.operand_collector_instruction": float,  # pJ
    "energy.pipeline_instruction": float,  # pJ
    "energy.register_file_leakage": float,  # mW
    "energy.register_file_read": float,  # pJ
    "energy.register_file_write": float,  # pJ
    "energy.scheduler_issue": float,  # pJ
    "energy.shared_memory_access": float,  # pJ
    "energy.sm_clock": float,  # mW
    "energy.sm_static": float,  # mW
    "energy.table": str,
    "fault.at": str,
    "fault.bit": int,
    "fault.cycle": int,  # cycles
    "fault.kind": str,
    "fault.lane": int,
    "fault.pc": str,
    "fault.register": str,
    "fault.sm": int,
    "fault.warp": str,
    "fault.with": str,
    "fetch.branch_latency": int,  # cycles
    "fetch.buffer_entries": int,  # instructions
    "fetch.instruction_bytes": int,  # bytes
    "fetch.latency": int,  # cycles
    "fetch.width": int,  # instructions
    "finereg.active_registers": int,  # warp registers
    "finereg.pending_registers": int,  # warp registers
    "gated.compression": str,
    "gated.leakage_mw": float,  # mW
    "gated.leakage_node": int,  # nm
    "gated.power": str,
    "gated.unused_rows_off": str,
    "gated.wake_energy_of": str,
    "gated.wake_off_energy": float,  # pJ
    "gated.wake_sleep_energy": float,  # pJ
    "gated.windows": str,
    "greener.reserve_sources": str,
    "greener.runtime_table": bool,
    "greener.table_entries": int,  # entries
    "greener.table_registers": int,  # registers
    "greener.table_search": str,
    "greener.threshold": int,  # instructions
    "icache.enabled": bool,
    "icache.latency": int,  # cycles
    "icache.line_bytes": int,  # bytes
    "icache.mshrs": int,  # entries
    "icache.size_bytes": int,  # bytes
    "icache.ways": int,  # ways
    "initiation.constant_load": int,  # cycles
    "initiation.constant_word": int,  # cycles
    "initiation.convert": int,  # cycles
    "initiation.fp32_add": int,  # cycles
    "initiation.fp32_div": int,  # cycles
    "initiation.fp32_mad": int,  # cycles
    "initiation.fp32_max": int,  # cycles
    "initiation.fp32_mul": int,  # cycles
    "initiation.fp64_add": int,  # cycles
    "initiation.fp64_div": int,  # cycles
    "initiation.fp64_mad": int,  # cycles
    "initiation.fp64_max": int,  # cycles
    "initiation.fp64_mul": int,  # cycles
    "initiation.int64": int,  # cycles
    "initiation.int_add": int,  # cycles
    "initiation.int_div": int,  # cycles
    "initiation.int_mad": int,  # cycles
    "initiation.int_max": int,  # cycles
    "initiation.int_mul": int,  # cycles
    "initiation.sfu": int,  # cycles
    "initiation.shuffle": int,  # cycles
    "interconnect.flit_bytes": int,  # bytes
    "interconnect.header_bytes": int,  # bytes
    "interconnect.header_flits": int,  # flits
    "interconnect.latency": int,  # cycles
    "interconnect.mask_flits": int,  # flits
    "interconnect.partition_flits": int,  # flits
    "interconnect.queue": int,  # packets
    "interconnect.response_flits": int,  # flits
    "l1.data_policy": str,
    "l1.data_store": str,
    "l1.data_store_miss": str,
    "l1.enabled": bool,
    "l1.fill": str,
    "l1.fill_queue": int,  # entries
    "l1.hit_latency": int,  # cycles
    "l1.line_bytes": int,  # bytes
    "l1.local_policy": str,
    "l1.local_store": str,
    "l1.local_store_miss": str,
    "l1.merge_limit": int,  # requests
    "l1.miss_queue": int,  # entries
    "l1.mshrs": int,  # entries
    "l1.response_queue": int,  # entries
    "l1.sector_merge": bool,
    "l1.sectors": int,  # sectors
    "l1.size_bytes": int,  # bytes
    "l1.tag_banks": int,  # banks
    "l1.tags": int,  # lines
    "l1.texture_policy": str,
    "l1.ways": int,  # ways
    "l2.banks": int,  # banks
    "l2.dram_queue": int,  # entries
    "l2.hash": str,
    "l2.interleave_bytes": int,  # bytes
    "l2.latency": int,  # cycles
    "l2.line_bytes": int,  # bytes
    "l2.merge_limit": int,  # requests
    "l2.mshrs": int,  # entries
    "l2.partitions": int,  # partitions
    "l2.queue": int,  # entries
    "l2.response_queue": int,  # entries
    "l2.sector_merge": bool,
    "l2.size_bytes": int,  # bytes
    "l2.store": str,
    "l2.store_miss": str,
    "l2.ways": int,  # ways
    "latency.constant_load": int,  # cycles
    "latency.constant_word": int,  # cycles
    "latency.convert": int,  # cycles
    "latency.fp32_add": int,  # cycles
    "latency.fp32_div": int,  # cycles
    "latency.fp32_mad": int,  # cycles
    "latency.fp32_max": int,  # cycles
    "latency.fp32_mul": int,  # cycles
    "latency.fp64_add": int,  # cycles
    "latency.fp64_div": int,  # cycles
    "latency.fp64_mad": int,  # cycles
    "latency.fp64_max": int,  # cycles
    "latency.fp64_mul": int,  # cycles
    "latency.int64": int,  # cycles
    "latency.int_add": int,  # cycles
    "latency.int_div": int,  # cycles
    "latency.int_mad": int,  # cycles
    "latency.int_max": int,  # cycles
    "latency.int_mul": int,  # cycles
    "latency.predicate": int,  # cycles
    "latency.sfu": int,  # cycles
    "latency.shuffle": int,  # cycles
    "lsu.lanes": int,  # lanes
    "lsu.queue": int,  # warp instructions
    "machine.clock_mhz": int,  # MHz
    "machine.memory": str,
    "machine.sms": int,  # SMs
    "nbti.delay_increase": float,  # ratio
    "nbti.eta": float,  # ratio
    "nbti.lifetime": float,  # years
    "osu.arbitration": int,  # cycles
    "osu.backed_registers": int,  # warp registers
    "osu.banks": int,  # banks
    "osu.entries": int,  # warp registers
    "osu.implementation": str,
    "osu.latency": int,  # cycles
    "osu.request_queue": int,  # requests
    "osu.waveform": str,
    "osu.waveform_cycles": int,  # cycles
    "osu.write_queue": int,  # cycles
    "osu.writeback_buffer": int,  # lines
    "reg_dram.ctas": int,  # CTAs
    "reg_dram.requests": int,  # lines
    "reg_dram.results": int,  # warp registers
    "register_file.arbitration": int,  # cycles
    "register_file.banks": int,  # banks
    "register_file.cache": bool,
    "register_file.latency": int,  # cycles
    "register_file.mapping": str,
    "register_file.ports": str,
    "register_file.priority": str,
    "register_file.read_ports": int,  # ports
    "register_file.registers": int,  # warp registers
    "register_file.write_queue": int,  # cycles or writes
    "register_sharing.deadlock_rule": bool,
    "register_sharing.dynamic": bool,
    "register_sharing.dynamic_period": int,  # cycles
    "register_sharing.dynamic_seed": int,
    "register_sharing.dynamic_steps": int,  # steps
    "register_sharing.lock": str,
    "register_sharing.t": str,
    "regmutex.pool_registers": int,  # warp registers
    "retry_queue.entries": int,  # instructions
    "reuse_buffer.associative": bool,
    "reuse_buffer.claim_writes": bool,
    "reuse_buffer.entries": int,  # entries
    "reuse_buffer.implementation": str,
    "reuse_buffer.pairs": bool,
    "reuse_buffer.ports": int,  # accesses
    "reuse_buffer.waveform": str,
    "reuse_buffer.waveform_cycles": int,  # cycles
    "rfh.lrf_cycles": int,  # cycles
    "rfh.orf_cycles": int,  # cycles
    "rfh.wait": str,
    "rfv.admission": str,
    "rfv.flag_cache_entries": int,  # words
    "rfv.gated_leakage": float,  # of a powered sub-array
    "rfv.metadata": str,
    "rfv.rename_cycles": int,  # cycles
    "rfv.share": float,  # of register_file.registers
    "rfv.spill": bool,
    "rfv.spill_entries": int,  # warp registers
    "rfv.subarray_rows": int,  # rows
    "rfv.words": int,  # words
    "rmu.entry_latency": int,  # cycles
    "rmu.implementation": str,
    "rmu.vector_entries": int,  # entries
    "rmu.waveform": str,
    "rmu.waveform_cycles": int,  # cycles
    "scheduler.active_warps": int,  # warps
    "scoreboard.readers": str,
    "scoreboard.release": str,
    "scoreboard.war_consumers": int,  # warp instructions
    "scratchpad_multiplexing.ctas": int,  # CTAs
    "scratchpad_multiplexing.relssp": str,
    "scratchpad_multiplexing.t": str,
    "scratchpad_sharing.relssp": str,
    "scratchpad_sharing.t": str,
    "shared.banks": int,  # banks
    "shared.bytes": int,  # bytes
    "shared.cta_bytes": int,  # bytes
    "shared.granularity": int,  # bytes
    "shared.latency": int,  # cycles
    "sleep_transistors.off_leakage": float,  # of on
    "sleep_transistors.sleep_leakage": float,  # of on
    "sleep_transistors.wake_off": int,  # cycles
    "sleep_transistors.wake_sleep": int,  # cycles
    "sleep_transistors.wakes_per_cycle": int,  # rows
    "slice_energy.leakage": float,  # mW
    "slice_energy.rc_compression": float,  # pJ
    "slice_energy.rc_decompression": float,  # pJ
    "slice_energy.rc_leakage": float,  # mW
    "slice_energy.read": float,  # pJ
    "slice_energy.table_read": float,  # pJ
    "slice_energy.table_write": float,  # pJ
    "slice_energy.wakeup": float,  # pJ
    "slice_energy.wc_compression": float,  # pJ
    "slice_energy.wc_decompression": float,  # pJ
    "slice_energy.wc_leakage": float,  # mW
    "slice_energy.write": float,  # pJ
    "sm.barrier_interval": int,  # cycles
    "sm.barrier_latency": int,  # cycles
    "sm.cta_launch": int,  # cycles
    "sm.ctas": int,  # CTAs
    "sm.dependences": str,
    "sm.issue_interval": int,  # cycles
    "sm.issue_width": int,  # warp instructions
    "sm.lanes": int,  # lanes
    "sm.operand_path": str,
    "sm.register_granularity": int,  # warp registers
    "sm.registers_per_thread": int,  # registers
    "sm.residency": str,
    "sm.scheduler": str,
    "sm.schedulers": int,  # schedulers
    "sm.sub_cores": int,  # sub-cores
    "sm.threads": int,  # threads
    "sm.warp_launch": int,  # cycles
    "sm.warps": int,  # warps
    "sm.watchdog": int,  # cycles
    "sub_core.memory_interval": int,  # cycles
    "sub_core.memory_latency": int,  # cycles
    "sub_core.memory_queue": int,  # warp instructions
    "sub_core.memory_sm_interval": int,  # cycles
    "sub_core.result_queue": int,  # warp instructions
    "sub_core.unit_queue": int,  # warp instructions
    "sub_core.window": int,  # cycles
    "switching.context_entries": int,  # entries
    "switching.entry_bytes": int,  # bytes
    "switching.latency": int,  # cycles
    "switching.launch_first": bool,
    "switching.max_ctas": int,  # CTAs
    "switching.max_warps": int,  # warps
    "switching.stall_cycles": int,  # cycles
    "tensor.group_product_bits": int,  # bits
    "tensor.latency": int,  # cycles
    "tensor.product_bits": int,  # bits
    "texture.lanes": int,  # lanes
    "texture.latency": int,  # cycles
    "texture_cache.enabled": bool,
    "texture_cache.hit_latency": int,  # cycles
    "texture_cache.mshrs": int,  # entries
    "texture_cache.size_bytes": int,  # bytes
    "texture_cache.ways": int,  # ways
    "tlb.entries": int,  # pages
    "tlb.latency": int,  # cycles
    "tlb.page_bytes": int,  # bytes
    "tlb.queue": int,  # entries
    "tlb.second_entries": int,  # pages
    "tlb.second_page_bytes": int,  # bytes
    "tlb.walk_latency": int,  # cycles
    "tlb.walks": int,  # walks
    "um.bytes": int,  # bytes
    "um.least_l1": int,  # bytes
    "unit.alu": int,  # pipelines
    "unit.alu_kinds": str,
    "unit.dp": int,  # pipelines
    "unit.dp_lanes": int,  # lanes
    "unit.sfu": int,  # pipelines
    "unit.sfu_lanes": int,  # lanes
    "unit.sp": int,  # pipelines
    "unit.sp_lanes": int,  # lanes
    "unit.tensor": int,  # pipelines
    "verify_cache.entries": int,  # values
    "verify_cache.ports": int,  # accesses
    "vsb.entries": int,  # entries
    "vsb.implementation": str,
    "vsb.ports": int,  # accesses
    "vsb.waveform": str,
    "vsb.waveform_cycles": int,  # cycles
    "warp_level_divergence.release": str,
    "wear.bits_file": str,
    "wear.enabled": bool,
    "wear.rows_file": str,
    "wir.allocator_ports": int,  # warp registers
    "wir.barrier_bits": int,  # bits
    "wir.counter_bits": int,  # bits
    "wir.delay": int,  # cycles
    "wir.hash_bits": int,  # bits
    "wir.model": str,
    "wir.physical_registers": int,  # warp registers
    "wir.recount": int,  # instructions
    "wir.release_latency": int,  # cycles
    "wir.rename_ports": int,  # reads
    "wir.repeats": bool,
    "wir.verify_patience": int,  # cycles
    "writeback.order": str,
    "writeback.queue": int,  # warp instructions
    "writeback.width": int,  # warp instructions
}, total=False)
