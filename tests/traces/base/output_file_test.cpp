// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <regatta/base/input_file.h>
#include <regatta/base/output_file.h>
#include <regatta/test/catch.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "folder.h"

using namespace regatta;
using test::input_error;
namespace fs = std::filesystem;
using Folder = test::BaseFolder;

TEST_CASE("a file is whole or not there") {
  Folder folder;
  const std::string path = folder.file("stats.json");
  {
    base::OutputFile file(path);
    file.write("half");
    CHECK_FALSE(fs::exists(path));
  }
  CHECK(folder.entries() == 0);
  const std::string text("a\0b\r\n", 5);
  base::write_file(path, text);
  CHECK(base::read_text(path) == text);
  CHECK(folder.entries() == 1);
  {
    base::OutputFile file(path);
    file.write("other");
  }
  CHECK(base::read_text(path) == text);
  base::write_file(path, "");
  CHECK(base::read_text(path).empty());
}

TEST_CASE("mode and symbolic links are respected") {
  Folder folder;
  const mode_t mask = umask(022);
  base::write_file(folder.file("new"), "1");
  umask(mask);
  struct stat status {};
  REQUIRE(stat(folder.file("new").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0644);
  chmod(folder.file("new").c_str(), 0640);
  fs::create_symlink("new", folder.path / "link");
  base::write_file(folder.file("link"), "2");
  CHECK(fs::is_symlink(folder.path / "link"));
  CHECK(base::read_text(folder.file("new")) == "2");
  REQUIRE(stat(folder.file("new").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("errors name the path and the reason") {
  Folder folder;
  const std::string missing = folder.file("no/such");
  CHECK(input_error([&] { base::write_file(missing, "x"); }) ==
        "cannot write '" + missing + "': No such file or directory");
  const std::string directory = folder.path.string();
  CHECK(input_error([&] { base::write_file(directory, "x"); }) == "cannot write '" + directory + "': Is a directory");
  CHECK(input_error([&] { base::read_text(missing); }) == "cannot read '" + missing + "': No such file or directory");
  CHECK(input_error([&] { base::read_text(directory); }) == "cannot read '" + directory + "': Is a directory");
  CHECK(input_error([&] { base::write_file("", "x"); }) == "cannot write '': No such file or directory");
}

TEST_CASE("a file that could not be written whole stays refused") {
  if (!fs::exists("/dev/full")) return;
  base::OutputFile file("/dev/full");
  const std::string much(1 << 20, 'x');
  const std::string message = "cannot write '/dev/full': No space left on device";
  CHECK(input_error([&] { file.write(much); }) == message);
  CHECK(input_error([&] { file.write("y"); }) == message);
  CHECK(input_error([&] { file.commit(); }) == message);
}

TEST_CASE("devices are written directly and their errors seen") {
  base::write_file("/dev/null", "x");
  if (fs::exists("/dev/full")) {
    CHECK(input_error([] { base::write_file("/dev/full", "x"); }) ==
          "cannot write '/dev/full': No space left on device");
  }
}

TEST_CASE("a link to a file that does not exist yet is followed") {
  const Folder folder;
  fs::create_directory(folder.path / "results");
  fs::create_symlink("results/stats.json", folder.path / "link");
  fs::create_symlink("link", folder.path / "chain");
  base::write_file(folder.file("chain"), "1");
  CHECK(fs::is_symlink(folder.path / "chain"));
  CHECK(fs::is_symlink(folder.path / "link"));
  CHECK(base::read_text(folder.file("results/stats.json")) == "1");
  fs::create_symlink("b", folder.path / "a");
  fs::create_symlink("a", folder.path / "b");
  const std::string message = input_error([&] { base::write_file(folder.file("a"), "x"); });
  CHECK(message == "cannot write '" + folder.file("a") + "': Too many levels of symbolic links");
  CHECK(fs::is_symlink(folder.path / "a"));
}

TEST_CASE("writers of one name do not meet, the last one wins") {
  const Folder folder;
  const std::string path = folder.file("out");
  base::OutputFile first(path), second(path);
  first.write(std::string(100000, '1'));
  second.write(std::string(50000, '2'));
  second.commit();
  CHECK(base::read_text(path) == std::string(50000, '2'));
  first.commit();
  CHECK(base::read_text(path) == std::string(100000, '1'));
  CHECK(folder.entries() == 1);
}

TEST_CASE("many writers at once leave one whole file") {
  const Folder folder;
  const std::string path = folder.file("out");
  std::vector<std::thread> writers;
  for (int w = 0; w < 8; ++w) {
    writers.emplace_back([&path, w] {
      for (int round = 0; round < 20; ++round) {
        base::OutputFile file(path);
        for (int piece = 0; piece <= w; ++piece) file.write(std::string(10000, static_cast<char>('0' + w)));
        file.commit();
      }
    });
  }
  for (std::thread& w : writers) w.join();
  const std::string text = base::read_text(path);
  const auto writer = static_cast<std::size_t>(text.at(0) - '0');
  CHECK(text == std::string(10000 * (writer + 1), text[0]));
  CHECK(folder.entries() == 1);
}

TEST_CASE("a long name leaves room for a temporary one") {
  const Folder folder;
  const std::string path = folder.file(std::string(255, 'n'));
  base::write_file(path, "x");
  CHECK(base::read_text(path) == "x");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a named pipe is written once a process reads it") {
  const Folder folder;
  const std::string path = folder.file("pipe");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  std::string got;
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    got = base::read_text(path);
  });
  base::write_file(path, "through the pipe");
  reader.join();
  CHECK(got == "through the pipe");
  CHECK(fs::is_fifo(path));
}

TEST_CASE("a named pipe without a process at its other end is refused") {
  const Folder folder;
  const std::string path = folder.file("pipe");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK(input_error([&] { base::write_file(path, "x"); }) ==
        "cannot write '" + path + "': it is a pipe that no process reads (waited 5 s)");
  CHECK(input_error([&] { base::read_text(path); }) ==
        "cannot read '" + path + "': it is a pipe that no process writes to (waited 5 s)");
}

TEST_CASE("the file behind standard output is appended to, not replaced") {
  const Folder folder;
  const std::string path = folder.file("log");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const int log = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(log, STDOUT_FILENO);
    if (write(STDOUT_FILENO, "before\n", 7) != 7) _exit(1);
    base::write_file("/dev/stdout", "result\n");
    if (write(STDOUT_FILENO, "after\n", 6) != 6) _exit(1);
    base::write_file(path, "by its own name\n");
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(base::read_text(path) == "before\nresult\nafter\nby its own name\n");
  CHECK(folder.entries() == 1);
}
