# SPDX-License-Identifier: MIT
"""`./lab prove`: what is not on the list of what it explores is denied, and what is on it stays proved; a
guard in which every thread fences has very many orders of its fences, and one verdict."""

import re

import pytest
from explored_programs import (
    BEGINNING,
    DENIED,
    DENIED_FOR,
    LOAD_BUFFERING,
    PROGRAMS,
    PROVED,
    RACES,
    REFUTED,
)

from engine.prove.trace import rows
from lab_runs import lab, needs_racecheck
from this_build import BUILD, ROOT

BACKEND = ROOT / "engine/cpu_backend"
HEADERS = [*BACKEND.glob("device_functions/*"), *BACKEND.glob("include/**/*")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("explored")
    parts, calls = [BEGINNING], []
    for number, (declarations, host, *_) in enumerate(PROGRAMS.values()):
        body = re.sub("; (?=[^)]*)", ";\n  ", host)
        parts.append(f"namespace case_{number} {{\n{declarations}\nvoid run() {{\n  {body}\n}}\n}}")
        calls.append(f"  if (number == {number}) case_{number}::run();")
    parts += ["int main(int, char** words) {", "  const int number = std::atoi(words[1]);", *calls]
    (made / "own.cu").write_text("\n".join([*parts, "}", ""]))
    return made


def prove(folder, name, *words):
    number = str([*PROGRAMS].index(name))
    return lab("prove", "own.cu", "--build", str(BUILD), *words, "--", number, folder=folder)


@needs_racecheck
@pytest.mark.parametrize("name", [*DENIED, *DENIED_FOR])
def test_what_is_not_explored_or_undefined_is_denied(folder, name):
    result = prove(folder, name)
    place, denial = r"own\.cu:\d+", PROGRAMS[name][2]
    if name in DENIED:
        denial += ", whose other orders are not explored"
    else:
        place = f"({place}|the program)"
    assert re.search(rf"lab: not proved: {place} {re.escape(denial)}\.\n", result.stderr), result
    assert result.returncode == 1
    assert "\nproved" not in result.stdout


@needs_racecheck
@pytest.mark.parametrize("name", RACES)
def test_a_race_with_the_host_or_between_streams_is_found(folder, name):
    result = prove(folder, name)
    assert result.returncode == 1, result
    remedies = "|".join(["missing event: ", "missing wait: ", "reused too early: "])
    assert re.search(remedies, result.stdout), result
    assert "\nproved" not in result.stdout


@needs_racecheck
@pytest.mark.parametrize("name", REFUTED)
def test_what_racecheck_finds_is_refuted(folder, name):
    result = prove(folder, name)
    assert result.returncode == 1, result
    assert re.search(rf"refuted by execution \d+:\n\n{REFUTED[name][2]}", result.stdout), result


@needs_racecheck
@pytest.mark.parametrize("name", PROVED)
def test_what_is_explored_is_proved(folder, name):
    result = prove(folder, name)
    assert result.returncode == 0, result
    assert "\nproved: " in f"\n{result.stdout}"


@needs_racecheck
@pytest.mark.parametrize("name", LOAD_BUFFERING)
def test_what_may_buffer_loads_is_not_proved(folder, name):
    result = prove(folder, name)
    assert result.returncode == 1, result
    assert "(load buffering)" in result.stdout
    assert "\nproved" not in result.stdout


@needs_racecheck
def test_a_replay_is_denied_as_well(folder):
    (folder / "list").write_text("")
    result = prove(folder, "clock", "--replay", "list")
    assert result.returncode == 1
    assert "reads a clock, whose other orders are not explored" in result.stderr


def explored(kind):
    return next(set(row["explored"]) for row in rows() if row["kind"] == kind)


RECORDS_CALL = re.compile(
    r"call_without_device|call_without_waiting|call_that_waits|copy_in_stream|blocking_copy|wait_for\(|"
    r"launch_with_pointers|launch_function|cpu_backend::(?:copy_|symbol_)\w+|\b_?cuda[A-Z]\w+\("
)


def test_every_runtime_function_is_written_down_or_listed():
    """A call that is written down and is not on the list is denied."""
    headers = [
        *BACKEND.glob("include/*.h"),
        BACKEND / "runtime/overloads.hpp",
        BACKEND / "execution/launch.hpp",
    ]
    declared = {
        name
        for header in headers
        for name in re.findall(r"\b(cuda[A-Z]\w*)\(", re.sub(r"//.*", "", header.read_text()))
    }
    assert len(declared) > 90
    texts = [
        path.read_text() for path in [*BACKEND.glob("runtime/*"), BACKEND / "execution/launch.hpp"]
    ]
    silent = set()
    for name in declared:
        definitions = [
            text[match.end() : text.find("\n}\n", match.end())]
            for text in texts
            for match in re.finditer(rf"^(?!\s)[^\n/]*\b{name}\([^;{{]*\{{", text, re.M)
        ]
        if not definitions or not all(
            RECORDS_CALL.search(each.split("\n}\n")[0]) for each in definitions
        ):
            silent.add(name)
    assert silent <= explored("call"), silent - explored("call")


def test_every_header_of_device_functions_is_listed_or_its_functions_are():
    names = {str(path.relative_to(BACKEND)) for path in HEADERS if path.is_file()}
    whole = explored("header")
    assert whole <= names
    records = re.compile(
        r"in_kernel\(|form::used\(|meet_lanes\(|shuffle\(|reduce_lanes\(|fence\(|device_nanoseconds\(|volatile_"
    )
    silent = set()
    for name in names - whole:
        text = re.sub(r"//.*", "", (BACKEND / name).read_text())
        for match in re.finditer(
            r"^(?:inline |T )?[\w:]*[ *]?\b(__\w+|clock\w*|device_\w+|current_\w+)\((?!\()",
            text,
            re.M,
        ):
            body = text[match.start() : text.find("\n}", match.start())]
            if not records.search(body):
                silent.add(match[1])
    assert silent <= explored("device"), silent - explored("device")


def test_the_page_shows_the_list():
    page = (ROOT / "docs/prove.md").read_text(encoding="utf-8")
    for row in rows():
        names = ", ".join(f"`{name}`" for name in row["explored"]) or "none"
        assert f"| {row['title']} | {names} |\n" in page


# Options: whether the last block's threads fence after the ticket, and whether all others do; whether
# there is a race in shared memory; and one of two blocks that have nothing to do with the guard.
PROGRAM = """\
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__managed__ unsigned part[9], tickets, result[3], other;

__global__ void sum(bool last_fences, bool all_fence, bool shared_race, bool global_race) {
  __shared__ unsigned ticket, seen[3];
  part[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  seen[threadIdx.x] = threadIdx.x;
  if (global_race && threadIdx.x == 1) other = 1;
  __threadfence();
  if (shared_race) part[blockIdx.x * blockDim.x + threadIdx.x] = seen[2 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) ticket = atomicAdd(&tickets, 1);
  __syncthreads();
  if (all_fence) __threadfence();
  if (ticket != gridDim.x - 1) return;
  if (last_fences) __threadfence();
  for (unsigned block = 0; block < gridDim.x; ++block)
    result[threadIdx.x] += part[block * blockDim.x + threadIdx.x];
}

int main(int, char** words) {
  const auto is_set = [&](int i) { return std::atoi(words[i]) != 0; };
  sum<<<3, 3>>>(is_set(1), is_set(2), is_set(3), is_set(4));
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::printf("%u %u %u\\n", result[0], result[1], result[2]);
}
"""
RIGHT = "proved: 6 executions of 3 blocks of 3 threads; no race"
# By the options: what is said.
VERDICTS = {
    "1 0 0 0": [RIGHT, 'one result: "3 3 3"'],
    "1 1 0 0": [RIGHT, 'one result: "3 3 3"'],
    "0 1 0 0": [RIGHT, 'one result: "3 3 3"'],
    "0 0 0 0": ["refuted by execution 1", "race (global memory) on part", "missing acquire"],
    "1 0 1 0": ["refuted by execution 1", "race (shared memory) on seen", "missing __syncwarp()"],
    "1 1 0 1": ["refuted by execution 1", "race (global memory) on other"],
}


@pytest.fixture(scope="module")
def guard_folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("prove")
    (made / "own.cu").write_text(PROGRAM)
    return made


@needs_racecheck
@pytest.mark.parametrize("options", VERDICTS)
def test_a_race_that_no_order_repairs_is_found(guard_folder, options):
    words = ["prove", "own.cu", "--build", str(BUILD), "--", *options.split()]
    result = lab(*words, folder=guard_folder)
    assert result.returncode == (VERDICTS[options][0] != RIGHT), result
    assert [each for each in VERDICTS[options] if each not in result.stdout] == [], result
