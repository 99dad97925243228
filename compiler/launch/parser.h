// SPDX-License-Identifier: Apache-2.0
//
// From TOML to LaunchFile.
#pragma once

#include "toml_table.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace regatta::launch {

/// Of members in structures, and of loops in loops.
inline constexpr unsigned max_depth = 16;
/// Of what a step moves.
inline constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
/// Of an array, in all and along each axis.
inline constexpr std::int64_t most_texels = std::int64_t{1} << 28;

template <class T>
std::vector<std::string> names_of(const std::vector<T>& items) {
  std::vector<std::string> names;
  for (const T& item : items) names.push_back(item.name);
  return names;
}

/// "f32" and the like.
std::optional<ir::Type> named_type(const std::string& name);
/// For messages.
inline constexpr const char* type_list = "s8 to s64, u8 to u64, b8 to b64, f16, bf16, f32 or f64";

/// A member of a declared structure: `count` elements, `bytes` each.
struct Field {
  enum class Kind : std::uint8_t { scalar, pointer, structure };
  std::string name;
  Kind kind = Kind::scalar;
  ir::Type type = ir::Type::none;  ///< scalar
  std::size_t structure = 0;       ///< index of its struct
  bool is_array = false;
  std::uint64_t count = 1, bytes = 0, at = 0;
  std::uint32_t alignment = 1;
};

struct Struct {
  std::string name;
  std::vector<Field> fields;
  std::uint64_t bytes = 0;
  std::uint32_t alignment = 1;
};

class LaunchFileParser {
 public:
  LaunchFileParser(LaunchFile& out, std::string folder) : out_(out), folder_(std::move(folder)) {}
  void parse(const toml::table& root);

 private:
  // parser.cpp
  void single(TomlTable& root);
  void program(TomlTable& root);
  void global(const toml::table& table);
  void parameters(TomlTable& t, Launch& launch, bool inline_buffers);
  Parameter parameter(const toml::table& table, bool inline_buffers, const std::string& name, unsigned depth);
  void counter(TomlTable& t, Parameter& p, ir::Type type);
  void pointer(TomlTable& t, Parameter& p, bool inline_buffers, const std::string& name);
  /// tensor_maps.cpp
  void tensor_map(TomlTable& outer, Parameter& p, bool inline_buffers, const std::string& name);
  /// A key's array of integers, `least` to `most` of them.
  std::vector<std::int64_t> numbers(TomlTable& t, const char* key, std::size_t least, std::size_t most,
                                    std::int64_t low, std::int64_t high) const;
  void members(TomlTable& t, Parameter& p, bool inline_buffers, const std::string& name, unsigned depth);
  void ptx_files(TomlTable& root, bool is_program);
  /// The file's index, of a new one if need be.
  std::size_t add_ptx(const std::string& name);
  /// The PTX file that a table names.
  std::optional<std::size_t> module(TomlTable& t);
  std::size_t find_buffer(const std::string& name, const Position& where, bool inline_buffers) const;

  // steps.cpp
  std::vector<Step> steps(TomlTable& t, std::vector<std::string>& counters, unsigned depth);
  Step step(const toml::table& table, std::vector<std::string>& counters, unsigned depth);
  void run_step(TomlTable& t, Step& s, const std::vector<std::string>& counters) const;
  void swap_step(TomlTable& t, Step& s) const;
  void fill_step(TomlTable& t, Step& s, const char* kind);
  void copy_step(TomlTable& t, Step& s) const;
  void loop_step(TomlTable& t, Step& s, std::vector<std::string>& counters, unsigned depth);
  void while_flag(TomlTable& t, Step& s) const;
  /// 'allocate', 'free', 'create' or 'destroy'.
  void lifetime_step(TomlTable& t, Step& s, const char* kind);
  void fill_array_step(TomlTable& t, Step& s, const char* kind);
  /// The buffer or variable that a key names, from the offset that another one gives.
  Memory memory(TomlTable& t, const char* key, const char* offset_key) const;
  /// Bytes from its offset to its end, 0 of a variable, whose size PTX says.
  std::uint64_t rest_of(const Memory& memory) const;
  void check_fits(TomlTable& t, const char* key, std::uint64_t bytes, const Memory& memory) const;

