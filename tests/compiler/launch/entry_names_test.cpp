// SPDX-License-Identifier: Apache-2.0
#include <regatta/launch/entry_names.h>
#include <regatta/test/catch.h>

using namespace regatta;
using namespace regatta::launch;

namespace {

/// "file:entry" of the entry that is found, or the message.
std::string found(const std::vector<EntryNames>& files, const std::string& name,
                  std::optional<std::size_t> module = std::nullopt) {
  try {
    const EntryPlace p = find_entry(files, name, module, "l.toml:2:9: error: ");
    return files[p.module].file + ":" + files[p.module].entries[p.entry];
  } catch (const trace::InputError& e) {
    return e.what();
  }
}

const std::vector<EntryNames> one{
    {"k.ptx",
     {"_Z3fooPf", "_Z3barPKfPfi", "_ZN5image4blurEPhj", "_ZN12_GLOBAL__N_14stepEv", "_Z3sumIfEvPT_", "_Z3sumIdEvPT_",
      "_Z4scanILi4ENSt3__14plusEEvPiT0_", "plain", "_Zbroken"}}};

}  // namespace

TEST_CASE("names of C++ as its programmers write them") {
  CHECK(readable_name("_Z3fooPf") == "foo(float*)");
  CHECK(readable_name("_Z3sumIfEvPT_") == "sum<float>(float*)");
  CHECK(readable_name("_ZN12_GLOBAL__N_14stepEv") == "(anonymous namespace)::step()");
  CHECK(readable_name("plain") == "plain");
  CHECK(readable_name("_Zbroken") == "_Zbroken");
  // Each type is the one before, twice: the text would take 2^40 characters.
  std::string growing = "_Z1fFvvE";
  for (int i = 0; i < 40; ++i) {
    const std::string last =
        i == 0 ? "S_"
               : "S" + std::string(1, i <= 10 ? static_cast<char>('0' + i - 1) : static_cast<char>('A' + i - 11)) + "_";
    growing += "Fv" + last + last + "E";
  }
  CHECK(readable_name(growing) == growing);
}

TEST_CASE("an entry by its mangled name, its C++ name, or parts of that") {
  for (const char* name : {"_Z3fooPf", "foo", "foo(float*)", " foo ( float * ) ", "void foo(float*)"}) {
    CAPTURE(name);
    CHECK(found(one, name) == "k.ptx:_Z3fooPf");
  }
  CHECK(found(one, "bar(float const*, float*, int)") == "k.ptx:_Z3barPKfPfi");
  for (const char* name : {"blur", "image::blur", "image::blur(unsigned char*, unsigned int)"}) {
    CAPTURE(name);
    CHECK(found(one, name) == "k.ptx:_ZN5image4blurEPhj");
  }
  for (const char* name : {"bar(const float*, float*, int)", "bar(float const *, float*, const int)",
                           "bar(const float* __restrict__, float* __restrict__, signed)",
                           "void bar(const float* const, float*, int32_t)"}) {
    CAPTURE(name);
    CHECK(found(one, name) == "k.ptx:_Z3barPKfPfi");
  }
  CHECK(found(one, "blur(uchar*, unsigned)") == "k.ptx:_ZN5image4blurEPhj");
  CHECK(found(one, "blur(const unsigned char*, unsigned)").find("has no entry") != std::string::npos);
  CHECK(found(one, "step(void)") == "k.ptx:_ZN12_GLOBAL__N_14stepEv");
  CHECK(found(one, "step") == "k.ptx:_ZN12_GLOBAL__N_14stepEv");
  CHECK(found(one, "(anonymous namespace)::step()") == "k.ptx:_ZN12_GLOBAL__N_14stepEv");
  CHECK(found(one, "sum<double>") == "k.ptx:_Z3sumIdEvPT_");
  CHECK(found(one, "sum<float>(float*)") == "k.ptx:_Z3sumIfEvPT_");
  CHECK(found(one, "sum(double*)") == "k.ptx:_Z3sumIdEvPT_");
  CHECK(found(one, "scan") == "k.ptx:_Z4scanILi4ENSt3__14plusEEvPiT0_");
  CHECK(found(one, "scan<4, std::__1::plus>") == "k.ptx:_Z4scanILi4ENSt3__14plusEEvPiT0_");
  // extern "C": PTX knows no types.
  for (const char* name : {"plain", "plain(int*)", "_Z5plainPi", "image::plain"}) {
    CAPTURE(name);
    CHECK(found(one, name) == "k.ptx:plain");
  }
  CHECK(found(one, "_Zbroken") == "k.ptx:_Zbroken");
}

