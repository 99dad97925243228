// SPDX-License-Identifier: Apache-2.0
//
// The dynamic part of a trace: what one warp did. `WarpColumns` is the columnar form as it lies in the
// file; `WarpCursor` walks it in program order; `WarpEncoder` makes it.
//
// Columns (each a plain array, never a message per instruction):
//   run_start, run_length   straight runs of static indices
//   mask_at, mask           dynamic index (delta) at which the SIMT mask changes, and the new mask
//   guard_mask              execution mask of every guarded instruction, XORed with the SIMT mask
//   address_*               per memory instruction: base and stride when affine, else lane by lane
//   texel_count             per texture or surface access: how many addresses it has, one texel of each lane after
//   another value_kind, value_data  per destination register: constant, stride, half-warp stride, base-delta or raw
//   predicate               per destination predicate: the value on the active lanes
//   shared_value_*          per 32-bit word that an instruction writes to shared memory, of the lanes that write there:
//                           the contents of memory after the instruction (only if Kernel::shared_values)
//   stack_at, stack_event   SIMT stack pushes and pops with their resume PCs
#pragma once

#include <regatta/trace/kernel.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace regatta::trace {

struct WarpColumns;

/// The columns of a long warp, part by part. The parts of one warp are asked for by one thread at a time.
class WarpSegments {
 public:
  virtual ~WarpSegments() = default;
  /// Part `number`, from 0; nullptr behind the last one. It stays as it is while somebody holds it. Throws InputError
  /// for a part that cannot be read.
  virtual std::shared_ptr<const WarpColumns> segment(std::uint64_t number) = 0;
};

/// Columns of one warp, or of a segment of it. Owned by the CTA they belong to.
///
/// A warp that is too long to be kept as a whole has segments: then its own columns are empty, and each segment's are
/// the continuation of those of the segment before. Cursors step from one to the next.
struct WarpColumns {
  std::vector<std::uint32_t> run_start;
  std::vector<std::uint32_t> run_length;
  std::vector<std::uint32_t> mask_at;  ///< difference to the previous change, in instructions
  std::vector<std::uint64_t> mask;
  std::vector<std::uint64_t> guard_mask;
  std::string address_kind;                 ///< one byte per memory instruction with a lane active
  std::vector<std::int64_t> address_base;   ///< difference to the previous base of this warp
  std::vector<std::int64_t> address_delta;  ///< affine: stride; scattered: active lane minus the active lane before
  std::string texel_count;                  ///< one byte per texture or surface access with a lane active
  std::string value_kind;                   ///< one byte per destination register (ValueKind)
  std::string value_data;                   ///< little endian
  std::vector<std::uint64_t> predicate;
  std::string shared_value_kind;           ///< one byte per word that is written to shared memory (ValueKind)
  std::string shared_value_data;           ///< little endian
  std::vector<std::uint32_t> stack_at;     ///< difference to the previous event, in instructions
  std::vector<std::uint32_t> stack_event;  ///< push: resume index * 2 + 1 (static index); pop: 0
  std::vector<std::uint64_t> stack_mask;   ///< lanes of the pushed entry, pushes only
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;  ///< sum of active lanes
  /// Of a warp in segments, whose counts are those of all segments; nullptr: these columns are the warp.
  std::shared_ptr<WarpSegments> segments;
  /// Memory that the columns take, in bytes.
  std::uint64_t bytes() const;
  /// Empty, but the memory stays.
  void clear();
  /// Where the warp belongs, for messages: linear CTA index and number within the CTA. The reader fills them in.
  std::uint64_t cta = 0;
  std::uint32_t warp = 0;
};

/// True when the instruction has an entry in the address columns (if a lane is active): a read or write of
/// global, shared, local, generic, texture or surface space. Parameters and constants have no addresses.
inline bool has_addresses(const StaticInstruction& instruction) {
  if (!instruction.reads_memory && !instruction.writes_memory) return false;
  return instruction.space == MemorySpace::global || instruction.space == MemorySpace::shared ||
         instruction.space == MemorySpace::local || instruction.space >= MemorySpace::generic;
}

/// True when it may have an address for each of several texels of a lane.
inline bool has_texels(const StaticInstruction& instruction) { return instruction.space >= MemorySpace::texture; }

/// Whether an instruction of the kernel accesses textures or surfaces.
inline bool accesses_textures(const Kernel& kernel) {
  for (const StaticInstruction& i : kernel.instructions) {
    if (has_texels(i) && i.space != MemorySpace::asynchronous) return true;
  }
  return false;
}

