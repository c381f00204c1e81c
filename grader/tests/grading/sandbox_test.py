# SPDX-License-Identifier: MIT
"""What a program in the sandbox can reach and use, for each kind of sandbox that works here."""

import concurrent.futures
import ctypes
import json
import os
import pathlib
import re
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from unittest import mock

import pytest
from grading_runs import real_sandboxes

from engine.command.errors import CommandError
from engine.command.processes import signal_name
from engine.command.untrusted_files import content_of, json_in
from grader.judging.results import how_it_ended
from grader.judging.runner import FILES, MEMORY, OUTPUT, PROCESSES, TIME, Limits, OutOfTime
from grader.judging.sandboxed import SECONDS_OF_ALL, Program, SandboxRunner
from grader.sandbox import confined
from grader.sandbox import sandbox as sandboxes
from grader.sandbox.kernel_limits import NUMBERS
from grader.sandbox.process_trees import tree_of
from grader.sandbox.sandbox import (
    BUBBLEWRAP,
    LANDLOCK,
    NONE,
    Sandbox,
    interpreter,
    strongest_sandbox,
)
from grader.sandbox.sandboxed_run import PATIENCE, Access, SandboxedRun, SandboxFailed, Stopped
from lab_tool.paths import ROOT
from test_setup import captured

# What a program may not do to other files and processes of the user that runs the grader.
TRIES = """
import os, resource, signal, sys
file, process = sys.argv[1], int(sys.argv[2])
tries = {
    "chmod": lambda: os.chmod(file, 0o777),
    "chown": lambda: os.chown(file, os.getuid(), os.getgid()),
    "utime": lambda: os.utime(file, (1, 1)),
    "setxattr": lambda: os.setxattr(file, "user.name", b"value"),
    "truncate": lambda: os.truncate(file, 0),
    "open": lambda: os.open(file, os.O_RDONLY | os.O_TRUNC),
    "kill": lambda: os.kill(process, signal.SIGCONT),
    "kill of a group": lambda: os.kill(0, signal.SIGCONT),
    "pidfd": lambda: signal.pidfd_send_signal(os.pidfd_open(process), signal.SIGCONT),
    "limits": lambda: resource.prlimit(process, resource.RLIMIT_CORE, (0, 0)),
    "affinity": lambda: os.sched_setaffinity(process, [0]),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, process, 19),
}
for name, action in tries.items():
    try:
        action()
        print(name)
    except OSError:
        pass
os.kill(os.getpid(), 0)
print("end")
"""
AS_AN_ORDINARY_USER = f"""
import os, pathlib, subprocess, sys
from grader.sandbox.sandbox import Sandbox, interpreter
from grader.sandbox.sandboxed_run import Access
file = pathlib.Path("file").resolve()
file.write_text("content")
sleeper = subprocess.Popen(["sleep", "60"])
python, readable = interpreter()
try:
    with Sandbox.folder() as work:
        words = [python, "-c", {TRIES!r}, file, sleeper.pid]
        run = Sandbox(sys.argv[1]).run(words, Access(work, (file, *readable)))
        print(run.output, end="")
    assert file.read_text() == "content"
finally:
    sleeper.kill()
"""

# What CUDA's driver does when it begins, and what comes near it.
FOR_THE_DRIVER = """
import socket, threading
def named(name):
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as file:
        file.write(name)
tries = {
    "waits": lambda: bound(socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC).listen(1),
    "names a thread": lambda: named("driver"),
    "waits for streams": lambda: bound(socket.SOCK_STREAM),
    "takes messages": lambda: bound(socket.SOCK_DGRAM),
    "connects": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect("other"),
    "network": lambda: socket.socket(socket.AF_INET, socket.SOCK_SEQPACKET),
}
def bound(kind):
    made = socket.socket(socket.AF_UNIX, kind)
    made.bind("mine")
    return made
for name, action in tries.items():
    try:
        action()
        print(name)
    except PermissionError:
        pass
"""

# The calls' errors; 1 is EPERM.
KEYS_AND_MEMORY = """
import ctypes, os, platform
add_key, request_key, keyctl = {"x86_64": (248, 249, 250)}.get(platform.machine(), (217, 218, 219))
call = ctypes.CDLL(None, use_errno=True).syscall
def error(*arguments):
    return ctypes.get_errno() if call(*arguments) < 0 else 0
SESSION = ctypes.c_long(-3)
print("key:", error(add_key, b"user", b"left", b"x", ctypes.c_size_t(1), SESSION))
print("request:", error(request_key, b"user", b"left", None, SESSION))
print("link:", error(keyctl, 0, SESSION, 0))
try:
    os.memfd_create("memory")
    print("memory: 0")
except OSError as problem:
    print("memory:", problem.errno)
"""
MANY_PROCESSES = "for i in $(seq 60); do sleep 30 & done; wait"


