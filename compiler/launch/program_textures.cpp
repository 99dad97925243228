// SPDX-License-Identifier: Apache-2.0
//
// Arrays, textures and surfaces of a program.
#include <regatta/launch/program.h>

#include <algorithm>

namespace regatta::launch {

namespace {

[[noreturn]] void no_textures() { throw trace::InputError("error: this device has no textures and surfaces"); }

}  // namespace

std::uint64_t Device::create_array(const Array&) { no_textures(); }
void Device::destroy_array(std::uint64_t) { no_textures(); }
void Device::write_array(std::uint64_t, const ArrayPart&, const void*) { no_textures(); }
void Device::read_array(std::uint64_t, const ArrayPart&, void*) const { no_textures(); }
void Device::copy_to_array(std::uint64_t, const ArrayPart&, std::uint64_t, std::uint64_t) { no_textures(); }
void Device::copy_from_array(std::uint64_t, const ArrayPart&, std::uint64_t, std::uint64_t) { no_textures(); }
void Device::copy_array(std::uint64_t, const std::array<std::uint32_t, 3>&, std::uint64_t, const ArrayPart&) {
  no_textures();
}
std::uint64_t Device::create_texture(const Texture&, std::uint64_t) { no_textures(); }
std::uint64_t Device::create_surface(const Surface&, std::uint64_t) { no_textures(); }
void Device::destroy_texture(const Texture&, std::uint64_t) { no_textures(); }
void Device::destroy_surface(const Surface&, std::uint64_t) { no_textures(); }

void Program::make_textures() {
  arrays_.resize(file_.arrays.size());
  textures_.resize(file_.textures.size());
  surfaces_.resize(file_.surfaces.size());
  for (std::size_t a = 0; a < file_.arrays.size(); ++a) {
    if (!file_.arrays[a].data.from_step) make_array(a);
  }
  for (std::size_t t = 0; t < file_.textures.size(); ++t) {
    if (!file_.textures[t].from_step) make_texture(t);
  }
  for (std::size_t s = 0; s < file_.surfaces.size(); ++s) {
    if (!file_.surfaces[s].from_step) make_surface(s);
  }
}

void Program::make_array(std::size_t array) {
  const Array& a = file_.arrays[array];
  arrays_[array] = device_.create_array(a);
  const Init init = a.data.contents.fill.init;
  if (init == Init::none || (init == Init::zero && a.data.from_step)) return;  // zero is what the device gives
  device_.write_array(*arrays_[array], {{}, a.size.whole()},
                      make_contents(file_, a.data.contents, a.data.where).data());
}

void Program::make_texture(std::size_t texture) {
  const Texture& t = file_.textures[texture];
  check_exists(Item{t.of_array ? Item::Kind::array : Item::Kind::buffer, t.memory}, t.where);
  textures_[texture] = device_.create_texture(t, t.of_array ? *arrays_[t.memory] : address_[t.memory] + t.offset);
}

void Program::make_surface(std::size_t surface) {
  const Surface& s = file_.surfaces[surface];
  check_exists(Item{Item::Kind::array, s.array}, s.where);
  surfaces_[surface] = device_.create_surface(s, *arrays_[s.array]);
}

std::vector<std::uint8_t> Program::array(std::size_t index) const {
  const Array& a = file_.arrays[index];
  check_exists(Item{Item::Kind::array, index}, a.data.where);
  std::vector<std::uint8_t> bytes(a.data.contents.bytes);
  device_.read_array(*arrays_[index], {{}, a.size.whole()}, bytes.data());
  return bytes;
}

void Program::check_array_copy(const Step& s) const {
  // The parser knows all sizes but those of variables.
  for (const Memory* m : {&s.from, &s.to}) {
    if (s.kind != Step::Kind::copy || !m->is_variable()) continue;
    const std::uint64_t size = size_of(*m);
    if (m->offset <= size && s.bytes <= size - m->offset) continue;
    file_.fail(s.where, std::to_string(s.bytes) + " bytes from byte " + std::to_string(m->offset) + " on, '" +
                            name_of(*m) + "' has " + std::to_string(size));
  }
}

void Program::copy_with_array(const Step& s) {
  if (s.from.is_array() && s.to.is_array()) {
    return device_.copy_array(*arrays_[s.to.index], s.to.part.at, *arrays_[s.from.index], s.from.part);
  }
  const bool to_array = s.to.is_array();
  const Memory &texels = to_array ? s.to : s.from, &plain = to_array ? s.from : s.to;
  const std::uint64_t array = *arrays_[texels.index];
  if (plain.is_buffer()) {
    const std::uint64_t address = address_[plain.index] + plain.offset;
    if (to_array) return device_.copy_to_array(array, texels.part, address, plain.pitch);
    return device_.copy_from_array(array, texels.part, address, plain.pitch);
  }
  // A variable has no address that the device tells.
  const std::uint64_t row = texels.part.size[0] * texel_bytes(texels.index);
  const std::uint64_t rows = std::uint64_t{texels.part.size[1]} * texels.part.size[2];
  std::vector<std::uint8_t> packed(rows * row), bytes(s.bytes);
  read(plain, bytes.data(), bytes.size());
  if (!to_array) device_.read_array(array, texels.part, packed.data());
  for (std::uint64_t r = 0; r < rows; ++r) {
    std::uint8_t *const a = packed.data() + r * row, *const b = bytes.data() + r * plain.pitch;
    std::copy_n(to_array ? b : a, row, to_array ? a : b);
  }
  if (to_array) return device_.write_array(array, texels.part, packed.data());
  write(plain, bytes.data(), bytes.size());
}

}  // namespace regatta::launch