/// Whether it has an asynchronous operation.
inline bool is_asynchronous(const Kernel& kernel) {
  for (const StaticInstruction& i : kernel.instructions) {
    if (i.async != AsyncKind::none) return true;
  }
  return false;
}

/// The 32-bit words per lane that the instruction writes to shared memory if the lane's address lies there: one for
/// each word of the access, narrower accesses one. 0: it writes no shared memory, whatever its addresses are.
inline unsigned shared_write_words(const StaticInstruction& instruction) {
  const bool may = instruction.space == MemorySpace::shared || instruction.space == MemorySpace::generic;
  return instruction.writes_memory && may ? (unsigned{instruction.access_bytes} + 3) / 4 : 0;
}

/// The lanes of `active` that access shared memory. Only generic space needs `addresses`, one per active lane.
inline LaneMask shared_lanes(const StaticInstruction& instruction, LaneMask active, const std::uint64_t* addresses) {
  if (instruction.space == MemorySpace::shared) return active;
  if (instruction.space != MemorySpace::generic) return 0;
  LaneMask lanes = 0;
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    if (base::window_number(addresses[lane]) == base::window_number(shared_window)) lanes |= rest & (0 - rest);
  }
  return lanes;
}

/// How the addresses of one memory instruction are stored.
enum class AddressKind : std::uint8_t {
  affine,     ///< base is lane 0's (extrapolated), then one stride: lane i = base + i*stride
  scattered,  ///< base is the first active lane's, then each active lane minus the active lane before
};

/// The dynamic streams of one CTA.
struct Cta {
  std::uint32_t launch = 0;
  std::uint64_t index = 0;  ///< linear CTA index in the grid: x fastest
  std::vector<WarpColumns> warps;
};

enum class ValueKind : std::uint8_t {
  none,         ///< no active lane, nothing stored
  constant,     ///< u32
  stride,       ///< u32 base, i32 step: lane i = base + i*step
  half_stride,  ///< two u32 bases (lower and upper half of the warp), i32 step
  delta8,       ///< u32 base, one i8 per active lane, ascending lanes
  delta16,      ///< u32 base, one i16 per active lane
  raw,          ///< one u32 per active lane
};

/// One entry of a warp's SIMT stack below the top: lanes parked until `resume_index` is reached.
struct StackEvent {
  bool push = false;  ///< false: pop
  /// Static index at which the pushed lanes go on; the kernel's instruction count stands for its exit.
  std::uint32_t resume_index = 0;
  LaneMask mask = 0;
};

/// Walks the static indices of one warp in program order and nothing else: what a fetch stage needs.
/// Reads are bounds checked; a malformed column throws InputError naming the warp and the column.
class PathCursor {
 public:
  PathCursor() = default;
  /// `columns` and `kernel` must outlive the cursor.
  PathCursor(const Kernel& kernel, const WarpColumns& columns);

  /// Steps to the next instruction; false at the end of the warp.
  bool next() {
    if (__builtin_expect(position_ >= end_, 0) && !next_segment()) return false;
    if (run_left_ == 0) {
      next_run();
    } else {
      ++index_;
    }
    --run_left_;
    ++position_;
    return true;
  }
  /// Static index of the current instruction.
  std::uint32_t index() const { return index_; }
  /// Instructions stepped over so far, the current one included.
  std::uint64_t position() const { return position_; }
  /// True when no instruction follows the current one.
  bool at_end() const { return position_ >= end_ && is_last(); }
  /// Static index of the instruction after the current one; only if !at_end().
  std::uint32_t peek_index() const { return run_left_ != 0 ? index_ + 1 : start_of_next_run(); }
  /// True when every run has been walked to its end.
  bool complete() const;
  /// True at the end of a segment, or of the warp.
  bool at_segment_end() const { return position_ >= end_; }
  /// Instructions of the warp up to the end of the present segment.
  std::uint64_t segment_end() const { return end_; }
  /// Goes on to the next segment, which next() does by itself; false if there is none.
  bool next_segment();

  const Kernel& kernel() const { return *kernel_; }
  /// Those of the present segment.
  const WarpColumns* columns() const { return columns_; }
  /// Throws the InputError for a column that ends early, or is otherwise malformed, at the current instruction.
  [[noreturn]] void dry(const char* column) const;
  [[noreturn]] void malformed(const std::string& what) const;

