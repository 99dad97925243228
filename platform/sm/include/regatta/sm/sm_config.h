// SPDX-License-Identifier: Apache-2.0
//
// Knobs of one SM. Defaults are neutral; the machine presets (platform/machines) carry the papers' values
// with their sources.
#pragma once

#include <regatta/sm/async_config.h>
#include <regatta/sm/read_only_cache_config.h>
#include <regatta/sm/tensor_config.h>
#include <regatta/sm/texture_config.h>

#include <regatta/protocol/dynamic_instruction.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/support/config.h>
#include <regatta/trace/types.h>

#include <array>
#include <string>
#include <vector>

namespace regatta::sm {

/// Latency and initiation interval of one opcode class, in cycles.
struct ClassTiming {
  unsigned latency = 4;
  unsigned initiation = 1;
};

/// Knobs of the operand path "sub_core" (Huerta et al., MICRO 2025, sections 5.3 and 5.4).
struct SubCoreConfig {
  unsigned window = 3;              ///< cycles in which an allocated instruction reads its operands
  unsigned result_queue = 8;        ///< results of fixed latency of a sub-core, from dispatch to write
  unsigned memory_queue = 4;        ///< memory instructions of a sub-core, beside the one in its latch
  unsigned unit_queue = 2;          ///< other instructions of variable latency, per kind of unit
  unsigned memory_latency = 11;     ///< cycles from issue to the load-store unit, at least
  unsigned memory_interval = 4;     ///< cycles between two memory instructions of a sub-core
  unsigned memory_sm_interval = 2;  ///< and of the SM
};

/// Knobs of the scoreboard of the operand path "sub_core" (Huerta et al., MICRO 2025, section 7.5, whose scoreboards
/// release at retirement and count all readers).
struct ScoreboardConfig {
  std::string release = "bypass";    ///< when a register with a write in flight is free: "bypass" or "retirement"
  std::string readers = "variable";  ///< the instructions that are counted as readers: "variable" latency or "all"
  unsigned war_consumers = 63;       ///< readers of a register that can be counted at once
};

struct SmConfig {
  // Limits of resident work.
  unsigned max_ctas = 32;
  unsigned max_warps = 64;
  unsigned max_threads = 2048;
  unsigned lanes = 32;  ///< lanes of a warp (64: wavefronts)
  unsigned registers_per_thread = 255;
  unsigned register_granularity = 8;  ///< warp registers
  unsigned shared_bytes = 98304;
  unsigned shared_cta_bytes = 0;  ///< maximum per CTA; 0: all of the SM's
  unsigned shared_granularity = 256;

  // Front end.
  unsigned schedulers = 4;
  unsigned sub_cores = 1;       ///< parts of an SM that share no scheduler; warps are distributed round robin
  unsigned issue_interval = 1;  ///< cycles between two issue slots of a scheduler
  std::string scheduler = "gto";
  std::string residency = "occupancy";
  unsigned issue_width = 1;        ///< instructions per scheduler and cycle, of one warp
  unsigned fetch_width = 2;        ///< instructions per fetch; one warp fetches per scheduler and cycle
  unsigned instruction_bytes = 8;  ///< of code, as the instruction cache sees it
  unsigned fetch_latency = 2;      ///< cycles from fetch to instruction buffer
  unsigned buffer_entries = 4;     ///< instruction buffer of a warp
  unsigned branch_latency = 1;     ///< cycles after issue of a branch before its warp fetches again
  unsigned barrier_latency = 1;    ///< cycles from the last arrival to release
  unsigned barrier_interval = 0;   ///< cycles between two arrivals that the SM takes note of; 0: any number at once
  unsigned cta_launch = 0;         ///< cycles that the SM's launcher takes for a CTA, before its warps
  unsigned warp_launch = 0;        ///< cycles that it takes for each warp
  ReadOnlyCacheConfig icache;
  ReadOnlyCacheConfig constant_cache{false, 2048, 4, 64, 4, 1};

