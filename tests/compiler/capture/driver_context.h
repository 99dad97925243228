// SPDX-License-Identifier: Apache-2.0
//
// A context that is current for a test, and a module of small kernels.
#pragma once

#include <regatta/test/catch.h>

#include "driver_api.h"
#include "served_runtime.h"

namespace regatta::test {

class DriverContext {
 public:
  DriverContext() {
    serve_runtime();
    REQUIRE(cuInit(0) == 0);
    REQUIRE(cuCtxCreate_v4(&context_, nullptr, 0, 0) == 0);
  }
  ~DriverContext() { cuCtxDestroy_v2(context_); }
  DriverContext(const DriverContext&) = delete;
  DriverContext& operator=(const DriverContext&) = delete;

  CUcontext get() const { return context_; }

 private:
  CUcontext context_ = nullptr;
};

/// scale: out[i] = factor * in[i] for i < n, with the constant variable "factor"; also "calls", which counts threads.
inline constexpr const char* scale_ptx = R"(
.version 7.0
.target sm_75
.address_size 64
.const .align 4 .f32 factor = 0f40000000;
.global .align 4 .u32 calls;
.global .align 4 .u32 squares[4] = {0, 1, 4, 9};
.visible .entry scale(.param .u64 in, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<7>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<8>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [n];
  setp.ge.u32 %p1, %r4, %r5;
  @%p1 bra done;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  ld.const.f32 %f2, [factor];
  mul.f32 %f3, %f1, %f2;
  st.global.f32 [%rd5], %f3;
  mov.u64 %rd6, calls;
  atom.global.add.u32 %r6, [%rd6], 1;
done:
  ret;
}
.visible .entry stray()
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  mov.u64 %rd1, 64;
  mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

class ScaleModule {
 public:
  ScaleModule() {
    REQUIRE(cuModuleLoadData(&module_, scale_ptx) == 0);
    REQUIRE(cuModuleGetFunction(&scale_, module_, "scale") == 0);
  }
  CUmodule get() const { return module_; }
  CUfunction scale() const { return scale_; }

 private:
  CUmodule module_ = nullptr;
  CUfunction scale_ = nullptr;
};

}  // namespace regatta::test
