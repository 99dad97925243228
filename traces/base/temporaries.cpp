// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/error.h>
#include <regatta/base/temporaries.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <random>

namespace regatta::base {

/// Entries are never freed, so that a handler may walk the list at any time; free ones are used again.
struct Temporary::List {
  static std::atomic<Temporary*> head;
  static std::mutex mutex;  ///< of make() and release(); the handler does without
};
std::atomic<Temporary*> Temporary::List::head{nullptr};
std::mutex Temporary::List::mutex;

namespace {

/// Longest part of the target's own name in the temporary's: a file name has 255 bytes at most on Linux.
constexpr std::size_t max_stem = 200;

std::uint64_t random_number() {
  static std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

std::string hexadecimal(std::uint64_t value) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 15];
  return text;
}

std::string temporary_name(const std::string& target) {
  const std::size_t slash = target.rfind('/');
  const std::size_t stem = slash == std::string::npos ? 0 : slash + 1;
  return target.substr(0, stem) + target.substr(stem, max_stem) + ".partial." + std::to_string(getpid()) + "-" +
         hexadecimal(random_number());
}

constexpr int fatal_signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGXCPU,   SIGALRM, SIGVTALRM,
                                 SIGPROF, SIGUSR1, SIGUSR2, SIGPOLL, SIGSTKFLT, SIGPWR,  SIGABRT,
                                 SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGSYS,    SIGTRAP};
struct sigaction before[NSIG];

std::atomic<void (*)(int, const void*)> told_of_faults{nullptr};

extern "C" void regatta_remove_temporaries(int signal, siginfo_t* info, void* /*context*/) {
  remove_temporaries();
  const bool is_fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
  const auto told = told_of_faults.load();
  if (is_fault && told != nullptr) told(signal, info->si_addr);
  // As if this handler had never been there: a debugger's or a sanitizer's handler has its turn.
  sigaction(signal, &before[signal], nullptr);
  raise(signal);
}

}  // namespace

Temporary* Temporary::make(const std::string& target) {
  const std::lock_guard<std::mutex> lock(List::mutex);
  const std::string name = temporary_name(target);
  if (name.size() >= max_name) {
    throw InputError("cannot write '" + target + "': " + std::strerror(ENAMETOOLONG));
  }
  Temporary* free = List::head.load();
  while (free != nullptr && free->process_ != 0) free = free->next_;
  const bool is_new = free == nullptr;
  if (is_new) free = new Temporary;
  std::memcpy(free->name_, name.c_str(), name.size() + 1);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  free->process_ = getpid();
  if (is_new) {
    free->next_ = List::head.load();
    List::head.store(free);
  }
  return free;
}

void Temporary::release() {
  const std::lock_guard<std::mutex> lock(List::mutex);
  process_ = 0;
}

void remove_temporaries() {
  const int kept = errno;
  // A child that was forked in the meantime has this list too, and no right to the files.
  const int process = getpid();
  for (const Temporary* t = Temporary::List::head.load(); t != nullptr; t = t->next_) {
    if (t->process_ == process) unlink(t->name_);
  }
  errno = kept;
}

void tell_of_faults(void (*told)(int signal, const void* address)) { told_of_faults.store(told); }

void remove_temporaries_at_signals() {
  static std::once_flag once;
  std::call_once(once, [] {
    // A stack of its own, for the fault of a stack that is full.
    static char stack[1 << 16];
    stack_t alternate{};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    stack_t current{};
    if (sigaltstack(nullptr, &current) == 0 && (current.ss_flags & SS_DISABLE) != 0) sigaltstack(&alternate, nullptr);
    for (const int signal : fatal_signals) {
      if (sigaction(signal, nullptr, &before[signal]) != 0 || before[signal].sa_handler != SIG_DFL) continue;
      struct sigaction action {};
      action.sa_sigaction = regatta_remove_temporaries;
      sigfillset(&action.sa_mask);
      action.sa_flags = SA_ONSTACK | SA_SIGINFO;
      sigaction(signal, &action, nullptr);
    }
  });
}

}  // namespace regatta::base