 private:
  /// Of a warp in segments.
  struct Walk {
    std::shared_ptr<WarpSegments> segments;
    std::shared_ptr<const WarpColumns> present;
    std::uint64_t next = 0;   ///< number
    std::uint64_t total = 0;  ///< instructions of the warp
    bool complete = true;     ///< the segments walked so far were
  };
  /// Copies of a cursor walk on their own.
  class OwnWalk {
   public:
    OwnWalk() = default;
    explicit OwnWalk(Walk walk) : walk_(std::make_unique<Walk>(std::move(walk))) {}
    OwnWalk(const OwnWalk& o) : walk_(o.walk_ ? std::make_unique<Walk>(*o.walk_) : nullptr) {}
    OwnWalk(OwnWalk&&) noexcept = default;
    OwnWalk& operator=(OwnWalk o) noexcept {
      walk_ = std::move(o.walk_);
      return *this;
    }
    ~OwnWalk() = default;
    explicit operator bool() const { return walk_ != nullptr; }
    Walk* operator->() const { return walk_.get(); }

   private:
    std::unique_ptr<Walk> walk_;
  };
  void next_run();
  std::uint32_t start_of_next_run() const;
  bool is_last() const;

  std::uint64_t position_ = 0;
  std::uint64_t end_ = 0;  ///< of the segment
  std::uint32_t index_ = 0;
  std::uint32_t run_left_ = 0;
  std::size_t run_ = 0;
  const Kernel* kernel_ = nullptr;
  const WarpColumns* columns_ = nullptr;
  OwnWalk walk_;  ///< none: not in segments
};

/// Reads the SIMT stack columns of a warp, event by event.
class StackReader {
 public:
  StackReader() = default;
  explicit StackReader(const WarpColumns& columns) { go_on(columns); }
  /// With the next segment.
  void go_on(const WarpColumns& columns) {
    event_ = mask_ = 0;
    next_at_ = columns.stack_at.empty() ? ~std::uint64_t{0} : last_at_ + columns.stack_at[0];
  }
  /// Whether events happened at the first `position` instructions that were not read yet.
  bool due(std::uint64_t position) const { return next_at_ < position; }
  /// The next event; only if one is due. `path`: of the same columns, for messages.
  StackEvent read(const PathCursor& path);
  /// The column with entries that nobody read; nullptr if there is none.
  const char* leftover(const WarpColumns& columns) const;

 private:
  std::uint64_t next_at_ = ~std::uint64_t{0};
  std::uint64_t last_at_ = 0;
  std::size_t event_ = 0;
  std::size_t mask_ = 0;
};

/// The entries of a warp's SIMT stack below the top, for those who look at them now and then.
class StackCursor {
 public:
  StackCursor() = default;
  /// `columns` and `kernel` must outlive the cursor.
  StackCursor(const Kernel& kernel, const WarpColumns& columns) : path_(kernel, columns), reader_(columns) {}
  /// Steps to the place behind the first `instructions` of the warp, which is not before the present one.
  void advance(std::uint64_t instructions);
  /// Bottom first.
  const std::vector<StackEvent>& entries() const { return entries_; }

 private:
  PathCursor path_;
  StackReader reader_;
  std::vector<StackEvent> entries_;
};

/// Walks one warp's columns in program order.
///
/// Call next(); then, for that instruction, decode what is wanted. A decoder that is used at all has to be
/// called for every instruction that has such a column (results: a destination register; addresses: a
/// memory instruction; stored values: a write of shared memory), in order, at most once each: the columns hold no
/// positions. Calls cost no allocation.
/// Every read is bounds checked; a column that runs dry throws InputError naming the warp and the column.
class WarpCursor {
 public:
  WarpCursor() = default;
  /// `columns` and `kernel` must outlive the cursor.
  WarpCursor(const Kernel& kernel, const WarpColumns& columns);

  /// Steps to the next instruction; false at the end of the warp.
  bool next();

  /// Static index of the current instruction.
  std::uint32_t index() const { return path_.index(); }
  const StaticInstruction& instruction() const { return *instruction_; }
  /// Lanes on the SIMT path, before the guard.
  LaneMask simt_mask() const { return simt_mask_; }
  /// Lanes that execute: SIMT mask and guard.
  LaneMask active_mask() const { return active_mask_; }
  /// As it stands in the column, of an instruction with a guard.
  LaneMask guard_mask() const { return guard_[-1]; }
  /// Instructions stepped over so far, the current one included.
  std::uint64_t position() const { return path_.position(); }
  /// True when no instruction follows the current one.
  bool at_end() const { return path_.at_end(); }
  const PathCursor& path() const { return path_; }

