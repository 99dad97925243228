// SPDX-License-Identifier: Apache-2.0
//
// The folder that a captured program's launch file, PTX and data lie in.
#pragma once

#include <string>

namespace regatta::capture {

/// A folder that goes with this object, also when the process is killed: another process waits for its end. With `keep`
/// it is that folder, which stays.
class WorkFolder {
 public:
  /// `keep`: must be new or empty; without it the folder has a new name beside `beside`. Throws trace::InputError.
  WorkFolder(const std::string& keep, const std::string& beside);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  void sweep_later();

  std::string path_;
  bool kept_ = false;
  int alive_ = -1;    ///< closed when this process ends
  int sweeper_ = -1;  ///< process
};

}  // namespace regatta::capture