  // Operand path.
  std::string operand_path = "collectors";
  SubCoreConfig sub_core;
  std::string dependences = "scoreboard";
  ScoreboardConfig scoreboard;
  unsigned collectors = 8;      ///< generic operand collector units per scheduler
  unsigned sp_collectors = 0;   ///< units per SM for one kind of instruction; like pipelines, each scheduler has its
  unsigned sfu_collectors = 0;  ///< own if their number can be divided among the schedulers
  unsigned dp_collectors = 0;
  unsigned memory_collectors = 0;
  unsigned writeback_width = 6;  ///< instructions that may write back per cycle
  std::string writeback_order = "completion";
  unsigned writeback_queue = 64;  ///< results that may wait for write-back before execution units stall

  // Execution units. A unit narrower than a warp takes it in passes.
  unsigned sp_units = 4;
  unsigned alu_units = 0;           ///< pipelines for integer logic and comparisons; 0: the sp pipelines take these
  std::string alu_kinds = "logic";  ///< what the alu pipelines take: "logic" | "integer" | "integer_fp32"
  unsigned sfu_units = 4;
  unsigned dp_units = 4;
  unsigned sp_lanes = 32;
  unsigned sfu_lanes = 32;
  unsigned dp_lanes = 32;
  std::array<ClassTiming, trace::op_class_count> timing = default_timing();
  unsigned predicate_latency = 0;  ///< least latency of a result in a predicate
  unsigned constant_latency = 0;   ///< cycles of the constant unit's first address; 0: as of other constant loads
  unsigned constant_word = 0;      ///< cycles of the SM's constant unit for each different address; 0: there is no unit

  // Load-store unit.
  unsigned lsu_queue = 8;   ///< memory instructions waiting for address generation
  unsigned lsu_lanes = 32;  ///< addresses per cycle
  unsigned shared_banks = 32;
  unsigned shared_latency = 24;
  unsigned line_bytes = 128;
  TextureConfig texture;
  TensorConfig tensor;
  AsyncConfig async;
  /// Stores say whether they write whole sectors; set by the assembly (interconnect.mask_flits).
  bool store_masks = false;
  unsigned l1_tags = 1;  ///< lines per cycle for which the L1 takes requests; set by the assembly (l1.tags)

  /// Enables the costly contract checks of the extension points; set by the assembly (--check-protocol, debug builds).
  bool check_contracts = false;
  bool lane_gating = true;  ///< only active lanes count for energy; set by the assembly (energy.lane_gating)
  std::uint64_t watchdog_cycles = 2000000;  ///< cycles of retries without progress before the run ends

  static std::array<ClassTiming, trace::op_class_count> default_timing();
  /// Declares every knob under sm.*, fetch.*, scoreboard.*, icache.*, constant_cache.*, collector.*, unit.*, latency.*,
  /// initiation.*, lsu.*, texture.*, texture_cache.*, shared.*. `policies` has the names and descriptions of the
  /// available policies.
  struct Policies {
    std::vector<std::string> schedulers, residencies;
    std::string schedulers_help, residencies_help;
  };
  void declare(support::OptionSet& options, const Policies& policies);
  /// Throws ConfigError, with a message, for combinations that cannot work.
  void validate() const;
  protocol::SmLimits limits(unsigned warp_size, std::uint64_t storage_registers) const;
  /// Warp registers allocated to a warp of a kernel with this many registers per thread.
  unsigned allocated_registers(unsigned per_thread) const;
  /// Whether the operand path is "sub_core".
  bool has_sub_cores() const { return operand_path == "sub_core"; }
  /// Whether dependences are those of control bits.
  bool obeys_control_bits() const { return dependences == "control_bits"; }
  /// Whether instructions of fixed latency tell when they have read their sources.
  bool counts_fixed_readers() const { return !obeys_control_bits() && scoreboard.readers == "all"; }
  ClassTiming of(trace::OpClass c) const { return timing[static_cast<unsigned>(c)]; }
};

/// The traits of one static instruction with the given index.
protocol::InstructionTraits traits_of(const trace::StaticInstruction& info, std::uint32_t index,
                                      const SmConfig& config);

/// Derives the traits of each static instruction. Throws ConfigError if the kernel cannot run on this machine: warps of
/// another width, or more registers per thread than a thread can name.
std::vector<protocol::InstructionTraits> make_traits(const trace::Kernel& kernel, const SmConfig& config);

}  // namespace regatta::sm