  /// Decodes destination register `d` (call for d = 0, 1, ... in order) into `out`.
  /// Lanes outside active_mask() are left with unspecified contents.
  void result(WarpValue& out);
  /// Decodes the value of the next destination predicate, on the active lanes; other bits zero.
  LaneMask predicate();
  /// Decodes the addresses (bytes) of the current memory instruction into address[lane]; lanes outside
  /// active_mask() are left with unspecified contents. `address` holds warp_size entries. True when all of them,
  /// inactive lanes included, were filled in with one stride. Of a texture or surface access they are those of each
  /// lane's first texel.
  bool addresses(std::uint64_t* address);
  /// After addresses(): how many texels each lane has besides the first one, and the addresses of one of them, of
  /// texel 1 + `n`, by lane.
  unsigned further_texels() const { return further_texels_; }
  const std::uint64_t* further_texel(unsigned n) const { return texels_->data() + std::size_t{n} * max_lanes; }
  /// Number of stored() calls that the current instruction needs. 0 if the kernel has no shared values, or no lane
  /// writes shared memory. Writes of generic space have to call addresses() first.
  unsigned stored_words() const { return shared_values_ ? count_stored_words() : 0; }
  /// Decodes the next 32-bit word that the current instruction left in shared memory, ascending addresses. Narrower
  /// accesses fill the low bits. Lanes outside stored_lanes() are left with unspecified contents.
  void stored(WarpValue& out);
  /// The lanes of stored().
  LaneMask stored_lanes() const;
  /// Appends the SIMT stack events that happened at the current instruction (and at instructions stepped over
  /// since the last call). Returns their number.
  unsigned stack_events(std::vector<StackEvent>& out);
  /// Name of a column with entries that nobody decoded, nullptr if there is none. At the end of a warp whose
  /// columns were all decoded, a name means a malformed file.
  const char* leftover() const;
  /// The same for a user who does not decode the SIMT stack, nor, unless `stored`, what writes leave in shared memory.
  const char* leftover_of_program(bool stored) const;

 private:
  void next_mask();
  bool next_segment();
  void begin_columns(const WarpColumns& columns);
  unsigned read_stack_events(std::vector<StackEvent>& out);
  unsigned count_stored_words() const;

  /// The rest of a column of values.
  struct ValueColumn {
    ValueColumn() = default;
    ValueColumn(const std::string& kinds, const std::string& bytes)
        : kind(kinds.data()), kind_end(kind + kinds.size()), data(bytes.data()), data_end(data + bytes.size()) {}

    const char* kind = nullptr;
    const char* kind_end = nullptr;
    const char* data = nullptr;
    const char* data_end = nullptr;
  };
  /// Results and stored values differ in the column and in the words of messages.
  struct Results {
    static constexpr const char* kind_name = "value_kind";
    static constexpr const char* data_name = "value_data";
    static constexpr const char* entry = "result";
    static ValueColumn& column(WarpCursor& cursor) { return cursor.results_; }
  };
  struct StoredValues {
    static constexpr const char* kind_name = "shared_value_kind";
    static constexpr const char* data_name = "shared_value_data";
    static constexpr const char* entry = "stored value";
    static ValueColumn& column(WarpCursor& cursor) { return cursor.stored_; }
  };
  template <class Which>
  const char* take_data(std::size_t bytes);
  template <class Which, unsigned lanes>
  void decode_value(LaneMask active, std::uint32_t* out);
  template <unsigned lanes>
  bool decode_addresses(std::uint64_t* address);
  void decode_texels(std::uint64_t* address);

  static constexpr std::uint64_t never = ~std::uint64_t{0};

  // What next() touches comes first.
  PathCursor path_;
  const StaticInstruction* instruction_ = nullptr;
  const StaticInstruction* code_ = nullptr;
  std::uint64_t next_mask_at_ = never;
  LaneMask simt_mask_ = 0;
  LaneMask active_mask_ = 0;
  const std::uint64_t* guard_ = nullptr;
  const std::uint64_t* guard_end_ = nullptr;
  LaneMask all_lanes_ = 0;
  ValueColumn results_;
  const std::uint64_t* predicate_ = nullptr;
  const std::uint64_t* predicate_end_ = nullptr;
  std::size_t mask_ = 0;
  std::size_t address_kind_ = 0;
  std::size_t address_base_ = 0;
  std::size_t address_delta_ = 0;
  std::uint64_t last_base_ = 0;
  unsigned further_texels_ = 0;
  std::size_t texel_count_ = 0;
  /// Those of further_texels(); nullptr before the first. Copies of a cursor share nothing that either will change.
  std::shared_ptr<std::vector<std::uint64_t>> texels_;
  StackReader stack_;
  bool shared_values_ = false;
  LaneMask shared_lanes_ = 0;          ///< of the last write of generic space whose addresses were decoded
  std::uint64_t shared_lanes_at_ = 0;  ///< its position
  ValueColumn stored_;
  std::uint64_t last_mask_at_ = 0;
  /// leftover() of segments before this one: of all, and of the program's with and without stored values.
  const char* left_ = nullptr;
  const char* left_of_program_[2] = {nullptr, nullptr};
};

