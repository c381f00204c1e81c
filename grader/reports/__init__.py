# SPDX-License-Identifier: MIT
"""What comes out of grading: pages, tables, and other systems' formats."""
