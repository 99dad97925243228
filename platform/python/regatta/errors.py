# SPDX-License-Identifier: Apache-2.0
"""What the package's functions throw."""


class InputError(Exception):
    """A file that cannot be read, or says something else than expected. The text names file, place, found, expected."""
