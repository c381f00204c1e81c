# SPDX-License-Identifier: MIT
"""CUDA without a GPU, and its race checker."""