TEST_CASE("types as programmers write them") {
  const auto is_same = [](const std::string& mangled, const std::string& written) {
    CAPTURE(mangled, written, readable_name(mangled));
    CHECK(found({{"k.ptx", {mangled}}}, written) == "k.ptx:" + mangled);
  };
  is_same("_Z1kmylxts", "k(size_t, unsigned long long int, long int, long long, unsigned short int, short)");
  is_same("_Z1kmylxts", "k(uint64_t, long long unsigned, int64_t, signed long long, uint16_t, int16_t)");
  is_same("_Z1kPKPKfPVid", "k(const float* const*, volatile int*, const double)");
  is_same("_Z1k6float4P4int2RK3dim", "k(float4, struct int2*, const dim&)");
  is_same("_Z1kSt6vectorIfSaIfEEPS_IiSaIiEE",
          "k(std::vector<float, std::allocator<float>>, std::vector<int, std::allocator<int>>*)");
  is_same("_Z1kIjLi4EEvPT_", "k<unsigned, 4>(unsigned*)");
  is_same("_Z1kIKfEvPT_", "k<const float>");
  is_same("_Z1kPFvifE", "k(void (*)(int, float))");
  is_same("_Z1khac", "k(uint8_t, int8_t, char)");
  // Other types are others.
  const std::vector<EntryNames> pointers{{"k.ptx", {"_Z1kPKf"}}};
  for (const char* name :
       {"k(float*)", "k(const double*)", "k(const float**)", "k(const float)", "k()", "k(const float*, int)"}) {
    CAPTURE(name);
    CHECK(found(pointers, name).find("has no entry") != std::string::npos);
  }
}

TEST_CASE("an exact name is never ambiguous, another may be") {
  const std::vector<EntryNames> overloads{{"k.ptx", {"_Z1kPf", "_Z1kPi", "k"}}};
  CHECK(found(overloads, "k") == "k.ptx:k");
  CHECK(found(overloads, "k(int*)") == "k.ptx:_Z1kPi");
  CHECK(
      found(one, "sum") ==
      "l.toml:2:9: error: entry 'sum' may be _Z3sumIfEvPT_ (sum<float>(float*)), _Z3sumIdEvPT_ (sum<double>(double*)): "
      "name one of them");
  // Ends of words are no names.
  CHECK(found({{"k.ptx", {"_Z5bar_xv"}}}, "x") ==
        "l.toml:2:9: error: 'k.ptx' has no entry 'x'; it has _Z5bar_xv (bar_x())");
  // Nor are template arguments and parameter types.
  CHECK(found({{"k.ptx", {"_Z3runIN2ns1aEEvT_"}}}, "a>(ns::a)").find("has no entry") != std::string::npos);
}

TEST_CASE("entries of several files") {
  const std::vector<EntryNames> two{{"a.ptx", {"k", "_Z3onePf"}}, {"b.ptx", {"k", "_Z3twoPf"}}};
  CHECK(found(two, "one") == "a.ptx:_Z3onePf");
  CHECK(found(two, "two(float*)") == "b.ptx:_Z3twoPf");
  CHECK(found(two, "k", 1) == "b.ptx:k");
  CHECK(found(two, "k") ==
        "l.toml:2:9: error: entry 'k' may be k of 'a.ptx', k of 'b.ptx': name one of them, and its file with ptx = "
        "\"...\" beside 'entry'");
  CHECK(found(two, "three") ==
        "l.toml:2:9: error: 'a.ptx', 'b.ptx' have no entry 'three'; they have k, _Z3onePf (one(float*)), k, _Z3twoPf "
        "(two(float*))");
  CHECK(found(two, "too", 1) ==
        "l.toml:2:9: error: 'b.ptx' has no entry 'too'; it has k, _Z3twoPf (two(float*)); did you mean 'two'?");
  CHECK(found({{"a.ptx", {}}}, "k") == "l.toml:2:9: error: 'a.ptx' has no entry 'k'; it has none");
}

TEST_CASE("launches get the names that PTX has") {
  LaunchFile f = parse_launch_file(
      "ptx = [\"a.ptx\", \"b.ptx\"]\n[[launch]]\nentry = \"one\"\ngrid = [1]\nblock = [1]\n"
      "[[launch]]\nentry = \"k\"\nptx = \"b.ptx\"\ngrid = [1]\nblock = [1]\n",
      "l.toml");
  resolve_entries(f, {{"a.ptx", {"k", "_Z3onePf"}}, {"b.ptx", {"k"}}});
  CHECK(f.launches[0].entry == "_Z3onePf");
  CHECK(f.launches[0].name == "one");
  CHECK(f.launches[0].module == 0);
  CHECK(f.launches[1].entry == "k");
  CHECK(f.launches[1].module == 1);
  f.launches[0].entry = "none";
  f.launches[0].module.reset();
  CHECK_THROWS_WITH(resolve_entries(f, {{"a.ptx", {"k"}}, {"b.ptx", {}}}),
                    "l.toml:3:9: error: 'a.ptx', 'b.ptx' have no entry 'none'; they have k");
}
