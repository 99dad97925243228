// SPDX-License-Identifier: Apache-2.0
#include <regatta/ir/tensor_map.h>

#include <cstring>

namespace regatta::ir {
namespace {

struct TypeInfo {
  const char* name;
  std::uint8_t bytes;
  bool is_float;
};

constexpr TypeInfo types[] = {{"u8", 1, false},     {"u16", 2, false}, {"u32", 4, false},    {"s32", 4, false},
                              {"u64", 8, false},    {"s64", 8, false}, {"f16", 2, true},     {"f32", 4, true},
                              {"f64", 8, true},     {"bf16", 2, true}, {"f32_ftz", 4, true}, {"tf32", 4, true},
                              {"tf32_ftz", 4, true}};

constexpr std::uint32_t magic = 0x52'54'4d'31;
constexpr std::uint32_t most_box = 256, most_element_stride = 8;
constexpr std::uint64_t most_size = std::uint64_t{1} << 32, most_stride = std::uint64_t{1} << 40;
constexpr unsigned chunk = 16;
constexpr std::size_t check_at = 120;

std::uint64_t checksum(const std::uint8_t* from) {
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (std::size_t n = 0; n < check_at; ++n) sum = (sum ^ from[n]) * 0x100000001b3u;
  return sum;
}

template <class T>
void put(std::uint8_t*& to, T value) {
  std::memcpy(to, &value, sizeof value);
  to += sizeof value;
}

template <class T>
T take(const std::uint8_t*& from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  from += sizeof value;
  return value;
}

}  // namespace

const char* to_string(TensorType t) { return types[static_cast<std::size_t>(t)].name; }
unsigned size_of(TensorType t) { return types[static_cast<std::size_t>(t)].bytes; }
bool is_float(TensorType t) { return types[static_cast<std::size_t>(t)].is_float; }

std::optional<TensorType> tensor_type_named(const std::string& name) {
  for (std::size_t t = 0; t < std::size(types); ++t)
    if (name == types[t].name) return static_cast<TensorType>(t);
  return std::nullopt;
}

std::uint32_t TensorMap::box_bytes() const {
  std::uint32_t elements = 1;
  for (unsigned d = 0; d < dimensions; ++d) elements *= copied(d);
  return elements * size_of(type);
}

std::string TensorMap::refusal() const {
  const auto number = [](std::uint64_t n) { return std::to_string(n); };
  if (dimensions == 0 || dimensions > most_dimensions)
    return "a tensor of " + number(dimensions) + " dimensions, expected 1 to 5";
  if (address % chunk != 0) return "a tensor at an address that is no multiple of 16";
  for (unsigned d = 0; d < dimensions; ++d) {
    const std::string in = " in dimension " + number(d);
    if (size[d] == 0 || size[d] > most_size) return number(size[d]) + " elements" + in + ", expected 1 to 2^32";
    if (d != 0 && (stride[d] % chunk != 0 || stride[d] >= most_stride))
      return "a stride of " + number(stride[d]) + " bytes" + in + ", expected a multiple of 16 below 2^40";
    if (box[d] == 0 || box[d] > most_box) return "a box of " + number(box[d]) + in + ", expected 1 to 256";
    if (element_stride[d] == 0 || element_stride[d] > most_element_stride)
      return "an element stride of " + number(element_stride[d]) + in + ", expected 1 to 8";
  }
  const std::uint32_t row = copied(0) * size_of(type);
  if (row % chunk != 0) return "a box of " + number(row) + " bytes in dimension 0, expected a multiple of 16";
  static constexpr std::uint32_t widest[] = {0, 32, 64, 128};
  const std::uint32_t most = widest[static_cast<std::size_t>(swizzle)];
  if (most != 0 && row > most)
    return "a box of " + number(row) + " bytes in dimension 0, expected at most the " + number(most) +
           " of the swizzle";
  if (fills_nan && !is_float(type)) return std::string("a fill with NaN of type ") + to_string(type);
  return {};
}

TensorMap::Encoded TensorMap::encode() const {
  Encoded all{};
  std::uint8_t* to = all.data();
  put(to, magic);
  put(to, static_cast<std::uint8_t>(type));
  put(to, static_cast<std::uint8_t>(dimensions));
  put(to, static_cast<std::uint8_t>(swizzle));
  put(to, static_cast<std::uint8_t>(fills_nan));
  put(to, address);
  for (const std::uint64_t s : size) put(to, static_cast<std::uint32_t>(s - 1));
  for (unsigned d = 1; d < most_dimensions; ++d) put(to, stride[d]);
  for (const std::uint32_t b : box) put(to, static_cast<std::uint16_t>(b));
  for (const std::uint32_t e : element_stride) put(to, static_cast<std::uint8_t>(e));
  const std::uint64_t check = checksum(all.data());
  std::memcpy(all.data() + check_at, &check, sizeof check);
  return all;
}

std::optional<TensorMap> TensorMap::decode(const std::uint8_t* from) {
  std::uint64_t check = 0;
  std::memcpy(&check, from + check_at, sizeof check);
  if (check != checksum(from) || take<std::uint32_t>(from) != magic) return std::nullopt;
  TensorMap m;
  m.type = static_cast<TensorType>(take<std::uint8_t>(from));
  m.dimensions = take<std::uint8_t>(from);
  m.swizzle = static_cast<TensorSwizzle>(take<std::uint8_t>(from));
  m.fills_nan = take<std::uint8_t>(from) != 0;
  m.address = take<std::uint64_t>(from);
  for (std::uint64_t& s : m.size) s = std::uint64_t{take<std::uint32_t>(from)} + 1;
  for (unsigned d = 1; d < most_dimensions; ++d) m.stride[d] = take<std::uint64_t>(from);
  for (std::uint32_t& b : m.box) b = take<std::uint16_t>(from);
  for (std::uint32_t& e : m.element_stride) e = take<std::uint8_t>(from);
  m.stride[0] = size_of(m.type);
  return m;
}

}  // namespace regatta::ir
