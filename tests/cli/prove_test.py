# SPDX-License-Identifier: MIT
"""`./lab prove`: it counts executions right, refutes what races, and claims no more than it has explored."""

import os
import re
import sys
import time

import pytest

from lab_runs import interrupt, lab, needs_racecheck, started
from this_build import BUILD, ROOT

pytestmark = needs_racecheck
CASE = ROOT / "chapters/04_last_block_guard/every_order.cu"
MUTANTS = {  # of last_block.cuh: what is replaced, and the diagnosis
    "barrier_after_the_ticket": (
        "  // What thread 0 has acquired, all threads may read.\n  __syncthreads();\n",
        "",
        "missing __syncwarp()",
    ),
    "relaxed_ticket": ("memory_order_acq_rel", "memory_order_relaxed", "missing acquire"),
    "ticket_of_block_scope": ("thread_scope_device", "thread_scope_block", "scope too narrow"),
    "ticket_without_acquire": ("memory_order_acq_rel", "memory_order_release", "missing acquire"),
    "ticket_without_release": ("memory_order_acq_rel", "memory_order_acquire", "missing release"),
}

# Two arguments: the blocks, and the launches, for HOST. Each block has two threads; word[] is 0 at first.
PROGRAM = """\
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cuda/atomic>

using word_of_device = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

__global__ void kernel([[maybe_unused]] unsigned* word, [[maybe_unused]] unsigned* out) {
  BODY
}

int main(int, char** words) {
  unsigned *word, *out;
  cudaMallocManaged(&word, 8 * sizeof(unsigned));
  cudaMallocManaged(&out, 8 * sizeof(unsigned));
  for (int i = 0; i < 8; ++i) word[i] = out[i] = 0;
  unsigned blocks = static_cast<unsigned>(std::atoi(words[1]));
  HOST
  kernel<<<blocks, THREADS>>>(word, out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  std::printf("%u %u %u\\n", out[0], out[1], out[2]);
}
"""
PLAINLY = "kernel<<<blocks, THREADS>>>(word, out);"
TOGETHER = """\
void* arguments[] = {&word, &out};
  cudaLaunchCooperativeKernel((void*)kernel, dim3(blocks), dim3(THREADS), arguments, 0, 0);"""
# Three items, handed out by tickets.
QUEUE = """
  __shared__ unsigned item;
  for (;;) {
    if (threadIdx.x == 0) item = word_of_device(*word).fetch_add(1, cuda::memory_order_relaxed);
    __syncthreads();
    const unsigned mine = item;
    __syncthreads();
    if (mine >= 3) return;
    if (threadIdx.x == 0) out[mine] = mine * mine;
  }
"""
NOTHING_STRONG = "out[2 * blockIdx.x + threadIdx.x] = blockIdx.x;"
STORES = """
  if (threadIdx.x == 0) {
    word_of_device(word[blockIdx.x]).store(1, cuda::memory_order_relaxed);
    out[blockIdx.x] = word_of_device(word[1 - blockIdx.x]).load(cuda::memory_order_relaxed);
  }
"""
TICKET = "word_of_device(*word).fetch_add(1, cuda::memory_order_relaxed);"
# Updates by two threads that change nothing, and others.
CHANGES_NOTHING = {
    "relaxed": ("for (int i = 0; i < 8; ++i) atomicAdd(&word[i], 0);", "1 execution"),
    "after a fence": ("__threadfence(); atomicAdd(word, 0);", "2 executions"),
    "release": (
        "word_of_device(*word).fetch_add(0, cuda::memory_order_release);", "2 executions",
    ),
    "the first one changes it": ("atomicOr(word, 1);", "2 executions"),
}  # fmt: skip

