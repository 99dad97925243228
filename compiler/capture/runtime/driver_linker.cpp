// SPDX-License-Identifier: Apache-2.0
//
// The driver's linker: it takes PTX and gives an image to load. One input is that image; several inputs would have to
// be linked, which is refused.
#include "driver.h"
#include "driver_jit.h"
#include "images.h"

#include <cstring>
#include <memory>

namespace regatta::capture {

namespace {

constexpr int input_cubin = 0, input_ptx = 1, input_fat_binary = 2;

struct Linker {
  JitOptions options;
  std::vector<std::vector<std::uint8_t>> inputs;
  std::vector<std::uint8_t> image;
};

std::set<Linker*>& linkers() {
  static auto* const all = new std::set<Linker*>;
  return *all;
}

int add(Linker* linker, int type, std::vector<std::uint8_t> image) {
  const Guard guard(State::get().lock);
  if (linkers().count(linker) == 0) return driver_error::invalid_handle;
  if (type == input_cubin) {
    refuse("the program links machine code of one GPU (cuLinkAddData(), cuLinkAddFile()), expected PTX");
  }
  if (type != input_ptx && type != input_fat_binary) {
    refuse("the program links an input of kind " + std::to_string(type) +
           " (CUjitInputType), expected PTX or a fat binary");
  }
  linker->inputs.push_back(std::move(image));
  return success;
}

}  // namespace

REGATTA_API int cuLinkCreate_v2(unsigned count, int* options, void** values, Linker** out) {
  const Guard guard(State::get().lock);
  const int code = check_context();
  if (code != success) return code;
  if (out == nullptr) return invalid_value;
  *out = new Linker{{count, options, values}, {}, {}};
  linkers().insert(*out);
  return success;
}

REGATTA_API int cuLinkAddData_v2(Linker* linker, int type, void* data, std::size_t bytes, const char* /*name*/,
                                 unsigned /*count*/, int* /*options*/, void** /*values*/) {
  if (data == nullptr || bytes == 0) return invalid_value;
  const auto* const from = static_cast<const std::uint8_t*>(data);
  return add(linker, type, {from, from + bytes});
}

REGATTA_API int cuLinkAddFile_v2(Linker* linker, int type, const char* path, unsigned /*count*/, int* /*options*/,
                                 void** /*values*/) {
  std::vector<std::uint8_t> image;
  if (path == nullptr) return invalid_value;
  if (!read_image(path, image)) return file_not_found;
  return add(linker, type, std::move(image));
}

REGATTA_API int cuLinkComplete(Linker* linker, void** image, std::size_t* bytes) {
  const Guard guard(State::get().lock);
  if (linkers().count(linker) == 0) return driver_error::invalid_handle;
  if (image == nullptr || linker->inputs.empty()) return invalid_value;
  linker->options.answer("");
  linker->image = linker->inputs.front();
  if (linker->inputs.size() > 1) {
    linker->image = joined_images(linker->inputs);
  } else {
    linker->image.push_back(0);  // the end of a text
  }
  *image = linker->image.data();
  if (bytes != nullptr) *bytes = linker->image.size();
  return success;
}

REGATTA_API int cuLinkDestroy(Linker* linker) {
  const Guard guard(State::get().lock);
  if (linkers().erase(linker) == 0) return driver_error::invalid_handle;
  delete linker;
  return success;
}

}  // namespace regatta::capture
