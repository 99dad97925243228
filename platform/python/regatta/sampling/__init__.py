# SPDX-License-Identifier: Apache-2.0
"""Sampling of launches: a long program is simulated in a stratified sample of its launches."""

from .estimate import Estimate, estimate
from .population import Launch, population
from .strata import Stratum

__all__ = ["Estimate", "Launch", "Stratum", "estimate", "population"]
