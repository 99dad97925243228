// SPDX-License-Identifier: Apache-2.0
#include "work_folder.h"

#include <regatta/trace/types.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace regatta::capture {

namespace fs = std::filesystem;

WorkFolder::WorkFolder(const std::string& keep, const std::string& beside) {
  if (!keep.empty()) {
    std::error_code error;
    fs::create_directories(keep, error);
    if (error) throw trace::InputError("error: cannot make folder '" + keep + "': " + error.message());
    if (!fs::is_empty(keep, error) || error) {
      throw trace::InputError("error: --keep '" + keep + "' is not empty, expected a new or an empty folder");
    }
    path_ = keep;
    kept_ = true;
    return;
  }
  std::string name = beside + ".capture-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    throw trace::InputError("error: cannot make folder '" + name + "': " + std::strerror(errno));
  }
  path_ = name;
  sweep_later();
}

void WorkFolder::sweep_later() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    setsid();
    for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(s, SIG_IGN);
    // Nobody waits for this process through what it has inherited.
    for (int d = 0; d < 3; ++d) close(d);
    char byte = 0;
    while (read(ends[0], &byte, 1) < 0 && errno == EINTR) {
    }
    std::error_code error;
    fs::remove_all(path_, error);
    _exit(0);
  }
  close(ends[0]);
  alive_ = ends[1];
  sweeper_ = child;
}

WorkFolder::~WorkFolder() {
  if (kept_) return;
  if (alive_ >= 0) close(alive_);
  if (sweeper_ > 0) {
    waitpid(sweeper_, nullptr, 0);
    return;
  }
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace regatta::capture
