// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/interrupt.h>
#include <regatta/test/catch.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace regatta::support;

TEST_CASE("a signal sets the flag") {
  install_interrupt_handler();
  clear_interrupt();
  CHECK_FALSE(interrupted());
  std::raise(SIGTERM);
  CHECK(interrupted());
  CHECK(interrupt_signal() == SIGTERM);
  clear_interrupt();
  CHECK_FALSE(interrupted());
  std::raise(SIGINT);
  CHECK(interrupt_signal() == SIGINT);
  clear_interrupt();
}

TEST_CASE("a lost terminal interrupts, unless the run was started to outlive it") {
  for (const bool outlives : {false, true}) {
    const auto before = std::signal(SIGHUP, outlives ? SIG_IGN : SIG_DFL);
    install_interrupt_handler();
    clear_interrupt();
    std::raise(SIGHUP);
    CHECK(interrupted() != outlives);
    clear_interrupt();
    std::signal(SIGHUP, before);
  }
}

TEST_CASE("the second signal kills") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    install_interrupt_handler();
    clear_interrupt();
    std::raise(SIGINT);
    if (!interrupted()) _exit(1);
    std::raise(SIGINT);
    _exit(2);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGINT);
}