/// Builds one warp's columns as the emulator executes it.
///
/// Every column entry of an instruction (each destination register, each destination predicate, the addresses if
/// has_addresses() and a lane is active, each word written to shared memory if Kernel::shared_values) has to be given
/// before the next instruction() or finish(); anything missing, superfluous or out of range is a programming error and
/// throws std::logic_error.
class WarpEncoder {
 public:
  /// `kernel` must outlive the encoder.
  explicit WarpEncoder(const Kernel& kernel) : WarpEncoder(kernel, WarpColumns()) {}
  /// `storage`: columns whose memory it uses; what is in them does not count.
  WarpEncoder(const Kernel& kernel, WarpColumns&& storage);

  /// Begins the next instruction. `active` is `simt_mask` less the lanes the guard switches off.
  void instruction(std::uint32_t index, LaneMask simt_mask, LaneMask active);
  /// Value of the next destination register of the current instruction (all destinations, in order).
  void result(const WarpValue& value);
  /// Value of the next destination predicate of the current instruction.
  void predicate(LaneMask value);
  /// Addresses of the current memory instruction, one per lane; inactive lanes are ignored.
  /// A call without an active lane is allowed and stores nothing.
  void addresses(const std::uint64_t* address);
  /// The same of a texture or surface access: `count` texels of each lane (1 to 8), `max_lanes` addresses each; and of
  /// an asynchronous operation, whose lists they are.
  void texels(const std::uint64_t* address, unsigned count);
  /// The next 32-bit word that the current instruction left in shared memory, ascending addresses, after addresses().
  /// Only the lanes that access shared memory count.
  void stored(const WarpValue& value);
  /// SIMT stack events at the current instruction, in the order they happened.
  void push(std::uint32_t resume_index, LaneMask mask);
  void pop();

  /// Memory that the columns take, in bytes.
  std::uint64_t bytes() const { return columns_.bytes(); }
  /// Whether a segment was taken.
  bool has_segments() const { return taken_warp_instructions_ != 0; }
  /// Takes out the columns of the instructions since the last call: a segment of the warp.
  WarpColumns take_segment();
  /// Returns the columns; the encoder is then ready for another warp of the same kernel. If segments were taken, the
  /// last one must have been too: the columns are empty, and their counts those of the warp.
  WarpColumns finish();

 private:
  [[noreturn]] void misuse(const std::string& what) const;
  void require_complete() const;
  void expect_stored(const std::uint64_t* address);
  void append_addresses(const std::uint64_t* address);
  /// What each lane of `lanes` is above the one before.
  void append_deltas(const std::uint64_t* address, LaneMask lanes, std::uint64_t before);
  void stack_event(std::uint32_t event);

  const Kernel* kernel_;
  WarpColumns columns_;
  LaneMask all_lanes_ = 0;
  std::uint32_t last_index_ = 0;
  LaneMask simt_mask_ = 0;
  LaneMask active_ = 0;
  std::uint8_t pending_results_ = 0;
  std::uint8_t pending_predicates_ = 0;
  std::uint8_t pending_addresses_ = 0;
  std::uint8_t pending_stored_ = 0;
  LaneMask shared_lanes_ = 0;
  std::uint64_t last_mask_at_ = 0;
  std::uint64_t last_stack_at_ = 0;
  std::uint64_t last_base_ = 0;
  std::uint64_t taken_warp_instructions_ = 0, taken_thread_instructions_ = 0;  ///< of the segments that were taken
};

inline bool WarpCursor::next() {
  if (__builtin_expect(path_.at_segment_end(), 0) && !next_segment()) return false;
  const std::uint64_t position = path_.position();
  if (!path_.next()) return false;
  instruction_ = code_ + path_.index();
  if (position == next_mask_at_) next_mask();
  active_mask_ = simt_mask_;
  if (instruction_->guard.predicate >= 0) {
    if (guard_ == guard_end_) path_.dry("guard_mask");
    // The guard only ever takes lanes away, so XOR and AND NOT agree; the latter cannot add a lane in a bad file.
    active_mask_ &= ~*guard_++;
  }
  return true;
}

inline LaneMask WarpCursor::predicate() {
  if (predicate_ == predicate_end_) path_.dry("predicate");
  return *predicate_++ & active_mask_;
}

inline unsigned WarpCursor::stack_events(std::vector<StackEvent>& out) {
  return stack_.due(path_.position()) ? read_stack_events(out) : 0;
}

}  // namespace regatta::trace
