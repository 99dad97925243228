// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/clock_windows.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace regatta::support {

/// Threads that run branches together with the one that calls run().
class ClockWindows::Pool {
 public:
  explicit Pool(unsigned helpers) {
    for (unsigned i = 0; i < helpers; ++i) threads_.emplace_back([this, i] { help(i + 1); });
  }
  ~Pool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
      round_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  unsigned helpers() const { return static_cast<unsigned>(threads_.size()); }
  void hold_up(std::uint64_t seed) { seed_ = seed; }

  /// Runs `work(i)` for 0 <= i < count, in any order, each on one thread; `own()` on this one, meanwhile.
  void run(std::size_t count, const std::function<void(std::size_t)>& work, const std::function<void()>& own) {
    work_ = &work;
    count_ = count;
    next_.store(0, std::memory_order_relaxed);
    busy_.store(helpers(), std::memory_order_relaxed);
    {
      // Under the lock, so that no helper goes to sleep between its last look and the notification.
      const std::lock_guard<std::mutex> lock(mutex_);
      round_.fetch_add(1, std::memory_order_release);
    }
    if (asleep_.load(std::memory_order_relaxed) != 0) wake_.notify_all();
    own();
    share(0);
    for (unsigned spins = 0; busy_.load(std::memory_order_acquire) != 0; ++spins) relax(spins);
  }

 private:
  static constexpr unsigned spins_before_yield = 200, yields_before_sleep = 200;