# Each with the number of executions. The first block's load may get both tickets, the second one's its own
# alone. A store comes after its own thread's ticket, and not between the two if one takes the other's.
BEGINS_WITH_AN_UPDATE = {
    "load": (f"{TICKET} word_of_device(*word).load(cuda::memory_order_relaxed);", 4),
    "store": (f"{TICKET} word_of_device(*word).store(7, cuda::memory_order_relaxed);", 6),
    "comparison that fails": (f"{TICKET} atomicCAS(word, 99, 1);", 4),
}
# Only one of the six orders of three tickets has the race.
RARE = """
  if (threadIdx.x == 0) {
    const unsigned ticket = word_of_device(*word).fetch_add(1, cuda::memory_order_relaxed);
    if (ticket + blockIdx.x == 2 && blockIdx.x != 1) atomicAdd(&word[1], 1);
    if (ticket == 1 && blockIdx.x == 1 && atomicAdd(&word[1], 0) == 1) out[0] = 1;
    if (blockIdx.x == 2 && ticket == 0) out[0] = 2;
  }
"""
POLL = """
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    word_of_device(*word).exchange(1, cuda::memory_order_release);
  } else if (threadIdx.x == 0) {
    while (word_of_device(*word).fetch_add(0, cuda::memory_order_acquire) == 0) {
    }
  }
"""
# A round may write the same value again, and go on with another one.
PASSES_ON = """
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    unsigned next = 0;
    do {
      next = word_of_device(*word).fetch_add(next, cuda::memory_order_relaxed);
    } while (next < 10);
    out[0] = next;
  } else if (threadIdx.x == 0) {
    word_of_device(*word).store(5, cuda::memory_order_relaxed);
  }
"""
# Who reads q == 1 knows that the other block read p == 0, and so that its fence was first: no race.
STALE_READ = """
  const auto p = word_of_device(word[0]), q = word_of_device(word[1]);
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    out[0] = 1;
    __threadfence();
    if (p.load(cuda::memory_order_relaxed) == 0) q.store(1, cuda::memory_order_relaxed);
  } else if (threadIdx.x == 0) {
    p.store(1, cuda::memory_order_relaxed);
    __threadfence();
    if (q.load(cuda::memory_order_relaxed) == 1) out[1] = out[0];
  }
"""
# A race in one order of the two fences.
DATA_BEHIND_FENCES = """
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    out[2] = 1;
    __threadfence();
    (void)word_of_device(word[2]).load(cuda::memory_order_relaxed);
  } else if (threadIdx.x == 0) {
    word_of_device(word[2]).store(1, cuda::memory_order_relaxed);
    __threadfence();
    out[1] = out[2];
  }
"""
ONCE_BEFORE = """
  kernel<<<blocks, THREADS>>>(word, out);
  cudaDeviceSynchronize();
  word[0] = word[1] = 0;
  word[3] = 1;
"""
# word[1] is set by the host.
TICKETS = """
  if (threadIdx.x == 0) {
    const unsigned ticket = atomicInc(word, gridDim.x - 1);
    const bool is_last = ticket == gridDim.x - 1;
    LAST
  }
"""
LAUNCH = "kernel<<<blocks, 2>>>(word, out); cudaDeviceSynchronize();"
WHO = "if (is_last) out[0] = 3 * out[0] + blockIdx.x;"
# In the third launch, if block 0 was the last one in the first, and in one order alone.
RACE_AFTER_TWO = """
    if (word[1] == 1 && is_last) out[3] = blockIdx.x;
    if (word[1] == 3 && out[3] == 0 && ticket == 2 - blockIdx.x && blockIdx.x != 1) out[0] = 1;
"""
NOBODY_COMES = "while (atomicAdd(word, 0) == 0) {}"
ENDLESS = "for (;;) atomicAdd(word, 1);"
# More of them than a thread makes in one turn of a run by a seed.
MANY_READS = """
  unsigned sum = 0;
  for (unsigned i = 0; i < 40000; ++i) sum += out[(i + sum) % 8];
  if (threadIdx.x == 0) atomicAdd(word, sum + 1);
"""
# The lanes' order is settled by the warp, and by the barrier.
IN_ORDER = """
  if (threadIdx.x == 0) atomicAdd(&word[blockIdx.x], 1);
  __syncwarp();
  if (threadIdx.x == 1) atomicAdd(&word[blockIdx.x], 2);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = atomicAdd(&word[blockIdx.x], 3);
"""


def write(tmp_path, body, threads=2, host="", together=False):
    text = PROGRAM.replace("BODY", body).replace("HOST", host)
    if together:
        assert text.count(PLAINLY) == 1
        text = text.replace(PLAINLY, TOGETHER)
    (tmp_path / "own.cu").write_text(text.replace("THREADS", str(threads)))


