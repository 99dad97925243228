# SPDX-License-Identifier: Apache-2.0
"""Loops of fused multiply-adds, of two kinds: what ports and cache of the register file are worth at most."""

ACCUMULATORS = 16
TRIPS = 64
UNROLL = 4
# The factors of multiplication `i` of a loop.
KINDS = {
    # Three other registers each time: none can be kept.
    "distinct operands": lambda i: ((5 * i + 1) % ACCUMULATORS, (7 * i + 3) % ACCUMULATORS),
    # A tile of 4 x 4 in registers, as in a product of matrices: one factor stays for four.
    "a tile of 4 x 4": lambda i: (i // 4 % 4, 4 + i % 4),
}
_HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{{
  .reg .pred %p;
  .reg .f32 %a<{n}>, %b<{n}>;
  .reg .b32 %n, %t;
  .reg .b64 %o, %x;
  ld.param.u64 %o, [out];
  mov.u32 %t, %tid.x;
"""
_BEGIN = """  add.s32 %n, %t, {i};
  cvt.rn.f32.u32 %{name}, %n;
"""
_END = """  sub.s32 %n, %n, 1;
  setp.ne.s32 %p, %n, 0;
  @%p bra loop;
"""
_STORE = """  mul.wide.u32 %x, %t, 4;
  add.s64 %o, %o, %x;
  st.global.f32 [%o], %a0;
  ret;
}
"""


def ptx(factors):
    n = ACCUMULATORS
    text = _HEAD.format(n=n)
    for i in range(n):
        text += _BEGIN.format(i=i, name=f"a{i}") + _BEGIN.format(i=i + 40, name=f"b{i}")
    text += f"  mov.u32 %n, {TRIPS};\nloop:\n"
    for i in range(n * UNROLL):
        x, y = factors(i)
        text += f"  fma.rn.f32 %a{i % n}, %b{x}, %b{y}, %a{i % n};\n"
    text += _END + "".join(f"  add.rn.f32 %a0, %a0, %a{i};\n" for i in range(1, n))
    return text + _STORE


def write(folder, kind):
    """The PTX and the launch file, whose path is returned: 8 warps per scheduler of one SM."""
    name = kind.replace(" ", "_")
    (folder / f"{name}.ptx").write_text(ptx(KINDS[kind]))
    launch = folder / f"{name}.toml"
    launch.write_text(f'ptx = "{name}.ptx"\nentry = "k"\ngrid = [4, 1, 1]\nblock = [256, 1, 1]\n[[param]]\nbuffer = 1024\ninit = "zero"\n')
    return launch
