# SPDX-License-Identifier: Apache-2.0
"""Control flow of the machine code that ptxas makes of a PTX file, with the PTX line of each instruction.

Decodes what is needed of the 128-bit instructions of sm_70 and later: branches, exits, convergence barriers.
"""
import pathlib
import re
import struct
import subprocess
import tempfile

from elftools.elf.elffile import ELFFile  # Debian: python3-pyelftools

NAMES = {0x945: "BSSY", 0x941: "BSYNC", 0x942: "BREAK", 0x947: "BRA", 0x94D: "EXIT", 0xB1D: "BAR"}
WITH_TARGET = (0x945, 0x947)
# Loads, stores, atomics (LD*, ST*, ATOM*, RED): with a register (3) or a uniform register (9) as address.
MEMORY = tuple(form << 8 | low for form in (3, 9) for low in (*range(0x80, 0x82), *range(0x83, 0x8F), 0xA8, 0xA9))
ALWAYS = 7  # the predicate PT


class Instruction:
    """One instruction: its address, name (or opcode in hexadecimal), guard, branch target, convergence barrier, PTX line."""

    def __init__(self, address: int, low: int, high: int):
        self.address = address
        opcode = low & 0xFFF
        self.name = NAMES.get(opcode, hex(opcode))
        self.is_memory = opcode in MEMORY
        self.guarded = (low >> 12 & 0xF) != ALWAYS
        self.barrier = low >> 16 & 0xF
        self.line = None
        offset = low >> 32 | (high & 0x3FFFF) << 32
        if offset >> 49:
            offset -= 1 << 50
        self.target = (address + 16 + offset) & ~15 if opcode in WITH_TARGET else None


def numbered(ptx: str) -> str:
    """The PTX text with a .loc before each instruction that names the instruction's own line."""
    out, depth = [], 0
    for number, line in enumerate(ptx.split("\n"), 1):
        text = line.split("//")[0].strip()
        if re.match(r"\.(loc|file|section)\b", text):
            out.append("")
            continue
        is_code = depth > 0 and re.match(r"(@!?%\w+\s+)?[a-z][\w.:]*(\s|;|$)", text)
        out.append(f".loc 1 {number} 1\n{line}" if is_code else line)
        depth += line.count("{") - line.count("}")
    return re.sub(r"(\.address_size\s+\d+)", r'\1\n.file 1 "numbered.ptx"', "\n".join(out) + "\n", count=1)


def assemble(ptxas: str, ptx: str, arch: str) -> dict[str, list[Instruction]]:
    """Instructions per entry. Raises RuntimeError with ptxas's message if it refuses the file."""
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = pathlib.Path(folder, "numbered.ptx"), pathlib.Path(folder, "numbered.cubin")
        source.write_text(numbered(ptx))
        run = subprocess.run([ptxas, f"-arch={arch}", "--generate-line-info", source, "-o", cubin],
                             capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise RuntimeError(run.stderr.strip())
        with open(cubin, "rb") as file:
            return decode(ELFFile(file))


def decode(elf: ELFFile) -> dict[str, list[Instruction]]:
    lines = line_rows(elf)
    entries = {}
    for section in elf.iter_sections():
        if not section.name.startswith(".text."):
            continue
        code = [Instruction(8 * n, low, high) for n, (low, high) in
                zip(range(0, section.data_size // 8, 2), struct.iter_unpack("<QQ", section.data()))]
        rows, at, line = lines.get(section.name, []), 0, None
        for instruction in code:
            while at < len(rows) and rows[at][0] <= instruction.address:
                line = rows[at][1]
                at += 1
            instruction.line = line
        entries[section.name[len(".text."):]] = code
    return entries


def line_rows(elf: ELFFile) -> dict[str, list[tuple[int, int]]]:
    """(address, line) per section. The sequences of the line program are told apart by their relocations."""
    table, relocations = elf.get_section_by_name(".debug_line"), elf.get_section_by_name(".rel.debug_line")
    if table is None or relocations is None:
        return {}
    symbols = elf.get_section_by_name(".symtab")
    section_of = {r["r_offset"]: elf.get_section(symbols.get_symbol(r["r_info_sym"])["st_shndx"]).name
                  for r in relocations.iter_relocations()}
    program = LineProgram(table.data(), section_of)
    return {section: sorted(rows, key=lambda row: row[0]) for section, rows in program.rows.items()}


class LineProgram:
    """DWARF 2 line number program, as far as ptxas uses it."""

    def __init__(self, data: bytes, section_of: dict[int, str]):
        self.data, self.section_of = data, section_of
        self.rows: dict[str, list[tuple[int, int]]] = {}
        at = 0
        while at < len(data):
            length, version, header = struct.unpack_from("<IHI", data, at)
            self.unit(at + 10 + (1 if version >= 4 else 0), at + 10 + header, at + 4 + length)
            at += 4 + length

    def leb(self, at: int, signed: bool = False) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = self.data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return (value - (1 << shift) if signed and byte & 64 else value), at

    def unit(self, header: int, at: int, end: int) -> None:
        step, _, base, span, first_special = struct.unpack_from("<BBbBB", self.data, header)
        counts = self.data[header + 5:header + 5 + first_special - 1]
        address, line, section, rows = 0, 1, None, []
        while at < end:
            op = self.data[at]
            at += 1
            if op >= first_special:
                address += (op - first_special) // span * step
                line += base + (op - first_special) % span
                rows.append((address, line))
            elif op == 0:  # extended
                size, at = self.leb(at)
                if self.data[at] == 1:  # end of sequence
                    if section is not None:
                        self.rows.setdefault(section, []).extend(rows)
                    address, line, section, rows = 0, 1, None, []
                elif self.data[at] == 2:  # set address
                    section = self.section_of.get(at + 1)
                    address = struct.unpack_from("<Q", self.data, at + 1)[0]
                at += size
            elif op == 1:
                rows.append((address, line))
            elif op == 2:
                value, at = self.leb(at)
                address += value * step
            elif op == 3:
                value, at = self.leb(at, signed=True)
                line += value
            elif op == 8:
                address += (255 - first_special) // span * step
            elif op == 9:
                address += struct.unpack_from("<H", self.data, at)[0]
                at += 2
            else:
                for _ in range(counts[op - 1]):
                    _, at = self.leb(at)


def joins(code: list[Instruction]) -> list[tuple[Instruction, list[int]]]:
    """Each guarded branch and exit, with the addresses where the convergence barriers around it end, innermost last."""
    at = {i.address: n for n, i in enumerate(code)}
    held: dict[int, tuple] = {0: ()}
    work, found = [0], {}
    while work:
        n = work.pop()
        i, barriers = code[n], held[n]
        others = tuple(b for b in barriers if b[0] != i.barrier)
        after = barriers
        if i.name == "BSSY":
            after = others + ((i.barrier, i.target),)
        elif i.name == "BSYNC" or (i.name == "BREAK" and not i.guarded):
            after = others
        nexts = []
        if i.name == "BRA" and i.target in at and i.target != i.address:
            nexts.append(at[i.target])
        if i.guarded or i.name not in ("BRA", "EXIT"):
            nexts.append(n + 1)
        if i.guarded and i.name in ("BRA", "EXIT"):
            found[n] = (i, [target for _, target in barriers])
        for following in nexts:
            if following < len(code) and following not in held:
                held[following] = after
                work.append(following)
    return [found[n] for n in sorted(found)]