def prove(tmp_path, *words, blocks=2, launches=1, target="own.cu", **given):
    options = ["--", str(blocks), str(launches)] if blocks else []
    return lab(
        "prove", target, "--build", str(BUILD), "--decisions", "prove.txt", *words, *options,
        folder=tmp_path, **given,
    )  # fmt: skip


def proves(result, words):
    assert result.returncode == 0, result
    assert f"\nproved: {words}" in f"\n{result.stdout}"
    assert (
        "\nbounds: this grid size and these inputs only, with numbers and times as this machine"
        in result.stdout
    )


def explores(result, words, outputs):
    """All executions, in which the program prints different things."""
    assert result.returncode == 1, result
    assert f"\nexplored: {words}" in f"\n{result.stdout}"
    assert f"; {outputs} different outputs" in result.stdout
    assert "\nnot proved: what it prints depends on the order of its accesses" in result.stdout


def test_the_guard_has_six_executions(tmp_path):
    result = prove(tmp_path, blocks=0, target="04")
    proves(
        result,
        "6 executions of 3 blocks of 2 threads; no race, no fault; it ends even if not all blocks start "
        'together; one result: "sum 15, counter 0"',
    )


def test_the_queue_has_16_and_162(tmp_path):
    write(tmp_path, QUEUE)
    proves(prove(tmp_path, blocks=2), "16 executions of 2 blocks of 2 threads")
    proves(prove(tmp_path, blocks=3), "162 executions of 3 blocks of 2 threads")


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutants_of_the_guard_are_refuted(tmp_path, name):
    right = (CASE.parent / "last_block.cuh").read_text()
    kernel = (CASE.parent / "last_block_guard.cuh").read_text()
    kernel = kernel.replace("04_last_block_guard/last_block.cuh", "last_block.cuh")
    (tmp_path / "last_block_guard.cuh").write_text(kernel)
    (tmp_path / "own.cu").write_text(CASE.read_text().replace("04_last_block_guard/", ""))
    old, new, diagnosis = MUTANTS[name]
    assert right.count(old) == 1
    (tmp_path / "last_block.cuh").write_text(right.replace(old, new))
    result = prove(tmp_path, blocks=0)
    assert result.returncode == 1, result
    assert "refuted by execution " in result.stdout
    assert diagnosis in result.stdout
    assert "proved" not in result.stdout
    again = prove(tmp_path, "--replay", "prove.txt", blocks=0)
    assert again.returncode == 1, again
    assert diagnosis in again.stdout


def test_a_race_in_one_order_alone_is_found_and_replayed(tmp_path):
    write(tmp_path, RARE)
    result = prove(tmp_path, blocks=3)
    assert result.returncode == 1, result
    assert "refuted by execution " in result.stdout
    again = prove(tmp_path, "--replay", "prove.txt", blocks=3)
    assert again.returncode == 1, again
    assert "race (managed memory) on allocation 2, element 0" in again.stdout


def test_without_strong_accesses_there_is_one_execution(tmp_path):
    write(tmp_path, NOTHING_STRONG)
    proves(prove(tmp_path, blocks=3), "1 execution of 3 blocks of 2 threads")


def test_the_order_within_a_block_is_no_choice(tmp_path):
    write(tmp_path, IN_ORDER)
    proves(prove(tmp_path, blocks=2), "1 execution of 2 blocks of 2 threads")


def test_a_device_variable_is_one_word_and_a_shared_one_is_of_each_block(tmp_path):
    ticket = "if (threadIdx.x == 0) { tickets = 0; atomicAdd(&tickets, 1); }"
    write(tmp_path, ticket.replace("tickets = 0; ", ""))
    text = (tmp_path / "own.cu").read_text()
    (tmp_path / "own.cu").write_text(
        text.replace("__global__", "__device__ unsigned tickets;\n__global__")
    )
    proves(prove(tmp_path, blocks=2), "2 executions of 2 blocks of 2 threads")
    write(tmp_path, f"__shared__ unsigned tickets; {ticket}")
    proves(prove(tmp_path, blocks=2), "1 execution of 2 blocks of 2 threads")