class SandboxCases:
    def __init__(self, folder):
        self.folder = folder.resolve()

    def run_in(self, kind, command, readable=(), environment=None, **limits):
        work = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        access = Access(work, readable)
        return Sandbox(kind).run(command, access, environment, Limits(**limits)), work

    def in_each(self):
        yield from real_sandboxes()


@pytest.fixture
def boxes(tmp_path):
    return SandboxCases(tmp_path)


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_a_file_outside_cannot_be_read(boxes):
    secret = boxes.folder / "seed"
    secret.write_text("a secret\n", encoding="utf-8")
    for kind in boxes.in_each():
        own = pathlib.Path(f"/proc/{os.getpid()}/environ")
        for path in (secret, ROOT / "lab", pathlib.Path("/etc/passwd"), own):
            run, _ = boxes.run_in(kind, ["cat", path])
            assert run.code != 0, path
            assert "secret" not in run.output


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_what_is_named_can_be_read_and_not_written(boxes):
    given = boxes.folder / "given"
    given.write_text("given\n", encoding="utf-8")
    for kind in boxes.in_each():
        run, _ = boxes.run_in(kind, ["cat", given], (given,))
        assert (run.code, run.output) == (0, "given\n")
        run, _ = boxes.run_in(kind, ["sh", "-c", f"echo mine > {given}"], (given,))
        assert run.code != 0
        assert given.read_text(encoding="utf-8") == "given\n"


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_only_the_work_folder_can_be_written(boxes):
    places = [boxes.folder, pathlib.Path.home(), pathlib.Path("/usr"), pathlib.Path("/var/tmp")]
    for kind in boxes.in_each():
        for place in places:
            run, _ = boxes.run_in(kind, ["sh", "-c", f"echo mine > {place}/left_behind"])
            assert not (place / "left_behind").exists(), place
        run, work = boxes.run_in(kind, ["sh", "-c", "echo mine > here"])
        assert run.code == 0, run.output
        assert content_of(work / "here", 100) == b"mine\n"


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_there_is_no_network(boxes):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        python, readable = interpreter()
        for kind in boxes.in_each():
            text = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
            run, _ = boxes.run_in(kind, [python, "-c", text], readable)
            assert run.code == 1, run.output
            assert re.search("refused|not permitted|unreachable", run.output)


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_the_environment_is_not_inherited(boxes):
    with mock.patch.dict(os.environ, {"A_TOKEN": "secret"}):
        for kind in boxes.in_each():
            run, _ = boxes.run_in(kind, ["env"], environment={"GIVEN": "1"})
            assert "GIVEN=1" in run.output
            assert "A_TOKEN" not in run.output


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_only_with_a_gpu_the_way_to_it_is_told():
    told = {"LD_LIBRARY_PATH": "/usr/lib/driver", "CUDA_VISIBLE_DEVICES": "3"}
    with mock.patch.dict(os.environ, told):
        for kind in real_sandboxes():
            for gpu, expected in ((True, "/usr/lib/driver 3"), (False, "none none")):
                with Sandbox.folder() as folder:
                    words = "${LD_LIBRARY_PATH:-none} ${CUDA_VISIBLE_DEVICES:-none}"
                    run = Sandbox(kind).run(["sh", "-c", f"echo {words}"], Access(folder, gpu=gpu))
                    assert run.output.strip() == expected


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_only_with_a_gpu_its_driver_can_begin():
    python, readable = interpreter()
    without = {LANDLOCK: [], NONE: ["names a thread"]}
    for kind in {*real_sandboxes(), NONE} - {BUBBLEWRAP}:
        for gpu, expected in ((True, ["waits", "names a thread"]), (False, without[kind])):
            with Sandbox.folder() as folder:
                command = [python, "-c", FOR_THE_DRIVER]
                run = Sandbox(kind).run(command, Access(folder, readable, gpu=gpu))
                assert (run.code, run.output.splitlines()) == (0, expected)


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_each_limit_ends_the_program_and_is_named(boxes):
    python, readable = interpreter()
    memory = "import time; x = bytearray(200 << 20); time.sleep(30)"
    programs = {
        TIME: (["sleep", "30"], {"seconds": 0.5}),
        OUTPUT: (["yes"], {}),
        MEMORY: ([python, "-c", memory], {"memory": 64 << 20}),
        FILES: (["sh", "-c", "for i in 1 2 3 4 5; do head -c 3000000 /dev/zero > $i; done; sleep 9"],
                {"files": 9 << 20}),
    }  # fmt: skip
    for kind in boxes.in_each():
        for limit, (command, limits) in programs.items():
            start = time.monotonic()
            run, _ = boxes.run_in(kind, command, readable, **limits)
            assert (run.code, run.limit) == (None, limit), run.output[-300:]
            assert time.monotonic() - start < 20, limit


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
@pytest.mark.parametrize("bytes_each, ends", ((0, None), (60 << 20, MEMORY)))
def test_memory_that_processes_share_counts_once(boxes, bytes_each, ends):
    python, readable = interpreter()
    program = (
        "import os, time\nshared = bytearray(60 << 20)\nfor _ in range(8):\n    if os.fork() == 0:\n"
        f"        own = bytearray({bytes_each})\n        time.sleep(2)\n        os._exit(0)\n"
        "for _ in range(8):\n    os.wait()\n"
    )
    for kind in boxes.in_each():
        run, _ = boxes.run_in(kind, [python, "-c", program], readable, memory=256 << 20)
        assert (run.code, run.limit) == (None if ends else 0, ends), run.output[-300:]


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_a_limits_figure_is_as_people_write_it():
    figures = [Limits().figure(limit) for limit in (TIME, MEMORY, PROCESSES, OUTPUT, FILES)]
    assert figures == ["10 s", "2 GiB", "256", "1 MiB", "64 MiB"]
    assert Limits(memory=256 << 20).figure(MEMORY) == "256 MiB"


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_time_is_that_of_processors_so_that_others_do_not_matter(boxes):
    python, readable = interpreter()
    program = "import time\nwhile time.process_time() < 0.4: pass"
    at_once = 6 * len(os.sched_getaffinity(0))
    for kind in boxes.in_each():
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            runs = [
                pool.submit(boxes.run_in, kind, [python, "-c", program], readable, seconds=1)
                for _ in range(at_once)
            ]
        assert {run.result()[0].limit for run in runs} == {None}


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_time_of_processes_that_have_ended_counts():
    burn = f"{sys.executable} -c 'import time\nwhile time.process_time() < 0.4: pass'"
    process = subprocess.Popen(["sh", "-c", f"{burn}; echo; exec sleep 60"], stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        assert sum(each.seconds for each in tree_of(process.pid)) >= 0.3
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_a_run_says_how_much_time_it_took(boxes):
    """Of processors; one that waits is charged for a part of what it waits."""
    python, readable = interpreter()
    burns = "import time\nwhile time.process_time() < 0.5: pass"
    for kind in boxes.in_each():
        run, _ = boxes.run_in(kind, [python, "-c", burns], readable)
        assert run.seconds >= 0.45  # the kernel rounds
        run, _ = boxes.run_in(kind, ["sleep", "0.9"])
        assert run.seconds >= 0.9 / PATIENCE
        run, _ = boxes.run_in(kind, [python, "-c", burns], readable, seconds=0.2)
        assert run.limit == TIME
        assert run.seconds >= 0.2


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_all_runs_together_have_a_bound():
    ends = [SandboxedRun(0, None, None, "", seconds=50.0), SandboxedRun(None, 9, TIME, "")]
    given = []

    class Played:
        def run(self, command, access, environment, limits, **_):
            given.append(limits.seconds)
            return ends[len(given) > 2]

    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "a.cu").write_text("", encoding="utf-8")
        builds = mock.Mock()
        (place / "runner").mkdir()
        runner = SandboxRunner(Played(), builds, None, place / "a.cu", place / "runner")

        def run():
            return runner.run(Program(place, ()), place, [], {}, Limits(seconds=30))

        assert [run().code, run().code] == [0, 0]
        with pytest.raises(OutOfTime):
            run()
        assert given == [30, 30, SECONDS_OF_ALL - 100]
        runner.seconds = SECONDS_OF_ALL
        with pytest.raises(OutOfTime):
            run()
        assert len(given) == 3


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_descriptors_above_1023_are_watched(boxes):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    taken = [os.open("/dev/null", os.O_RDONLY) for _ in range(1100)]
    try:
        run, _ = boxes.run_in(real_sandboxes()[0], ["echo", "said"])
    finally:
        for each in taken:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (run.code, run.output) == (0, "said\n")


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_addresses_are_the_same_in_each_run(boxes):
    if ctypes.CDLL(None).personality(ctypes.c_ulong(0x0040000)) < 0:
        pytest.skip("this container does not let a program ask for that")
    ctypes.CDLL(None).personality(ctypes.c_ulong(0))
    for kind in boxes.in_each():
        maps = [boxes.run_in(kind, ["cat", "/proc/self/maps"])[0].output for _ in range(2)]
        assert "[stack]" in maps[0]
        one, other = maps
        assert one == other


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_processes_are_limited(boxes):
    for kind in boxes.in_each():
        run, _ = boxes.run_in(kind, ["sh", "-c", MANY_PROCESSES], processes=20, seconds=20)
        is_refused = "fork" in run.output  # by the kernel, before anybody has looked
        assert run.limit == PROCESSES or is_refused, run
        if kind == LANDLOCK and os.geteuid() == 0:
            # Here the kernel counts a user's processes, and the watcher never comes before it.
            words = ["sh", "-c", f"({MANY_PROCESSES}) & sleep 1"]
            run, _ = boxes.run_in(kind, words, processes=20, seconds=20)
            assert "fork" in run.output
            assert run.limit is None


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_nothing_is_left_running(boxes):
    for kind in boxes.in_each():
        mark = f"{os.getpid()}.{time.time_ns()}"
        run, _ = boxes.run_in(kind, ["sh", "-c", f"(setsid sleep {mark} &) ; sleep 0.2"])
        assert run.code == 0, run.output
        end = time.monotonic() + 5  # the kernel kills them when bubblewrap has ended
        while any(mark in line for line in _command_lines()) and time.monotonic() < end:
            time.sleep(0.01)
        assert [line for line in _command_lines() if mark in line] == []


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_ends_are_told_apart(boxes):
    for kind in boxes.in_each():
        run, _ = boxes.run_in(kind, ["sh", "-c", "echo out; echo err >&2; exit 3"])
        assert (run.code, run.signal, run.limit) == (3, None, None)
        assert sorted(run.output.split()) == ["err", "out"]
        run, _ = boxes.run_in(kind, ["sh", "-c", "kill -SEGV $$"])
        assert (run.code, run.signal, run.limit) == (None, 11, None)
        run, _ = boxes.run_in(kind, ["sh", "-c", "exit 255"])  # exit(-1), and no signal 127
        assert (run.code, run.signal, run.limit) == (255, None, None)
        assert "The program ended with 255." in how_it_ended(run.as_run)


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_a_signal_without_a_name_has_its_number():
    assert signal_name(11) == "SIGSEGV"
    assert signal_name(40) == "signal 40"


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_what_the_sandbox_fails_at_is_told_from_what_the_program_does(boxes):
    for kind in boxes.in_each():
        for command in (["true"], ["sh", "-c", "exit 126"], ["sh", "-c", "kill -SEGV $$"]):
            assert boxes.run_in(kind, command)[0].has_begun, command
        work = pathlib.Path(tempfile.mkdtemp(dir=boxes.folder))
        work.rmdir()
        run = Sandbox(kind).run(["sh", "-c", "exit 1"], Access(work))
        assert not run.has_begun, run.output


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_a_program_has_no_descriptor_of_the_grader(boxes):
    for kind in boxes.in_each():
        run, _ = boxes.run_in(kind, ["ls", "/proc/self/fd"])
        assert run.output.split() == ["0", "1", "2", "3"]  # 3 is that folder


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_namespaces_and_other_processes_are_closed(boxes):
    for kind in boxes.in_each():
        run, _ = boxes.run_in(kind, ["unshare", "--user", "true"])
        assert run.code != 0
        run, _ = boxes.run_in(kind, ["sh", "-c", f"kill -0 {os.getpid()}"])
        assert run.code != 0


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_keys_and_memory_without_a_name_are_closed(boxes):
    """What is neither a file nor a process: a namespace alone leaves it open."""
    python, readable = interpreter()
    for kind in boxes.in_each():
        run, _ = boxes.run_in(kind, [python, "-c", KEYS_AND_MEMORY], readable)
        assert run.output == "key: 1\nrequest: 1\nlink: 1\nmemory: 1\n"


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_what_else_belongs_to_the_same_user_is_closed(boxes):
    """Also without Landlock, of which early versions leave much of this open."""
    boxes.folder.chmod(0o777)
    words = [sys.executable, "-c", AS_AN_ORDINARY_USER]
    if os.geteuid() == 0:
        words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *words]
    for kind in [*real_sandboxes(), NONE]:
        run = captured([*words, kind], cwd=boxes.folder, timeout=60)
        # In bubblewrap its group is its own, and else the one that watches it is in it.
        expected = "kill of a group\nend\n" if kind == BUBBLEWRAP else "end\n"
        assert (run.returncode, run.stdout) == (0, expected), run.stderr


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_landlock_does_not_hide_that_a_file_is_there(boxes):
    """What it does not guarantee, and the page says so."""
    if LANDLOCK not in real_sandboxes():
        pytest.skip("Landlock does not work here")
    run, _ = boxes.run_in(LANDLOCK, ["stat", "--format=%s", ROOT / "lab"])
    assert (run.code, int(run.output)) == (0, (ROOT / "lab").stat().st_size)
    run, _ = boxes.run_in(LANDLOCK, ["cat", ROOT / "lab"])
    assert run.code != 0


