# SPDX-License-Identifier: MIT
"""Exercises: their cases, their markers and what a student's copy of them is."""
