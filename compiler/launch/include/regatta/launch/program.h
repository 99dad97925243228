// SPDX-License-Identifier: Apache-2.0
//
// Runs what a launch file says the host does: buffers are made, steps run in order, counters count, swapped names
// change places, buffers are filled and copied, loops end when their flag stays zero. What a kernel runs on is behind
// Device: the emulator, or a GPU.
#pragma once

#include <regatta/launch/launch_file.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regatta::launch {

/// The bytes of every parameter of a kernel, in order.
using ParameterBytes = std::vector<std::vector<std::uint8_t>>;

/// Of a flag in `size` bytes when nobody says how large it is: all of them where that is a number's size, else a word.
constexpr std::uint64_t default_flag_bytes(std::uint64_t size) {
  return size == 1 || size == 2 || size == 8 ? size : 4;
}

class Device {
 public:
  virtual ~Device() = default;
  /// Makes memory for a buffer and returns its address. What it holds at first is written afterwards, unless that is
  /// Init::none.
  virtual std::uint64_t allocate(const Buffer& buffer) = 0;
  /// Ends a buffer that allocate() made.
  virtual void release(std::uint64_t address) = 0;
  virtual void write(std::uint64_t address, const void* from, std::size_t bytes) = 0;
  virtual void read(std::uint64_t address, void* to, std::size_t bytes) const = 0;
  /// Size of a module-level variable. Throws trace::InputError if no PTX file has it, or several.
  virtual std::uint64_t variable_bytes(const Global& global) const = 0;
  virtual void write_variable(const Global& global, std::uint64_t offset, const void* from, std::size_t bytes) = 0;
  virtual void read_variable(const Global& global, std::uint64_t offset, void* to, std::size_t bytes) const = 0;
  /// Makes an array and returns what names it. Contents are written afterwards.
  virtual std::uint64_t create_array(const Array& array);
  virtual void destroy_array(std::uint64_t array);
  /// Texels of a part, row by row, image by image.
  virtual void write_array(std::uint64_t array, const ArrayPart& part, const void* from);
  virtual void read_array(std::uint64_t array, const ArrayPart& part, void* to) const;
  /// Copies between a part of an array and memory, in which rows are `pitch` bytes apart and images pitch * rows.
  virtual void copy_to_array(std::uint64_t array, const ArrayPart& part, std::uint64_t from, std::uint64_t pitch);
  virtual void copy_from_array(std::uint64_t array, const ArrayPart& part, std::uint64_t to, std::uint64_t pitch);
  /// Copies a part of an array to a place of another one with texels of the same size.
  virtual void copy_array(std::uint64_t to, const std::array<std::uint32_t, 3>& at, std::uint64_t from,
                          const ArrayPart& part);
  /// Makes a texture object of an array, or of the memory at an address, and returns its handle; or binds a reference.
  virtual std::uint64_t create_texture(const Texture& texture, std::uint64_t memory);
  virtual std::uint64_t create_surface(const Surface& surface, std::uint64_t array);
  /// Ends an object, or unbinds a reference.
  virtual void destroy_texture(const Texture& texture, std::uint64_t handle);
  virtual void destroy_surface(const Surface& surface, std::uint64_t handle);
  /// Copies within the device; the ranges may overlap.
  virtual void copy(std::uint64_t to, std::uint64_t from, std::size_t bytes);
  /// Runs a kernel to its end. The launch has the numbers of the moment where it computes some.
  virtual void launch(const Launch& launch, const ParameterBytes& parameters) = 0;
};

class Program {
 public:
  /// Allocates and fills buffers, initialises variables, and refuses steps that do not fit these. Both references must
  /// outlive the program.
  Program(const LaunchFile& file, Device& device);

  /// Runs all steps. Throws trace::InputError for a loop that reaches its `max`, or a program without an end.
  void run();

  /// What is now in the memory that the name of buffer `index` means.
  std::vector<std::uint8_t> buffer(std::size_t index) const;
  /// The address of that memory; none: the buffer does not exist now.
  std::optional<std::uint64_t> address(std::size_t index) const;
  /// What a variable that has a [[global]] table holds now.
  std::vector<std::uint8_t> variable(std::size_t index) const;
  /// The texels of an array.
  std::vector<std::uint8_t> array(std::size_t index) const;

 private:
  // program_textures.cpp
  void make_textures();
  void make_array(std::size_t array);
  void make_texture(std::size_t texture);
  void make_surface(std::size_t surface);
  void copy_with_array(const Step& step);
  void check_array_copy(const Step& step) const;
  std::uint64_t texel_bytes(std::size_t array) const { return file_.arrays[array].format.bytes(); }

  void run_steps(const std::vector<Step>& steps);
  void run_repeat(const Step& step);
  void run_while(const Step& step);
  void copy(const Step& step);
  void check_sizes(const std::vector<Step>& steps) const;
  /// Makes a buffer with its first contents.
  void make(std::size_t buffer);
  void begin(const Step& step);
  void end(const Step& step);
  void check_exists(const Item& item, const Position& where) const;
  void check_exists(const Memory& memory, const Position& where) const;
  bool exists(const Item& item) const;
  /// "buffer 'a'".
  std::string text_of(const Item& item) const;
  std::uint64_t size_of(const Memory& memory) const;
  const std::string& name_of(const Memory& memory) const;
  /// What Step::bytes is or stands for.
  std::uint64_t bytes_of(const Step& step) const;
  void write(const Memory& memory, const void* from, std::size_t bytes);
  void read(const Memory& memory, void* to, std::size_t bytes) const;
  void run_launch(const Launch& launch);
  /// Of all parameters, as they are now.
  ParameterBytes parameter_bytes(const Launch& launch) const;

  // program_values.cpp
  void place(const Placement& placement);
  /// Refuses expectations that do not fit the sizes of variables.
  void check_variables() const;

  /// Writes a parameter's bytes as they are now.
  void put_parameter(const Parameter& p, std::uint8_t* to) const;

  const LaunchFile& file_;
  Device& device_;
  std::vector<std::uint64_t> address_;  ///< per buffer; swaps exchange entries
  std::vector<bool> exists_;            ///< per buffer
  /// What the device made; none: it does not exist now.
  std::vector<std::optional<std::uint64_t>> arrays_, textures_, surfaces_;
  std::map<std::string, std::uint64_t> counters_;
  std::uint64_t steps_done_ = 0;
};

/// What a [[global]] table writes into a variable of `bytes` bytes, from its start. Throws trace::InputError when that
/// does not fit.
std::vector<std::uint8_t> variable_contents(const LaunchFile& file, const Global& global, std::uint64_t bytes);

}  // namespace regatta::launch
