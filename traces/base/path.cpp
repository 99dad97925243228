// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/path.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <memory>

namespace regatta::base {

std::string follow_links(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
  if (real != nullptr) return real.get();
  // The last step does not exist. It may be a link all the same.
  constexpr int most_steps = 40;  // as many as Linux follows
  std::string at = path;
  for (int step = 0; step < most_steps; ++step) {
    char text[PATH_MAX];
    const ssize_t length = readlink(at.c_str(), text, sizeof text);
    if (length <= 0 || length == static_cast<ssize_t>(sizeof text)) return at;
    std::string next(text, static_cast<std::size_t>(length));
    const std::size_t slash = at.rfind('/');
    if (next[0] != '/' && slash != std::string::npos) next = at.substr(0, slash + 1) + next;
    at = std::move(next);
  }
  return path;
}

bool is_standard_output(const std::string& path) {
  struct stat file {
  }, standard{};
  return stat(path.c_str(), &file) == 0 && fstat(STDOUT_FILENO, &standard) == 0 && file.st_dev == standard.st_dev &&
         file.st_ino == standard.st_ino && file.st_rdev == standard.st_rdev;
}

}  // namespace regatta::base
