# SPDX-License-Identifier: MIT
"""Parts of CUDA that the CPU backend does not have: a sentence for each, at the line of its use."""

from __future__ import annotations

import functools
import os
import re

from device_code import DeviceCode
from errors import NotUnderstood
from source_text import SourceText
from tokens import WORD

ON_GPU = "run this program on a GPU, with --backend cuda"
OLD_SHUFFLE = (
    "has been removed from CUDA, because it does not say which lanes take part: use {0}_sync, with "
    "the mask of those lanes as its first argument"
)

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

# Names in the text: a pattern, and the sentence; {0} is the name.
NAMES = [
    (
        r"cudaGraph(?!ics)\w*|cudaStream(?:Begin|End)Capture\w*|cudaStreamCapture\w*|"
        r"cudaStreamIsCapturing",
        "CUDA graphs ({0}) are not supported by the CPU backend: launch the kernels one after the "
        f"other, or {ON_GPU}",
    ),
    (
        r"cuda(?:Create|Destroy|Get)?(?:Texture|Surface)\w*|cudaBindTexture\w*|cudaUnbindTexture|"
        r"cudaArray\w*|cuda(?:Malloc|Free)\w*Array|cudaMemcpy\w*Array\w*|cudaMallocMipmappedArray|"
        r"cuda\w*ChannelDesc\w*|cudaChannelFormat\w*|cudaResourceDesc|cudaResViewFormat\w*|"
        r"texture(?=\s*<\s*(?:float|int|unsigned|char|short|u(?:char|short|int))[\w\s]*[,>])|"
        r"cudaTextureType\w*|cudaReadMode\w*|cudaFilterMode\w*|cudaAddressMode\w*|"
        r"tex(?:1D|2D|3D|Cubemap)(?:Lod|Grad|Layered|fetch|gather)?\w*|surf(?:1D|2D|3D)\w*",
        "textures, surfaces and CUDA arrays ({0}) are not supported by the CPU backend: read from "
        f"ordinary memory, or {ON_GPU}",
    ),
    (
        r"cudaIpc\w*|cudaImportExternal\w*|cudaExternal\w*|cudaGraphics\w*|cudaGL\w*|"
        r"cudaEGL\w*|cudaVDPAU\w*",
        f"memory shared with other programs or with graphics ({{0}}) is not supported by the CPU "
        f"backend: {ON_GPU}",
    ),
    (
        r"cudaMemPool\w*|cudaDevice(?:Get|Set)\w*MemPool|cudaMallocFromPoolAsync",
        "memory pools of your own ({0}) are not supported by the CPU backend: cudaMallocAsync works "
        f"without them; else {ON_GPU}",
    ),
    (
        r"cudaLibrary\w*|cudaKernel_t|cudaKernelSet\w*",
        f"loading compiled kernels ({{0}}) is not supported by the CPU backend: {ON_GPU}",
    ),
    (
        r"cu(?:Init|Device[A-Z]|Ctx[A-Z]|Module[A-Z]|Launch[A-Z]|Mem[A-Z]|Func[A-Z]|Event[A-Z]|"
        r"Stream[A-Z]|Get[A-Z]|Driver[A-Z]|Link[A-Z]|Pointer[A-Z]|Occupancy[A-Z])\w*|"
        r"CU(?:device|context|module|function|deviceptr|stream|event|jit_option|array)(?:_v\d)?",
        "the CUDA driver API ({0}) is not supported by the CPU backend: use the runtime API, whose "
        f"functions begin with cuda, or {ON_GPU}",
    ),
    (r"__(?:shfl|shfl_up|shfl_down|shfl_xor|any|all|ballot)", "{0} " + OLD_SHUFFLE),
    (
        r"cudaLaunchAttributeCluster\w*|this_cluster|cluster_group|cudaOccupancyMax\w*Cluster\w*",
        f"thread block clusters ({{0}}) are not supported by the CPU backend: {ON_GPU}",
    ),
    (
        r"memcpy_async|__pipeline_\w+",
        "asynchronous copies ({0}) are not supported by the CPU backend: copy by plain assignments "
        f"with __syncthreads() after them, or {ON_GPU}",
    ),
    (
        r"cudaConfigureCall|cudaSetupArgument|cudaLaunch",
        "{0} has been removed from CUDA: launch the kernel as in kernel<<<blocks, threads>>>(...)",
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


def sentence_about_header(name: str) -> str | None:
    """What to say of a header that belongs to CUDA and is not here; None of any other."""
    if SAMPLES.match(name):
        return (
            f"{name} belongs to NVIDIA's CUDA samples and not to CUDA: name the folder that has it "
            "with --include DIR"
        )
    for beginning, what in HEADERS.items():
        if name.startswith(beginning):
            return f"{what} ({name}) is not supported by the CPU backend: {ON_GPU}"
    return None


def explained(message: bytes) -> bytes:
    """The preprocessor's messages; for a header of CUDA's that is not here, one sentence."""
    for line in message.split(b"\n"):
        found = NOT_FOUND.match(COLOUR.sub(b"", line))
        sentence = found and sentence_about_header(os.fsdecode(found[3]))
        if sentence:
            return b"%s:%s: error: %s\n" % (found[1], found[2], sentence.encode())
    return message


INCLUDED = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)"([ 0-9]*)$', re.M)


def refused_header(text: str, own_folder: str) -> NotUnderstood | None:
    """A header of a toolkit that happens to be installed: such headers are for another compiler."""
    for match in INCLUDED.finditer(text):
        if " 1" not in match[3] or os.path.realpath(match[2]).startswith(own_folder):
            continue
        name = toolkit_name(match[2])
        sentence = name and sentence_about_header(name)
        if name and not sentence and "cuda" in os.path.realpath(match[2]).lower():
            sentence = (
                f"the CPU backend has no {name}, and the CUDA toolkit's can't be used: {ON_GPU}"
            )
        if sentence:
            return NotUnderstood(match.start(), sentence)
    return None


@functools.cache
def is_toolkit(folder: str) -> bool:
    return folder.endswith("/cccl") or os.path.exists(os.path.join(folder, "cuda_runtime_api.h"))


def toolkit_name(path: str) -> str | None:
    """How a header is named within the toolkit's folder of headers; None if it is in none."""
    folder, name = os.path.split(path)
    while not is_toolkit(folder):
        folder, last = os.path.split(folder)
        if not last:
            return None
        name = f"{last}/{name}"
    return name


def check_names(
    text: SourceText, device_code: DeviceCode, own_folder: str, failures: list[NotUnderstood]
) -> None:
    """Refuses names that stand for what is not there, unless the program declares them itself."""
    uses: dict[str, list[tuple[int, int, str]]] = {}
    for match in text.own_matches(USE):
        if os.path.realpath(text.place(match.start())[0]).startswith(own_folder):
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
            failures.append(NotUnderstood(position, NAMES[number][1].format(name)))