  static void relax(unsigned spins) {
    if (spins >= spins_before_yield) {
      std::this_thread::yield();
    } else {
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
    }
  }
  void help(unsigned self) {
    std::uint64_t seen = 0;
    for (;;) {
      for (unsigned spins = 0; round_.load(std::memory_order_acquire) == seen; ++spins) {
        if (spins < spins_before_yield + yields_before_sleep) {
          relax(spins);
          continue;
        }
        std::unique_lock<std::mutex> lock(mutex_);
        asleep_.fetch_add(1, std::memory_order_relaxed);
        wake_.wait(lock, [&] { return round_.load(std::memory_order_acquire) != seen; });
        asleep_.fetch_sub(1, std::memory_order_relaxed);
      }
      ++seen;
      if (stop_) return;
      share(self);
      busy_.fetch_sub(1, std::memory_order_release);
    }
  }
  void share(unsigned self) {
    std::uint64_t random = seed_ + self;
    for (;;) {
      const std::size_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= count_) return;
      if (seed_ != 0) {
        random = (random + i) * 6364136223846793005u + 1442695040888963407u;
        if ((random >> 60) == 0) std::this_thread::sleep_for(std::chrono::microseconds((random >> 40) % 64));
      }
      (*work_)(i);
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<std::uint64_t> round_{0};
  std::atomic<unsigned> asleep_{0}, busy_{0};
  std::atomic<std::size_t> next_{0};
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t count_ = 0;
  std::uint64_t seed_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

ClockWindows::ClockWindows(ClockDomain& trunk, ClockBoundary& boundary, std::uint64_t cycles, unsigned threads)
    : trunk_(trunk), boundary_(boundary), cycles_(cycles == 0 ? no_cycle : cycles) {
  trunk_.windows_ = this;
  const auto helpers = static_cast<unsigned>(std::min<std::size_t>(threads, trunk_.branches_.size()));
  if (helpers > 1) pool_ = std::make_unique<Pool>(helpers - 1);
}

ClockWindows::~ClockWindows() { trunk_.windows_ = nullptr; }

unsigned ClockWindows::threads() const { return pool_ == nullptr ? 1 : pool_->helpers() + 1; }

void ClockWindows::hold_up(std::uint64_t seed) {
  if (pool_ != nullptr) pool_->hold_up(seed);
}

std::uint64_t ClockWindows::next_due() const { return std::min(trunk_.next_due(), next_of_branches()); }

void ClockWindows::level() {
  std::uint64_t last = trunk_.cycle_;
  for (const ClockDomain* branch : trunk_.branches_) last = std::max(last, branch->cycle_);
  trunk_.cycle_ = last;
  for (ClockDomain* branch : trunk_.branches_) branch->cycle_ = last;
}

bool ClockWindows::paused() const {
  return trunk_.yield_ || std::any_of(trunk_.branches_.begin(), trunk_.branches_.end(),
                                      [](const ClockDomain* branch) { return branch->yield_; });
}

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

void ClockWindows::run_trunk(std::uint64_t end) {
  const auto begin = std::chrono::steady_clock::now();
  trunk_.run_before(end);
  trunk_seconds_ += seconds_since(begin);
}

void ClockWindows::catch_up() {
  run_trunk(std::exchange(owed_, 0));
  boundary_.exchange();
}

std::uint64_t ClockWindows::next_of_branches() const {
  std::uint64_t next = no_cycle;
  for (const ClockDomain* branch : trunk_.branches_) next = std::min(next, branch->armed_);
  return next;
}

void ClockWindows::run(std::uint64_t first) {
  const std::uint64_t limit = first + std::max<std::uint64_t>(trunk_.quantum_, 1);
  const std::uint64_t period = trunk_.period_;
  const std::uint64_t lookahead = boundary_.lookahead();
  // Beside the trunk's own parts, branches can be a window ahead: what a window's answers are for is the one after the
  // next, so two windows are as long as the lookahead.
  const std::uint64_t most = std::min(cycles_, pool_ != nullptr && lookahead > 1 ? lookahead / 2 : lookahead);
  for (std::uint64_t next = first; next < limit;) {
    std::uint64_t end = std::min(next + most, limit);
    if (owed_ != 0) {
      const std::uint64_t begin = next_of_branches();
      const std::uint64_t reached = trunk_.next_due() + lookahead;
      if (begin >= std::min(reached, limit) || trunk_.probe_next_ < begin) {
        catch_up();
        if (trunk_.yield_) break;
        next = next_due();
        continue;
      }
      next = begin;
      end = std::min({next + most, reached, limit});
    } else {
      trunk_.look(next);
      if (trunk_.yield_) break;
    }
    if (trunk_.probe_next_ < end) end = trunk_.probe_next_ + 1;
    if (sc_core::sc_pending_activity(trunk_.simcontext())) {
      const std::uint64_t pending = sc_core::sc_time_to_pending_activity().value();
      // The cycle of the activation itself runs in any case.
      if (next != first && (next - first) * period >= pending) break;
      end = std::max(std::min(end, first + (pending + period - 1) / period), next + 1);
    }
    run_window(end);
    ++windows_;
    if (paused()) break;
    if (pool_ == nullptr) catch_up();
    if (heartbeat_ && windows_ % 256 == 0) heartbeat_();
    if (trunk_.yield_) break;
    // Those of the trunk are due then at the latest, so that it catches up if the branches have nothing to do.
    next = owed_ != 0 ? end : next_due();
  }
  if (owed_ != 0 && !paused()) catch_up();
  level();
  bool pause = false;
  for (ClockDomain* branch : trunk_.branches_) {
    pause = pause || branch->pause_;
    branch->pause_ = branch->yield_ = false;
  }
  if (pause) sc_core::sc_pause();
}

void ClockWindows::run_branches(std::uint64_t end) {
  turns_ += ready_.size();
  const auto run = [&](std::size_t i) {
    ClockDomain& branch = *ready_[i];
    try {
      branch.run_before(end);
    } catch (...) {
      branch.error_ = std::current_exception();
      branch.running_ = false;
      branch.yield_ = true;
    }
  };
  const std::uint64_t owed = std::exchange(owed_, 0);
  const auto begin = std::chrono::steady_clock::now();
  const double trunk_before = trunk_seconds_;
  std::exception_ptr error;
  if (pool_ != nullptr && ready_.size() + (owed != 0 ? 1 : 0) > 1) {
    pool_->run(ready_.size(), run, [&] {
      try {
        if (owed != 0) run_trunk(owed);
      } catch (...) {
        error = std::current_exception();
      }
    });
  } else {
    for (std::size_t i = 0; i < ready_.size(); ++i) run(i);
  }
  branch_seconds_ += seconds_since(begin) - (trunk_seconds_ - trunk_before);
  if (error) std::rethrow_exception(error);
  const ClockDomain* failed = nullptr;
  for (const ClockDomain* branch : ready_) {
    if (branch->error_ && (failed == nullptr || branch->cycle_ < failed->cycle_)) failed = branch;
  }
  if (failed != nullptr) std::rethrow_exception(failed->error_);
}

void ClockWindows::take_turns(std::uint64_t end) {
  const auto before = [](const ClockDomain* a, const ClockDomain* b) {
    // A branch whose turn was taken may want another one in its next cycle.
    const auto key = [](const ClockDomain* c) {
      return c->unfinished_ && c->waiting_work_ == nullptr ? c->cycle_ + 1 : c->position();
    };
    return key(a) < key(b);
  };
  for (;;) {
    ClockDomain* first = nullptr;
    for (ClockDomain* branch : trunk_.branches_) {
      if (branch->position() < end && (first == nullptr || before(branch, first))) first = branch;
    }
    if (first == nullptr || first->waiting_work_ == nullptr) return;
    first->take_turn();
    ready_.push_back(first);
  }
}

void ClockWindows::run_window(std::uint64_t end) {
  ready_.clear();
  for (ClockDomain* branch : trunk_.branches_) {
    if (branch->armed_ < end) ready_.push_back(branch);
  }
  while (!ready_.empty()) {
    run_branches(end);
    if (paused()) return;
    ready_.clear();
    take_turns(end);
  }
  boundary_.exchange();
  owed_ = end;
}

}  // namespace regatta::support
