// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <stdexcept>

namespace regatta::test {

std::string launch_path(const std::string& kernel, Size size) {
  return REGATTA_SOURCE_DIR "/traces/kernels/" + kernel + (size == Size::full ? "/launch.toml" : "/launch.small.toml");
}

std::string ptx_path(const std::string& kernel, Ptx ptx) {
  // Launch files name nvcc's.
  if (ptx == Ptx::nvcc) return launch::read_launch_file(launch_path(kernel, Size::small)).ptx.at(0);
  return REGATTA_SOURCE_DIR "/traces/kernels/" + kernel + "/" + kernel +
         (ptx == Ptx::sm35 ? ".sm35.ptx" : ".sm35_32.ptx");
}

std::string annotate_kernel(const Folder& folder, const std::string& kernel, Size size, unsigned warp_size) {
  tool::AnnotateOptions o;
  o.launch = launch_path(kernel, size);
  o.out = folder.file(kernel + ".rgt");
  o.warp_size = warp_size;
  tool::annotate(o);
  return o.out;
}

std::string execute_kernel(const Folder& folder, const std::string& kernel, Size size) {
  tool::AnnotateOptions o;
  o.launch = launch_path(kernel, size);
  o.out = folder.file(kernel + ".bare.rgt");
  o.annotations.emplace();
  tool::annotate(o);
  return o.out;
}

std::vector<std::uint8_t> LaunchData::contents(const std::string& name) const {
  for (const launch::Buffer& b : file_.buffers) {
    if (b.name == name) return launch::make_contents(file_, b.contents, b.where);
  }
  throw std::runtime_error(file_.file + ": no buffer " + name);
}

std::vector<std::uint8_t> LaunchData::global_contents(const std::string& name) const {
  for (const launch::Global& g : file_.globals) {
    if (g.name != name) continue;
    if (g.contents.bytes == 0) throw std::runtime_error(file_.file + ": does not say how large " + name + " is");
    return launch::make_contents(file_, g.contents, g.where);
  }
  throw std::runtime_error(file_.file + ": no variable " + name);
}

std::uint64_t LaunchData::scalar_bits(std::size_t index, const std::string& name) const {
  for (const launch::Launch& l : file_.launches) {
    if (!name.empty() && l.name != name) continue;
    for (const launch::Parameter& p : l.parameters) {
      if (p.kind == launch::Parameter::Kind::scalar && index-- == 0) return p.bits.at(0);
    }
  }
  throw std::runtime_error(file_.file + ": no such scalar");
}

std::uint64_t LaunchData::repetitions() const {
  for (const launch::Step& s : file_.steps) {
    if (s.kind == launch::Step::Kind::repeat) return s.times;
  }
  throw std::runtime_error(file_.file + ": no repeated steps");
}

}  // namespace regatta::test
