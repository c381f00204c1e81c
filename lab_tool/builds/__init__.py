# SPDX-License-Identifier: MIT
"""Build folders and what is in them."""