def test_a_load_may_get_an_older_value(tmp_path):
    write(tmp_path, STORES)
    result = prove(tmp_path, blocks=2)
    explores(result, "4 executions of 2 blocks of 2 threads", 4)
    shown = dict(re.findall(r'^output (\d), of 1 execution: "(\d \d 0)"$', result.stdout, re.M))
    assert [*shown] == [*"1234"], result
    assert sorted(shown.values()) == ["0 0 0", "0 1 0", "1 0 0", "1 1 0"]
    paths = re.findall(r"^decisions that lead to output \d: (.+)$", result.stdout, re.M)
    lists = [(tmp_path / path).read_text() for path in paths]
    assert len({*lists}) == 4, lists
    for path, output in zip(paths, shown.values()):
        again = prove(tmp_path, "--replay", path, blocks=2)
        assert (again.returncode, f'printed: "{output}"' in again.stdout) == (0, True), again


def test_at_most_four_outputs_are_shown(tmp_path):
    write(tmp_path, TICKETS.replace("LAST", WHO), host=LAUNCH)
    result = prove(tmp_path, blocks=3)
    assert "; 9 different outputs, of which 4 are shown\n" in result.stdout
    counts = re.findall(r'^output \d, of (\d+) executions?: "', result.stdout, re.M)
    assert len(counts) == 4, result


@pytest.mark.parametrize("name", BEGINS_WITH_AN_UPDATE)
def test_what_may_follow_an_update(tmp_path, name):
    body, count = BEGINS_WITH_AN_UPDATE[name]
    write(tmp_path, f"if (threadIdx.x == 0) {{ {body} }}")
    proves(prove(tmp_path, blocks=2), f"{count} executions of 2 blocks")


@pytest.mark.parametrize("name", CHANGES_NOTHING)
def test_updates_that_change_nothing_and_hand_nothing_over_have_no_order(tmp_path, name):
    body, count = CHANGES_NOTHING[name]
    write(tmp_path, f"if (threadIdx.x == 0) {{ {body} }}")
    proves(prove(tmp_path, blocks=2), f"{count} of 2 blocks")


def test_volatile_accesses_are_never_called_proved(tmp_path):
    write(
        tmp_path, "if (blockIdx.x + threadIdx.x == 0) *static_cast<volatile unsigned*>(word) = 1;"
    )
    result = prove(tmp_path, blocks=2)
    assert result.returncode == 1, result
    assert "\nexplored: 1 execution of 2 blocks" in f"\n{result.stdout}"
    assert "older values were not explored\n" in result.stdout
    assert "\nproved" not in f"\n{result.stdout}"


def test_a_volatile_store_to_a_word_of_atomics_is_no_fault(tmp_path):
    write(
        tmp_path,
        "if (blockIdx.x + threadIdx.x == 0) {\n"
        "  atomicAdd(word, 1);\n  *static_cast<volatile unsigned*>(word) = 0;\n}",
    )
    result = prove(tmp_path, blocks=2)
    assert "\nexplored: 1 execution of 2 blocks" in f"\n{result.stdout}"


def test_a_poll_fails_once_at_most(tmp_path):
    write(tmp_path, POLL, together=True)
    result = prove(tmp_path, blocks=2)
    assert result.returncode == 0, result
    # Whether the first round leaves the registers as they were is up to the compiler.
    assert re.search("\nproved: (1 execution|2 executions) of 2 blocks", result.stdout)


def test_a_round_that_goes_on_with_another_value_is_none_that_waits(tmp_path):
    write(tmp_path, PASSES_ON, together=True)
    result = prove(tmp_path, blocks=2)
    assert result.returncode == 0, result
    assert re.search('\nproved: .*; one result: "10 0 0"\n', result.stdout)


def test_a_stale_read_says_which_fence_was_first(tmp_path):
    write(tmp_path, STALE_READ)
    explores(prove(tmp_path, blocks=2), "3 executions of 2 blocks of 2 threads", 2)


def test_each_launch_has_an_order_of_its_fences(tmp_path):
    write(tmp_path, STALE_READ, host=ONCE_BEFORE)
    explores(prove(tmp_path, blocks=2), "9 executions of 2 blocks of 2 threads", 2)
    write(
        tmp_path,
        f"if (word[3] == 1) {{ {DATA_BEHIND_FENCES} return; }} {STALE_READ}",
        host=ONCE_BEFORE,
    )
    result = prove(tmp_path, blocks=2)
    assert result.returncode == 1, result
    assert "race (managed memory) on allocation 2, element 2" in result.stdout


