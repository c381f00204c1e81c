# SPDX-License-Identifier: MIT
"""Many submissions: who handed in what, and judging all of it."""
