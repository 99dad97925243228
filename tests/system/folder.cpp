// SPDX-License-Identifier: Apache-2.0
#include "folder.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace regatta::test {

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "regatta_test_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder: " + name);
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::size_t Folder::count(const std::string& part) const {
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    found += entry.path().filename().string().find(part) != std::string::npos ? 1 : 0;
  }
  return found;
}

std::string Folder::write(const std::string& name, const std::string& bytes) const {
  std::ofstream out(file(name), std::ios::binary);
  out << bytes;
  if (!out.flush()) throw std::runtime_error("cannot write " + file(name));
  return file(name);
}

std::string Folder::read(const std::string& name) const {
  std::ifstream in(file(name), std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file(name));
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

}  // namespace regatta::test
