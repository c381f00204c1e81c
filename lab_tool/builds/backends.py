# SPDX-License-Identifier: MIT
"""Which backend `auto` takes: what nvcc and the driver say about the GPUs that are here."""

import ctypes
import os
import re
import shutil
from typing import NamedTuple

from engine.command.errors import NOTHING_COULD_RUN, CommandError
from engine.command.processes import output_of
from lab_tool.setup.requirements import dotted, numbers

# What a build without a visible GPU is for: Turing, Ampere, Ada, Hopper and Blackwell.
COMMON_ARCHITECTURES = ["75", "80", "86", "89", "90", "100", "120"]
NVCC_MINIMUM = (12, 0)  # the first that has C++20
SECONDS_TO_ANSWER = 10


class NvidiaGpu(NamedTuple):
    name: str
    architecture: str
    driver: str


class BackendChoice(NamedTuple):
    backend: str
    architectures: list[str]
    reason: str


def visible_gpus():
    query = ["nvidia-smi", "--query-gpu=name,compute_cap,driver_version", "--format=csv,noheader"]
    rows = [line.split(", ") for line in (output_of(query) or "").splitlines()]
    return [NvidiaGpu(row[0], row[1].replace(".", ""), row[2]) for row in rows if len(row) == 3]


def require_gpu(arguments):
    """Refuses --backend cuda for what is to run, where no GPU is: before minutes of compiling."""
    if arguments.backend != "cuda" or not shutil.which("nvcc") or _has_gpu():
        return
    raise CommandError(
        "--backend cuda: there is no GPU that answers, so nothing can run; --backend cpu needs none, and "
        "./lab setup --backend cuda compiles all the same.",
        NOTHING_COULD_RUN,
    )


def _has_gpu():
    """As CUDA's driver sees it: nvidia-smi does not come with each."""
    if visible_gpus():
        return True
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    has_begun = driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
    return has_begun and count.value > 0


def nvcc_version():
    """None if there is no nvcc, or if it is engine/bin/nvcc, which has no GPU to compile for."""
    text = output_of(["nvcc", "--version"], seconds=SECONDS_TO_ANSWER) or ""
    match = "cudacheck" not in text and re.search(r"release (\d+)\.(\d+)", text)
    return tuple(map(int, match.groups())) if match else None


def usable_nvcc():
    """The path of an nvcc that can compile what the course consists of; None if there is none."""
    return shutil.which("nvcc") if (nvcc_version() or ()) >= NVCC_MINIMUM else None


def driver_version():
    """The newest CUDA that the driver knows; empty if it does not say."""
    match = re.search(r"CUDA Version\s*: (\S+)", output_of(["nvidia-smi", "--version"]) or "")
    return numbers(match[1]) if match else ()


def choose_backend(names_architectures=True):
    """What `auto` takes: the backend, the architectures to compile for, and why. Without a GPU they are
    asked of nvcc only to be named."""
    version = nvcc_version()
    gpus = visible_gpus()
    if not version:
        reason = (
            "nvcc is not on PATH"
            if gpus
            else "there is neither nvcc on PATH nor a GPU that answers nvidia-smi"
        )
        return BackendChoice("cpu", COMMON_ARCHITECTURES, reason)
    known = []
    if gpus or names_architectures:
        known = re.findall(r"sm_(\d+)\b", output_of(["nvcc", "--list-gpu-code"]) or "")
    common = [arch for arch in COMMON_ARCHITECTURES if arch in known] or COMMON_ARCHITECTURES
    if not gpus:
        return BackendChoice("cpu", common, "nvcc is here, but no GPU answers nvidia-smi")
    driver = driver_version()
    if driver and driver[0] < version[0]:
        reason = (
            f"the driver knows CUDA up to {dotted(driver)} and nvcc is of CUDA {dotted(version)}"
        )
        return BackendChoice("cpu", common, reason)
    own = list(dict.fromkeys(gpu.architecture for gpu in gpus if gpu.architecture in known))
    if not own:
        first = f"{gpus[0].name} (sm_{gpus[0].architecture})"
        reason = f"nvcc {dotted(version)} can't compile for the {first}"
        return BackendChoice("cpu", common, reason)
    return BackendChoice("cuda", own, f"nvcc {dotted(version)} and {gpus[0].name}")


def put_nvcc_on_path():
    """The CUDA toolkit's own installer leaves nvcc in a folder that is not on PATH."""
    if shutil.which("nvcc"):
        return
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if home and os.access(os.path.join(home, "bin/nvcc"), os.X_OK):
            os.environ["PATH"] += os.pathsep + os.path.join(home, "bin")
            return
