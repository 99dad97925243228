# SPDX-License-Identifier: Apache-2.0
import regatta_reproduce  # noqa: F401  # it knows where the package regatta is
