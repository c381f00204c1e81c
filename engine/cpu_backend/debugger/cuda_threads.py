# SPDX-License-Identifier: MIT
"""For gdb: a kernel's thread in a program of the CPU backend. gdb loads it with `source FILE`.

- threadIdx, blockIdx, blockDim and gridDim are printed as (x, y, z).
- $block(X, Y, Z) and $thread(X, Y, Z) are true in that block and in that thread, for conditions of
  breakpoints; Y and Z may be left out.
- `cuda-thread` says which block and which thread the selected OS thread plays.

These variables are the OS thread's that plays the multiprocessor, and name the CUDA thread that it
runs at this moment. Outside of kernels they are what the last one left.
"""

import gdb
import gdb.printing


class ThreeDimensions:
    """uint3 and dim3."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "({}, {}, {})".format(*(int(self.value[name]) for name in "xyz"))


class IsHere(gdb.Function):
    """Whether a variable such as threadIdx is (X, Y, Z) in the selected OS thread."""

    def __init__(self, function, variable):
        super().__init__(function)
        self.variable = variable

    def invoke(self, *wanted):
        here = _coordinates(self.variable)
        return here == tuple(int(number) for number in wanted) + (0,) * (3 - len(wanted))


class CudaThread(gdb.Command):
    """Says which block and which thread the selected OS thread plays."""

    def __init__(self):
        super().__init__("cuda-thread", gdb.COMMAND_STACK)

    def invoke(self, argument, from_terminal):
        block, thread = _coordinates("blockIdx"), _coordinates("threadIdx")
        threads, blocks = _coordinates("blockDim"), _coordinates("gridDim")
        print(f"block {block} of {blocks}, thread {thread} of {threads}")


def _coordinates(variable):
    value = gdb.parse_and_eval(variable)
    return tuple(int(value[name]) for name in "xyz")


def _register():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("cuda")
    printers.add_printer("uint3", r"^(uint3|dim3)$", ThreeDimensions)
    gdb.printing.register_pretty_printer(None, printers, replace=True)
    IsHere("block", "blockIdx")
    IsHere("thread", "threadIdx")
    CudaThread()


_register()
