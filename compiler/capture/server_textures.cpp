// SPDX-License-Identifier: Apache-2.0
//
// Requests about arrays, textures and surfaces.
#include "server.h"

namespace regatta::capture {

bool Server::answer_of_textures(Request kind, MessageReader& in, MessageWriter& out) {
  switch (kind) {
    case Request::create_array:
      out.put(device_.create_array(in.get<ArrayDescription>()));
      return true;
    case Request::destroy_array:
      device_.destroy_array(in.get<std::uint64_t>());
      return true;
    case Request::write_array: {
      const auto array = in.get<std::uint64_t>();
      const auto region = in.get<ArrayRegion>();
      const std::uint64_t bytes = device_.region_bytes(array, region);
      device_.write_array(array, region, in.take(bytes));
      return true;
    }
    case Request::read_array: {
      const auto array = in.get<std::uint64_t>();
      const std::vector<std::uint8_t> bytes = device_.read_array(array, in.get<ArrayRegion>());
      out.append(bytes.data(), bytes.size());
      return true;
    }
    case Request::copy_to_array:
    case Request::copy_from_array: {
      const auto array = in.get<std::uint64_t>();
      const auto region = in.get<ArrayRegion>();
      const auto address = in.get<std::uint64_t>();
      device_.copy_array(kind == Request::copy_to_array, array, region, address, in.get<std::uint64_t>());
      return true;
    }
    case Request::copy_arrays: {
      const auto to = in.get<std::uint64_t>();
      const auto place = in.get<ArrayRegion>();
      const auto from = in.get<std::uint64_t>();
      device_.copy_arrays(to, place, from, in.get<ArrayRegion>());
      return true;
    }
    case Request::create_texture:
      out.put(device_.create_texture(in.get<TextureDescription>()));
      return true;
    case Request::destroy_texture:
      device_.destroy_texture(in.get<std::uint64_t>());
      return true;
    case Request::create_surface:
      out.put(device_.create_surface(in.get<std::uint64_t>()));
      return true;
    case Request::destroy_surface:
      device_.destroy_surface(in.get<std::uint64_t>());
      return true;
    case Request::bind_texture:
    case Request::bind_surface: {
      const auto module = in.get<std::uint32_t>();
      const std::string name = in.get_text();
      if (kind == Request::bind_texture) {
        device_.bind_texture(module, name, in.get<TextureDescription>());
      } else {
        device_.bind_surface(module, name, in.get<std::uint64_t>());
      }
      return true;
    }
    case Request::unbind: {
      const auto module = in.get<std::uint32_t>();
      device_.unbind(module, in.get_text());
      return true;
    }
    default:
      return false;
  }
}

}  // namespace regatta::capture
