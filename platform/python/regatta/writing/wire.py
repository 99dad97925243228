# SPDX-License-Identifier: Apache-2.0
"""Bytes of a trace: Protocol Buffers messages, zstd frames, checksums (traces/format/trace.proto)."""

import struct
from typing import Any, Callable, Iterable, List, Optional

_MASK = (1 << 64) - 1
_P1, _P2, _P3, _P4, _P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                           0x27D4EB2F165667C5)


def _optional(module: str) -> Any:
    try:
        return __import__(module)
    except ImportError:
        return None


_zstandard, _xxhash = _optional("zstandard"), _optional("xxhash")


def varint(value: int) -> bytes:
    out = bytearray()
    value &= _MASK
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value: int) -> int:
    """`value` modulo 2^64, as sint64 has it."""
    value &= _MASK
    if value >> 63:
        value -= 1 << 64
    return (value << 1) ^ (value >> 63)


class Message:
    """A message, field by field. Fields of value 0 are left out, as proto3 does."""

    def __init__(self) -> None:
        self._out = bytearray()

    def number(self, field: int, value: int, always: bool = False) -> "Message":
        if value or always:
            self._out += varint(field << 3) + varint(int(value))
        return self

    def text(self, field: int, value: bytes) -> "Message":
        if value:
            self._out += varint(field << 3 | 2) + varint(len(value)) + value
        return self

    def message(self, field: int, value: "Message") -> "Message":
        data = value.data()
        self._out += varint(field << 3 | 2) + varint(len(data)) + data
        return self

    def packed(self, field: int, values: Iterable[int], encode: Optional[Callable[[int], int]] = None) -> "Message":
        return self.text(field, b"".join(varint(encode(v) if encode else v) for v in values))

    def data(self) -> bytes:
        return bytes(self._out)


def _rotate(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (64 - bits))) & _MASK


def _round(lane: int, value: int) -> int:
    return _rotate((lane + value * _P2) & _MASK, 31) * _P1 & _MASK


def xxh64(data: bytes, seed: int = 0) -> int:
    """XXH64, as the specification of xxHash gives it."""
    if _xxhash is not None:
        return int(_xxhash.xxh64_intdigest(data, seed))
    at, size = 0, len(data)
    if size >= 32:
        a, b, c, d = (seed + _P1 + _P2) & _MASK, (seed + _P2) & _MASK, seed, (seed - _P1) & _MASK
        for w, x, y, z in struct.iter_unpack("<QQQQ", data[:size // 32 * 32]):
            a, b, c, d = _round(a, w), _round(b, x), _round(c, y), _round(d, z)
        at = size // 32 * 32
        h = (_rotate(a, 1) + _rotate(b, 7) + _rotate(c, 12) + _rotate(d, 18)) & _MASK
        for lane in (a, b, c, d):
            h = ((h ^ _round(0, lane)) * _P1 + _P4) & _MASK
    else:
        h = (seed + _P5) & _MASK
    h = (h + size) & _MASK
    while at + 8 <= size:
        h = (_rotate(h ^ _round(0, struct.unpack_from("<Q", data, at)[0]), 27) * _P1 + _P4) & _MASK
        at += 8
    if at + 4 <= size:
        h = (_rotate(h ^ struct.unpack_from("<I", data, at)[0] * _P1 & _MASK, 23) * _P2 + _P3) & _MASK
        at += 4
    for byte in data[at:]:
        h = _rotate(h ^ byte * _P5 & _MASK, 11) * _P1 & _MASK
    h = (h ^ h >> 33) * _P2 & _MASK
    h = (h ^ h >> 29) * _P3 & _MASK
    return h ^ h >> 32


def zstd_frame(data: bytes) -> bytes:
    """A zstd frame with `data`: compressed with the module zstandard, otherwise in raw blocks, which every reader takes."""
    if _zstandard is not None:
        return bytes(_zstandard.ZstdCompressor().compress(data))
    out: List[bytes] = [struct.pack("<IBQ", 0xFD2FB528, 0xE0, len(data))]  # one segment, its size in 8 bytes
    block = 1 << 17
    starts = range(0, max(len(data), 1), block)
    for start in starts:
        piece = data[start:start + block]
        last = start + block >= len(data)
        out += [struct.pack("<I", len(piece) << 3 | (1 if last else 0))[:3], piece]
    return b"".join(out)