@pytest.mark.parametrize(
    "ends",
    [
        "cuda::atomic_ref<unsigned, cuda::thread_scope_system>(word[0]).store(1);",
        "cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); "
        "cudaMemsetAsync(word, 1, sizeof *word, s);",
    ],
    ids=["host", "fill"],
)
def test_a_poll_that_the_host_or_other_work_ends_may_hang(tmp_path, ends):
    write(
        tmp_path, NOBODY_COMES, host=f"kernel<<<1, 1>>>(word, out); {ends} cudaDeviceSynchronize();"
    )
    result = prove(tmp_path)
    assert result.returncode == 1
    assert (
        "lab: not proved: may hang: a kernel waits for the host or for other work" in result.stderr
    )


def test_a_poll_for_which_nobody_writes_is_a_deadlock(tmp_path):
    write(tmp_path, NOBODY_COMES)
    result = prove(tmp_path, blocks=2)
    assert result.returncode == 1, result
    assert "deadlock" in result.stdout


def test_what_is_not_explored_is_refused_in_a_sentence(tmp_path):
    write(tmp_path, ENDLESS)
    result = prove(tmp_path)
    assert result.returncode == 1, result
    assert "more than 2,000 strong accesses" in result.stderr
    write(tmp_path, NOTHING_STRONG)
    result = prove(tmp_path, blocks=9)
    assert result.returncode == 1, result
    assert "more blocks than are resident at once" in result.stderr


def test_blocks_that_cancel_others_are_refused(tmp_path):
    write(tmp_path, "cuda::for_each_canceled_block<1>([&](dim3 block) { out[block.x] = 1; });")
    text = (tmp_path / "own.cu").read_text()
    (tmp_path / "own.cu").write_text("#include <cuda/work_stealing>\n" + text)
    result = prove(tmp_path)
    assert result.returncode == 1, result
    assert "blocks that cancel others are not explored yet" in result.stderr


def test_additions_and_launches_are_counted_like_any_other(tmp_path):
    write(tmp_path, "atomicAdd(word, 1);")
    proves(prove(tmp_path, blocks=2), "24 executions of 2 blocks of 2 threads")
    write(
        tmp_path,
        "if (threadIdx.x == 0) atomicAdd(word, 1);",
        host="kernel<<<blocks, 2>>>(word, out);",
    )
    proves(prove(tmp_path, blocks=2), "3 executions of 2 blocks of 2 threads")


@pytest.mark.parametrize("launches, count", [(1, 6), (2, 11), (3, 16)])
@pytest.mark.parametrize(
    "last",
    ("++out[0];", "*reinterpret_cast<unsigned**>(&out[4]) = word;"),
    ids=["output", "pointer"],
)
def test_what_is_the_same_after_a_launch_goes_on_once(tmp_path, last, launches, count):
    host = f"for (int i = 1; i < std::atoi(words[2]); ++i) {{ {LAUNCH} }}"
    write(tmp_path, TICKETS.replace("LAST", f"if (is_last) {last}"), host=host)
    result = prove(tmp_path, blocks=3, launches=launches)
    proves(result, f"{count} executions of 3 blocks of 2 threads")
    assert ("\nmerged: executions" in result.stdout) == (launches > 1)


PRINTS = 'if (is_last) printf("%u ", blockIdx.x);'
SHOWS = 'std::printf("%u ", out[0]); out[0] = 0;'


@pytest.mark.parametrize(
    "last, host, count, results, says",
    [
        (WHO, LAUNCH, 3 * 6 + 3, 9, []),
        (PRINTS, LAUNCH, 3 * 6 + 3, 9, []),
        # The second launch leaves the same in all executions.
        (
            f"if (word[1] == 0) {{ {WHO} }}",
            f"{LAUNCH} {SHOWS} word[1] = 1; {LAUNCH} word[1] = 0;",
            6 + 3 * 5 + 3 * 5,
            9,
            [],
        ),
        (
            WHO,
            "unsigned who; kernel<<<3, 2>>>(word, out); cudaMemcpy(&who, out, 4, cudaMemcpyDefault);"
            "out[0] = 0; blocks = who + 1;",
            1 + 2 + 6 + 3,
            3,
            [
                " of 3 blocks of 2 threads, then ",
                ", then 1 block of 2 threads",
                ", then 2 blocks of 2 threads",
            ],
        ),
    ],
    ids=["memory", "output_of_the_kernel", "output_of_the_host", "number_of_blocks"],
)
def test_what_differs_after_a_launch_goes_on_each(tmp_path, last, host, count, results, says):
    write(tmp_path, TICKETS.replace("LAST", last), host=host)
    result = prove(tmp_path, blocks=3)
    if results == 1:
        proves(result, f"{count} executions of ")
    else:
        explores(result, f"{count} executions of ", results)
    for words in says:
        assert words in result.stdout