@pytest.mark.skipif(not (real_sandboxes()), reason="neither bubblewrap nor Landlock works here")
def test_a_stopped_sandbox_ends_its_programs(boxes):
    for kind in boxes.in_each():
        sandbox = Sandbox(kind)
        timer = threading.Timer(0.5, sandbox.stop)
        timer.start()
        start = time.monotonic()
        with pytest.raises(Stopped):
            sandbox.run(["sleep", "30"], Access(boxes.folder))
        assert time.monotonic() - start < 20
        with pytest.raises(Stopped):
            sandbox.run(["true"], Access(boxes.folder))


class Room:
    """Without room a right program fails, too: no student is to be told that it is wrong."""

    def run_with_room(self, *sizes):
        """The Sandbox's run of a program that makes a file, and whether it did."""
        with (
            Sandbox.folder() as folder,
            mock.patch.object(sandboxes, "free_bytes", mock.Mock(side_effect=sizes)),
        ):
            try:
                Sandbox(NONE).run(["touch", "made"], Access(folder))
            finally:
                self.has_run = (folder / "made").exists()


@pytest.fixture
def room():
    return Room()


def test_nothing_is_run_without_room_for_it(room):
    with pytest.raises(SandboxFailed, match=r"31 MiB left .* needs 32 MiB"):
        room.run_with_room((32 << 20) - 1, 1 << 40)
    assert not room.has_run
    room.run_with_room(32 << 20, 1 << 20)
    assert room.has_run


