# SPDX-License-Identifier: Apache-2.0
"""Studies: many simulations described by one file, made once each, and their results as tables (regatta-study)."""
