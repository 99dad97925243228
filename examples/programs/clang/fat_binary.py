#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wraps PTX into a fat binary, as clang's host code expects it: fat_binary.py FILE.ptx FILE.fatbin

Does for one file of PTX what CUDA's `fatbinary` does, so that clang needs nothing of CUDA.
"""
import re
import struct
import sys

ptx_path, out_path = sys.argv[1:]
with open(ptx_path, "rb") as file:
    ptx = file.read()
target = re.search(rb"^\.target sm_(\d+)", ptx, re.MULTILINE)
if target is None:
    sys.exit(f"{ptx_path}: error: no .target, expected PTX")
payload = ptx + b"\0" * (8 - len(ptx) % 8)
# kind 1 (PTX), version, size of the head, of the payload, not compressed, options; PTX version, architecture; no name; 64 bits
part = struct.pack("<HHIQIIHHIIIQQQ", 1, 0x101, 64, len(payload), 0, 0, 0, 0, int(target[1]), 0, 0, 0x11, 0, 0)
with open(out_path, "wb") as file:
    file.write(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(part) + len(payload)) + part + payload)
