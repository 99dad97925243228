// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/atomic_file.h>
#include <regatta/test/catch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "thrown.h"

using namespace regatta::support;
namespace fs = std::filesystem;

namespace {
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "regatta_test.XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
};
}  // namespace

TEST_CASE("a file is whole or not there") {
  Folder folder;
  const std::string path = folder.file("stats.json");
  {
    AtomicFile file(path);
    file.write("half");
    CHECK_FALSE(fs::exists(path));
  }
  CHECK(folder.entries() == 0);
  const std::string text("a\0b\r\n", 5);
  write_text_file(path, text);
  CHECK(read_text_file(path) == text);
  CHECK(folder.entries() == 1);
  {
    AtomicFile file(path);
    file.write("other");
  }
  CHECK(read_text_file(path) == text);
  write_text_file(path, "");
  CHECK(read_text_file(path).empty());
}

TEST_CASE("mode and symbolic links are respected") {
  Folder folder;
  const mode_t mask = umask(022);
  write_text_file(folder.file("new"), "1");
  umask(mask);
  struct stat status {};
  REQUIRE(stat(folder.file("new").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0644);
  chmod(folder.file("new").c_str(), 0640);
  fs::create_symlink("new", folder.path / "link");
  write_text_file(folder.file("link"), "2");
  CHECK(fs::is_symlink(folder.path / "link"));
  CHECK(read_text_file(folder.file("new")) == "2");
  REQUIRE(stat(folder.file("new").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("errors name the path and the reason") {
  Folder folder;
  const std::string missing = folder.file("no/such");
  CHECK(thrown([&] { write_text_file(missing, "x"); }) == "cannot write '" + missing + "': No such file or directory");
  const std::string directory = folder.path.string();
  CHECK(thrown([&] { write_text_file(directory, "x"); }) == "cannot write '" + directory + "': Is a directory");
  CHECK(thrown([&] { read_text_file(missing); }) == "cannot read '" + missing + "': No such file or directory");
  CHECK(thrown([&] { read_text_file(directory); }) == "cannot read '" + directory + "': Is a directory");
  CHECK(thrown([&] { write_text_file("", "x"); }) == "cannot write '': No such file or directory");
}

TEST_CASE("a file that could not be written whole stays refused") {
  if (!fs::exists("/dev/full")) return;
  AtomicFile file("/dev/full");
  const std::string much(1 << 20, 'x');
  const std::string message = "cannot write '/dev/full': No space left on device";
  CHECK(thrown([&] { file.write(much); }) == message);
  CHECK(thrown([&] { file.write("y"); }) == message);
  CHECK(thrown([&] { file.commit(); }) == message);
}

TEST_CASE("devices are written directly and their errors seen") {
  write_text_file("/dev/null", "x");
  if (fs::exists("/dev/full")) {
    CHECK(thrown([] { write_text_file("/dev/full", "x"); }) == "cannot write '/dev/full': No space left on device");
  }
}
