# SPDX-License-Identifier: MIT
"""What translate.py refuses: how that is handed on, and the one sentence for each code."""

from __future__ import annotations

import json
from typing import NamedTuple

ON_GPU = "run this program on a GPU, with --backend cuda"
IN_PARENTHESES = "put the expression in parentheses"

# The names of the gaps are those of the refusal's arguments.
SENTENCES = {
    "ambiguous_end_of_configuration": (
        "the launch configuration can end at more than one '>>>'; " + IN_PARENTHESES
    ),
    "argument_in_braces": (
        "a kernel argument can't be a list in braces: name its type, as in T{{...}}"
    ),
    "asynchronous_copies": (
        "asynchronous copies ({name}) are not supported by the CPU backend: copy by plain "
        "assignments with __syncthreads() after them, or " + ON_GPU
    ),
    "cluster_dimensions": (
        "__cluster_dims__: the CPU backend has no thread block clusters; " + ON_GPU
    ),
    "clusters": "thread block clusters ({name}) are not supported by the CPU backend: " + ON_GPU,
    "compiled_kernels": (
        "loading compiled kernels ({name}) is not supported by the CPU backend: " + ON_GPU
    ),
    "cuda_graphs": (
        "CUDA graphs ({name}) are not supported by the CPU backend: launch the kernels one "
        "after the other, or " + ON_GPU
    ),
    "declaration_without_end": "a declaration without an end",
    "declaration_without_semicolon": (
        "a ';' is missing after the declaration of a __shared__ variable"
    ),
    "driver_api": (
        "the CUDA driver API ({name}) is not supported by the CPU backend: use the runtime "
        "API, whose functions begin with cuda, or " + ON_GPU
    ),
    "empty_argument_of_configuration": "argument {number} of the launch configuration is empty",
    "empty_configuration": "the launch configuration is empty: '<<<blocks, threads>>>' is expected",
    "extern_not_understood": "this extern __shared__ declaration is not understood",
    "extern_with_size": (
        "an extern __shared__ array has no size of its own, the launch gives it: write '[]', "
        "or leave out 'extern'"
    ),
    "extern_without_array": (
        "an extern __shared__ variable must be an array without a size, as in 'extern "
        "__shared__ float values[];'"
    ),
    "header_in_c": (
        "{name} is C++ on the CPU backend, and this file is C: give it a name that ends in .cpp"
    ),
    "header_of_feature": "{feature} ({name}) is not supported by the CPU backend: " + ON_GPU,
    "header_of_samples": (
        "{name} belongs to NVIDIA's CUDA samples and not to CUDA: name the folder that has "
        "it with --include DIR"
    ),
    "header_of_toolkit": (
        "the CPU backend has no {name}, and the CUDA toolkit's can't be used: " + ON_GPU
    ),
    "host_function_called": (
        "{caller} runs on the device and calls {name}, which is a host function: write __device__ "
        "before {name}, or __host__ __device__ if the host calls it too"
    ),
    "initialised_shared_variable": (
        "a __shared__ variable can't be initialised where it is declared: let one thread "
        "assign it, and call __syncthreads() before another reads it"
    ),
    "inline_ptx": (
        "inline PTX (asm) is not supported by the CPU backend: use the CUDA C++ function "
        "that does the same, or " + ON_GPU
    ),
    "kernel_and_device_function": (
        "{name} can't be both __global__ and __device__: a kernel is launched, a __device__ "
        "function is called by kernels"
    ),
    "kernel_called_as_function": (
        "the kernel {name} is called like a function: a kernel is launched, as in "
        "{name}<<<blocks, threads>>>(...)"
    ),
    "kernel_returns_value": (
        "a __global__ function must return void, and {name} returns a value: let the kernel "
        "write its result to memory"
    ),
    "lambda_without_body": "a lambda without a body",
    "launch_after_expression": (
        "a kernel launch has no value and can't follow '{before}' (is a ';' missing?); if "
        "'{before}' is part of the kernel's name, " + IN_PARENTHESES
    ),
    "launch_in_device_code": (
        "a kernel is launched from device code (dynamic parallelism), which the CPU backend "
        "does not support: launch it from the host, or " + ON_GPU
    ),
    "launch_of_no_kernel": (
        "{name} is launched, and it is no kernel: write __global__ before its void"
    ),
    "launch_within_name": "the kernel's name contains another launch",
    "memory_pools": (
        "memory pools of your own ({name}) are not supported by the CPU backend: "
        "cudaMallocAsync works without them; else " + ON_GPU
    ),
    "never_closed": "the '{bracket}' is never closed",
    "no_arguments": "a '(' with the kernel's arguments must follow '>>>'",
    "no_end_of_configuration": "'<<<' begins a kernel launch, but no '>>>(' ends its configuration",
    "no_kernel_named": (
        "no kernel is named before '<<<'; if it is a longer expression, " + IN_PARENTHESES
    ),
    "old_shuffle": (
        "{name} has been removed from CUDA, because it does not say which lanes take part: "
        "use {name}_sync, with the mask of those lanes as its first argument"
    ),
    "removed_launch": (
        "{name} has been removed from CUDA: launch the kernel as in kernel<<<blocks, "
        "threads>>>(...)"
    ),
    "several_extern_arrays": "declare each extern __shared__ array in a statement of its own",
    "shared_member": "a member of a class can't be __shared__: declare the variable in the kernel",
    "shared_not_understood": "this __shared__ declaration is not understood",
    "shared_with_others": (
        "memory shared with other programs or with graphics ({name}) is not supported by the "
        "CPU backend: " + ON_GPU
    ),
    "shared_without_declaration": "__shared__ must be part of a declaration",
    "standard_function_called": (
        "{caller} runs on the device and calls {name}(), which is a host function: {instead}"
    ),
    "textures": (
        "textures, surfaces and CUDA arrays ({name}) are not supported by the CPU backend: "
        "read from ordinary memory, or " + ON_GPU
    ),
    "too_many_angles": "more than three '<' in a row are no kernel launch",
    "too_many_arguments_of_configuration": (
        "a launch configuration has 1 to 4 arguments (blocks, threads, bytes of shared "
        "memory, stream), and this one has {number}"
    ),
    "two_forms": (
        "this declaration is one thing for the host and another for kernels, by "
        "__CUDA_ARCH__; the CPU backend compiles the file once and can't have both: let them "
        "have different names, or choose inside a function"
    ),
    "unclear_end_of_configuration": (
        "can't tell which '>' end the launch configuration; " + IN_PARENTHESES
    ),
}


