// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <regatta/base/error.h>
#include <regatta/base/input_file.h>
#include <regatta/base/output_file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace regatta::base {
namespace {

/// A file open for reading. Closes it.
class InputFile {
 public:
  explicit InputFile(const std::string& path) : path_(path) {
    // Not to wait for the writer of a pipe that has none.
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor_ < 0) fail(std::strerror(errno));
    try {
      check_kind();
    } catch (...) {
      close(descriptor_);
      throw;
    }
  }
  ~InputFile() { close(descriptor_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[noreturn]] void fail(const std::string& reason) const {
    throw InputError("cannot read '" + path_ + "': " + reason);
  }

  bool is_regular() const { return S_ISREG(status_.st_mode); }
  std::uint64_t size() const { return static_cast<std::uint64_t>(status_.st_size); }

  void read_at(std::uint64_t offset, std::uint8_t* to, std::uint64_t bytes) const {
    while (bytes != 0) {
      const ssize_t got = pread(descriptor_, to, bytes, static_cast<off_t>(offset));
      if (got == 0) fail("it became shorter while it was read");
      if (got < 0 && errno != EINTR) fail(std::strerror(errno));
      const std::uint64_t count = got < 0 ? 0 : static_cast<std::uint64_t>(got);
      to += count;
      offset += count;
      bytes -= count;
    }
  }

  /// Appends what is left to `out`; calls `check` with the size so far after each piece.
  template <class Bytes, class Check>
  void read_all(Bytes& out, Check check) const {
    constexpr std::size_t piece = 1 << 16;
    for (;;) {
      const std::size_t before = out.size();
      out.resize(before + piece);
      const ssize_t got = read(descriptor_, &out[before], piece);
      if (got < 0 && errno != EINTR) fail(std::strerror(errno));
      out.resize(before + static_cast<std::size_t>(got < 0 ? 0 : got));
      if (got == 0) return;
      check(out.size());
    }
  }

 private:
  void check_kind() {
    if (fstat(descriptor_, &status_) != 0) fail(std::strerror(errno));
    if (S_ISDIR(status_.st_mode)) fail(std::strerror(EISDIR));
    // Such as /dev/zero, which has no end.
    if (S_ISCHR(status_.st_mode) || S_ISBLK(status_.st_mode)) fail("it is a device, expected a file");
    if (S_ISFIFO(status_.st_mode)) {
      pollfd wait{descriptor_, POLLIN, 0};
      if (poll(&wait, 1, pipe_wait_ms) == 0) {
        fail("it is a pipe that no process writes to (waited " + std::to_string(pipe_wait_ms / 1000) + " s)");
      }
    }
    fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
  }

  std::string path_;
  int descriptor_ = -1;
  struct stat status_ {};
};

}  // namespace

std::string read_text(const std::string& path) {
  const InputFile file(path);
  const auto check = [&](std::uint64_t bytes) {
    if (bytes > max_text_bytes) {
      file.fail("it has more than " + std::to_string(max_text_bytes >> 20) + " MiB, the limit of a text file");
    }
  };
  if (file.is_regular()) check(file.size());
  std::string text;
  file.read_all(text, check);
  return text;
}

std::vector<std::uint8_t> read_bytes(const std::string& path, std::optional<std::uint64_t> expected) {
  const InputFile file(path);
  const auto wrong_size = [&](const std::string& found) {
    throw InputError("'" + path + "' has " + found + " bytes, expected " + std::to_string(*expected));
  };
  if (file.is_regular() && expected && file.size() != *expected) wrong_size(std::to_string(file.size()));
  std::vector<std::uint8_t> bytes;
  if (file.is_regular()) bytes.reserve(file.size() + 1);
  file.read_all(bytes, [&](std::uint64_t so_far) {
    if (expected && so_far > *expected) wrong_size("more than " + std::to_string(*expected));
  });
  if (expected && bytes.size() != *expected) wrong_size(std::to_string(bytes.size()));
  return bytes;
}

std::vector<std::uint8_t> read_part(const std::string& path, std::uint64_t offset, std::uint64_t bytes) {
  const InputFile file(path);
  if (!file.is_regular() || offset > file.size() || bytes > file.size() - offset) {
    file.fail("it has no " + std::to_string(bytes) + " bytes from byte " + std::to_string(offset) + " on" +
              (file.is_regular() ? ", but " + std::to_string(file.size()) : ""));
  }
  std::vector<std::uint8_t> part(bytes);
  file.read_at(offset, part.data(), bytes);
  return part;
}

}  // namespace regatta::base
