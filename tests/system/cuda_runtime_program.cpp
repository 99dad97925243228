// SPDX-License-Identifier: Apache-2.0
//
// A program as a compiler of CUDA 11 makes it, for what the committed binaries cannot show: texture and surface
// references, copies of the oldest kind, and a function that is refused. It asks for the runtime's functions by name,
// so that it needs neither nvcc nor a CUDA library. Its first argument says which part runs.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct Format {
  int x, y, z, w, kind;
};
struct Extent {
  std::size_t width, height, depth;
};
struct Position {
  std::size_t x, y, z;
};
struct Pitched {
  void* pointer;
  std::size_t pitch, width, height;
};
struct Copy3D {
  void* from_array;
  Position from_position;
  Pitched from;
  void* to_array;
  Position to_position;
  Pitched to;
  Extent extent;
  int kind;
};
/// textureReference of CUDA 11.
struct TextureReference {
  int normalized = 0, filter = 0, address[3] = {1, 1, 1};
  Format format{};
  int rest[21] = {};
};
struct Dim3 {
  unsigned x, y, z;
};

constexpr Format floats{32, 0, 0, 0, 2};
constexpr Format bytes4{8, 8, 8, 8, 1};
constexpr int by_address = 4;

/// out[i] = line(i) + image(i, 1), with references; and mark(4 i, 0) = out[i].
const char* const kernel_text =
    ".version 6.0\n.target sm_50\n.address_size 64\n.global .texref line;\n.global .texref image;\n.global .surfref "
    "mark;\n"
    ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<4>; .reg .f32 %f<16>; .reg .b64 %d<4>;\n"
    "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, 1;\n"
    "tex.1d.v4.f32.s32 {%f2, %f3, %f4, %f5}, [line, {%r1}];\n"
    "tex.2d.v4.f32.s32 {%f6, %f7, %f8, %f9}, [image, {%r1, %r2}];\n"
    "add.f32 %f2, %f2, %f6; shl.b32 %r3, %r1, 2; sust.b.1d.b32.trap [mark, {%r3}], {%f2};\n"
    "mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2; st.global.f32 [%d1], %f2; ret;\n}\n";

template <class... Parameters>
int call(const char* name, Parameters... parameters) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) {
    std::printf("no %s\n", name);
    std::exit(1);
  }
  return reinterpret_cast<int (*)(Parameters...)>(found)(parameters...);
}

template <class T>
void put(std::vector<std::uint8_t>& to, T value) {
  const auto* const from = reinterpret_cast<const std::uint8_t*>(&value);
  to.insert(to.end(), from, from + sizeof value);
}

/// A fat binary with the kernel's PTX.
std::vector<std::uint8_t> fat_binary() {
  const std::string text = std::string(kernel_text) + std::string(8, '\0');
  std::vector<std::uint8_t> part;
  put<std::uint16_t>(part, 1);
  put<std::uint16_t>(part, 0x101);
  put<std::uint32_t>(part, 64);
  put<std::uint64_t>(part, text.size());
  put<std::uint64_t>(part, 0);
  put<std::uint16_t>(part, 0);
  put<std::uint16_t>(part, 6);
  put<std::uint32_t>(part, 50);
  for (unsigned i = 0; i < 4; ++i) put<std::uint64_t>(part, 0);
  part.insert(part.end(), text.begin(), text.end());
  std::vector<std::uint8_t> all;
  put<std::uint32_t>(all, 0xba55ed50);
  put<std::uint16_t>(all, 1);
  put<std::uint16_t>(all, 16);
  put<std::uint64_t>(all, part.size());
  all.insert(all.end(), part.begin(), part.end());
  return all;
}

int failures = 0;
void check(bool good, const char* what) {
  if (good) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}
#define CHECK(condition) check(condition, #condition)

void kernel_stub() {}

