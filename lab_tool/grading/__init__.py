# SPDX-License-Identifier: MIT
"""Grading: many submissions, each judged out of reach of what it might do."""
