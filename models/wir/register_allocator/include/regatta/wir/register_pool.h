// SPDX-License-Identifier: Apache-2.0
//
// Physical warp registers and their references (WIR section V-E): a free pool in order of release, a reference counter
// per register, and the policies that limit the number of registers in use.
#pragma once

#include <regatta/wir/physical_register.h>
#include <regatta/wir/ports.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace regatta::models::wir {

/// A register leaves the pool with one reference, gains and loses references as tables name it, and returns to the pool
/// `release_latency` cycles after the last one (counting is pipelined). The pool takes back `ports` registers per
/// cycle.
///
/// A reference to a free register, or one given up too many, throws std::logic_error.
///
/// Invariants, whatever the order of calls: a register is either free, returning to the pool, or referenced; in_use() +
/// free() is the number of registers.
class RegisterPool {
 public:
  /// `registers`: 1 to 65535 physical warp registers. `counter_bits`: width of a counter, 1 to 32 (Table III: 10).
  /// `ports`: registers that the pool takes back per cycle (Table III: 1).
  RegisterPool(unsigned registers, unsigned release_latency, unsigned counter_bits = 10, unsigned ports = 1);

  /// All registers free, no references.
  void reset();
  /// Who says more about such a reference than the pool knows, before the pool throws.
  using Refuse = std::function<void(PhysicalRegister, const std::string& what)>;
  void set_refuse(Refuse refuse) { refuse_ = std::move(refuse); }
  /// Registers that may be in use at a time: all (max-register), or as many as the resident warps have logical
  /// registers (capped-register). May be set below in_use().
  void set_limit(unsigned registers) { limit_ = registers; }
  unsigned limit() const { return limit_; }

  /// A free register with one reference; no_register if the pool is empty or the limit is reached in cycle `now`.
  PhysicalRegister allocate(std::uint64_t now) { return low(now) ? no_register : take(now); }
  /// The same if available() is not 0.
  PhysicalRegister take(std::uint64_t now) {
    account(now);
    const PhysicalRegister reg = pool_.front();
    pool_.pop_front();
    count_[reg.value()].references = 1;
    if (++in_use_ > peak_) peak_ = in_use_;
    return reg;
  }
  /// Adds a reference to a referenced register. False, without effect, if its counter is at its maximum.
  bool acquire(PhysicalRegister reg) {
    Count& count = count_[reg.value()];
    if (__builtin_expect(count.references == 0, 0)) refuse_free(reg);
    if (__builtin_expect(count.references >= most_, 0)) {
      ++saturations_;
      return false;
    }
    ++count.references;
    return true;
  }
  /// Adds a reference that no counter limits: an instruction in flight that has not read the register yet.
  void hold(PhysicalRegister reg) {
    Count& count = count_[reg.value()];
    if (__builtin_expect(count.references++ == 0, 0)) refuse_free(reg);
    ++count.holds;
  }
  /// The instruction has read the register; the reference itself is released separately. Returns whether it was the
  /// last reader.
  bool unhold(PhysicalRegister reg) { return --count_[reg.value()].holds == 0; }
  /// The number of references by hold().
  std::uint32_t holds(PhysicalRegister reg) const { return count_[reg.value()].holds; }
  /// acquire() would succeed.
  bool can_acquire(PhysicalRegister reg) const { return count_[reg.value()].references < most_; }
  /// Removes a reference; after the last one the register is free from cycle `now` + release_latency on.
  void release(PhysicalRegister reg, std::uint64_t now) {
    if (drop(reg)) leave(reg, now);
  }
  /// release() in two steps, for a caller that need not know the cycle: removes a reference, and returns whether it was
  /// the last one. Then leave() follows.
  bool drop(PhysicalRegister reg) {
    Count& count = count_[reg.value()];
    if (__builtin_expect(count.references == 0, 0)) refuse_release(reg);
    return --count.references == 0;
  }
  [[gnu::noinline]] void leave(PhysicalRegister reg, std::uint64_t now);

