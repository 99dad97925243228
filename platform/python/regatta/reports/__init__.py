# SPDX-License-Identifier: Apache-2.0
"""Reports: pages of HTML that hold everything they need. `page` is their common base, the other modules build sections."""
