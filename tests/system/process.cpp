// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace regatta::test {

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

/// Whether the process has a handler of its own for `signal`: before that, the signal would end it.
bool catches(pid_t process, int signal) {
  // Until it has become the other program it shows the handlers of this one.
  std::error_code gone;
  const std::filesystem::path proc = "/proc/" + std::to_string(process);
  if (std::filesystem::read_symlink(proc / "exe", gone) == std::filesystem::read_symlink("/proc/self/exe"))
    return false;
  std::ifstream status(proc / "status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("SigCgt:", 0) != 0) continue;
    return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1)) & 1;
  }
  return false;
}

[[noreturn]] void become(const std::vector<std::string>& command, const ProcessOptions& o, int out, int err) {
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  if (!o.directory.empty() && ::chdir(o.directory.c_str()) != 0) ::_exit(126);
  std::vector<char*> arguments;
  for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, const ProcessOptions& o) {
  std::array<int, 2> out{}, err{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) fail("pipe");
  const pid_t process = ::fork();
  if (process < 0) fail("fork");
  if (process == 0) become(command, o, out[1], err[1]);
  ::close(out[1]);
  ::close(err[1]);

  ProcessResult result;
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
  int status = 0;
  while (::waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) fail("waitpid");
  }
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (result.status == 127 && result.out.empty() && result.err.empty()) {
    throw std::runtime_error("cannot run " + command.at(0));
  }
  return result;
}

}  // namespace regatta::test
