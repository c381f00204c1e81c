# SPDX-License-Identifier: MIT
"""What is wrong with a student's file: its results, its races, and what it may use."""
