// SPDX-License-Identifier: Apache-2.0
//
// What a bank of an operand staging unit does for its shard (RegLess, MICRO 2017, section 5.2). A bank has lines, each
// with a tag (warp, register), a value, and a place: owned by a region, or in the list of free, clean or dirty lines.
// It has two ports, tag and data, each of which does one job per cycle.
//
// Cycles are absolute. `now` is the present one and never goes back from call to call.
#pragma once

#include <regatta/regless/bank_twin.h>
#include <regatta/regless/slot_ports.h>
#include <regatta/trace/region_words.h>

#include <cstdint>
#include <systemc>

namespace regatta::models {

inline constexpr std::uint16_t no_line = 0xffff;

/// Reads of lanes that were never written deliver this word; programs are unlikely to compute it.
inline constexpr std::uint32_t unwritten_word = 0xdeadf00d;

/// Whose a line is, what is outstanding at it, and what becomes of it then.
struct LineUse {
  /// owned by a region; filling: the same, and the value is on its way; dropped: it is, and its warp has ended.
  enum class State : std::uint8_t { listed, owned, filling, dropped };

  State state = State::listed;
  trace::LastUse fate = trace::LastUse::none;  ///< when no access is outstanding
  std::uint8_t reads = 0, writes = 0;          ///< outstanding
  std::uint8_t readout = 0;  ///< place of the write-back buffer, plus 1, whose value is still to be read out of here
};

/// A line without its value.
struct OsuLine {
  std::uint64_t available_at = 0;                    ///< in a list: the first cycle in which it may be taken
  std::uint16_t warp = 0;                            ///< its number in the shard
  std::uint16_t previous = no_line, next = no_line;  ///< in its list
  std::uint8_t reg = 0;
  BankList list = BankList::free;
  bool is_dirty = false;    ///< memory does not have this value
  bool is_defined = false;  ///< something was written to it
  LineUse use;              ///< of the bank's owner, which finds it where it looks anyway; the bank does not read it
};

class OsuBankAccess : public virtual sc_core::sc_interface {
 public:
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  // ---- tags and lists: the operations of a twin (bank_twin.h). They book no cycle of a port.

  /// The line with this tag, or no_line. A warp is one of the shard's; a register may be any.
  virtual std::uint16_t look_up(unsigned warp, unsigned reg) const = 0;
  struct Allocation {
    std::uint16_t line = no_line;
    std::uint16_t warp = 0;  ///< the tag that the line had; of a clean or dirty line it was a register's
    std::uint8_t reg = 0;
    BankList from = BankList::owned;
  };
  /// Takes a line for a register that has none: the oldest free one, else the oldest clean one, else, if `may_dirty`,
  /// the oldest dirty one. It is owned then, neither dirty nor defined; value() is that of the register that lost it,
  /// until the line is written.
  virtual Allocation allocate(unsigned warp, unsigned reg, std::uint64_t now, bool may_dirty) = 0;
  /// A region takes a line that has its register's value.
  virtual void own(std::uint16_t line) = 0;
  /// An owned line whose last access is in the cycle before `at` goes to a list, which is returned: free if it is
  /// erased or was never written, else dirty or clean.
  virtual BankList release(std::uint16_t line, bool erase, std::uint64_t at) = 0;
  /// The line goes to the free list and loses its tag.
  virtual void free(std::uint16_t line, std::uint64_t at) = 0;
  /// The line loses its tag and stays where it is: its value is still to come.
  virtual void forget(std::uint16_t line) = 0;
  /// Sets the bits of a line. Returns whether it went to another list: a clean line that becomes dirty, or the reverse.
  virtual bool mark(std::uint16_t line, bool dirty, bool defined, std::uint64_t at) = 0;

  virtual std::uint16_t lines() const = 0;
  virtual const OsuLine& line(std::uint16_t line) const = 0;
  /// The list from which allocate() would take a line; owned: there is no line.
  virtual BankList next_list(std::uint64_t now, bool may_dirty) const = 0;
  /// The first cycle after `now` in which a listed line becomes available, or `never`.
  virtual std::uint64_t next_available(std::uint64_t now) const = 0;
  /// How often a line came into a list.
  virtual std::uint32_t lines_listed() const = 0;

  // ---- values

  /// Copies the value. A line that was never written delivers unwritten_word; returns whether it was written.
  virtual bool read(std::uint16_t line, void* to) const = 0;
  /// The value as it is in the cells.
  virtual const std::uint32_t* value(std::uint16_t line) const = 0;
  /// Writes the bytes that `enable` names (all if null; those of TLM). Other bytes keep their values; of a line that
  /// was never written they are unwritten_word. The line is dirty and defined then: returns what mark() returns.
  virtual bool write(std::uint16_t line, const unsigned char* data, const unsigned char* enable, std::uint64_t at) = 0;

  // ---- cycles of the two ports

  /// An operand read: tag and data, in the first cycle from `at` on in which both are free. Returns that cycle.
  virtual std::uint64_t book_read(std::uint64_t now, std::uint64_t at) = 0;
  /// An operand write: data.
  virtual std::uint64_t book_write(std::uint64_t now, std::uint64_t at) = 0;
  /// The look-up of a new destination: tag.
  virtual void book_tag(std::uint64_t now, std::uint64_t at) = 0;
  /// Cycles from `at` to the data port's first free one.
  virtual std::uint64_t backlog(std::uint64_t now, std::uint64_t at) = 0;
  /// Whether nothing was booked at the port for the cycle before `now`, which is 1 at least.
  virtual bool is_spare(SlotPorts::Port port, std::uint64_t now) = 0;
  /// A preload or an invalidation had its look-up in a spare cycle.
  virtual void use_spare_tag() = 0;
  /// A value from memory or the write-back buffer was written in the spare cycle before `now`. mark() sets the line's
  /// bits. Null: the value of a warp that has ended.
  virtual void fill(std::uint16_t line, const void* value, std::uint64_t now) = 0;
  /// A value left for the write-back buffer in a spare cycle.
  virtual void read_out() = 0;
  /// The same in a cycle of its own, from `at` on.
  virtual void book_read_out(std::uint64_t now, std::uint64_t at) = 0;

  /// A kernel begins, whose warps have so many registers (256 before the first one). No line may have a tag.
  virtual void kernel_started(unsigned registers_per_warp) = 0;
};

}  // namespace regatta::models
