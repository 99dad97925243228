// SPDX-License-Identifier: Apache-2.0
//
// What the CUDA runtime in a captured program and regatta-capture say to each other, over a stream socket: the program
// asks, the server answers every request before the next one. Both ends are of one build on one machine, so numbers
// have the machine's order of bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace regatta::capture {

/// Both ends must have the same one: a library of another build may be in front of the program.
inline constexpr std::uint32_t protocol_version = 3;

/// Environment of a captured program: path of the server's socket.
inline constexpr const char* socket_variable = "REGATTA_CAPTURE_SOCKET";

enum class Request : std::uint32_t {
  hello,           ///< version -> DeviceDescription
  load_module,     ///< name, bytes of fat binaries or of PTX -> module
  try_module,      ///< likewise; PTX that is wrong is `invalid`
  allocate,        ///< bytes -> address
  reserve,         ///< bytes -> address, for memory of the host that a kernel may use later
  commit,          ///< a reserved address: from now on memory of the device
  release,         ///< address
  write,           ///< address, pitch, width, rows, bytes
  read,            ///< address, pitch, width, rows -> bytes
  copy,            ///< to, its pitch, from, its pitch, width, rows
  fill,            ///< address, pitch, value's bytes, value, width, rows
  write_variable,  ///< module, name, offset, bytes
  read_variable,   ///< module, name, offset, count -> bytes
  set_limit,       ///< cudaLimit, value
  launch,          ///< module, kernel, grid, block, shared bytes, flags, parameters -> LaunchAnswer
  compile,         ///< module, kernel -> KernelDescription, with what the compiled kernel takes
  warn,            ///< text, which the user sees once
  refuse,          ///< text: the program needs what there is not; it ends
  // Arrays, textures and surfaces.
  create_array,     ///< ArrayDescription -> id
  destroy_array,    ///< id
  write_array,      ///< id, ArrayRegion, bytes of the texels
  read_array,       ///< id, ArrayRegion -> bytes of the texels
  copy_to_array,    ///< id, ArrayRegion, address, pitch
  copy_from_array,  ///< id, ArrayRegion, address, pitch
  copy_arrays,      ///< id, ArrayRegion whose size does not count, id that is read, its ArrayRegion
  create_texture,   ///< TextureDescription -> handle
  destroy_texture,  ///< handle
  create_surface,   ///< id -> handle
  destroy_surface,  ///< handle
  bind_texture,     ///< module, name of a reference, TextureDescription
  bind_surface,     ///< module, name of a reference, id
  unbind,           ///< module, name of a reference
};

/// Outcome of a request. Everything but `done` comes with a text.
enum class Status : std::uint32_t {
  done,
  invalid,        ///< an address, a size or a name that does not exist: the API's error for it
  out_of_memory,  ///< of the device
  kernel_fault,   ///< the kernel did what a GPU stops
  refused,        ///< the input needs what there is not: the program ends with it
};

struct MessageHead {
  std::uint32_t kind = 0;  ///< Request, or Status in an answer
  std::uint32_t unused = 0;
  std::uint64_t bytes = 0;  ///< that follow
};

/// Flags of a launch.
inline constexpr std::uint32_t launch_cooperative = 1;

/// What a kernel did that a GPU stops; the API has a code for each.
enum class Fault : std::uint32_t { other, address, misaligned, assertion, trap };

class MessageWriter {
 public:
  template <class T>
  MessageWriter& put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return append(&value, sizeof value);
  }
  MessageWriter& put_text(const std::string& text) { return put_bytes(text.data(), text.size()); }
  MessageWriter& put_bytes(const void* from, std::uint64_t count) { return put(count).append(from, count); }
  /// Without a count in front.
  MessageWriter& append(const void* from, std::uint64_t count) {
    const std::size_t before = bytes_.size();
    bytes_.resize(before + count);
    if (count != 0) std::memcpy(bytes_.data() + before, from, count);
    return *this;
  }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// Throws std::runtime_error for a message that ends too early: the other end is of another build, or broken.
