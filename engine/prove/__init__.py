# SPDX-License-Identifier: MIT
"""All executions of a small program: explored, and judged by the memory model."""
