// SPDX-License-Identifier: Apache-2.0
//
// The launch file: which kernels run, in what order, on what data (README.md of this folder describes the
// format). Parsing checks everything that can be known without the PTX; errors are trace::InputError with
// "file:line:column: error: ...".
#pragma once

#include <regatta/ir/tensor_map.h>
#include <regatta/launch/expression.h>
#include <regatta/launch/fill.h>
#include <regatta/launch/textures.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::launch {

/// Most shared memory a CTA can have, static and dynamic together, in bytes (compute capability 9.0: 227 KiB).
inline constexpr std::uint32_t max_shared_bytes = 227 * 1024;

/// A position in a launch file, 1-based.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// What a buffer or variable holds at first.
struct Contents {
  FillSpec fill;
  std::string file;  ///< Init::file: path, relative to the working directory
  std::uint64_t bytes = 0;
  bool is_part = false;  ///< of the file: `bytes` from `file_offset` on; else all of it
  std::uint64_t file_offset = 0;
};

/// What memory must hold after the program, bit for bit, or within tolerances for floating types:
/// |got - expected| <= relative * |expected| + absolute.
struct Expectation {
  std::string file;  ///< path of the file it must equal; empty: nothing is expected
  ir::Type type = ir::Type::b8;
  std::optional<double> relative, absolute;
  /// Each so many elements in a row may stand in any order among themselves: that of atomics. 1: no other order.
  std::uint64_t unordered = 1;
};

struct Buffer {
  std::string name;  ///< of a [[param]] buffer without a name: "param0", by the parameter's number
  Contents contents;
  Expectation expect;
  std::optional<std::uint64_t> address;  ///< where it must lie; else the device chooses
  bool from_step = false;                ///< exists only from the step that allocates it
  Position where;
};

/// A CUDA array. `data` has its name and what is in it: texels row by row, image by image.
struct Array {
  Buffer data;
  ArraySize size;
  TexelType format;
};

/// A texture object, or what a texture reference is bound to.
struct Texture {
  std::string name;
  TextureReference reference;
  bool of_array = false;
  std::size_t memory = 0;    ///< index into LaunchFile::arrays or LaunchFile::buffers
  std::uint64_t offset = 0;  ///< of a buffer, in bytes; the rest of it is of this texture's
  TexelType format;          ///< of a buffer
  std::uint32_t width = 0;   ///< of a buffer: of two dimensions; 0: linear memory
  std::uint32_t height = 0;  ///< rows
  std::uint64_t pitch = 0;   ///< bytes from row to row
  std::array<TextureAddress, 3> address{TextureAddress::clamp, TextureAddress::clamp, TextureAddress::clamp};
  bool linear_filter = false;
  bool normalized_coordinates = false;
  bool reads_normalized = false;  ///< integers as floats of 0 to 1, or -1 to 1
  std::array<float, 4> border{};
  std::uint64_t handle = 0;  ///< that the object must have; 0: the device chooses
  bool from_step = false;    ///< exists only from the step that creates it
  Position where;
};

struct Surface {
  std::string name;
  TextureReference reference;
  std::size_t array = 0;
  std::uint64_t handle = 0;
  bool from_step = false;
  Position where;
};

/// A module-level variable. With Init::none it has at first what the module gives it.
struct Global {
  std::string name;                   ///< by which steps refer to it
  std::string symbol;                 ///< its name in PTX
  std::optional<std::size_t> module;  ///< index into LaunchFile::ptx; none: the only file that has the variable
  Contents contents;                  ///< bytes 0: as many as the variable has
  Expectation expect;
  Position where;
};

/// An expression and where its text is in the launch file.
struct Formula {
  Expression expression;
  Position where;          ///< of the string
  bool is_on_line = true;  ///< the text follows the quote on the same line, without escapes
  /// Of a byte of the text; of the string where that cannot be told.
  Position at(std::size_t byte) const;
};

/// One kernel parameter, or a member of one that is a structure.
struct Parameter {
  enum class Kind : std::uint8_t { scalar, buffer, counter, expression, structure, texture, surface, tensor_map };
  Kind kind = Kind::scalar;
  ir::Type type = ir::Type::none;
  std::vector<std::uint64_t> bits;  ///< scalar: one element, or several for a structure
  std::size_t buffer = 0;           ///< buffer: index into LaunchFile::buffers
  std::uint64_t buffer_offset = 0;  ///< bytes
  /// texture, surface, tensor_map: index into LaunchFile::textures, LaunchFile::surfaces or LaunchFile::tensor_maps
  std::size_t object = 0;
  std::string counter;                 ///< counter: the loop it counts
  std::int64_t scale = 1, offset = 0;  ///< counter: value = offset + scale * iteration
  std::vector<Formula> formula;        ///< expression, or the offset of a buffer: one, that follows counters
  std::vector<Parameter> members;      ///< structure
  std::uint64_t at = 0;                ///< member: byte offset in its structure
  std::uint64_t bytes = 0;             ///< size
  std::uint32_t alignment = 1;         ///< of a member of this kind, as C aligns it
  Position where;
};

