// SPDX-License-Identifier: Apache-2.0
//
// What of PTX 9 is refused, and what it is: together with the table of forms, every instruction of the ISA
// (tests/compiler/ptx/isa_9.txt).
#include "forms.h"

#include <algorithm>

namespace regatta::ptx {

const std::vector<RefusedFamily>& refused_families() {
  static const std::vector<RefusedFamily> families = {
      {"istypep", "texture instruction"},
      {"sured", "surface instruction"},
      {"tex tld4", "texture access of cube layers, samples or sparse textures", "acube 2dms a2dms cube+r b64"},
      {"suld sust", "formatted surface access", "p"},
      {"tcgen05", "tensor core instruction of sm_100"},
      {"mma wgmma", "product of a sparse matrix", "sp sp::ordered_metadata"},
      {"mma", "product of scaled blocks or narrow floats (sm_120)",
       "block_scale kind::f8f6f4 kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4"},
      {"ldmatrix stmatrix", "access to matrices of bytes (sm_100)", "m16n16 m8n16 m16n8"},
      {"cp", "reduction of a tensor", "reduce+tensor"},
      {"tensormap", "change of a tensor map"},
      {"st", "asynchronous store", "async"},
      {"st", "bulk store of sm_100", "bulk"},
      {"red", "asynchronous reduction", "async"},
      {"multimem", "access to memory of several GPUs"},
      {"membar", "proxy fence", "proxy"},
      {"fence", "fence of one kind of access", "sync_restrict::shared::cta sync_restrict::shared::cluster"},
      {"clusterlaunchcontrol", "instruction of thread block clusters"},
      {"alloca stacksave stackrestore", "dynamic stack allocation"},
      {"brkpt", "breakpoint"},
      {"vmad", "video multiply-add"},
      {"fma", "arithmetic on out-of-bounds NaN, whose bits the ISA does not give", "oob"},
      {"add sub mul fma", "arithmetic on pairs of f32 (sm_100)", "f32x2"},
      {"add sub fma", "arithmetic of mixed precision (sm_100)", "f32+f16 f32+bf16"},
      {"min max", "minimum and maximum of three (sm_100)", "f32", 4},
      {"redux", "reduction of f32 (sm_100)", "f32"},
      {"cvt", "conversion of floats of 4 and 6 bits, scales, four numbers, or with random rounding (sm_100)",
       "e2m1x2 e2m3x2 e3m2x2 ue8m0x2 s2f6x2 e2m1x4 e2m3x4 e3m2x4 e4m3x4 e5m2x4 rs bf16x2+e4m3x2 bf16x2+e5m2x2"},
      {"ld st", "access to vectors of 8 (sm_100)", "v8"},
      {"mov ld st atom", "value of 128 bits", "b128"},
      {"atom red", "atomic minimum or maximum of f16 and bf16", "min+noftz max+noftz"},
  };
  return families;
}

namespace {

/// The words of a list with single separators.
std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(separator, at), list.size());
    words.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool belongs(const Statement& s, const RefusedFamily& f) {
  if (!contains(split(f.mnemonics, ' '), s.mnemonic)) return false;
  if (f.operands != 0 && s.operands.size() != f.operands) return false;
  const std::vector<std::string> alternatives = split(f.modifiers, ' ');
  return alternatives.empty() ||
         std::any_of(alternatives.begin(), alternatives.end(), [&](const std::string& alternative) {
           const std::vector<std::string> all = split(alternative, '+');
           return std::all_of(all.begin(), all.end(), [&](const std::string& m) { return contains(s.modifiers, m); });
         });
}

const RefusedFamily* family_of(const Statement& s) {
  for (const RefusedFamily& f : refused_families())
    if (belongs(s, f)) return &f;
  return nullptr;
}

}  // namespace

bool is_refused_form(const Statement& s) { return family_of(s) != nullptr; }

std::string refusal(const Statement& s) {
  if (const RefusedFamily* f = family_of(s)) return std::string(f->what) + " '" + s.name + "' is not supported";
  return std::string(is_known_mnemonic(s.mnemonic) ? "form" : "instruction") + " '" + s.name + "' is not supported";
}

}  // namespace regatta::ptx
