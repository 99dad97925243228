// SPDX-License-Identifier: Apache-2.0
#include "source_places.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace regatta::ptx {
namespace {

bool begins_with(std::string_view text, std::string_view begin) { return text.substr(0, begin.size()) == begin; }

/// sm_20_atomic_functions, sm_30_intrinsics, sm_70_rt ...
bool is_architecture_header(std::string_view stem) {
  if (!begins_with(stem, "sm_")) return false;
  stem.remove_prefix(3);
  const std::size_t end = std::min(stem.find_first_not_of("0123456789"), stem.size());
  const std::string_view rest = stem.substr(end);
  return end != 0 && (rest == "_atomic_functions" || rest == "_intrinsics" || rest == "_rt");
}

}  // namespace

bool is_toolkit_header(const std::string& path) {
  std::string text = path;
  std::replace(text.begin(), text.end(), '\\', '/');
  for (const char* folder : {"/usr/include/", "/usr/lib/"})
    if (begins_with(text, folder)) return true;
  const std::size_t include = text.rfind("/include/");
  if (include != std::string::npos) {
    // .../cuda/bin/../targets/x86_64-linux/include, the folder on Windows, and those of the packages of pip.
    for (const char* folder : {"/targets/", "/bin/../include/", "/NVIDIA GPU Computing Toolkit/", "/nvidia/cuda"})
      if (text.find(folder) <= include) return true;
  }
  const std::string name = text.substr(text.rfind('/') + 1);
  const std::string stem = name.substr(0, name.find('.'));
  const std::string extension = name.substr(stem.size());
  if (extension != ".h" && extension != ".hpp") return false;
  constexpr std::string_view stems[] = {"cooperative_groups",
                                        "cuda_bf16",
                                        "cuda_fp16",
                                        "cuda_fp8",
                                        "device_functions",
                                        "math_functions",
                                        "vector_functions",
                                        "device_atomic_functions",
                                        "surface_functions",
                                        "device_double_functions",
                                        "texture_fetch_functions",
                                        "surface_indirect_functions",
                                        "texture_indirect_functions"};
  return begins_with(stem, "__clang_cuda_") || is_architecture_header(stem) ||
         std::find(std::begin(stems), std::end(stems), stem) != std::end(stems);
}

void SourcePlaces::begin_function() {
  current_ = 0;
  last_.clear();
}

std::uint32_t SourcePlaces::put(const Position& at, std::uint32_t caller) {
  places_.push_back({at.file, static_cast<std::uint32_t>(at.line), caller});
  const auto number = static_cast<std::uint32_t>(places_.size() - 1);
  last_[{at.file, at.line, at.column}] = number;
  return number;
}

void SourcePlaces::add(const Position& at) { current_ = put(at, 0); }

void SourcePlaces::add_inlined(const Position& at, const Position& call) {
  const auto caller = last_.find({call.file, call.line, call.column});
  current_ = put(at, caller != last_.end() ? caller->second : put(call, 0));
}

std::vector<SourcePlace> SourcePlaces::resolve(const std::map<std::uint64_t, std::uint32_t>& index,
                                               const std::vector<std::string>& files) const {
  std::vector<char> is_user(files.size());
  for (std::size_t n = 0; n < files.size(); ++n) is_user[n] = !is_toolkit_header(files[n]);
  // In the files of the user, the places of the outermost and of the innermost function.
  struct Line {
    std::uint32_t file = 0, line = 0;
  };
  struct Span {
    Line outermost, innermost;
  };
  std::vector<Span> spans(places_.size());
  std::vector<SourcePlace> resolved(places_.size());
  for (std::size_t n = 1; n < places_.size(); ++n) {
    const Place& place = places_[n];
    const auto known = index.find(place.file);
    Line own;
    if (known != index.end() && place.line != 0) own = {known->second, place.line};
    Span span = spans[place.caller];
    if (own.line != 0 && is_user[own.file]) {
      if (span.outermost.line == 0) span.outermost = own;
      span.innermost = own;
    }
    spans[n] = span;
    SourcePlace& to = resolved[n];
    const Line& named = span.innermost.line != 0 ? span.innermost : own;
    to.file = named.file;
    to.line = named.line;
    if (span.outermost.file == named.file && span.outermost.line == named.line) continue;
    to.caller_file = span.outermost.file;
    to.caller_line = span.outermost.line;
  }
  return resolved;
}

}  // namespace regatta::ptx