  /// Nothing can be allocated in cycle `now`: tables have to release registers (low-register mode).
  bool low(std::uint64_t now) {
    drain(now);
    return pool_.empty() || in_use_ >= limit_;
  }
  /// First cycle in which a returning register is in the pool; the largest number if none is returning.
  std::uint64_t next_free() const { return leaving_.empty() ? ~std::uint64_t{0} : leaving_.front().free_at; }

  std::uint32_t references(PhysicalRegister reg) const { return count_[reg.value()].references; }
  unsigned size() const { return static_cast<unsigned>(count_.size()); }
  /// Allocated and not back in the pool, including returning ones.
  unsigned in_use() const { return in_use_; }
  unsigned free() const { return static_cast<unsigned>(pool_.size()); }
  /// Most registers in use at a time since reset_peak().
  unsigned peak() const { return peak_; }
  void reset_peak() { peak_ = in_use_; }
  /// Registers that can be allocated in cycle `now`.
  unsigned available(std::uint64_t now) {
    drain(now);
    if (in_use_ >= limit_) return 0;
    const unsigned below = limit_ - in_use_;
    return below < pool_.size() ? below : static_cast<unsigned>(pool_.size());
  }
  /// Allocated and referenced, excluding returning ones.
  unsigned referenced() const { return in_use_ - static_cast<unsigned>(leaving_.size()); }
  /// Registers in use, summed over the cycles up to `now` (at the latest the last call that named a cycle).
  std::uint64_t register_cycles(std::uint64_t now) {
    drain(now);
    account(now);
    return register_cycles_;
  }
  /// References refused because a counter was at its maximum.
  const std::uint64_t& saturations() const { return saturations_; }

 private:
  struct Leaving {
    std::uint64_t free_at = 0;
    PhysicalRegister reg;
  };
  [[noreturn, gnu::noinline, gnu::cold]] void refuse_free(PhysicalRegister reg) const;
  [[noreturn, gnu::noinline, gnu::cold]] void refuse_release(PhysicalRegister reg) const;
  [[noreturn]] void refuse(PhysicalRegister reg, const std::string& what) const;
  void drain(std::uint64_t now) {
    if (!leaving_.empty() && leaving_.front().free_at <= now) take_back(now);
  }
  void take_back(std::uint64_t now);
  /// in_use_ has not changed until cycle `until`.
  void account(std::uint64_t until) {
    if (until <= accounted_) return;
    register_cycles_ += (until - accounted_) * in_use_;
    accounted_ = until;
  }

  struct Count {
    std::uint32_t references = 0, holds = 0;
  };
  std::vector<Count> count_;  ///< by register
  /// A queue of bounded length: no register is in it twice.
  template <class T>
  class Queue {
   public:
    void reset(std::size_t most) {
      items_.resize(most);
      head_ = count_ = 0;
    }
    bool empty() const { return count_ == 0; }
    std::size_t size() const { return count_; }
    const T& front() const { return items_[head_]; }
    void push_back(const T& item) {
      const std::size_t at = head_ + count_++;
      items_[at < items_.size() ? at : at - items_.size()] = item;
    }
    void pop_front() {
      if (++head_ == items_.size()) head_ = 0;
      --count_;
    }

   private:
    std::vector<T> items_;
    std::size_t head_ = 0, count_ = 0;
  };
  Queue<PhysicalRegister> pool_;
  Queue<Leaving> leaving_;
  Refuse refuse_;
  unsigned release_latency_;
  Ports returns_;
  std::uint32_t most_;
  unsigned limit_;
  unsigned in_use_ = 0;
  unsigned peak_ = 0;
  std::uint64_t saturations_ = 0;
  std::uint64_t accounted_ = 0;
  std::uint64_t register_cycles_ = 0;
};

}  // namespace regatta::models::wir
