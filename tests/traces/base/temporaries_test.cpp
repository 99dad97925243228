// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/output_file.h>
#include <regatta/base/temporaries.h>
#include <regatta/base/tool.h>
#include <regatta/test/catch.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <vector>

#include "folder.h"

using namespace regatta;

namespace {

/// Runs `work` in a child and returns how it ended, as waitpid() does.
template <class Work>
int in_child(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    // A core file, or a sanitizer's report of the signal, is of no use here.
    for (const int signal : {SIGINT, SIGTERM, SIGABRT, SIGFPE, SIGILL, SIGSEGV})
      std::signal(signal, SIG_DFL);  // Catch's
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    work();
    _exit(99);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("a signal that ends the process removes the files in the making") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGUSR1, SIGABRT}) {
    const test::BaseFolder folder;
    base::write_file(folder.file("3"), "was here");
    const int status = in_child([&] {
      base::remove_temporaries_at_signals();
      std::vector<std::unique_ptr<base::OutputFile>> files;
      for (int i = 0; i < 100; ++i) {
        files.push_back(std::make_unique<base::OutputFile>(folder.file(std::to_string(i))));
        files.back()->write("half");
      }
      files[1]->commit();
      if (folder.entries() != 101) _exit(98);
      raise(signal);
    });
    CAPTURE(signal);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
    CHECK(folder.entries() == 2);
  }
}

TEST_CASE("a fault says where it was, in a line and the calls that led there") {
  const test::BaseFolder folder;
  const std::string messages = folder.file("messages");
  const int status = in_child([&] {
    if (std::freopen(messages.c_str(), "w", stderr) == nullptr) _exit(97);
    base::run_tool(base::ToolSettings{"tool", "lower the size", "tool: "}, [] { return raise(SIGSEGV); });
  });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGSEGV);
  std::ifstream lines(messages);
  std::string line;
  REQUIRE(std::getline(lines, line));
  CHECK(line == "test_base: internal error: Segmentation fault; it was called by:");
  unsigned calls = 0;
  while (std::getline(lines, line)) calls += line.find("test_base") != std::string::npos ? 1 : 0;
  CHECK(calls > 2);
}

TEST_CASE("a signal that was ignored stays ignored, a child leaves its parent's files alone") {
  const test::BaseFolder folder;
  CHECK(in_child([&] {
          std::signal(SIGHUP, SIG_IGN);
          base::remove_temporaries_at_signals();
          raise(SIGHUP);
          _exit(7);
        }) == 7 << 8);
  base::OutputFile file(folder.file("out"));
  file.write("parent's");
  const int status = in_child([] {
    base::remove_temporaries_at_signals();
    raise(SIGTERM);
  });
  CHECK(WIFSIGNALED(status));
  CHECK(folder.entries() == 1);
  file.commit();
  CHECK(std::filesystem::exists(folder.file("out")));
}

#if !defined(__SANITIZE_ADDRESS__)
namespace {

/// More than the limit of the test allows. Seen from outside, so that it is not optimised away.
void allocate_too_much() {
  const std::unique_ptr<char[]> much(new char[std::size_t{1} << 33]);
  asm volatile("" : : "r"(much.get()) : "memory");
}

}  // namespace

TEST_CASE("memory that runs out is one message and status 1, whoever asked for it") {
  const test::BaseFolder folder;
  const std::string messages = folder.file("messages");
  const auto ended = [&](void (*work)()) {
    const int status = in_child([&] {
      std::FILE* const file = std::freopen(messages.c_str(), "w", stderr);
      if (file == nullptr) _exit(97);
      const rlimit limit{std::size_t{512} << 20, std::size_t{512} << 20};
      setrlimit(RLIMIT_AS, &limit);
      const base::ToolSettings settings{"tool", "lower the size", "tool: "};
      const int status = base::run_tool(settings, [&] {
        base::OutputFile result(folder.file("result"));
        result.write("half");
        work();
        return 0;
      });
      std::fflush(stderr);
      _exit(status);
    });
    std::string text;
    if (std::FILE* const file = std::fopen(messages.c_str(), "r")) {
      char buffer[1024] = {};
      text.assign(buffer, std::fread(buffer, 1, sizeof buffer, file));
      std::fclose(file);
      std::filesystem::remove(messages);
    }
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 1);
    return text;
  };
  const std::string message = "tool: out of memory (this process may have 512 MiB): lower the size\n";
  CHECK(ended([] { allocate_too_much(); }) == message);
  CHECK(ended([] {
          // Where an exception would end in std::terminate().
          []() noexcept { allocate_too_much(); }();
        }) == message);
  CHECK(ended([] { base::allocation_failed(); }) == message);
  CHECK(ended([] {
          const base::ExpectAllocationFailure expect;
          try {
            allocate_too_much();
          } catch (const std::bad_alloc&) {
            throw base::OutOfMemory("buffer 'a' of 8 GiB does not fit");
          }
        }) == "tool: out of memory: buffer 'a' of 8 GiB does not fit; lower the size\n");
  CHECK(folder.entries() == 0);
}
#endif
