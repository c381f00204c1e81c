# SPDX-License-Identifier: MIT
"""Grading: exercises, each judged out of reach of what it might do."""
