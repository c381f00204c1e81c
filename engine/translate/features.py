# SPDX-License-Identifier: MIT
"""Parts of CUDA that the CPU backend does not have: a refusal of each, at the line of its use."""

from __future__ import annotations

import functools
import os
import re

from device_code import DeviceCode
from refusals import NotUnderstood, Refusal
from source_text import QUOTED, WORD, SourceText, is_below, native, of_native, unquoted

# Headers, by how their names begin: what they are for.
HEADERS = {
    "thrust/": "Thrust",
    "cub/": "CUB",
    "cute/": "CuTe",
    "cutlass/": "CUTLASS",
    "cublas": "cuBLAS",
    "curand_": "cuRAND for kernels",
    "curand": "cuRAND",
    "cufft": "cuFFT",
    "cusparse": "cuSPARSE",
    "cusolver": "cuSOLVER",
    "cudnn": "cuDNN",
    "cutensor": "cuTENSOR",
    "nccl": "NCCL",
    "nvshmem": "NVSHMEM",
    "npp": "NPP",
    "nvjpeg": "nvJPEG",
    "nvgraph": "nvGRAPH",
    "nvrtc": "compiling at run time (NVRTC)",
    "nvml": "NVML",
    "nvJitLink": "linking at run time (nvJitLink)",
    "nvPTXCompiler": "compiling PTX",
    "nvToolsExt": "NVTX",
    "nvtx3/": "NVTX",
    "nv/": "libcu++'s <nv/...> headers",
    "cupti": "CUPTI",
    "mma.h": "matrix multiplication by warps (WMMA)",
    "crt/": "the toolkit's internal headers",
    "texture_": "textures",
    "surface_": "surfaces",
    "cuda_texture": "textures",
    "cuda_surface": "surfaces",
    "cuda_gl": "OpenGL",
    "cudaGL": "OpenGL",
    "cuda_egl": "EGL",
    "cudaEGL": "EGL",
    "cuda_vdpau": "VDPAU",
    "cuda_d3d": "Direct3D",
    "cuda_bf16": "bfloat16",
    "cuda_fp4": "4-bit floating point",
    "cuda_fp6": "6-bit floating point",
    "cuda_fp8": "8-bit floating point",
    "cuda_pipeline": "asynchronous copies (pipelines)",
    "cuda_awbarrier": "asynchronous barriers",
    "cooperative_groups/memcpy_async.h": "asynchronous copies (memcpy_async)",
    "cooperative_groups/": "this part of cooperative groups",
    "cuda/pipeline": "cuda::pipeline",
    "cuda/std/": "cuda::std",
    "cuda/ptx": "cuda::ptx",
    "cuda/": "this part of libcu++",
}
SAMPLES = re.compile(
    r"(?:helper_(?:cuda|functions|image|string|timer|math|gl|multiprocess|cuda_drvapi|cusolver)"
    r"|rendercheck_gl|nvrtc_helper)\.h\Z"
)

# Names in the text: a pattern, and the code of the refusal.
NAMES = [
    (
        r"cudaGraph(?!ics)\w*|cudaStream(?:Begin|End)Capture\w*|cudaStreamCapture\w*|"
        r"cudaStreamIsCapturing",
        "cuda_graphs",
    ),
    (
        r"cuda(?:Create|Destroy|Get)?(?:Texture|Surface)\w*|cudaBindTexture\w*|cudaUnbindTexture|"
        r"cudaArray\w*|cuda(?:Malloc|Free)\w*Array|cudaMemcpy\w*Array\w*|cudaMallocMipmappedArray|"
        r"cuda\w*ChannelDesc\w*|cudaChannelFormat\w*|cudaResourceDesc|cudaResViewFormat\w*|"
        r"texture(?=\s*<\s*(?:float|int|unsigned|char|short|u(?:char|short|int))[\w\s]*[,>])|"
        r"cudaTextureType\w*|cudaReadMode\w*|cudaFilterMode\w*|cudaAddressMode\w*|"
        r"tex(?:1D|2D|3D|Cubemap)(?:Lod|Grad|Layered|fetch|gather)?\w*|surf(?:1D|2D|3D)\w*",
        "textures",
    ),
    (
        r"cudaIpc\w*|cudaImportExternal\w*|cudaExternal\w*|cudaGraphics\w*|cudaGL\w*|"
        r"cudaEGL\w*|cudaVDPAU\w*",
        "shared_with_others",
    ),
    (
        r"cudaMemPool\w*|cudaDevice(?:Get|Set)\w*MemPool|cudaMallocFromPoolAsync",
        "memory_pools",
    ),
    (
        r"cudaLibrary\w*|cudaKernel_t|cudaKernelSet\w*",
        "compiled_kernels",
    ),
    (
        r"cu(?:Init|Device[A-Z]|Ctx[A-Z]|Module[A-Z]|Launch[A-Z]|Mem[A-Z]|Func[A-Z]|Event[A-Z]|"
        r"Stream[A-Z]|Get[A-Z]|Driver[A-Z]|Link[A-Z]|Pointer[A-Z]|Occupancy[A-Z])\w*|"
        r"CU(?:device|context|module|function|deviceptr|stream|event|jit_option|array)(?:_v\d)?",
        "driver_api",
    ),
    (r"__(?:shfl|shfl_up|shfl_down|shfl_xor|any|all|ballot)", "old_shuffle"),
    (
        r"cudaLaunchAttributeCluster\w*|this_cluster|cluster_group|cudaOccupancyMax\w*Cluster\w*",
        "clusters",
    ),
    (
        r"memcpy_async|__pipeline_\w+",
        "asynchronous_copies",
    ),
    (
        r"cudaConfigureCall|cudaSetupArgument|cudaLaunch",
        "removed_launch",
    ),
]
USE = re.compile(
    rf"(?<![{WORD}])(?:" + "|".join(f"({pattern})" for pattern, _ in NAMES) + rf")(?![{WORD}])"
)
NOT_FOUND = re.compile(
    rb"^(.+?):(\d+)(?::\d+)?: fatal error: '?([^\s':]+)'?"
    rb"(?:: No such file or directory| file not found)"
)
COLOUR = re.compile(rb"\x1b\[[0-9;]*[mK]")


