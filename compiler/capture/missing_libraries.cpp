// SPDX-License-Identifier: Apache-2.0
#include "missing_libraries.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace regatta::capture {

namespace fs = std::filesystem;

namespace {

std::string path_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* const folders = getenv("PATH");
  std::istringstream in(folders == nullptr ? "" : folders);
  for (std::string folder; std::getline(in, folder, ':');) {
    const std::string path = folder + "/" + program;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

/// Whether a loader starts the file: only then is it safe to ask the loader alone.
bool has_loader(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  Elf64_Ehdr head{};
  if (!in.read(reinterpret_cast<char*>(&head), sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) {
    return false;
  }
  in.seekg(static_cast<std::streamoff>(head.e_phoff));
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part{};
    if (!in.read(reinterpret_cast<char*>(&part), sizeof part)) return false;
    if (part.p_type == PT_INTERP) return true;
  }
  return false;
}

/// What the loader prints when it is to list libraries in place of running the program.
std::string list_of_loader(const std::string& path, const std::string& library_folder) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const char* const known = getenv("LD_LIBRARY_PATH");
    const std::string folders = library_folder + (known == nullptr ? "" : std::string(":") + known);
    setenv("LD_LIBRARY_PATH", folders.c_str(), 1);
    setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
    unsetenv("LD_PRELOAD");
    dup2(ends[1], STDOUT_FILENO);
    close(STDERR_FILENO);
    execl(path.c_str(), path.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t got = 0; child > 0 && (got = read(ends[0], part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return text;
}

}  // namespace

std::vector<std::string> missing_libraries(const std::string& program, const std::string& library_folder) {
  std::vector<std::string> missing;
  const std::string path = path_of(program);
  if (path.empty() || !has_loader(path)) return missing;
  std::istringstream in(list_of_loader(path, library_folder));
  for (std::string line; std::getline(in, line);) {
    const std::size_t arrow = line.find(" => not found");
    const std::size_t first = line.find_first_not_of(" \t");
    if (arrow != std::string::npos && first < arrow) missing.push_back(line.substr(first, arrow - first));
  }
  return missing;
}

}  // namespace regatta::capture