class Refusal(NamedTuple):
    """One thing that is refused. Its texts hold one character for each byte (Latin-1)."""

    file: str
    line: int
    code: str
    arguments: dict[str, str | int]

    @property
    def message(self) -> str:
        """FILE:LINE: error: ..., as compilers put it."""
        return f"{self.file}:{self.line}: error: {SENTENCES[self.code].format(**self.arguments)}"

    @property
    def record(self) -> bytes:
        """The same for programs: a JSON object in a line, as the backend writes its diagnostics."""
        made = {
            "kind": "refused_source",
            "at": {"file": _decoded(self.file), "line": self.line},
            "code": self.code,
            "arguments": {name: _decoded(value) for name, value in self.arguments.items()},
        }
        return json.dumps(made).encode() + b"\n"


def _decoded(value: str | int) -> str | int:
    if isinstance(value, int):
        return value
    return value.encode("latin-1", "replace").decode(errors="replace")


class NotUnderstood(Exception):
    """Something in the source that can't be translated; position is an index into the text. `code` is
    the row of refusals.SENTENCES that says what, and `arguments` are the words for its gaps."""

    def __init__(self, position: int, code: str, **arguments: str | int):
        super().__init__(code)
        self.position = position
        self.code = code
        self.arguments = arguments


class WindowTooSmall(Exception):
    """A backward search met the beginning of the text that it was given."""


class TranslationFailed(Exception):
    """Carries a Refusal for each thing not understood; `messages` are FILE:LINE: error: ..."""

    def __init__(self, refusals: list[Refusal]):
        self.refusals = refusals
        self.messages = [refusal.message for refusal in refusals]
        super().__init__("\n".join(self.messages))
