# SPDX-License-Identifier: MIT
"""Grading with this course: what the grader has to be told about it."""
