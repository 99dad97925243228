// SPDX-License-Identifier: Apache-2.0
#include "served_runtime.h"

#include "device.h"
#include "devices.h"
#include "program_log.h"
#include "server.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace regatta::test {

namespace {

using namespace capture;

class Served {
 public:
  Served() : folder_(make_folder()) {
    options_.description = device_named("h100");
    setenv(socket_variable, (folder_ + "/socket").c_str(), 1);
    log_ = std::make_unique<ProgramLog>(folder_, LaunchChoice{}, true);
    device_ = std::make_unique<CapturedDevice>(options_, *log_);
    server_ = std::make_unique<Server>(*device_, options_.description);
    listener_ = std::make_unique<Listener>(folder_ + "/socket");
    thread_ = std::thread([this] {
      constexpr int wait_ms = 20;
      while (!stops_) listener_->serve(*server_, wait_ms);
    });
  }
  ~Served() {
    stops_ = true;
    thread_.join();
    listener_.reset();
    log_.reset();
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

 private:
  static std::string make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "regatta-runtime-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder " + name);
    return name;
  }

  std::string folder_;
  DeviceOptions options_;
  std::unique_ptr<ProgramLog> log_;
  std::unique_ptr<CapturedDevice> device_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Listener> listener_;
  std::atomic<bool> stops_{false};
  std::thread thread_;
};

}  // namespace

void serve_runtime() { static const Served served; }

}  // namespace regatta::test
