// SPDX-License-Identifier: Apache-2.0
#include "gpu.h"

#include <algorithm>
#include <array>

namespace regatta::hardware {
namespace {

/// Dynamic shared memory that every kernel may have without asking, bytes.
constexpr unsigned shared_without_asking = 48 * 1024;

}  // namespace

Gpu::Gpu(const CudaDriver& driver) : driver_(driver) {
  check(driver.init(0), "starting the driver");
  int count = 0;
  check(driver.device_get_count(&count), "counting GPUs");
  if (count == 0) throw CudaError("the driver sees no GPU", cuda_no_device);
  check(driver.device_get(&device_, 0), "choosing a GPU");
  check(driver.primary_context_retain(&context_, device_), "making a context");
  check(driver.context_set_current(context_), "making the context current");
}

Gpu::~Gpu() { driver_.primary_context_release(device_); }

ComputeCapability Gpu::compute_capability() const {
  ComputeCapability c;
  check(driver_.device_get_attribute(&c.major, attribute_compute_capability_major, device_),
        "asking what the GPU can do");
  check(driver_.device_get_attribute(&c.minor, attribute_compute_capability_minor, device_),
        "asking what the GPU can do");
  return c;
}

std::string Gpu::description() const {
  std::array<char, 256> name{};
  int version = 0;
  check(driver_.device_get_name(name.data(), static_cast<int>(name.size()) - 1, device_), "asking for the GPU's name");
  const auto [major, minor] = compute_capability();
  check(driver_.driver_get_version(&version), "asking for the driver's version");
  return std::string(name.data()) + ", compute capability " + std::to_string(major) + "." + std::to_string(minor) +
         ", driver for CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void Gpu::check(CudaResult result, const std::string& what) const {
  if (result == 0) return;
  const char* text = nullptr;
  if (driver_.get_error_string(result, &text) != 0 || text == nullptr) text = "unknown error";
  throw CudaError(what + ": " + text + " (" + std::to_string(result) + ")", result);
}

GpuProgram::GpuProgram(const Gpu& gpu, const std::vector<std::string>& ptx) : gpu_(gpu), driver_(gpu.driver()) {
  for (const std::string& text : ptx) load(text);
}

void GpuProgram::load(const std::string& ptx) {
  std::array<char, 4096> log{};
  int names[] = {jit_error_log_buffer, jit_error_log_buffer_size_bytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  void* module = nullptr;
  const CudaResult loaded = driver_.module_load_data(&module, ptx.c_str(), 2, names, values);
  const std::string said = log.data();
  gpu_.check(loaded, "compiling the PTX" + (said.empty() ? "" : " (" + said.substr(0, said.find('\n')) + ")"));
  modules_.push_back(module);
}

GpuProgram::~GpuProgram() {
  for (const CudaAddress a : allocated_) driver_.memory_free(a);
  for (void* const module : modules_) driver_.module_unload(module);
}

std::uint64_t GpuProgram::allocate(const launch::Buffer& buffer) {
  if (buffer.address)
    throw CudaError("buffer '" + buffer.name + "' has an address of its own, which a GPU does not give", 0);
  CudaAddress address = 0;
  gpu_.check(driver_.memory_allocate(&address, buffer.contents.bytes),
             "allocating " + std::to_string(buffer.contents.bytes) + " bytes for '" + buffer.name + "'");
  allocated_.push_back(address);
  // What is never written is zero in the emulator's image.
  gpu_.check(driver_.fill_bytes(address, 0, buffer.contents.bytes), "clearing '" + buffer.name + "'");
  return address;
}

void GpuProgram::release(std::uint64_t address) {
  driver_.memory_free(address);
  allocated_.erase(std::find(allocated_.begin(), allocated_.end(), address));
}

void GpuProgram::write(std::uint64_t address, const void* from, std::size_t bytes) {
  gpu_.check(driver_.copy_to_device(address, from, bytes), "copying to the GPU");
}

void GpuProgram::read(std::uint64_t address, void* to, std::size_t bytes) const {
  gpu_.check(driver_.copy_to_host(to, address, bytes), "copying from the GPU");
}

std::uint64_t GpuProgram::variable_bytes(const launch::Global& g) const {
  std::size_t bytes = 0;
  find_variable(g.name, g.module, bytes);
  return bytes;
}

void GpuProgram::write_variable(const launch::Global& g, std::uint64_t offset, const void* from, std::size_t bytes) {
  std::size_t all = 0;
  write(find_variable(g.name, g.module, all) + offset, from, bytes);
}

void GpuProgram::read_variable(const launch::Global& g, std::uint64_t offset, void* to, std::size_t bytes) const {
  std::size_t all = 0;
  read(find_variable(g.name, g.module, all) + offset, to, bytes);
}

void GpuProgram::launch(const launch::Launch& l, const launch::ParameterBytes& parameters) {
  if (l.cooperative) throw CudaError("launch '" + l.name + "' is cooperative, which is not compared with a GPU", 0);
  for (const launch::Parameter& p : l.parameters) {
    // Its bytes are the emulator's; a GPU has others, which the driver alone knows.
    if (p.kind == launch::Parameter::Kind::tensor_map)
      throw CudaError("launch '" + l.name + "' has a tensor map, which is not compared with a GPU", 0);
  }
  void* function = nullptr;
  gpu_.check(driver_.module_get_function(&function, modules_.at(l.module.value_or(0)), l.entry.c_str()),
             "looking for entry '" + l.entry + "'");
  if (l.dynamic_shared > shared_without_asking) {
    gpu_.check(
        driver_.function_set_attribute(function, function_max_dynamic_shared_bytes, static_cast<int>(l.dynamic_shared)),
        "asking for " + std::to_string(l.dynamic_shared) + " bytes of shared memory");
  }
  launch::ParameterBytes copies = parameters;
  std::vector<void*> pointers;
  for (auto& bytes : copies) pointers.push_back(bytes.data());
  gpu_.check(driver_.launch_kernel(function, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2],
                                   l.dynamic_shared, nullptr, pointers.data(), nullptr),
             "launching '" + l.name + "'");
  gpu_.check(driver_.context_synchronize(), "running '" + l.name + "'");
}

std::vector<std::uint8_t> GpuProgram::variable(const std::string& name) const {
  std::size_t bytes = 0;
  const CudaAddress address = find_variable(name, std::nullopt, bytes);
  std::vector<std::uint8_t> contents(bytes);
  read(address, contents.data(), bytes);
  return contents;
}

CudaAddress GpuProgram::find_variable(const std::string& name, std::optional<std::size_t> module,
                                      std::size_t& bytes) const {
  CudaAddress address = 0;
  CudaResult result = 0;
  for (std::size_t m = module.value_or(0); m < modules_.size(); ++m) {
    result = driver_.module_get_global(&address, &bytes, modules_[m], name.c_str());
    if (result == 0 || module) break;
  }
  gpu_.check(result, "looking for variable '" + name + "'");
  return address;
}

}  // namespace regatta::hardware