def test_a_race_of_a_later_launch_is_found_after_each_state(tmp_path):
    write(
        tmp_path,
        TICKETS.replace("LAST", RACE_AFTER_TWO),
        host=f"word[1] = 1; {LAUNCH} word[1] = 2; {LAUNCH} word[1] = 3;",
    )
    result = prove(tmp_path, blocks=3)
    assert result.returncode == 1, result
    assert "race (managed memory) on allocation 2, element 0" in result.stdout
    again = prove(tmp_path, "--replay", "prove.txt", blocks=3)
    assert "race (managed memory) on allocation 2, element 0" in again.stdout


def test_randomness_of_the_host_is_noticed(tmp_path):
    write(
        tmp_path,
        "if (threadIdx.x == 0) atomicAdd(&word[blockIdx.x], word[7]);",
        host="timespec now; clock_gettime(CLOCK_REALTIME, &now); word[7] = unsigned(now.tv_nsec);",
    )
    result = prove(tmp_path, blocks=3)
    assert result.returncode == 1, result
    assert "two runs of the same decisions differ" in result.stderr
    assert "proved" not in result.stdout


def test_what_differs_by_itself_is_no_result(tmp_path):
    write(
        tmp_path,
        NOTHING_STRONG,
        host='timespec now; clock_gettime(CLOCK_REALTIME, &now); std::printf("%ld ", now.tv_nsec);',
    )
    result = prove(tmp_path)
    assert result.returncode == 1, result
    assert (
        "explored: 1 execution of 2 blocks of 2 threads; no race, no fault; it ends even if not all blocks "
        "start together; what it prints differs by itself"
    ) in " ".join(result.stdout.split())
    assert "not proved: what it prints differs by itself" in result.stdout


def test_what_comes_before_the_launch_is_in_each_result_and_times_are_0(tmp_path):
    write(
        tmp_path,
        "if (threadIdx.x == 0) atomicAdd(word, 1);",
        host="cudaEvent_t start, stop; cudaEventCreate(&start); cudaEventCreate(&stop); float time = 7; "
        'cudaEventRecord(start); std::printf("one "); std::fflush(stdout); cudaEventRecord(stop); '
        'cudaEventElapsedTime(&time, start, stop); std::printf("%g ", time);',
    )
    proves(
        prove(tmp_path, blocks=3),
        "6 executions of 3 blocks of 2 threads; no race, no fault; it ends even if not all blocks "
        'start together; one result: "one 0 0 0 0"',
    )


def test_a_thread_of_the_host_goes_on_in_each_execution(tmp_path):
    write(
        tmp_path,
        "if (threadIdx.x == 0) atomicAdd(word, 1);",
        host="std::atomic<bool> over = false; std::thread waits([&] { over.wait(false); });",
    )
    text = (
        (tmp_path / "own.cu")
        .read_text()
        .replace(
            "  std::printf", "  over = true;\n  over.notify_all();\n  waits.join();\n  std::printf"
        )
    )
    (tmp_path / "own.cu").write_text("#include <atomic>\n#include <thread>\n" + text)
    proves(prove(tmp_path, "--seconds", "60", blocks=3), "6 executions of 3 blocks of 2 threads")


def test_who_launches_nothing_is_told_what_the_program_said(tmp_path):
    write(tmp_path, "*out = 1;", host='std::printf("no grid\\n"); return 3;')
    result = prove(tmp_path, blocks=2)
    assert result.returncode == 1, result
    assert 'has launched no kernel, and has printed "no grid"\n' in result.stderr


def test_many_plain_reads_do_not_end_a_turn(tmp_path):
    write(tmp_path, MANY_READS)
    proves(prove(tmp_path, blocks=2), "2 executions of 2 blocks of 2 threads")