def refused_name(name: str, position: int = 0) -> NotUnderstood | None:
    """What to say of a header that belongs to CUDA and is not here; None of any other."""
    if SAMPLES.match(name):
        return NotUnderstood(position, "header_of_samples", name=name)
    for beginning, feature in HEADERS.items():
        if name.startswith(beginning):
            return NotUnderstood(position, "header_of_feature", name=name, feature=feature)
    return None


def missing_header(message: bytes) -> Refusal | None:
    """The refusal of a header of CUDA's that the preprocessor has not found, as its message says."""
    for line in message.split(b"\n"):
        found = NOT_FOUND.match(COLOUR.sub(b"", line))
        refused = found and refused_name(found[3].decode("latin-1"))
        if refused:
            file = found[1].decode("latin-1")
            return Refusal(file, int(found[2]), refused.code, refused.arguments)
    return None


INCLUDED = re.compile(rf"^# (\d+) {QUOTED}([ 0-9]*)$", re.M)


def refused_header(text: str, own_folder: str, is_c: bool = False) -> NotUnderstood | None:
    """A header of a toolkit that happens to be installed: such headers are for another compiler.

    And in C one of the backend's, which are C++.
    """
    for match in INCLUDED.finditer(text):
        file = unquoted(match[2])
        if " 1" not in match[3]:
            continue
        if is_below(file, own_folder):
            if is_c:
                return NotUnderstood(match.start(), "header_in_c", name=os.path.basename(file))
            continue
        name = toolkit_name(native(file))
        refused = name and refused_name(name, match.start())
        if refused:
            return refused
        if name and "cuda" in os.path.realpath(native(file)).lower():
            return NotUnderstood(match.start(), "header_of_toolkit", name=name)
    return None


@functools.cache
def is_toolkit(folder: str) -> bool:
    return folder.endswith("/cccl") or os.path.exists(os.path.join(folder, "cuda_runtime_api.h"))


def toolkit_name(path: str) -> str | None:
    """How the header with this native path is named in the toolkit's folder; None if it is in none."""
    folder, name = os.path.split(path)
    while not is_toolkit(folder):
        folder, last = os.path.split(folder)
        if not last:
            return None
        name = f"{last}/{name}"
    return of_native(name)


def check_names(
    text: SourceText, device_code: DeviceCode, own_folder: str, failures: list[NotUnderstood]
) -> None:
    """Refuses names that stand for what is not there, unless the program declares them itself."""
    uses: dict[str, list[tuple[int, int, str]]] = {}
    for match in text.own_matches(USE):
        if is_below(text.place(match.start())[0], own_folder):
            continue
        kind = device_code.use(match.start(), match.end())
        uses.setdefault(match[0], []).append((match.start(), match.lastindex - 1, kind))
    refused = set()
    for name, found in uses.items():
        if not name.startswith(("cuda", "CU", "__pipeline", "texture")):
            if any(kind == "declaration" for _, _, kind in found):
                continue
            found = [each for each in found if each[2] == "call"]
        if found and found[0][1] not in refused:
            position, number, _ = found[0]
            refused.add(number)  # one sentence for each feature
            failures.append(NotUnderstood(position, NAMES[number][1], name=name))
