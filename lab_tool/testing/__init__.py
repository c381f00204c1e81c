# SPDX-License-Identifier: MIT
"""Which tests are run, and what came of them."""