def test_limits_end_with_not_proved(tmp_path):
    write(tmp_path, QUEUE)
    result = prove(tmp_path, "--limit", "5", blocks=3)
    assert result.returncode == 1, result
    assert "not proved: 5 executions explored" in result.stdout
    result = prove(tmp_path, "--seconds", "1", blocks=6)
    assert result.returncode == 1, result
    assert re.search(r"not proved: \d+ executions? explored.*\(--seconds\)", result.stdout)


def test_an_interruption_says_how_far_it_came(tmp_path):
    write(tmp_path, QUEUE)
    prove(tmp_path, "--limit", "1")  # builds it
    command = [sys.executable, ROOT / "lab", "prove", "own.cu", "--build", str(BUILD), "--", "6"]
    with started(command, tmp_path) as process:
        assert "exploring" in process.stdout.readline()
        time.sleep(0.5)
        said, problems = interrupt(process)
    assert process.returncode == 130
    assert re.search(r"not proved: \d+ executions? explored.*interrupted", said)
    assert "Traceback" not in problems


def test_wrong_lists_are_refused_in_one_sentence(tmp_path):
    write(tmp_path, QUEUE)
    for text, words in (("0.0\nx\n", "'x' is not a block and a thread"), ("7.7\n", "decision 1 ")):
        (tmp_path / "list").write_text(text)
        result = prove(tmp_path, "--replay", "list")
        assert result.returncode != 0
        assert words in result.stderr
    assert (
        prove(tmp_path, "--replay", "missing.txt").stderr
        == "lab: missing.txt can't be read as a list of decisions: No such file or directory.\n"
    )


def test_a_file_of_another_kind_is_kept(tmp_path):
    write(tmp_path, QUEUE)
    (tmp_path / "prove.txt").write_text("mine\n")
    assert "a file of another kind is there" in prove(tmp_path).stderr
    assert (tmp_path / "prove.txt").read_text() == "mine\n"


def test_decisions_that_nobody_named_a_file_for_are_in_the_build_folder(tmp_path):
    write(tmp_path, RARE)
    words = ["own.cu", "--build", str(BUILD)]
    result = lab("prove", *words, "--", "3", "1", folder=tmp_path)
    assert "refuted by execution " in result.stdout
    assert os.listdir(tmp_path) == ["own.cu"]
    file = BUILD / "prove.txt"
    assert f" --replay {file} " in result.stderr
    again = lab("prove", *words, "--replay", file, "--", "3", "1", folder=tmp_path)
    assert "race (managed memory) on allocation 2, element 0" in again.stdout


# A stack whose next pointers are plain: a block that has taken the top reads the next one, which another
# block has pushed again by then. Hardly a schedule shows it.
POPPED_TWICE = """\
#include <cuda_runtime.h>
#include <cuda/atomic>
using Top = cuda::atomic_ref<int, cuda::thread_scope_device>;
constexpr auto acquire = cuda::memory_order_acquire, both = cuda::memory_order_acq_rel;
__device__ int top = 1, following[4] = {0, 2, 0, 0}, taken[1];
__global__ void kernel() {
  int at = Top(top).load(acquire);
  int next = following[at];
  if (!Top(top).compare_exchange_strong(at, next, both)) return;
  if (blockIdx.x == 0) {
    taken[0] = at;
  } else if (PUSHES) {
    int first = Top(top).load(cuda::memory_order_relaxed);
    following[at] = first;
    Top(top).compare_exchange_strong(first, at, both);
  }
}
int main() {
  kernel<<<2, 1>>>();
  cudaDeviceSynchronize();
}
"""


def test_racecheck_explores_small_launches_as_well(tmp_path):
    def racecheck(pushes):
        (tmp_path / "own.cu").write_text(POPPED_TWICE.replace("PUSHES", pushes))
        return lab("racecheck", "own.cu", "--build", str(BUILD), folder=tmp_path)

    found = racecheck("true")
    assert found.returncode == 1, found
    refuted = (
        r"\nExplored as well, as the launches are small, and refuted by execution \d+:\n\nrace "
    )
    assert re.search("0 found\n" + refuted, found.stdout), found
    right = racecheck("false")
    assert right.returncode == 0, right
    assert "\nExplored as well, as the launches are small: all " in right.stdout