/// A number of a launch that follows counters.
struct Computed {
  enum class What : std::uint8_t { grid, block, dynamic_shared };
  What what = What::grid;
  std::size_t dimension = 0;  ///< of grid and block
  Formula formula;
};

struct Launch {
  std::string name;
  std::string entry;                  ///< as written; resolve_entries() (entry_names.h) puts PTX's name here
  std::optional<std::size_t> module;  ///< index into LaunchFile::ptx, where it is known
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t dynamic_shared = 0;  ///< bytes
  bool cooperative = false;          ///< emulator::LaunchRequest::cooperative
  std::uint32_t registers = 0;       ///< the kernel's allocation has at least so many per thread
  bool traced = true;                ///< else it only runs
  std::vector<Computed> computed;    ///< these numbers are those of the moment only in what Program gives to a Device
  std::vector<Parameter> parameters;
  Position where, entry_where;

  bool computes(Computed::What what) const;
};

/// Bytes of a buffer or of a module-level variable, or texels of an array.
struct Memory {
  enum class Kind : std::uint8_t { buffer, variable, array };
  Kind kind = Kind::buffer;
  std::size_t index = 0;     ///< into LaunchFile::buffers, LaunchFile::globals or LaunchFile::arrays
  std::uint64_t offset = 0;  ///< bytes; not of an array
  std::uint64_t pitch = 0;   ///< copied from or to an array: bytes from row to row; images follow at pitch * rows
  ArrayPart part;            ///< of an array
  bool is_buffer() const { return kind == Kind::buffer; }
  bool is_variable() const { return kind == Kind::variable; }
  bool is_array() const { return kind == Kind::array; }
};

/// Something that steps make and end: LaunchFile::buffers, arrays, textures or surfaces, and the index there.
struct Item {
  enum class Kind : std::uint8_t { buffer, array, texture, surface };
  Kind kind = Kind::buffer;
  std::size_t index = 0;
};

/// Values that are written before the first step, when all buffers have addresses and contents.
struct Placement {
  Memory to;                 ///< of the first value
  Parameter value;           ///< of kind buffer or structure
  std::uint64_t count = 1;   ///< so many values ...
  std::uint64_t stride = 0;  ///< ... so many bytes apart
  std::uint64_t step = 0;    ///< kind buffer: from address to address, in bytes
  Position where;
  std::uint64_t bytes() const { return (count - 1) * stride + value.bytes; }
};

/// What the host does next.
struct Step {
  enum class Kind : std::uint8_t { run, repeat, loop_while, swap, fill, copy, allocate, release };
  Kind kind = Kind::run;
  std::size_t launch = 0;             ///< run
  std::uint64_t times = 0;            ///< repeat
  std::vector<Formula> formula;       ///< repeat: one, if `times` follows the counters of loops around
  std::string counter;                ///< repeat, while: name of the iteration number; may be empty
  Memory flag;                        ///< while: `bytes` of it are reset before and tested after each round
  std::uint64_t max = 1000000;        ///< while: rounds after which the loop is an error
  std::size_t first = 0, second = 0;  ///< swap: the names change places
  Item item;                          ///< allocate, release: what begins or ends
  Contents contents;                  ///< fill
  Memory from, to;                    ///< copy; fill: `to`
  /// while: of the flag, 1 to 8; fill, copy: of what is moved. 0: as a variable's size, which PTX says, makes it.
  std::uint64_t bytes = 0;
  std::vector<Step> steps;  ///< repeat, while
  Position where;
};

struct LaunchFile {
  std::string file;              ///< as given
  std::vector<std::string> ptx;  ///< paths, relative to the working directory
  Expression::Constants constants;
  std::vector<Buffer> buffers;
  std::vector<Global> globals;
  std::vector<Array> arrays;
  std::vector<Texture> textures;
  std::vector<Surface> surfaces;
  std::vector<ir::TensorMap> tensor_maps;  ///< `address`: the offset in the parameter's buffer
  std::vector<Launch> launches;
  std::vector<Placement> placements;
  std::vector<Step> steps;

  /// "file:line:column: error: ..." as trace::InputError.
  [[noreturn]] void fail(const Position& where, const std::string& what) const;
};

/// Reads and checks a launch file.
LaunchFile read_launch_file(const std::string& path);
/// As read_launch_file, from text; relative paths are taken from the folder of `file`.
LaunchFile parse_launch_file(const std::string& text, const std::string& file);

/// The bytes that `contents` describes. Throws trace::InputError for a file that is missing or too short.
std::vector<std::uint8_t> make_contents(const LaunchFile& launch, const Contents& contents, const Position& where);

/// `bytes`, whose elements have `element` bytes, with those of each `group` elements in a row moved so that as many as
/// possible equal those of `expected` (of the same size) in their places. The others keep their order.
std::vector<std::uint8_t> arranged_like(const std::vector<std::uint8_t>& expected, std::vector<std::uint8_t> bytes,
                                        std::size_t element, std::uint64_t group);

/// Compares bytes with the file they must equal; an empty string if they do, else the message of the first element
/// that differs. `what` names them: "buffer 'c'".
std::string check_expectation(const LaunchFile& launch, const std::string& what, const Expectation& expected,
                              const Position& where, const std::vector<std::uint8_t>& bytes);

}  // namespace regatta::launch
