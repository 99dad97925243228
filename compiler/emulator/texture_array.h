// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/emulator/texture_table.h>

namespace regatta::emulator {

struct TextureTable::Array {
  std::string name;
  ArrayShape shape;
  TexelLayout layout;
};

}  // namespace regatta::emulator
