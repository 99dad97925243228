# SPDX-License-Identifier: Apache-2.0
"""Micro-benchmarks: their PTX and launch files, for regatta-annotate and for a GPU (regatta-hardware).

Each measures one law of timing. Its entry comes in two lengths; what it reports is the difference of their cycles over the
difference of their work, so the cost of the launch, of filling caches and of the code around the measured part cancels. The
measured part is unrolled or one plain loop, and its operands come from memory, so no compiler can fold it.
"""
import random
from dataclasses import dataclass, field

WARP = 32
LINE = 128  # bytes
OPERANDS = 128  # bytes of a buffer of operands
UNMEASURED = "_link"  # ends the names of launches that only prepare memory
LENGTHS = (64, 576)  # of a chain: instructions
TRIPS = (4, 12)  # of a loop that measures a rate
FIRST_TOUCH = ("--tlb.second_entries", 4096)  # pages that nobody has used: the TLB's second level is cold
UNROLLED = 128  # instructions of a loop that measures a rate


@dataclass(frozen=True)
class Benchmark:
    """What a row measures, and where: `group` names the trace that holds it, with the SMs on which it runs."""
    name: str
    title: str
    kind: str  # "latency": cycles of one step; "rate": work done in a cycle; "time": cycles of a step that many share
    group: str
    sms: int = 1
    make: object = field(default=None, repr=False)  # make(program, length) -> work done in all
    lengths: tuple = LENGTHS
    options: tuple = ()  # of regatta-sim; the same in all of a group

    def entry(self, length):
        return f"{self.name}_{length}"


