# SPDX-License-Identifier: MIT
"""Exercises: what there is to do, the student's files, and how they are judged."""
