// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <regatta/test/patience.h>

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

namespace regatta::test {

namespace {

constexpr unsigned seconds_per_case = 600 * regatta::test::patience;

/// A name as Catch2's specifications have it.
std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (std::strchr("\\,[\"", c) != nullptr) text += '\\';
    text += c;
  }
  return text;
}

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// Names of the cases that the arguments select, as the program itself lists them.
std::vector<std::string> names(const std::vector<std::string>& arguments) {
#if __has_include(<catch2/catch_session.hpp>)
  const char* const list_names = " --list-tests --verbosity quiet";
#else
  const char* const list_names = " --list-test-names-only";
#endif
  std::array<char, 4096> path{};
  if (readlink("/proc/self/exe", path.data(), path.size() - 1) <= 0) return {};
  std::string command = quoted(path.data()) + list_names;
  for (const std::string& a : arguments) command += " " + quoted(a);
  std::vector<std::string> found;
  FILE* list = popen(command.c_str(), "r");
  if (list == nullptr) return {};
  char* line = nullptr;
  std::size_t size = 0;
  for (ssize_t n; (n = getline(&line, &size, list)) > 0;) {
    std::string name(line, static_cast<std::size_t>(n));
    while (!name.empty() && (name.back() == '\n' || name.back() == ' ')) name.pop_back();
    const std::size_t begin = name.find_first_not_of(' ');
    if (begin != std::string::npos) found.push_back(name.substr(begin));
  }
  std::free(line);
  pclose(list);
  return found;
}

/// Runs one case in a child, and shows what it printed if it fails. True if it passes.
bool passes_alone(const std::string& name) {
  std::cout.flush();
  FILE* output = std::tmpfile();
  const pid_t child = fork();
  if (child == 0) {
    if (output != nullptr) {
      dup2(fileno(output), STDOUT_FILENO);
      dup2(fileno(output), STDERR_FILENO);
    }
    alarm(seconds_per_case);
    Catch::Session session;
    session.configData().testsOrTags = {escaped(name)};
    const int status = session.run();
    std::cout.flush();
    std::fflush(nullptr);
    _exit(status);
  }
  int status = 0;
  const bool waited = child > 0 && waitpid(child, &status, 0) == child;
  const bool passed = waited && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!passed) {
    if (output != nullptr) {
      std::rewind(output);
      for (int c; (c = std::fgetc(output)) != EOF;) std::cout.put(static_cast<char>(c));
    }
    std::cout << "\ncase '" << name << "' ";
    if (waited && WIFSIGNALED(status)) {
      std::cout << "ended by signal " << WTERMSIG(status) << " ("
                << (WTERMSIG(status) == SIGALRM ? "too slow" : strsignal(WTERMSIG(status))) << ")\n";
    } else {
      std::cout << "failed\n";
    }
  }
  if (output != nullptr) std::fclose(output);
  return passed;
}

/// What a command line selects: of the cases that its further words select, every `parts`-th from the `part`-th on.
struct Selection {
  unsigned part = 1, parts = 1;
  std::vector<std::string> words;
  bool has_options = false;  ///< that ask for more than the cases' results
};

/// False: "--part" is not followed by I/N.
bool read(int argc, char** argv, Selection& s) {
  s.words.assign(argv + 1, argv + argc);
  if (s.words.size() >= 2 && s.words[0] == "--part") {
    if (std::sscanf(s.words[1].c_str(), "%u/%u", &s.part, &s.parts) != 2 || s.part == 0 || s.part > s.parts) {
      std::cerr << "--part: expected I/N, found '" << s.words[1] << "'\n";
      return false;
    }
    s.words.erase(s.words.begin(), s.words.begin() + 2);
  }
  for (const std::string& word : s.words) s.has_options = s.has_options || (!word.empty() && word[0] == '-');
  return true;
}

std::vector<std::string> cases_of(const Selection& s) {
  std::vector<std::string> all = names(s.words), mine;
  for (std::size_t n = s.part - 1; n < all.size(); n += s.parts) mine.push_back(std::move(all[n]));
  return mine;
}

int no_cases() {
  std::cout << "No test cases matched\n";
  return 1;
}

}  // namespace

int run_cases(int argc, char** argv) {
  Selection selection;
  if (!read(argc, argv, selection)) return 2;
  Catch::Session session;
  if (selection.has_options) {
    const int bad_usage = session.applyCommandLine(argc, argv);
    return bad_usage != 0 ? bad_usage : session.run();
  }
  if (selection.parts == 1) {
    session.configData().testsOrTags = selection.words;
    return session.run();
  }
  std::string wanted;
  for (const std::string& name : cases_of(selection)) wanted += (wanted.empty() ? "" : ",") + escaped(name);
  if (wanted.empty()) return no_cases();
  session.configData().testsOrTags = {wanted};
  return session.run();
}

int run_cases_alone(int argc, char** argv) {
  Selection selection;
  if (!read(argc, argv, selection)) return 2;
  if (selection.has_options) return run_cases(argc, argv);
  const std::vector<std::string> cases = cases_of(selection);
  if (cases.empty()) return no_cases();
  std::size_t failed = 0;
  for (const std::string& name : cases) failed += passes_alone(name) ? 0 : 1;
  std::cout << (failed == 0 ? "All cases passed" : std::to_string(failed) + " cases failed") << " (" << cases.size()
            << " cases, each in a process of its own)\n";
  return failed == 0 ? 0 : 1;
}

}  // namespace regatta::test
