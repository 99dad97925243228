// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <regatta/support/atomic_file.h>
#include <regatta/support/config.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

namespace regatta::support {

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  struct stat status {};
  const bool exists = stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    file_ = std::fopen(path_.c_str(), "wb");
    if (file_ == nullptr) fail(errno);
    return;
  }
  if (exists && access(path_.c_str(), W_OK) != 0) fail(errno);  // rename would not ask
  // Through a symbolic link, the file it names is replaced, not the link.
  if (exists) {
    const std::unique_ptr<char, void (*)(void*)> real(realpath(path_.c_str(), nullptr), std::free);
    if (real != nullptr) path_ = real.get();
  }
  temporary_ = path_ + ".partial.XXXXXX";
  const int descriptor = mkstemp(temporary_.data());
  if (descriptor < 0) {
    const int error = errno;
    temporary_.clear();
    fail(error);
  }
  // mkstemp makes the file private; give it the mode it would have had.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor, exists ? status.st_mode & 07777 : 0666 & ~mask);
  file_ = fdopen(descriptor, "wb");
}

AtomicFile::~AtomicFile() {
  if (file_ != nullptr) {
    std::fclose(file_);
    if (!temporary_.empty()) unlink(temporary_.c_str());
  }
}

void AtomicFile::fail(int error) const { throw ConfigError("cannot write '" + path_ + "': " + std::strerror(error)); }

void AtomicFile::write(std::string_view text) {
  if (error_ == 0 && std::fwrite(text.data(), 1, text.size(), file_) != text.size()) error_ = errno;
  if (error_ != 0) fail(error_);
}

void AtomicFile::commit() {
  // The C library forgets what it could not write, and would flush the rest as if nothing had happened.
  if (error_ == 0 && std::fflush(file_) != 0) error_ = errno;
  if (error_ != 0) fail(error_);
  // Devices and pipes have nothing to sync; the result of a regular file must be on the disk before its name is.
  if (!temporary_.empty() && fsync(fileno(file_)) != 0) fail(errno);
  if (!temporary_.empty() && std::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
  std::fclose(file_);
  file_ = nullptr;
}

void write_text_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

std::string read_text_file(const std::string& path) {
  const auto fail = [&] { throw ConfigError("cannot read '" + path + "': " + std::strerror(errno)); };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) fail();
  std::string text;
  std::array<char, 65536> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get()))
    text.append(buffer.data(), got);
  if (std::ferror(file.get()) != 0) fail();
  return text;
}

bool is_toml_path(const std::string& name) {
  return name.find('/') != std::string::npos || (name.size() > 5 && name.compare(name.size() - 5, 5, ".toml") == 0);
}

std::string beside(const std::string& file, const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (folder.empty() || folder == "." || !is_toml_path(name)) return name;
  // A step up is not taken away with the folder before it: that may be a link.
  return (folder / name).string();
}

}  // namespace regatta::support
