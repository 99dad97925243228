// SPDX-License-Identifier: Apache-2.0
#include "run_program.h"

#include "missing_libraries.h"
#include "server.h"
#include "work_folder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace regatta::capture {

namespace fs = std::filesystem;

namespace {

/// Folder of the libraries that stand in front of the program: lib/regatta beside the tool's bin.
std::string runtime_folder() {
  std::error_code error;
  const fs::path tool = fs::read_symlink("/proc/self/exe", error);
  const std::string folder = (tool.parent_path().parent_path() / "lib" / "regatta").string();
  if (error || !fs::exists(folder + "/libregatta_cuda.so")) {
    throw trace::InputError("error: no CUDA runtime at '" + folder +
                            "/libregatta_cuda.so': it belongs beside this tool");
  }
  return folder;
}

void prepend(const char* variable, const std::string& text, char separator) {
  const char* const known = getenv(variable);
  setenv(variable, known == nullptr || *known == '\0' ? text.c_str() : (text + separator + known).c_str(), 1);
}

/// In the new process.
[[noreturn]] void become(const CaptureOptions& o, const std::string& folder, const std::string& socket, int report) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int s : {SIGPIPE, SIGXFSZ}) signal(s, SIG_DFL);
  prepend("LD_PRELOAD", folder + "/libregatta_cuda.so", ' ');
  prepend("LD_LIBRARY_PATH", folder, ':');
  setenv(socket_variable, socket.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& word : o.program) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  const int error = errno;
  if (write(report, &error, sizeof error) < 0) _exit(126);
  _exit(127);
}

/// Starts the program. Throws trace::InputError if it cannot be executed.
pid_t start(const CaptureOptions& o, const std::string& folder, const std::string& socket) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw trace::InputError(std::string("error: cannot start a process: ") + std::strerror(errno));
  if (child == 0) become(o, folder, socket, ends[1]);
  close(ends[1]);
  int error = 0;
  const ssize_t got = read(ends[0], &error, sizeof error);
  close(ends[0]);
  if (got == sizeof error) {
    waitpid(child, nullptr, 0);
    throw trace::InputError("error: cannot run '" + o.program.front() + "': " + std::strerror(error));
  }
  return child;
}

}  // namespace

ProgramEnd run_program(const CaptureOptions& o, CapturedDevice& device) {
  const std::string folder = runtime_folder();
  // Not beside the trace: the path of a socket must be short.
  std::error_code none;
  const fs::path temporary = fs::temp_directory_path(none);
  const WorkFolder socket_folder("", none ? "/tmp/regatta" : (temporary / "regatta").string());
  Server server(device, o.device.description);
  Listener listener(socket_folder.path() + "/socket");
  const pid_t child = start(o, folder, socket_folder.path() + "/socket");
  int status = 0;
  bool ended = false;
  // The program may end before its connection does, and the other way round.
  constexpr int wait_ms = 200;
  while (!ended) {
    const bool served = listener.serve(server, wait_ms);
    if (served && server.refusal().empty() && !listener.is_over()) continue;
    ended = waitpid(child, &status, server.refusal().empty() ? WNOHANG : 0) == child;
  }
  while (server.refusal().empty() && listener.serve(server, 0)) {
  }
  ProgramEnd end;
  end.refusal = server.refusal();
  if (listener.processes() > 1) {
    end.refusal = "error: " + std::to_string(listener.processes()) +
                  " processes of the program use CUDA, expected one: capture them one by one";
  }
  if (WIFSIGNALED(status)) {
    end.failed = true;
    end.text = "the program was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
               strsignal(WTERMSIG(status)) + ")";
  } else {
    end.failed = WEXITSTATUS(status) != 0;
    end.text = "the program ended with status " + std::to_string(WEXITSTATUS(status));
  }
  constexpr int status_of_loader = 127;
  if (end.refusal.empty() && WIFEXITED(status) && WEXITSTATUS(status) == status_of_loader && device.launches() == 0) {
    std::string names;
    for (const std::string& name : missing_libraries(o.program.front(), folder)) {
      names += (names.empty() ? "" : ", ") + name;
    }
    if (!names.empty()) {
      end.refusal =
          "error: the program needs " + names +
          ", which is not found: of CUDA's libraries, regatta-capture has libcudart and libcuda; others must be "
          "installed (LD_LIBRARY_PATH)";
    }
  }
  return end;
}

std::string list_api() {
  const std::string library = runtime_folder() + "/libregatta_cuda.so";
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw trace::InputError(std::string("error: ") + dlerror());
  using List = const char* (*)();
  const auto list = reinterpret_cast<List>(dlsym(handle, "regatta_list_api"));
  if (list == nullptr) throw trace::InputError("error: '" + library + "' is of another build");
  return list();
}

}  // namespace regatta::capture
