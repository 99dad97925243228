// SPDX-License-Identifier: Apache-2.0
//
// PTX text in, memory out: compiles a kernel and runs it in the emulator.
#pragma once

#include <regatta/emulator/emulator.h>
#include <regatta/ir/ir.h>
#include <regatta/passes/target.h>
#include <regatta/trace/warp_stream.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace regatta::test {

/// Keeps the CTAs it is given.
struct KeepCtas : emulator::TraceSink {
  std::vector<trace::Cta> ctas;
  bool wants(std::uint64_t) const override { return true; }
  void take(trace::Cta&& cta) override { ctas.push_back(std::move(cta)); }
};

/// Whether all columns are the same.
bool same_traces(const std::vector<trace::Cta>& a, const std::vector<trace::Cta>& b);

class Machine {
 public:
  /// An entry of the module, the first where none is named, compiled. `max_registers` below 255 forces spills.
  explicit Machine(const std::string& ptx, unsigned warp_size = 32, unsigned max_registers = 255,
                   const std::string& entry = "", const passes::Target& target = passes::Target::generic(),
                   bool ordered_exchanges = false);

  std::uint64_t buffer(const std::string& name, std::uint64_t bytes, bool initialised = true) {
    return memory.allocate(name, bytes, initialised);
  }
  template <class T>
  std::uint64_t buffer(const std::string& name, const std::vector<T>& values) {
    const std::uint64_t at = memory.allocate(name, values.size() * sizeof(T), true);
    memory.write(at, values.data(), values.size() * sizeof(T));
    return at;
  }
  template <class T>
  std::vector<T> read(std::uint64_t address, std::size_t count) const {
    std::vector<T> values(count);
    memory.read(address, values.data(), count * sizeof(T));
    return values;
  }
  /// Appends a parameter, in order.
  template <class T>
  void parameter(T value) {
    const ir::Parameter& p = function->parameters.at(parameters_);
    request.parameters.resize(p.offset + p.bytes);
    std::memcpy(request.parameters.data() + p.offset, &value, sizeof value);
    ++parameters_;
  }
  emulator::RunCounts run(emulator::TraceSink* sink = nullptr);
  /// Runs and returns the message of the error it must end with; "" if it ends well.
  std::string error();
  /// Runs with options.races and returns what was found.
  std::vector<emulator::Race> races();

  emulator::DeviceMemory memory;
  emulator::TextureTable textures{memory};
  emulator::LaunchRequest request;
  emulator::EmulatorOptions options;
  ir::Module module;
  ir::Function* function = nullptr;
  std::vector<std::int32_t> reconvergence;
  std::unique_ptr<emulator::ModuleImage> image;
  trace::Kernel kernel;
  bool left_stack_order = false;  ///< by the last run()

 private:
  std::size_t parameters_ = 0;
};

/// A module with one entry `k` around the given parameters and body.
std::string module_text(const std::string& parameters, const std::string& body, const std::string& before = "",
                        const std::string& target = "sm_75");

/// The text of a file of samples/.
std::string sample(const std::string& name);

}  // namespace regatta::test
