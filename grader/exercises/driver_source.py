# SPDX-License-Identifier: MIT
"""Makes an exercise's driver: its README.md declares the student's functions in a block ```cpp driver.cpp.

usage: driver_source.py README.md DRIVER.cpp
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"^```cpp driver\.cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FUNCTION = re.compile(r"^void (\w+)\(", re.MULTILINE)


def driver_source(text, name):
    """The C++ that registers the functions of the block, which starts with its line in the README `name`.

    Raises ValueError if no function is declared there.
    """
    block = BLOCK.search(text)
    functions = FUNCTION.findall(block[1]) if block else []
    if not functions:
        raise ValueError(f"{name}: a block ```cpp driver.cpp must declare the student's function.")
    line = text[: block.start(1)].count("\n") + 1
    registered = ", ".join(f'exercises::function("{each}", {each})' for each in functions)
    return (
        '#include <cstddef>\n#include <cstdint>\n\n#include "runner/runner.hpp"\n\n'
        f'#line {line} "{name}"\n{block[1]}\n'
        "int main(int argc, char** argv) {\n"
        f"  return exercises::run(argc, argv, {{{registered}}});\n}}\n"
    )


if __name__ == "__main__":
    readme, driver = map(pathlib.Path, sys.argv[1:])
    try:
        driver.write_text(
            driver_source(readme.read_text(encoding="utf-8"), readme), encoding="utf-8"
        )
    except ValueError as problem:
        sys.exit(str(problem))
