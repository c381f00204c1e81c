# SPDX-License-Identifier: MIT
"""nvcc compiles each piece in a folder that has only the files that its page in docs/use names."""

import unittest

from own_code import compile_with_nvcc, for_each_page, needs_nvcc, write_sources_of


class HeadersWithNvcc(unittest.TestCase):
    @needs_nvcc
    @for_each_page
    def test_compiles(self, page, folder):
        for source in write_sources_of(page, folder):
            self.assertEqual(compile_with_nvcc(source, folder, page.standard), "")