void references() {
  static TextureReference line, image;
  static Format mark;
  static std::vector<std::uint8_t> binary = fat_binary();
  static struct {
    int magic = 0x466243b1, version = 1;
    const void* container = nullptr;
    const void* linked = nullptr;
  } wrapper;
  wrapper.container = binary.data();
  using Register = void** (*)(void*);
  void** const module = reinterpret_cast<Register>(dlsym(RTLD_DEFAULT, "__cudaRegisterFatBinary"))(&wrapper);
  const void* const stub = reinterpret_cast<const void*>(&kernel_stub);
  call("__cudaRegisterFunction", module, stub, static_cast<const char*>("k"), static_cast<const char*>("k"), -1,
       static_cast<void*>(nullptr), static_cast<void*>(nullptr), static_cast<Dim3*>(nullptr),
       static_cast<Dim3*>(nullptr), static_cast<int*>(nullptr));
  call("__cudaRegisterTexture", module, &line, &line, static_cast<const char*>("line"), 1, 0, 0);
  call("__cudaRegisterTexture", module, &image, &image, static_cast<const char*>("image"), 2, 1, 0);
  call("__cudaRegisterSurface", module, &mark, &mark, static_cast<const char*>("mark"), 1, 0);

  constexpr unsigned n = 32;
  float numbers[n], got[n];
  std::uint8_t pixels[2][n];
  for (unsigned i = 0; i < n; ++i) {
    numbers[i] = 10.0f + static_cast<float>(i);
    pixels[0][i] = 0;
    pixels[1][i] = static_cast<std::uint8_t>(i * 5);
  }
  void *memory = nullptr, *out = nullptr, *picture = nullptr, *marks = nullptr;
  CHECK(call("cudaMalloc", &memory, sizeof numbers) == 0);
  CHECK(call("cudaMalloc", &out, sizeof numbers) == 0);
  const Format gray{8, 0, 0, 0, 1};
  CHECK(call("cudaMallocArray", &picture, &gray, std::size_t{n}, std::size_t{2}, 0u) == 0);
  CHECK(call("cudaMallocArray", &marks, &floats, std::size_t{n}, std::size_t{0}, 2u) == 0);
  CHECK(call("cudaMemcpyToArray", picture, std::size_t{0}, std::size_t{0}, static_cast<const void*>(pixels),
             sizeof pixels, 1) == 0);
  std::size_t offset = 1;
  const std::size_t most = UINT32_MAX;
  CHECK(call("cudaBindTexture", &offset, &line, static_cast<const void*>(memory), &floats, most) == 0);
  CHECK(offset == 0);
  CHECK(call("cudaBindTextureToArray", &image, static_cast<const void*>(picture), &gray) == 0);
  CHECK(call("cudaBindSurfaceToArray", &mark, static_cast<const void*>(marks), &floats) == 0);
  // After the binding: the texture sees it.
  CHECK(call("cudaMemcpy", memory, static_cast<const void*>(numbers), sizeof numbers, 1) == 0);
  void* parameters[] = {&out};
  const auto run = [&] {
    CHECK(call("cudaLaunchKernel", stub, Dim3{1, 1, 1}, Dim3{n, 1, 1}, static_cast<void**>(parameters), std::size_t{0},
               static_cast<void*>(nullptr)) == 0);
    CHECK(call("cudaMemcpy", static_cast<void*>(got), static_cast<const void*>(out), sizeof got, 2) == 0);
  };
  run();
  bool good = true;
  for (unsigned i = 0; i < n; ++i) good = good && got[i] == numbers[i] + static_cast<float>(pixels[1][i]) / 255.0f;
  CHECK(good);
  float marked[n] = {};
  CHECK(call("cudaMemcpyFromArray", static_cast<void*>(marked), static_cast<const void*>(marks), std::size_t{0},
             std::size_t{0}, sizeof marked, 2) == 0);
  CHECK(std::memcmp(marked, got, sizeof got) == 0);
  // Bound to other memory, and bound again.
  CHECK(call("cudaBindTexture", &offset, &line, static_cast<const void*>(out), &floats, sizeof numbers) == 0);
  run();
  for (unsigned i = 0; i < n; ++i) good = good && got[i] == marked[i] + static_cast<float>(pixels[1][i]) / 255.0f;
  CHECK(good);
  CHECK(call("cudaUnbindTexture", &line) == 0);
  CHECK(call("cudaUnbindTexture", static_cast<void*>(out)) == 18);
  CHECK(call("cudaFreeArray", picture) == 0);
  CHECK(call("cudaFreeArray", picture) == 400);
}

