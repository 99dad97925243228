// SPDX-License-Identifier: Apache-2.0
#include "abi.h"
#include "connection.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <set>
#include <string>

// A name more for a function, whatever its parameters are: a jump.
#if defined(__x86_64__)
#define ALSO(name, other)                                                             \
  asm(".text\n.globl " #other "\n.type " #other ", @function\n" #other ": jmp " #name \
      "@PLT\n"                                                                        \
      ".size " #other ", .-" #other "\n");
#elif defined(__aarch64__)
#define ALSO(name, other)                                                           \
  asm(".text\n.globl " #other "\n.type " #other ", %function\n" #other ": b " #name \
      "\n"                                                                          \
      ".size " #other ", .-" #other "\n");
#else
#error "a jump for this architecture"
#endif
#include "driver_names.def"
#include "per_thread.def"
#undef ALSO

namespace regatta::capture {

#define REFUSED(name)                                                                             \
  REGATTA_API void name() {                                                                       \
    refuse("the program calls " #name "(), which is not supported (regatta-capture --list-api)"); \
  }
#define OLD(name)                                                                                            \
  REGATTA_API void name() {                                                                                  \
    refuse("the program calls " #name "() of before CUDA 3.2, whose addresses have 32 bits: expected " #name \
           "_v2(), as cuda.h names it, or cuGetProcAddress()");                                              \
  }
#include "driver_refused.def"
#include "refused.def"
#undef OLD
#undef REFUSED

namespace {

const std::set<std::string>& refused_names() {
  static const std::set<std::string> names{
#define REFUSED(name) #name,
#define OLD(name) #name,
#include "driver_refused.def"
#include "refused.def"
#undef OLD
#undef REFUSED
  };
  return names;
}

}  // namespace

/// Names of the dynamic symbols of this library, for --list-api: those of CUDA, then those that are refused.
REGATTA_API const char* regatta_list_api() {
  static std::string text;
  std::set<std::string> there;
  Dl_info self{};
  link_map* map = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&regatta_list_api), &self, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) == 0)
    return "";
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  for (const ElfW(Dyn)* d = map->l_ld; d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_SYMTAB) symbols = static_cast<const ElfW(Sym)*>(pointer_to(d->d_un.d_ptr));
    if (d->d_tag == DT_STRTAB) strings = static_cast<const char*>(pointer_to(d->d_un.d_ptr));
  }
  // The table of symbols ends where that of strings begins, as all linkers place them.
  for (const ElfW(Sym)* s = symbols; reinterpret_cast<const char*>(s) < strings; ++s) {
    const std::string name = strings + s->st_name;
    const bool is_api = name.rfind("cuda", 0) == 0 || name.rfind("cu", 0) == 0;
    if (s->st_shndx != SHN_UNDEF && is_api && refused_names().count(name) == 0) there.insert(name);
  }
  text = "There (" + std::to_string(there.size()) + "):\n";
  for (const std::string& name : there) text += "  " + name + "\n";
  text += "Refused (" + std::to_string(refused_names().size()) + "), a call ends the program:\n";
  for (const std::string& name : refused_names()) text += "  " + name + "\n";
  return text.c_str();
}

}  // namespace regatta::capture