def test_how_a_run_ended_that_has_taken_all_room_says_nothing(room):
    with pytest.raises(SandboxFailed, match="the disk is full"):
        room.run_with_room(32 << 20, (1 << 20) - 1)
    assert room.has_run


def test_a_grade_without_room_is_refused_with_one_sentence():
    with (
        mock.patch.object(sandboxes, "free_bytes", lambda _: 0),
        pytest.raises(CommandError, match=r"0 MiB left .* set TMPDIR to a folder.*\.$"),
    ):
        strongest_sandbox()


class AbandonedFolders:
    """A grader that is killed leaves its folder, which the next one removes."""

    def __init__(self, folder):
        self.place = folder

    def left(self, name, hours):
        folder = self.place / name
        (folder / "1").mkdir(parents=True)
        (folder / "1/saxpy.cu").write_text("// another's", encoding="utf-8")
        then = time.time() - 3600 * hours
        os.utime(folder, (then, then))
        return folder


@pytest.fixture
def abandoned_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return AbandonedFolders(tmp_path)


def test_an_old_one_without_an_owner_is_removed(abandoned_folders):
    old, young = (
        abandoned_folders.left("lab-sandbox-old", 2),
        abandoned_folders.left("lab-sandbox-young", 0),
    )
    other, outside = (
        abandoned_folders.left("lab-check-old", 2),
        abandoned_folders.left("outside", 2),
    )
    (abandoned_folders.place / "lab-sandbox-link").symlink_to(outside)
    with Sandbox.folder() as folder:
        assert folder.is_dir()
        assert not old.exists()
        for kept in (young, other, outside, abandoned_folders.place / "lab-sandbox-link"):
            assert (kept / "1/saxpy.cu").is_file(), kept
    assert not folder.exists()


