# SPDX-License-Identifier: MIT
"""Predictions: variants of a kernel, and which of them are free of races."""
