// SPDX-License-Identifier: Apache-2.0
#include <execinfo.h>
#include <regatta/base/error.h>
#include <regatta/base/temporaries.h>
#include <regatta/base/tool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>
#include <system_error>

namespace regatta::base {
namespace {

constexpr int status_failed = 1;
constexpr int status_input = 2;

thread_local unsigned expecting_failure = 0;

/// Made when there is memory left to make it.
char out_of_memory_text[1024];

void make_out_of_memory_text(const ToolSettings& settings) {
  char limit[64] = "";
  rlimit bytes{};
  if (getrlimit(RLIMIT_AS, &bytes) == 0 && bytes.rlim_cur != RLIM_INFINITY) {
    std::snprintf(limit, sizeof limit, " (this process may have %llu MiB)",
                  static_cast<unsigned long long>(bytes.rlim_cur >> 20));
  }
  std::snprintf(out_of_memory_text, sizeof out_of_memory_text, "%s: out of memory%s: %s\n", settings.name.c_str(),
                limit, settings.memory_advice.c_str());
}

void write_text(const char* text) {
  const ssize_t ignored = ::write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(ignored);
}

/// The new-handler. An exception would have to pass SystemC, threads and destructors on its way to main(), and each of
/// them makes something else of it.
void end_without_memory() {
  if (expecting_failure != 0) throw std::bad_alloc();
  // Another thread that runs out too leaves the message, and the end, to the first.
  static std::atomic_flag is_ending = ATOMIC_FLAG_INIT;
  if (is_ending.test_and_set()) {
    sleep(1);
    _exit(status_failed);
  }
  remove_temporaries();
  std::fflush(stdout);
  write_text(out_of_memory_text);
  _exit(status_failed);
}

/// Whether an allocation of any size would fail now: malloc() asks the system for this much at a time.
bool is_without_memory() {
  constexpr std::size_t bytes = std::size_t{1} << 20;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return true;
  munmap(memory, bytes);
  return false;
}

/// SystemC's pool uses what malloc() gave without a look: a fault near address 0 where there is no memory is that.
/// Otherwise, where the program was: a line, and one for each call. A report of such an end has nothing else.
void say_fault(int signal, const void* address) {
  constexpr std::uintptr_t first_page = 4096;
  if (signal == SIGSEGV && reinterpret_cast<std::uintptr_t>(address) < first_page && is_without_memory()) {
    write_text(out_of_memory_text);
    _exit(status_failed);
  }
  void* calls[48];
  const int count = backtrace(calls, 48);
  const char* const name = sigdescr_np(signal);
  write_text(program_invocation_short_name);
  write_text(": internal error: ");
  write_text(name == nullptr ? "a signal" : name);
  write_text("; it was called by:\n");
  backtrace_symbols_fd(calls, count, STDERR_FILENO);
}

}  // namespace

std::string with_program(const std::string& program, const std::string& message) {
  const std::string without_place = "error: ";
  if (message.rfind(without_place, 0) != 0) return message;
  return program + ": " + message.substr(without_place.size());
}

void allocation_failed() {
  if (const std::new_handler handler = std::get_new_handler()) handler();
  throw std::bad_alloc();
}

ExpectAllocationFailure::ExpectAllocationFailure() { ++expecting_failure; }
ExpectAllocationFailure::~ExpectAllocationFailure() { --expecting_failure; }

int run_tool(const ToolSettings& settings, const std::function<int()>& work) {
  remove_temporaries_at_signals();
  // The first call loads a library, which a broken program can no longer do.
  void* here[1];
  backtrace(here, 1);
  tell_of_faults(say_fault);
  // The reader of standard output may leave; the files are still wanted.
  std::signal(SIGPIPE, SIG_IGN);
  // A limit on a file's size is an error of the write, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  make_out_of_memory_text(settings);
  std::set_new_handler(end_without_memory);
  const auto failed = [&](const std::string& message) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", message.c_str());
  };
  try {
    const int status = work();
    std::cout.flush();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout) return status;
    // The reader of a pipe may leave when it has seen enough.
    if (errno == EPIPE) return status != 0 ? status : 128 + SIGPIPE;
    failed(settings.error_prefix + "cannot write standard output: " + std::strerror(errno));
    return status != 0 ? status : status_input;
  } catch (const InputError& e) {
    failed(settings.error_prefix + e.what());
    return status_input;
  } catch (const OutOfMemory& e) {
    failed(settings.name + ": out of memory: " + e.what() + "; " + settings.memory_advice);
    return status_failed;
  } catch (const std::system_error& e) {
    // A thread needs memory too, for its stack.
    if (e.code() != std::errc::resource_unavailable_try_again) {
      failed(settings.name + ": internal error: " + e.what());
      return status_failed;
    }
    failed(settings.name + ": out of memory: no further thread can be started; " + settings.memory_advice);
    return status_failed;
  } catch (const std::bad_alloc&) {
    std::fflush(stdout);
    std::fputs(out_of_memory_text, stderr);
    return status_failed;
  } catch (const std::exception& e) {
    failed(settings.name + ": internal error: " + e.what());
    return status_failed;
  }
}

}  // namespace regatta::base
