# SPDX-License-Identifier: Apache-2.0
"""The package's programs: regatta-compare, regatta-study."""
