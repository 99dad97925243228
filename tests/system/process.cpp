// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace regatta::test {

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

/// Whether the process has a handler of its own for `signal`: before that, the signal would end it.
bool catches(pid_t process, int signal) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("SigCgt:", 0) != 0) continue;
    return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1)) & 1;
  }
  return false;
}

/// The pipe `failure` is closed when the program runs; before, the reason why it does not is written to it.
[[noreturn]] void become(const std::vector<std::string>& command, const ProcessOptions& o, int out, int err,
                         int failure) {
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  const rlimit limit{o.file_bytes, o.file_bytes};
  if (o.file_bytes != 0 && ::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(126);
  const rlimit memory{o.memory_bytes, o.memory_bytes};
  if (o.memory_bytes != 0 && ::setrlimit(RLIMIT_AS, &memory) != 0) ::_exit(126);
  if (o.directory.empty() || ::chdir(o.directory.c_str()) == 0) {
    std::vector<char*> arguments;
    for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
    arguments.push_back(nullptr);
    ::execv(arguments[0], arguments.data());
  }
  const int reason = errno;
  [[maybe_unused]] const ssize_t told = ::write(failure, &reason, sizeof reason);
  ::_exit(127);
}

/// Waits until the process is the other program; throws when it could not become it.
void wait_for_start(const std::string& program, pid_t process, int failure) {
  int reason = 0;
  ssize_t got = 0;
  do {
    got = ::read(failure, &reason, sizeof reason);
  } while (got < 0 && errno == EINTR);
  ::close(failure);
  if (got == 0) return;
  ::waitpid(process, nullptr, 0);
  throw std::runtime_error("cannot run " + program + ": " + std::strerror(reason));
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, const ProcessOptions& o) {
  std::array<int, 2> out{}, err{}, failure{};
  for (auto* const ends : {&out, &err, &failure}) {
    if (::pipe2(ends->data(), O_CLOEXEC) != 0) fail("pipe");
  }
  const pid_t process = ::fork();
  if (process < 0) fail("fork");
  if (process == 0) become(command, o, out[1], err[1], failure[1]);
  for (auto* const ends : {&out, &err, &failure}) ::close((*ends)[1]);
  wait_for_start(command.at(0), process, failure[0]);

  ProcessResult result;
  // A thread of its own: poll() below counts in milliseconds.
  std::thread killer;
  if (o.kill_signal != 0) {
    killer = std::thread([&o, process] {
      std::this_thread::sleep_for(std::chrono::microseconds(o.kill_after_us));
      ::kill(process, o.kill_signal);
    });
  }
  const auto deadline = Clock::now() + std::chrono::seconds(o.timeout_seconds);
  auto send_at = Clock::time_point::max();
  bool sent = o.signal == 0;
  std::array<pollfd, 2> streams{{{out[0], POLLIN, 0}, {err[0], POLLIN, 0}}};
  std::array<std::string*, 2> texts{&result.out, &result.err};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    ::poll(streams.data(), streams.size(), sent ? 200 : 2);
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (streams[i].fd < 0 || streams[i].revents == 0) continue;
      std::array<char, 4096> buffer{};
      const ssize_t got = ::read(streams[i].fd, buffer.data(), buffer.size());
      if (got > 0) {
        texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        ::close(streams[i].fd);
        streams[i].fd = -1;
      }
    }
    const auto now = Clock::now();
    if (!sent && send_at == Clock::time_point::max() && catches(process, o.signal)) {
      send_at = now + std::chrono::milliseconds(o.signal_delay_ms);
    }
    if (!sent && now >= send_at) {
      ::kill(process, o.signal);
      sent = true;
    }
    if (now > deadline) ::kill(process, SIGKILL);
  }
  // Before the process is gone for good, and its number another's.
  if (killer.joinable()) killer.join();
  int status = 0;
  while (::waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) fail("waitpid");
  }
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace regatta::test