  // formulas.cpp
  void constants(TomlTable& root);
  void number_of_launch(const toml::node& node, Computed::What what, std::size_t dimension, Launch& launch) const;
  void dimensions(TomlTable& t, const char* key, Computed::What what, Launch& launch) const;
  void geometry(TomlTable& t, Launch& launch);
  void cluster(TomlTable& t);
  void expression(TomlTable& t, Parameter& p, ir::Type type);
  /// `launch`: nullptr outside of loops. `counters`: of the loops around.
  void check_counters(const Parameter& parameter, const Launch* launch, const std::vector<std::string>& counters) const;
  void check_counters(const Step& run, const std::vector<std::string>& counters) const;

  // structs.cpp
  void structs(TomlTable& root);
  /// `end`: of the fields before it.
  Field field(const toml::table& table, std::uint64_t end) const;
  const Struct& find_struct(TomlTable& t) const;
  const Field& find_field(const Struct& s, const std::string& name, const Position& where) const;
  /// A parameter that is a declared structure. `name`: of buffers that it makes, likewise below.
  void structure(TomlTable& t, Parameter& p, bool inline_buffers, const std::string& name);
  Parameter structure_value(const Struct& s, const toml::table& fields, bool inline_buffers, const std::string& name);
  Parameter field_value(const Field& f, const toml::node& node, bool inline_buffers, const std::string& name);
  Parameter field_element(const Field& f, const toml::node& node, bool inline_buffers, const std::string& name);

  // placements.cpp
  void placements(TomlTable& root);
  void pointers(const toml::table& table);
  void elements(const toml::table& table);
  Parameter address(const toml::node& node);
  void check_placement(TomlTable& t, const Placement& p) const;

  // textures.cpp
  void arrays(TomlTable& root);
  /// The names, which parameters give before the tables are read.
  void name_textures(TomlTable& root);
  void textures(TomlTable& root, bool inline_buffers);
  void texture(TomlTable& t, Texture& texture, bool inline_buffers);
  void texture_of_buffer(TomlTable& t, Texture& texture, bool inline_buffers);
  TexelType texel_type(TomlTable& t);
  TextureReference reference(TomlTable& t);
  std::size_t find_array(TomlTable& t) const;
  void object(TomlTable& t, Parameter& p);
  /// Whether a key names an array: buffers and variables come first.
  bool names_array(TomlTable& t, const char* key) const;
  Memory array_memory(TomlTable& t, const char* key) const;
  /// From `at_key` on, `size` texels or the rest of the array.
  ArrayPart array_part(TomlTable& t, const char* at_key, const ArrayPart* size, std::size_t array) const;
  void copy_array_step(TomlTable& t, Step& s) const;
  Item object_item(TomlTable& t, const char* key) const;

  // expectation.cpp
  /// What memory of a type must hold afterwards.
  Expectation expectation(TomlTable& t, ir::Type type);

  // contents.cpp
  /// `usual`: the type where none is given.
  Contents contents(TomlTable& t, const char* size_key, ir::Type usual = ir::Type::none);
  Buffer buffer(TomlTable& t, const char* size_key, const std::string& default_name);
  /// Of contents that are a file and state no size: the file's is theirs.
  void size_from_file(TomlTable& t, Contents& c) const;
  ir::Type type(TomlTable& t, bool required);
  std::uint64_t pattern_bits(const std::string& text, const Position& where, ir::Type type) const;
  std::uint64_t scalar_bits(const toml::node& node, ir::Type type) const;
  std::string path(const std::string& name) const;
  void add_buffer(Buffer b);

  LaunchFile& out_;
  std::string folder_;
  std::vector<Struct> structs_;
  /// By name: captured programs have thousands.
  std::unordered_map<std::string, std::size_t> buffers_, launches_, globals_, ptx_, arrays_, textures_, surfaces_;
};

}  // namespace regatta::launch
