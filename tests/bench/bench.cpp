// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <stdexcept>

namespace regatta::bench {

namespace fs = std::filesystem;

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(REGATTA_KERNELS)) {
    if (fs::exists(entry.path() / "launch.toml")) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string launch_path(const std::string& kernel) {
  return (fs::path(REGATTA_KERNELS) / kernel / "launch.toml").string();
}

std::string scratch_file(const std::string& name) {
  fs::create_directories(REGATTA_BENCH_DIRECTORY);
  return (fs::path(REGATTA_BENCH_DIRECTORY) / name).string();
}

double run(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  const pid_t process = ::fork();
  if (process < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (process == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDOUT_FILENO);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  while (::wait4(process, &status, 0, &usage) < 0) {
    if (errno != EINTR) throw std::runtime_error(std::string("wait4: ") + std::strerror(errno));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return static_cast<double>(usage.ru_maxrss) / 1024;
  std::string text;
  for (const std::string& a : command) text += (text.empty() ? "" : " ") + a;
  throw std::runtime_error("failed: " + text);
}

std::string trace_of(const std::string& kernel, const std::vector<std::string>& options) {
  const fs::path sources = fs::path(REGATTA_KERNELS) / kernel;
  std::string name = kernel;
  for (const std::string& o : options) name += (o.rfind("--", 0) == 0 ? o.substr(1) : "_" + o);
  const fs::path trace = scratch_file(name + ".rgt");
  bool fresh = fs::exists(trace);
  if (fresh) {
    const auto made = fs::last_write_time(trace);
    fresh = fs::last_write_time(REGATTA_ANNOTATE) <= made;
    for (const auto& source : fs::directory_iterator(sources)) fresh = fresh && fs::last_write_time(source) <= made;
  }
  if (!fresh) {
    std::cerr << "annotating " << kernel << "\n";
    std::vector<std::string> command{REGATTA_ANNOTATE, "--launch", launch_path(kernel), "--out", trace.string()};
    command.insert(command.end(), options.begin(), options.end());
    run(command);
  }
  return trace.string();
}

void show_progress(const std::string& text) {
  if (::isatty(STDERR_FILENO) == 1) std::cerr << "\r" << std::string(60, ' ') << "\r" << text << std::flush;
}

}  // namespace regatta::bench
