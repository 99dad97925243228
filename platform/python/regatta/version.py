# SPDX-License-Identifier: Apache-2.0
"""The version of regatta that this package belongs to."""

#: The only place: CMakeLists.txt at the top and pyproject.toml read this line.
VERSION = "1.0.0"


def of_program(name: str) -> str:
    """What `name --version` says."""
    return f"{name} {VERSION}"