def test_one_of_a_grader_that_still_runs_is_kept():
    with Sandbox.folder() as folder:
        os.utime(folder, (0, 0))
        with Sandbox.folder():
            assert folder.is_dir()


def test_one_of_a_grader_that_was_killed_is_removed(abandoned_folders):
    text = (
        "import os, signal, tempfile; from grader.sandbox.sandbox import Sandbox\n"
        "with Sandbox.folder() as folder:\n"
        "    os.utime(folder, (0, 0)); os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "TMPDIR": str(abandoned_folders.place), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", text], env=environment, check=False)
    (left,) = abandoned_folders.place.iterdir()
    with Sandbox.folder():
        assert not left.exists()


def test_the_strongest_is_taken_and_less_is_refused_if_one_is_required():
    for possible, expected in (
        ((BUBBLEWRAP, LANDLOCK), BUBBLEWRAP),
        ((LANDLOCK,), LANDLOCK),
        ((), NONE),
    ):
        with mock.patch.object(
            sandboxes, "works", lambda kind, among=possible: kind in (*among, NONE)
        ):
            assert strongest_sandbox().kind == expected
            if expected == NONE:
                with pytest.raises(CommandError, match="neither bubblewrap nor Landlock"):
                    strongest_sandbox(is_required=True)
            else:
                assert strongest_sandbox(is_required=True).kind == expected


