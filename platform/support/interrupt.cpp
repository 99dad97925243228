// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/temporaries.h>
#include <regatta/support/interrupt.h>

#include <atomic>
#include <csignal>
#include <initializer_list>

namespace regatta::support {
namespace {

std::atomic<int> pending{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

extern "C" void regatta_on_signal(int signal) {
  if (pending.exchange(signal) != 0) {
    base::remove_temporaries();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = regatta_on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;  // a write of results goes on
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    // What was started to outlive its terminal (nohup) does.
    if (signal != SIGHUP || before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

bool interrupted() { return pending.load(std::memory_order_relaxed) != 0; }
int interrupt_signal() { return pending.load(); }
void clear_interrupt() { pending.store(0); }

}  // namespace regatta::support
