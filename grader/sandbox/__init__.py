# SPDX-License-Identifier: MIT
"""Running what students wrote out of reach of everything else."""