def test_if_no_program_can_be_run_that_is_one_sentence():
    failed = SandboxedRun(126, None, None, "ls: Operation not\npermitted\n")
    said = r"can't be run here \(ls: Operation not permitted\)"
    with (
        mock.patch.object(Sandbox, "run", lambda *_: failed),
        pytest.raises(CommandError, match=said),
    ):
        strongest_sandbox()


FREE = 54_000  # and the two after it


def test_a_user_with_a_name_is_not_taken():
    assert confined.free_user(0, 2) == 0  # 1 has a name, and there is no other


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_a_user_with_a_process_is_not_taken():
    first = confined.free_user(FREE - 1, 2)
    assert first == FREE
    with subprocess.Popen(["sleep", "60"], user=FREE) as process:
        try:
            found = {confined.free_user(FREE - 1, count) for count in (2, 3, 4)}
        finally:
            process.kill()
    assert FREE not in found


def test_calls_have_the_kernels_numbers():
    headers = {0: "x86_64-linux-gnu/asm/unistd_64.h", 1: "asm-generic/unistd.h"}
    compared = 0
    for column, header in headers.items():
        file = pathlib.Path("/usr/include", header)
        if not file.is_file():
            continue  # of another machine
        text = file.read_text(encoding="utf-8")
        found = re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", text, re.MULTILINE)
        numbers = {name: int(number) for name, number in found}
        for name, call in NUMBERS.items():
            if name in numbers:
                assert call[column] == numbers[name], f"{name}, {header}"
                compared += 1
    assert compared > 60


def test_only_a_regular_file_is_read_and_no_link():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "file").write_text("content", encoding="utf-8")
        (folder / "link").symlink_to(folder / "file")
        os.mkfifo(folder / "pipe")
        assert content_of(folder / "file", 4) == b"cont"
        for other in ("link", "pipe", ".", "absent"):
            assert content_of(folder / other, 100) == b"", other


def test_json_that_is_none_is_nothing():
    with tempfile.TemporaryDirectory() as name:
        file = pathlib.Path(name, "report")
        for text in ("{", "[" * 100000, "\x00", json.dumps({"a": "b" * 2000})):
            file.write_text(text, encoding="utf-8")
            assert json_in(content_of(file, 1000)) is None, text[:10]


def test_json_that_no_program_of_ours_writes_is_nothing():
    with tempfile.TemporaryDirectory() as name:
        file = pathlib.Path(name, "report")
        for content in (
            b'"\\ud800"', b'{"\\uDFFF": 1}', b'"\xed\xa0\x80"', b'"\xff"', b"1e999", b"-1e999", b"0.5",
            b"NaN", b"Infinity", b"18446744073709551616", b"-18446744073709551616", b"1" * 900,
        ):  # fmt: skip
            file.write_bytes(content)
            assert json_in(content_of(file, 1000)) is None, content
        file.write_bytes(b'{"n": 18446744073709551615, "text": "\\ud83d\\ude00 \\u00fc"}')
        assert json_in(content_of(file, 1000)) == {"n": (1 << 64) - 1, "text": "\U0001f600 \u00fc"}
        file.write_text('{"a": 1}', encoding="utf-8")
        assert json_in(content_of(file, 1000)) == {"a": 1}


def _command_lines():
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                found.append((folder / "cmdline").read_bytes().decode(errors="replace"))
            except OSError:
                continue
    return found