/// Copies of all kinds and sizes, against what the host does. What is on the device in the end goes to a file.
void copies(const char* results) {
  constexpr unsigned width = 5, height = 4, depth = 3;
  std::uint32_t host[depth][height][width], back[depth][height][width] = {};
  for (unsigned i = 0; i < depth * height * width; ++i) (&host[0][0][0])[i] = 0x01010101u * i;
  void *cube = nullptr, *flat = nullptr, *other = nullptr, *memory = nullptr;
  CHECK(call("cudaMalloc3DArray", &cube, &bytes4, Extent{width, height, depth}, 0u) == 0);
  CHECK(call("cudaMallocArray", &flat, &bytes4, std::size_t{width}, std::size_t{height}, 0u) == 0);
  CHECK(call("cudaMallocArray", &other, &bytes4, std::size_t{7}, std::size_t{height}, 0u) == 0);
  CHECK(call("cudaMalloc", &memory, std::size_t{4 * 64 * 6}) == 0);
  const std::size_t row = width * 4;
  Copy3D c{};
  c.from = {host, row, width, height};
  c.to_array = cube;
  c.extent = {width, height, depth};
  c.kind = by_address;
  CHECK(call("cudaMemcpy3D", static_cast<const Copy3D*>(&c)) == 0);
  // A box of it to device memory with gaps between rows and images, and from there back.
  const std::size_t pitch = 64, rows = 6;
  c = {};
  c.from_array = cube;
  c.from_position = {1, 1, 1};
  c.to = {memory, pitch, 3, rows};
  c.to_position = {8, 1, 0};
  c.extent = {3, 2, 2};
  CHECK(call("cudaMemcpy3D", static_cast<const Copy3D*>(&c)) == 0);
  std::vector<std::uint8_t> plain(4 * pitch * rows);
  CHECK(call("cudaMemcpy", static_cast<void*>(plain.data()), static_cast<const void*>(memory), plain.size(), 2) == 0);
  bool good = true;
  for (unsigned z = 0; z < 2; ++z)
    for (unsigned y = 0; y < 2; ++y)
      good = good && std::memcmp(&plain[z * pitch * rows + (y + 1) * pitch + 8], &host[z + 1][y + 1][1], 12) == 0;
  CHECK(good);
  c = {};
  c.from = {memory, pitch, 3, rows};
  c.from_position = {8, 1, 1};
  c.to_array = cube;
  c.to_position = {0, 0, 0};
  c.extent = {3, 2, 1};
  CHECK(call("cudaMemcpy3DAsync", static_cast<const Copy3D*>(&c), static_cast<void*>(nullptr)) == 0);
  for (unsigned y = 0; y < 2; ++y) std::memcpy(&host[0][y][0], &host[2][y + 1][1], 12);
  c = {};
  c.from_array = cube;
  c.to = {back, row, width, height};
  c.extent = {width, height, depth};
  CHECK(call("cudaMemcpy3D", static_cast<const Copy3D*>(&c)) == 0);
  CHECK(std::memcmp(host, back, sizeof host) == 0);
  c.extent.width = width + 1;
  CHECK(call("cudaMemcpy3D", static_cast<const Copy3D*>(&c)) == 1);

  // Linear pieces: from the middle of a row to the middle of another one, and between rows of other lengths.
  std::uint32_t line[width * height], there[7 * height] = {};
  for (unsigned i = 0; i < width * height; ++i) line[i] = 100 + i;
  CHECK(call("cudaMemcpyToArray", flat, std::size_t{0}, std::size_t{0}, static_cast<const void*>(line), sizeof line,
             1) == 0);
  CHECK(call("cudaMemcpyToArray", flat, std::size_t{8}, std::size_t{0}, static_cast<const void*>(line),
             std::size_t{4 * 14}, 1) == 0);
  std::uint32_t expected[width * height];
  std::memcpy(expected, line, sizeof line);
  std::memcpy(expected + 2, line, 4 * 14);
  CHECK(call("cudaMemcpyArrayToArray", other, std::size_t{12}, std::size_t{0}, static_cast<const void*>(flat),
             std::size_t{4}, std::size_t{1}, std::size_t{4 * 12}, 3) == 0);
  CHECK(call("cudaMemcpyFromArray", static_cast<void*>(there), static_cast<const void*>(other), std::size_t{0},
             std::size_t{0}, sizeof there, 2) == 0);
  CHECK(std::memcmp(there + 3, expected + width + 1, 4 * 12) == 0);
  CHECK(there[2] == 0);
  CHECK(there[15] == 0);
  CHECK(call("cudaMemcpy2DArrayToArray", other, std::size_t{4}, std::size_t{2}, static_cast<const void*>(flat),
             std::size_t{0}, std::size_t{1}, row, std::size_t{2}, 3) == 0);
  std::uint32_t part[2][8] = {};
  CHECK(call("cudaMemcpy2DFromArray", static_cast<void*>(part), std::size_t{32}, static_cast<const void*>(other),
             std::size_t{4}, std::size_t{2}, row, std::size_t{2}, 2) == 0);
  CHECK(std::memcmp(part[0], expected + width, row) == 0);
  CHECK(std::memcmp(part[1], expected + 2 * width, row) == 0);
  CHECK(call("cudaMemcpy2DFromArray", static_cast<void*>(part), std::size_t{16}, static_cast<const void*>(other),
             std::size_t{4}, std::size_t{2}, row, std::size_t{2}, 2) == 12);
  CHECK(call("cudaMemcpy2DToArray", other, std::size_t{6}, std::size_t{0}, static_cast<const void*>(part), row, row,
             std::size_t{1}, 1) == 1);
  Format format{};
  Extent extent{};
  unsigned flags = 9;
  CHECK(call("cudaArrayGetInfo", &format, &extent, &flags, cube) == 0);
  CHECK(std::memcmp(&format, &bytes4, sizeof format) == 0);
  CHECK(extent.depth == depth);
  CHECK(flags == 0);
  const Format three{8, 8, 8, 0, 1};
  CHECK(call("cudaMallocArray", &flat, &three, std::size_t{4}, std::size_t{4}, 0u) == 1);
  CHECK(call("cudaMallocArray", &flat, &floats, std::size_t{1} << 20, std::size_t{4}, 0u) == 1);

  // What the pass that makes the trace must have in the end too.
  std::FILE* const file = std::fopen(results, "wb");
  CHECK(file != nullptr);
  if (file == nullptr) return;
  CHECK(call("cudaMemcpyFromArray", static_cast<void*>(there), static_cast<const void*>(other), std::size_t{0},
             std::size_t{0}, sizeof there, 2) == 0);
  CHECK(call("cudaMemcpy", static_cast<void*>(plain.data()), static_cast<const void*>(memory), plain.size(), 2) == 0);
  std::fwrite(back, 1, sizeof back, file);
  std::fwrite(there, 1, sizeof there, file);
  std::fwrite(plain.data(), 1, plain.size(), file);
  std::fclose(file);
}

void refused() { call("cudaMallocMipmappedArray"); }

}  // namespace

int main(int count, char** arguments) {
  const std::string part = count > 1 ? arguments[1] : "";
  if (part == "references") references();
  if (part == "copies" && count > 2) {
    copies(arguments[2]);
    references();  // with a launch, so that there is a trace
  }
  if (part == "refused") refused();
  std::printf("%s: %s\n", part.c_str(), failures == 0 ? "PASSED" : "FAILED");
  return failures == 0 ? 0 : 1;
}