class MessageReader {
 public:
  MessageReader(const std::uint8_t* bytes, std::uint64_t count) : next_(bytes), end_(bytes + count) {}
  explicit MessageReader(const std::vector<std::uint8_t>& bytes) : MessageReader(bytes.data(), bytes.size()) {}

  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  std::string get_text() {
    const auto count = get<std::uint64_t>();
    const std::uint8_t* const from = take(count);
    return {from, from + count};
  }
  std::vector<std::uint8_t> get_bytes() {
    const auto count = get<std::uint64_t>();
    const std::uint8_t* const from = take(count);
    return {from, from + count};
  }
  /// A place in the message, which must outlive its use.
  const std::uint8_t* take(std::uint64_t count) {
    if (count > left()) throw std::runtime_error("a message of the capture protocol is too short");
    const std::uint8_t* const at = next_;
    next_ += count;
    return at;
  }
  std::uint64_t left() const { return static_cast<std::uint64_t>(end_ - next_); }

 private:
  const std::uint8_t* next_;
  const std::uint8_t* end_;
};

/// What the API says of the device. Sizes in bytes.
struct DeviceDescription {
  char name[64] = {};
  std::uint32_t major = 9, minor = 0;  ///< compute capability
  std::uint32_t multiprocessors = 132;
  std::uint64_t memory = 0;
  std::uint32_t shared_per_cta = 49152, shared_per_cta_opt_in = 232448, shared_per_multiprocessor = 233472;
  std::uint32_t registers_per_cta = 65536, registers_per_multiprocessor = 65536;
  std::uint32_t threads_per_multiprocessor = 2048, ctas_per_multiprocessor = 32;
  std::uint32_t l2_bytes = 0, bus_bits = 0, clock_khz = 0, memory_clock_khz = 0;
  std::uint32_t persisting_l2 = 0, access_policy_window = 0;  ///< bytes at most; 0: the device has no such policy
};

/// A kernel of a module, in the answer to load_module; its name, its refusal (empty: accepted) and its parameters
/// follow: count, then offset and size of each.
struct KernelDescription {
  std::uint32_t registers = 0;  ///< per thread; 0 before it is compiled
  std::uint32_t shared = 0;     ///< static, bytes
  std::uint32_t local = 0;      ///< bytes per thread
  std::uint32_t max_threads = 1024;
  std::uint32_t required_block[3] = {0, 0, 0};  ///< .reqntid: the only block; 0: any
  std::uint32_t target = 0;                     ///< 75: its PTX is for sm_75 and later
};

/// A variable of a module, likewise; its name follows.
struct VariableDescription {
  std::uint64_t address = 0;  ///< of a .global variable, and of a .const one a generic address
  std::uint64_t bytes = 0;
  std::uint32_t is_constant = 0;
};

/// Numbers as in cudaChannelFormatKind, cudaTextureAddressMode, cudaTextureFilterMode and cudaTextureReadMode.
struct TexelDescription {
  std::uint32_t kind = 0, bits = 0, channels = 0;
};
/// In texels; 0: the array has no such dimension.
struct ArrayDescription {
  std::uint32_t width = 0, height = 0, depth = 0, layers = 0;
  std::uint32_t is_cube = 0;  ///< layers are the faces of cubes
  TexelDescription format;
};
/// In texels; z counts images of the depth, or layers.
struct ArrayRegion {
  std::uint32_t x = 0, y = 0, z = 0, width = 1, height = 1, depth = 1;
};
struct TextureDescription {
  enum class Source : std::uint32_t { linear, pitched, array };
  Source source = Source::linear;
  TexelDescription format;               ///< not of an array
  std::uint64_t memory = 0;              ///< an address, or the array's id
  std::uint64_t bytes = 0;               ///< linear
  std::uint64_t pitch = 0;               ///< pitched
  std::uint32_t width = 0, height = 0;   ///< pitched
  std::uint32_t address[3] = {1, 1, 1};  ///< clamp
  std::uint32_t filter = 0, read = 0, normalized = 0;
  float border[4] = {};
};

}  // namespace regatta::capture
