# SPDX-License-Identifier: Apache-2.0
"""Statistics of regatta's runs for scripts and studies."""

from .statistics import InputError, Run, load

__all__ = ["InputError", "Run", "load"]