class Program:
    """A PTX module and its launch file."""

    def __init__(self, name):
        self.name = name
        self.variables, self.entries, self.names = [], [], set()
        self.buffers, self.launches, self.launched, self.files = [], [], [], {}

    def buffer(self, name, size, **contents):
        """A buffer of `size` bytes; `contents`: keys of the launch file, or `data`, of which a file is made."""
        if name in self.names:
            return name
        self.names.add(name)
        if "data" in contents:
            self.files[f"{self.name}.{name}.bin"] = contents.pop("data")
            contents = {"init": "file", "file": f"{self.name}.{name}.bin"}
        keys = "".join(f'{k} = "{v}"\n' if isinstance(v, str) else f"{k} = {v}\n" for k, v in contents.items())
        self.buffers.append(f'[[buffer]]\nname = "{name}"\nbytes = {size}\n{keys}')
        return name

    def kernel(self, entry, body, buffers, grid=1, block=WARP, registers=""):
        """Adds an entry whose parameters are buffers, in the registers %p0, %p1, ..., and its launch."""
        params = ",\n".join(f"  .param .u64 {entry}_{i}" for i in range(len(buffers)))
        loads = "".join(f"  ld.param.u64 %p{i}, [{entry}_{i}];\n  cvta.to.global.u64 %p{i}, %p{i};\n" for i in range(len(buffers)))
        self.entries.append(f".visible .entry {entry}(\n{params})\n{{\n  .reg .pred %q<2>;\n  .reg .b64 %p<{len(buffers) + 1}>, %s, %d<4>;\n"
                            f"  .reg .b32 %t, %r<8>;\n{registers}{loads}  mov.u32 %t, %tid.x;\n{body}  ret;\n}}\n")
        given = ", ".join(f'{{ buffer = "{b}" }}' for b in buffers)
        self.launches.append(f'[[launch]]\nentry = "{entry}"\ngrid = [{grid}]\nblock = [{block}]\nparams = [{given}]\n')
        self.launched.append(entry)

    def touch(self):
        """Adds a first launch that reads and writes operands and results, so that all others find them in the L2."""
        operands = [n for n in sorted(self.names) if n.startswith("operands") or n == "result"]
        body = "".join(f"  add.u64 %p{i}, %p{i}, %s;\n  ld.global.b32 %r0, [%p{i}];\n  st.global.b32 [%p{i}], %r0;\n" for i in range(len(operands)))
        self.kernel(f"{self.name}_touch", "  mul.wide.u32 %s, %t, 4;\n" + body, operands, block=OPERANDS // 4)
        for of in (self.launches, self.launched):
            of.insert(0, of.pop())

    def ptx(self):
        return (".version 7.8\n.target sm_80\n.address_size 64\n\n" + "\n".join(self.variables) + "\n" + "\n".join(self.entries))

    def write(self, folder):
        """Writes NAME.ptx, NAME.toml and the buffers' files; returns the launch file."""
        (folder / f"{self.name}.ptx").write_text(self.ptx())
        for name, data in self.files.items():
            (folder / name).write_bytes(data)
        file = folder / f"{self.name}.toml"
        file.write_text("\n".join([f'ptx = "{self.name}.ptx"\n', *self.buffers, *self.launches]))
        return file


# --- Arithmetic: chains of one warp, and two chains in each of 32 warps ---------------------------------------------------------

CONTENTS = {"f32": ("f32", 0.5, 1.5, 4), "f64": ("f64", 0.5, 1.5, 8), "b32": ("u32", 1, 1000, 4)}


def arithmetic(name, kind, pattern, warps=1, chains=1, trips=False):
    """make() of a benchmark that repeats the instructions of `pattern` in turn; {x}: the chain's register, {n}: its number.
    The length is that of the chain, or, with `trips`, how often a loop of UNROLLED instructions runs."""
    def make(program, length):
        unrolled = UNROLLED if trips else length
        type_, low, high, size = CONTENTS[kind]
        operands = program.buffer(f"operands_{kind}", OPERANDS, init="uniform", type=type_, low=low, high=high, seed=1)
        result = program.buffer("result", 8192, init="zero", type="u32")
        load = "".join(f"  ld.global.{kind} {r}, [%p0+{i * size}];\n" for i, r in enumerate(["%a", "%b", *(f"%x{c}" for c in range(chains))]))
        if kind == "b32":  # lanes differ: a shuffle of equal values would be none
            load += "".join(f"  xor.b32 %x{c}, %x{c}, %t;\n" for c in range(chains))
        steps = [(c, pattern[i % len(pattern)]) for i in range(unrolled // chains) for c in range(chains)]
        code = "".join(f"  {line.format(x=f'%x{c}', n=c)}\n" for c, line in steps)
        if trips:
            code = (f"  mov.u32 %r0, 0;\nAGAIN:\n  .pragma \"nounroll\";\n{code}  add.u32 %r0, %r0, 1;\n  setp.lt.u32 %q0, %r0, {length};\n"
                    "  @%q0 bra AGAIN;\n")
        joined = "".join(f"  {'add' if kind != 'b32' else 'xor'}.{kind} %x0, %x0, %x{c};\n" for c in range(1, chains))
        if any("%i{n}, %i{n}" in line for line in pattern):  # a second chain, of integers: its result counts too
            load += "".join(f"  mov.u32 %i{c}, %t;\n" for c in range(chains))
            joined += "".join(f"  cvt.rn.f32.s32 %f{c}, %i{c};\n  add.f32 %x0, %x0, %f{c};\n" for c in range(chains))
        end = f"{joined}  mul.wide.u32 %s, %t, {size};\n  add.u64 %p1, %p1, %s;\n  st.global.{kind} [%p1], %x0;\n"
        program.kernel(f"{name}_{length}", load + code + end, [operands, result], block=warps * WARP,
                       registers=f"  .reg .{kind} %a, %b, %x<{chains}>;\n  .reg .b32 %i<{chains}>;\n  .reg .f32 %f<{chains}>;\n"
                                 f"  .reg .pred %v<{chains}>;\n")
        return (length * UNROLLED if trips else length) * warps
    return make


FADD = ["add.rn.f32 {x}, {x}, %a;"]
FFMA = ["fma.rn.f32 {x}, {x}, %a, %b;"]
IMAD = ["mad.lo.s32 {x}, {x}, %a, %b;"]
LOP3 = ["lop3.b32 {x}, {x}, %a, %b, 0x6a;"]
SHF = ["shf.l.wrap.b32 {x}, {x}, %a, %b;"]
IADD = ["add.s32 {x}, {x}, %a;"]
DFMA = ["fma.rn.f64 {x}, {x}, %a, %b;"]
HFMA2 = ["fma.rn.f16x2 {x}, {x}, %a, %b;"]
EX2 = ["ex2.approx.ftz.f32 {x}, {x};"]
POPC = ["popc.b32 {x}, {x};"]
SHFL = ["shfl.sync.up.b32 {x}, {x}, 1, 0, -1;"]
I2F = ["cvt.rn.f32.s32 %f{n}, {x};\n  mov.b32 {x}, %f{n};"]

# name, title, type, instructions in turn, instructions of a step.
CHAINS = [
    ("fadd", "FADD", "f32", FADD, 1),
    ("fmul", "FMUL", "f32", ["mul.rn.f32 {x}, {x}, %a;"], 1),
    ("ffma", "FFMA", "f32", FFMA, 1),
    ("fmnmx", "FMNMX", "f32", ["min.f32 {x}, {x}, %a;", "max.f32 {x}, {x}, %b;"], 1),
    ("imad", "IMAD", "b32", IMAD, 1),
    ("imul", "IMUL", "b32", ["mul.lo.s32 {x}, {x}, %a;"], 1),
    ("lop3", "LOP3", "b32", LOP3, 1),
    ("shf", "SHF", "b32", SHF, 1),
    ("prmt", "PRMT", "b32", ["prmt.b32 {x}, {x}, %a, %b;"], 1),
    ("imnmx", "integer min, max", "b32", ["min.s32 {x}, {x}, %a;", "max.s32 {x}, {x}, %b;"], 1),
    ("i2f", "I2F", "b32", I2F, 1),
    ("dp4a", "DP4A", "b32", ["dp4a.s32.s32 {x}, {x}, %a, %b;"], 1),
    ("iadd_lop3", "IADD3, then LOP3: the pair", "b32", IADD + LOP3, 2),
    ("dadd", "DADD", "f64", ["add.rn.f64 {x}, {x}, %a;"], 1),
    ("dfma", "DFMA", "f64", DFMA, 1),
    ("hfma2", "HFMA2", "b32", HFMA2, 1),
    ("imad_hi", "IMAD.HI", "b32", ["mad.hi.s32 {x}, {x}, %a, %b;"], 1),
    ("ex2", "MUFU.EX2", "f32", EX2, 1),
    ("rsqrt", "MUFU.RSQ", "f32", ["rsqrt.approx.ftz.f32 {x}, {x};"], 1),
    ("tanh", "MUFU.TANH", "f32", ["tanh.approx.f32 {x}, {x};"], 1),
    ("popc", "POPC", "b32", POPC, 1),
    ("brev", "BREV", "b32", ["brev.b32 {x}, {x};"], 1),
    ("f2i", "F2I", "f32", ["cvt.rzi.s32.f32 %i{n}, {x};\n  mov.b32 {x}, %i{n};"], 1),
    ("sin", "sine: MUFU and a multiplication", "f32", ["sin.approx.ftz.f32 {x}, {x};"], 1),
    ("rcp_fadd", "MUFU.RCP, then FADD: the pair", "f32", ["rcp.approx.ftz.f32 {x}, {x};", *FADD], 2),
    ("clz", "CLZ: two instructions", "b32", ["clz.b32 {x}, {x};"], 1),
    ("vote", "ISETP, then VOTE: the pair", "b32", ["setp.ne.s32 %v{n}, {x}, %a;\n  vote.sync.ballot.b32 {x}, %v{n}, -1;"], 1),
    ("redux", "REDUX", "b32", ["redux.sync.add.s32 {x}, {x}, -1;"], 1),
    ("shfl", "SHFL", "b32", SHFL, 1),
    ("idiv", "integer division: a sequence", "b32", ["div.s32 {x}, {x}, %a;"], 1),
    ("sqrt", "f32 square root: a sequence", "f32", ["sqrt.rn.f32 {x}, {x};"], 1),
    ("fdiv", "f32 division: a sequence with a call", "f32", ["div.rn.f32 {x}, {x}, %a;"], 1),
]
# name, title, type, instructions in turn.
RATES = [
    ("ffma_rate", "FFMA", "f32", FFMA),
    ("fadd_rate", "FADD", "f32", FADD),
    ("iadd_lop3_rate", "IADD3 and LOP3 in turn", "b32", IADD + LOP3),
    ("lop3_shf_rate", "LOP3 and SHF in turn", "b32", LOP3 + SHF),
    ("shf_rate", "SHF", "b32", SHF),
    ("imad_rate", "IMAD", "b32", IMAD),
    ("i2f_rate", "I2F", "b32", I2F),
    ("dfma_rate", "DFMA", "f64", DFMA),
    ("hfma2_rate", "HFMA2", "b32", HFMA2),
    ("shfl_rate", "SHFL", "b32", SHFL),
    ("mufu_rate", "MUFU.EX2", "f32", EX2),
    ("popc_rate", "POPC", "b32", POPC),
    ("ffma_iadd_rate", "FFMA, and IADD3 or LOP3, in turn", "f32", [*FFMA, "add.s32 %i{n}, %i{n}, %t;", *FFMA, "xor.b32 %i{n}, %i{n}, %t;"]),
]


# --- Shared memory, constants, barriers, launches -------------------------------------------------------------------------------

def self_pointers(program, entry, length, step, block=WARP):
    """A chain over a word of shared memory per thread that holds its own address."""
    result = program.buffer("result", 8192, init="zero", type="u32")
    program.kernel(entry, "  mov.u32 %r0, words;\n  shl.b32 %r1, %t, 2;\n  add.u32 %r0, %r0, %r1;\n  st.shared.u32 [%r0], %r0;\n"
                   "  bar.sync 0;\n" + f"  {step}\n" * length + "  cvt.u64.u32 %s, %r1;\n  add.u64 %p0, %p0, %s;\n  st.global.u32 [%p0], %r0;\n",
                   [result], block=block, registers="  .shared .align 4 .b8 words[4096];\n")


def shared_chain(name, step):
    def make(program, length):
        self_pointers(program, f"{name}_{length}", length, step)
        return length
    return make


def constant_chain(program, length):
    """A table whose every word is the offset of the next one to load."""
    words = 16
    offsets = [4 * ((5 * i + 3) % words) for i in range(words)]
    variable = f".const .align 4 .u32 constants[{words}] = {{{', '.join(map(str, offsets))}}};"
    if variable not in program.variables:
        program.variables.append(variable)
    result = program.buffer("result", 8192, init="zero", type="u32")
    operands = program.buffer("operands_zero", OPERANDS, init="zero", type="u32")
    step = "  cvt.u64.u32 %s, %r0;\n  add.u64 %d1, %d0, %s;\n  ld.const.u32 %r0, [%d1];\n"
    program.kernel(f"constant_{length}", "  ld.global.u32 %r0, [%p0];\n  mov.u64 %d0, constants;\n" + step * length +
                   "  mul.wide.u32 %s, %t, 4;\n  add.u64 %p1, %p1, %s;\n  st.global.u32 [%p1], %r0;\n", [operands, result])
    return length


def barriers(warps):
    def make(program, length):
        program.kernel(f"bar_{warps}_{length}", "  bar.sync 0;\n" * length, [program.buffer("result", 8192, init="zero", type="u32")],
                       block=warps * WARP)
        return length
    return make


def empty_ctas(program, length):
    program.kernel(f"empty_{length}", "", [program.buffer("result", 8192, init="zero", type="u32")], grid=length, block=256)
    return length


# --- Memory ---------------------------------------------------------------------------------------------------------------------

def ring(elements, stride):
    """A cycle over all elements in random order: offsets in bytes, of the successor of each."""
    order = list(range(elements))
    random.Random(elements * stride).shuffle(order)
    following = [0] * elements
    for here, there in zip(order, order[1:] + order[:1]):
        following[here] = there * stride
    return b"".join(n.to_bytes(4, "little") for n in following)


def chase(name, elements, stride, load="ld.relaxed.gpu.global.u64", warm=True):
    """A chain of loads through a ring. A launch before, which is not measured, turns offsets into addresses."""
    def make(program, length):
        # A ring for each length, so that neither launch finds lines of the other.
        offsets = program.buffer(f"{name}_offsets", 4 * elements, data=ring(elements, stride))
        nodes = program.buffer(f"{name}_{length}_ring", elements * stride, init="zero", type="u64")
        result = program.buffer("result", 8192, init="zero", type="u32")
        program.kernel(f"{name}_{length}{UNMEASURED}", f"  mov.u32 %r0, %ctaid.x;\n  mad.lo.u32 %t, %r0, 256, %t;\n  mul.wide.u32 %s, %t, 4;\n"
                       f"  add.u64 %p0, %p0, %s;\n  ld.global.u32 %r1, [%p0];\n  cvt.u64.u32 %d0, %r1;\n  add.u64 %d0, %d0, %p1;\n"
                       f"  mul.wide.u32 %s, %t, {stride};\n  add.u64 %d1, %p1, %s;\n  st.global.u64 [%d1], %d0;\n", [offsets, nodes],
                       grid=max(elements // 256, 1), block=min(elements, 256))
        block = min(elements, 1024) if warm else WARP
        # Each thread touches its elements, then one warp goes on alone.
        touch = "".join(f"  mul.wide.u32 %s, %t, {stride};\n  add.u64 %d1, %p0, %s;\n  {load} %d2, [%d1+{n * block * stride}];\n"
                        f"  add.u64 %d3, %d3, %d2;\n" for n in range(elements // block)) if warm else ""
        alone = f"  bar.sync 0;\n  setp.ge.u32 %q0, %t, {WARP};\n  @%q0 bra END;\n" if warm and block > WARP else ""
        program.kernel(f"{name}_{length}", "  mov.u64 %d3, 0;\n" + touch + alone + "  mov.u64 %d0, %p0;\n" + f"  {load} %d0, [%d0];\n" * length +
                       "  add.u64 %d0, %d0, %d3;\n  mul.wide.u32 %s, %t, 8;\n  add.u64 %p1, %p1, %s;\n  st.global.u64 [%p1], %d0;\nEND:\n",
                       [nodes, result], block=block)
        return length
    return make


def atomic_chain(program, length):
    """One lane, on a word that holds its own address."""
    word = program.buffer("word", 64, init="zero", type="u64")
    program.kernel(f"atom_{length}", "  st.global.u64 [%p0], %p0;\n  mov.u64 %d0, %p0;\n" + "  atom.global.max.u64 %d0, [%d0], %d0;\n" * length +
                   "  st.global.u64 [%p0+8], %d0;\n", [word], block=1)
    return length


def stream(name, sms, laps, loads):
    """1,024 threads an SM, each with one load of 16 bytes under way, over a part of `loads` of them a thread for each SM."""
    def make(program, length):
        trips, rounds = (loads, length) if laps else (length, 1)
        part = trips * 1024 * 16
        data = program.buffer(f"{name}_{length}_data", sms * part, init="zero", type="u32")
        result = program.buffer("result", 8192, init="zero", type="u32")
        program.kernel(
            f"{name}_{length}",
            f"  mov.u32 %r0, %ctaid.x;\n  mul.wide.u32 %s, %r0, {part};\n  add.u64 %p0, %p0, %s;\n  mul.wide.u32 %s, %t, 16;\n"
            f"  add.u64 %p0, %p0, %s;\n  mov.u32 %r1, 0;\n  mov.u32 %r6, 0;\nLAP:\n  mov.u32 %r7, 0;\n  mov.u64 %d0, %p0;\n"
            f"LOAD:\n  .pragma \"nounroll\";\n  ld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%d0];\n  add.u64 %d0, %d0, 16384;\n"
            f"  xor.b32 %r2, %r2, %r3;\n  xor.b32 %r4, %r4, %r5;\n  xor.b32 %r1, %r1, %r2;\n  xor.b32 %r1, %r1, %r4;\n"
            f"  add.u32 %r7, %r7, 1;\n  setp.lt.u32 %q0, %r7, {trips};\n  @%q0 bra LOAD;\n"
            f"  add.u32 %r6, %r6, 1;\n  setp.lt.u32 %q1, %r6, {rounds};\n  @%q1 bra LAP;\n"
            f"  mul.wide.u32 %s, %t, 4;\n  add.u64 %p1, %p1, %s;\n  st.global.u32 [%p1], %r1;\n", [data, result], grid=sms, block=1024)
        return sms * part * rounds
    return make


def scattered(name, warps, lines):
    """Each warp loads from `lines` lines of its own, all under way at once; the shorter length loads nothing."""
    def make(program, length):
        size = 1 << 26
        data = program.buffer(f"{name}_data", size, init="zero", type="u32")
        result = program.buffer("result", 8192, init="zero", type="u32")
        loads = range(lines // WARP if length else 0)
        # Multiplying by an odd number permutes the lines of the buffer.
        address = "".join(f"  mad.lo.u32 %r0, %t, {len(loads)}, {i};\n  mul.lo.u32 %r0, %r0, 0x9e3779b1;\n  shr.u32 %r0, %r0, {32 - 19};\n"
                          f"  mul.wide.u32 %s, %r0, {LINE};\n  add.u64 %l{i}, %p0, %s;\n" for i in loads)
        load = "".join(f"  ld.global.u32 %w{i}, [%l{i}];\n" for i in loads)
        joined = "".join(f"  xor.b32 %r1, %r1, %w{i};\n" for i in loads)
        program.kernel(f"{name}_{length}", "  mov.u32 %r1, 0;\n" + address + load + joined +
                       "  mul.wide.u32 %s, %t, 4;\n  add.u64 %p1, %p1, %s;\n  st.global.u32 [%p1], %r1;\n", [data, result], block=warps * WARP,
                       registers=f"  .reg .b32 %w<{len(loads) + 1}>;\n  .reg .b64 %l<{len(loads) + 1}>;\n")
        return 1 if length else 0
    return make


def all_benchmarks():
    rows = []

    def add(name, title, kind, group, make, **more):
        rows.append(Benchmark(name, title, kind, group, make=make, **more))

    def per_step(make, step):
        return lambda program, length: make(program, length) / step

    for name, title, type_, pattern, step in CHAINS:
        add(name, title, "latency", "chains", per_step(arithmetic(name, type_, pattern), step))
    add("lds", "LDS", "latency", "chains", shared_chain("lds", "ld.shared.u32 %r0, [%r0];"))
    add("atoms", "ATOMS", "latency", "chains", shared_chain("atoms", "atom.shared.max.u32 %r0, [%r0], %r0;"))
    add("constant", "LDC by register, with the address", "latency", "chains", constant_chain)
    for warps in (1, 2, 4, 8, 16, 32):
        add(f"bar_{warps}", f"bar.sync of {warps} warp{'s' if warps > 1 else ''}", "latency", "chains", barriers(warps))
    add("l1_hit", "LDG, hit in the L1", "latency", "loads", chase("l1_hit", 32, LINE, "ld.global.u64"))
    add("l2_hit", "LDG, hit in the L2, of 1 MB", "latency", "loads", chase("l2_hit", 1024, 1 << 10))
    add("l2_hit_4mb", "LDG, hit in the L2, of 4 MB", "latency", "loads", chase("l2_hit_4mb", 1024, 1 << 12))
    add("l2_hit_16mb", "LDG, hit in the L2, of 16 MB", "latency", "loads", chase("l2_hit_16mb", 1024, 1 << 14))
    add("dram", "LDG from DRAM, of 1 MB", "latency", "loads", chase("dram", 1024, 1 << 10, warm=False))
    add("atom", "ATOM in the L2", "latency", "loads", atomic_chain)
    for name, title, type_, pattern in RATES:
        add(name, title, "rate", "rates", arithmetic(name, type_, pattern, 32, 8, trips=True), lengths=TRIPS)
    add("one_warp", "FFMA of one warp, nothing depends", "rate", "rates", arithmetic("one_warp", "f32", FFMA, 1, 8, trips=True), lengths=TRIPS)
    add("empty", "an empty CTA of 256 threads", "time", "rates", empty_ctas)
    for sms in (1, 8):
        plural = "s" if sms > 1 else ""
        add(f"stream_l2_{sms}", f"bytes from the L2, {sms} SM{plural}", "rate", f"streams_{sms}", stream(f"stream_l2_{sms}", sms, True, 32), sms=sms, lengths=(2, 4))
        add(f"stream_dram_{sms}", f"bytes from DRAM, {sms} SM{plural}", "rate", f"streams_{sms}", stream(f"stream_dram_{sms}", sms, False, 0), sms=sms,
            lengths=(32, 96))
    for warps, lines in ((1, 32), (1, 128), (1, 512), (8, 512), (32, 512)):
        name = f"scattered_{warps}_{lines}"
        add(name, f"{warps} warp{'s' if warps > 1 else ''} of {lines} scattered lines, first touch", "time", "scattered", scattered(name, warps, lines), lengths=(0, 1),
            options=FIRST_TOUCH)
    return rows


def programs(benchmarks):
    """Per group: the program, one of its benchmarks, and for each of them the entries with the work that they do."""
    made = {}
    for b in benchmarks:
        program, _, work = made.setdefault(b.group, (Program(b.group), b, {}))
        work[b.name] = [(b.entry(n), b.make(program, n)) for n in b.lengths]
    for program, _, _ in made.values():
        program.touch()
    return made
