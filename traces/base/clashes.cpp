// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/clashes.h>
#include <regatta/base/error.h>
#include <regatta/base/path.h>
#include <sys/stat.h>

#include <filesystem>

namespace regatta::base {
namespace {

namespace fs = std::filesystem;

/// What decides whether two names mean one file.
struct Identity {
  bool exists = false;
  bool is_regular = false;
  dev_t device = 0;
  ino_t number = 0;
  fs::path whole;  ///< of a file that does not exist yet
};

Identity identity_of(const std::string& path) {
  Identity id;
  struct stat status {};
  id.exists = stat(path.c_str(), &status) == 0;
  id.is_regular = id.exists && S_ISREG(status.st_mode);
  id.device = status.st_dev;
  id.number = status.st_ino;
  std::error_code error;
  if (!id.exists) id.whole = fs::weakly_canonical(fs::absolute(follow_links(path), error), error);
  return id;
}

bool same_file(const Identity& a, const Identity& b) {
  if (a.exists != b.exists) return false;
  if (!a.exists) return a.whole == b.whole;
  // A device or a pipe can take many.
  return a.is_regular && b.is_regular && a.device == b.device && a.number == b.number;
}

}  // namespace

void refuse_clashes(std::vector<FileUse> files) {
  files.push_back({"the program itself", "/proc/self/exe", false});
  std::vector<Identity> identities;
  for (const FileUse& file : files) identities.push_back(file.path.empty() ? Identity{} : identity_of(file.path));
  for (std::size_t a = 0; a < files.size(); ++a) {
    for (std::size_t b = 0; b < files.size(); ++b) {
      if (a == b || !files[a].written || files[a].path.empty() || files[b].path.empty()) continue;
      if (files[b].written && b < a) continue;  // the pair has been looked at
      if (!same_file(identities[a], identities[b])) continue;
      throw InputError(files[a].role + " and " + files[b].role + " name the same file '" + files[a].path + "'");
    }
  }
}

}  // namespace regatta::base
