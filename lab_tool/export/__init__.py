# SPDX-License-Identifier: MIT
"""What an instructor hands out: a repository for students, and graders for the usual systems."""
