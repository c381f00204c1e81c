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
import unittest
from unittest import mock

from grading_runs import real_sandboxes

from engine.command.errors import CommandError
from engine.command.processes import signal_name
from engine.command.untrusted_files import content_of, json_in
from grader.judging.results import how_it_ended
from grader.judging.runner import FILES, MEMORY, OUTPUT, PROCESSES, TIME, Limits, OutOfTime
from grader.judging.sandboxed import SECONDS_OF_ALL, SandboxRunner
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
from test_setup import captured, temporary_folder

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


@unittest.skipUnless(real_sandboxes(), "neither bubblewrap nor Landlock works here")
class SandboxTest(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self).resolve()

    def run_in(self, kind, command, readable=(), environment=None, **limits):
        work = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        access = Access(work, readable)
        return Sandbox(kind).run(command, access, environment, Limits(**limits)), work

    def in_each(self):
        for kind in real_sandboxes():
            with self.subTest(kind):
                yield kind

    def test_a_file_outside_cannot_be_read(self):
        secret = self.folder / "seed"
        secret.write_text("a secret\n", encoding="utf-8")
        for kind in self.in_each():
            own = pathlib.Path(f"/proc/{os.getpid()}/environ")
            for path in (secret, ROOT / "lab", pathlib.Path("/etc/passwd"), own):
                run, _ = self.run_in(kind, ["cat", path])
                self.assertNotEqual(run.code, 0, path)
                self.assertNotIn("secret", run.output)

    def test_what_is_named_can_be_read_and_not_written(self):
        given = self.folder / "given"
        given.write_text("given\n", encoding="utf-8")
        for kind in self.in_each():
            run, _ = self.run_in(kind, ["cat", given], (given,))
            self.assertEqual((run.code, run.output), (0, "given\n"))
            run, _ = self.run_in(kind, ["sh", "-c", f"echo mine > {given}"], (given,))
            self.assertNotEqual(run.code, 0)
            self.assertEqual(given.read_text(encoding="utf-8"), "given\n")

    def test_only_the_work_folder_can_be_written(self):
        places = [self.folder, pathlib.Path.home(), pathlib.Path("/usr"), pathlib.Path("/var/tmp")]
        for kind in self.in_each():
            for place in places:
                run, _ = self.run_in(kind, ["sh", "-c", f"echo mine > {place}/left_behind"])
                self.assertFalse((place / "left_behind").exists(), place)
            run, work = self.run_in(kind, ["sh", "-c", "echo mine > here"])
            self.assertEqual(run.code, 0, run.output)
            self.assertEqual(content_of(work / "here", 100), b"mine\n")

    def test_there_is_no_network(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            python, readable = interpreter()
            for kind in self.in_each():
                text = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
                run, _ = self.run_in(kind, [python, "-c", text], readable)
                self.assertEqual(run.code, 1, run.output)
                self.assertRegex(run.output, "refused|not permitted|unreachable")

    def test_the_environment_is_not_inherited(self):
        with mock.patch.dict(os.environ, {"A_TOKEN": "secret"}):
            for kind in self.in_each():
                run, _ = self.run_in(kind, ["env"], environment={"GIVEN": "1"})
                self.assertIn("GIVEN=1", run.output)
                self.assertNotIn("A_TOKEN", run.output)

    def test_only_with_a_gpu_the_way_to_it_is_told(self):
        told = {"LD_LIBRARY_PATH": "/usr/lib/driver", "CUDA_VISIBLE_DEVICES": "3"}
        with mock.patch.dict(os.environ, told):
            for kind in real_sandboxes():
                for gpu, expected in ((True, "/usr/lib/driver 3"), (False, "none none")):
                    with self.subTest(kind, gpu=gpu), Sandbox.folder() as folder:
                        words = "${LD_LIBRARY_PATH:-none} ${CUDA_VISIBLE_DEVICES:-none}"
                        run = Sandbox(kind).run(
                            ["sh", "-c", f"echo {words}"], Access(folder, gpu=gpu)
                        )
                        self.assertEqual(run.output.strip(), expected)

    def test_only_with_a_gpu_its_driver_can_begin(self):
        python, readable = interpreter()
        without = {LANDLOCK: [], NONE: ["names a thread"]}
        for kind in {*real_sandboxes(), NONE} - {BUBBLEWRAP}:
            for gpu, expected in ((True, ["waits", "names a thread"]), (False, without[kind])):
                with self.subTest(kind, gpu=gpu), Sandbox.folder() as folder:
                    command = [python, "-c", FOR_THE_DRIVER]
                    run = Sandbox(kind).run(command, Access(folder, readable, gpu=gpu))
                    self.assertEqual((run.code, run.output.splitlines()), (0, expected))

    def test_each_limit_ends_the_program_and_is_named(self):
        python, readable = interpreter()
        memory = "import time; x = bytearray(200 << 20); time.sleep(30)"
        programs = {
            TIME: (["sleep", "30"], {"seconds": 0.5}),
            OUTPUT: (["yes"], {}),
            MEMORY: ([python, "-c", memory], {"memory": 64 << 20}),
            FILES: (["sh", "-c", "for i in 1 2 3 4 5; do head -c 3000000 /dev/zero > $i; done; sleep 9"],
                    {"files": 9 << 20}),
        }  # fmt: skip
        for kind in self.in_each():
            for limit, (command, limits) in programs.items():
                start = time.monotonic()
                run, _ = self.run_in(kind, command, readable, **limits)
                self.assertEqual((run.code, run.limit), (None, limit), run.output[-300:])
                self.assertLess(time.monotonic() - start, 20, limit)

    def test_a_limits_figure_is_as_people_write_it(self):
        figures = [Limits().figure(limit) for limit in (TIME, MEMORY, PROCESSES, OUTPUT, FILES)]
        self.assertEqual(figures, ["10 s", "2 GiB", "256", "1 MiB", "64 MiB"])
        self.assertEqual(Limits(memory=256 << 20).figure(MEMORY), "256 MiB")

    def test_time_is_that_of_processors_so_that_others_do_not_matter(self):
        python, readable = interpreter()
        program = "import time\nwhile time.process_time() < 0.4: pass"
        at_once = 6 * len(os.sched_getaffinity(0))
        for kind in self.in_each():
            with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
                runs = [
                    pool.submit(self.run_in, kind, [python, "-c", program], readable, seconds=1)
                    for _ in range(at_once)
                ]
            self.assertEqual({run.result()[0].limit for run in runs}, {None})

    def test_time_of_processes_that_have_ended_counts(self):
        burn = f"{sys.executable} -c 'import time\nwhile time.process_time() < 0.4: pass'"
        process = subprocess.Popen(
            ["sh", "-c", f"{burn}; echo; exec sleep 60"], stdout=subprocess.PIPE
        )
        try:
            process.stdout.readline()
            self.assertGreaterEqual(sum(each.seconds for each in tree_of(process.pid)), 0.3)
        finally:
            process.kill()
            process.communicate()

    def test_a_run_says_how_much_time_it_took(self):
        """Of processors; one that waits is charged for a part of what it waits."""
        python, readable = interpreter()
        burns = "import time\nwhile time.process_time() < 0.5: pass"
        for kind in self.in_each():
            run, _ = self.run_in(kind, [python, "-c", burns], readable)
            self.assertGreaterEqual(run.seconds, 0.45)  # the kernel rounds
            run, _ = self.run_in(kind, ["sleep", "0.9"])
            self.assertGreaterEqual(run.seconds, 0.9 / PATIENCE)
            run, _ = self.run_in(kind, [python, "-c", burns], readable, seconds=0.2)
            self.assertEqual(run.limit, TIME)
            self.assertGreaterEqual(run.seconds, 0.2)

    def test_all_runs_together_have_a_bound(self):
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

            self.assertEqual([run().code, run().code], [0, 0])
            self.assertRaises(OutOfTime, run)
            self.assertEqual(given, [30, 30, SECONDS_OF_ALL - 100])
            runner.seconds = SECONDS_OF_ALL
            self.assertRaises(OutOfTime, run)
            self.assertEqual(len(given), 3)

    def test_descriptors_above_1023_are_watched(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
        taken = [os.open("/dev/null", os.O_RDONLY) for _ in range(1100)]
        try:
            run, _ = self.run_in(real_sandboxes()[0], ["echo", "said"])
        finally:
            for each in taken:
                os.close(each)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        self.assertEqual((run.code, run.output), (0, "said\n"))

    def test_addresses_are_the_same_in_each_run(self):
        if ctypes.CDLL(None).personality(ctypes.c_ulong(0x0040000)) < 0:
            self.skipTest("this container does not let a program ask for that")
        ctypes.CDLL(None).personality(ctypes.c_ulong(0))
        for kind in self.in_each():
            maps = [self.run_in(kind, ["cat", "/proc/self/maps"])[0].output for _ in range(2)]
            self.assertIn("[stack]", maps[0])
            self.assertEqual(*maps)

    def test_processes_are_limited(self):
        for kind in self.in_each():
            run, _ = self.run_in(kind, ["sh", "-c", MANY_PROCESSES], processes=20, seconds=20)
            is_refused = "fork" in run.output  # by the kernel, before anybody has looked
            self.assertTrue(run.limit == PROCESSES or is_refused, run)
            if kind == LANDLOCK and os.geteuid() == 0:
                # Here the kernel counts a user's processes, and the watcher never comes before it.
                words = ["sh", "-c", f"({MANY_PROCESSES}) & sleep 1"]
                run, _ = self.run_in(kind, words, processes=20, seconds=20)
                self.assertIn("fork", run.output)
                self.assertIsNone(run.limit)

    def test_nothing_is_left_running(self):
        for kind in self.in_each():
            mark = f"{os.getpid()}.{time.time_ns()}"
            run, _ = self.run_in(kind, ["sh", "-c", f"(setsid sleep {mark} &) ; sleep 0.2"])
            self.assertEqual(run.code, 0, run.output)
            end = time.monotonic() + 5  # the kernel kills them when bubblewrap has ended
            while any(mark in line for line in _command_lines()) and time.monotonic() < end:
                time.sleep(0.01)
            self.assertEqual([line for line in _command_lines() if mark in line], [])

    def test_ends_are_told_apart(self):
        for kind in self.in_each():
            run, _ = self.run_in(kind, ["sh", "-c", "echo out; echo err >&2; exit 3"])
            self.assertEqual((run.code, run.signal, run.limit), (3, None, None))
            self.assertEqual(sorted(run.output.split()), ["err", "out"])
            run, _ = self.run_in(kind, ["sh", "-c", "kill -SEGV $$"])
            self.assertEqual((run.code, run.signal, run.limit), (None, 11, None))
            run, _ = self.run_in(kind, ["sh", "-c", "exit 255"])  # exit(-1), and no signal 127
            self.assertEqual((run.code, run.signal, run.limit), (255, None, None))
            self.assertIn("The program ended with 255.", how_it_ended(run.as_run))

    def test_a_signal_without_a_name_has_its_number(self):
        self.assertEqual(signal_name(11), "SIGSEGV")
        self.assertEqual(signal_name(40), "signal 40")

    def test_what_the_sandbox_fails_at_is_told_from_what_the_program_does(self):
        for kind in self.in_each():
            for command in (["true"], ["sh", "-c", "exit 126"], ["sh", "-c", "kill -SEGV $$"]):
                self.assertTrue(self.run_in(kind, command)[0].has_begun, command)
            work = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
            work.rmdir()
            run = Sandbox(kind).run(["sh", "-c", "exit 1"], Access(work))
            self.assertFalse(run.has_begun, run.output)

    def test_a_program_has_no_descriptor_of_the_grader(self):
        for kind in self.in_each():
            run, _ = self.run_in(kind, ["ls", "/proc/self/fd"])
            self.assertEqual(run.output.split(), ["0", "1", "2", "3"])  # 3 is that folder

    def test_namespaces_and_other_processes_are_closed(self):
        for kind in self.in_each():
            run, _ = self.run_in(kind, ["unshare", "--user", "true"])
            self.assertNotEqual(run.code, 0)
            run, _ = self.run_in(kind, ["sh", "-c", f"kill -0 {os.getpid()}"])
            self.assertNotEqual(run.code, 0)

    def test_keys_and_memory_without_a_name_are_closed(self):
        """What is neither a file nor a process: a namespace alone leaves it open."""
        python, readable = interpreter()
        for kind in self.in_each():
            run, _ = self.run_in(kind, [python, "-c", KEYS_AND_MEMORY], readable)
            self.assertEqual(run.output, "key: 1\nrequest: 1\nlink: 1\nmemory: 1\n")

    def test_what_else_belongs_to_the_same_user_is_closed(self):
        """Also without Landlock, of which early versions leave much of this open."""
        self.folder.chmod(0o777)
        words = [sys.executable, "-c", AS_AN_ORDINARY_USER]
        if os.geteuid() == 0:
            words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *words]
        for kind in [*real_sandboxes(), NONE]:
            with self.subTest(kind):
                run = captured([*words, kind], cwd=self.folder, timeout=60)
                # In bubblewrap its group is its own, and else the one that watches it is in it.
                expected = "kill of a group\nend\n" if kind == BUBBLEWRAP else "end\n"
                self.assertEqual((run.returncode, run.stdout), (0, expected), run.stderr)

    def test_landlock_does_not_hide_that_a_file_is_there(self):
        """What it does not guarantee, and the page says so."""
        if LANDLOCK not in real_sandboxes():
            self.skipTest("Landlock does not work here")
        run, _ = self.run_in(LANDLOCK, ["stat", "--format=%s", ROOT / "lab"])
        self.assertEqual((run.code, int(run.output)), (0, (ROOT / "lab").stat().st_size))
        run, _ = self.run_in(LANDLOCK, ["cat", ROOT / "lab"])
        self.assertNotEqual(run.code, 0)

    def test_a_stopped_sandbox_ends_its_programs(self):
        for kind in self.in_each():
            sandbox = Sandbox(kind)
            timer = threading.Timer(0.5, sandbox.stop)
            timer.start()
            start = time.monotonic()
            with self.assertRaises(Stopped):
                sandbox.run(["sleep", "30"], Access(self.folder))
            self.assertLess(time.monotonic() - start, 20)
            with self.assertRaises(Stopped):
                sandbox.run(["true"], Access(self.folder))


class RoomTest(unittest.TestCase):
    """Without room a right program fails, too: nobody is to be told that it is wrong."""

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

    def test_nothing_is_run_without_room_for_it(self):
        with self.assertRaisesRegex(SandboxFailed, "31 MiB left .* needs 32 MiB"):
            self.run_with_room((32 << 20) - 1, 1 << 40)
        self.assertFalse(self.has_run)
        self.run_with_room(32 << 20, 1 << 20)
        self.assertTrue(self.has_run)

    def test_how_a_run_ended_that_has_taken_all_room_says_nothing(self):
        with self.assertRaisesRegex(SandboxFailed, "the disk is full"):
            self.run_with_room(32 << 20, (1 << 20) - 1)
        self.assertTrue(self.has_run)

    def test_a_grade_without_room_is_refused_with_one_sentence(self):
        with (
            mock.patch.object(sandboxes, "free_bytes", lambda _: 0),
            self.assertRaisesRegex(CommandError, "0 MiB left .* set TMPDIR to a folder.*\\.$"),
        ):
            strongest_sandbox()


class AbandonedFoldersTest(unittest.TestCase):
    """A grader that is killed leaves its folder, which the next one removes."""

    def setUp(self):
        self.place = temporary_folder(self)
        patch = mock.patch.object(tempfile, "tempdir", str(self.place))
        patch.start()
        self.addCleanup(patch.stop)

    def left(self, name, hours):
        folder = self.place / name
        (folder / "1").mkdir(parents=True)
        (folder / "1/saxpy.cu").write_text("// somebody's", encoding="utf-8")
        then = time.time() - 3600 * hours
        os.utime(folder, (then, then))
        return folder

    def test_an_old_one_that_nobody_has_any_more_is_removed(self):
        old, young = self.left("lab-sandbox-old", 2), self.left("lab-sandbox-young", 0)
        other, outside = self.left("lab-check-old", 2), self.left("outside", 2)
        (self.place / "lab-sandbox-link").symlink_to(outside)
        with Sandbox.folder() as folder:
            self.assertTrue(folder.is_dir())
            self.assertFalse(old.exists())
            for kept in (young, other, outside, self.place / "lab-sandbox-link"):
                self.assertTrue((kept / "1/saxpy.cu").is_file(), kept)
        self.assertFalse(folder.exists())

    def test_one_of_a_grader_that_still_runs_is_kept(self):
        with Sandbox.folder() as folder:
            os.utime(folder, (0, 0))
            with Sandbox.folder():
                self.assertTrue(folder.is_dir())

    def test_one_of_a_grader_that_was_killed_is_removed(self):
        text = (
            "import os, signal, tempfile; from grader.sandbox.sandbox import Sandbox\n"
            "with Sandbox.folder() as folder:\n"
            "    os.utime(folder, (0, 0)); os.kill(os.getpid(), signal.SIGKILL)"
        )
        environment = {**os.environ, "TMPDIR": str(self.place), "PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, "-c", text], env=environment, check=False)
        (left,) = self.place.iterdir()
        with Sandbox.folder():
            self.assertFalse(left.exists())


class ChoiceTest(unittest.TestCase):
    def test_the_strongest_is_taken_and_less_is_refused_if_one_is_required(self):
        for possible, expected in (
            ((BUBBLEWRAP, LANDLOCK), BUBBLEWRAP),
            ((LANDLOCK,), LANDLOCK),
            ((), NONE),
        ):
            with mock.patch.object(
                sandboxes, "works", lambda kind, among=possible: kind in (*among, NONE)
            ):
                self.assertEqual(strongest_sandbox().kind, expected)
                if expected == NONE:
                    with self.assertRaisesRegex(CommandError, "neither bubblewrap nor Landlock"):
                        strongest_sandbox(is_required=True)
                else:
                    self.assertEqual(strongest_sandbox(is_required=True).kind, expected)

    def test_if_no_program_can_be_run_that_is_one_sentence(self):
        failed = SandboxedRun(126, None, None, "ls: Operation not\npermitted\n")
        said = r"can't be run here \(ls: Operation not permitted\)"
        with (
            mock.patch.object(Sandbox, "run", lambda *_: failed),
            self.assertRaisesRegex(CommandError, said),
        ):
            strongest_sandbox()


class UserTest(unittest.TestCase):
    FREE = 54_000  # and the two after it

    def test_a_user_with_a_name_is_not_taken(self):
        self.assertEqual(confined.free_user(0, 2), 0)  # 1 has a name, and there is no other

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_a_user_with_a_process_is_not_taken(self):
        first = confined.free_user(self.FREE - 1, 2)
        self.assertEqual(first, self.FREE)
        with subprocess.Popen(["sleep", "60"], user=self.FREE) as process:
            try:
                found = {confined.free_user(self.FREE - 1, count) for count in (2, 3, 4)}
            finally:
                process.kill()
        self.assertNotIn(self.FREE, found)


class FilterTest(unittest.TestCase):
    def test_calls_have_the_kernels_numbers(self):
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
                    self.assertEqual(call[column], numbers[name], f"{name}, {header}")
                    compared += 1
        self.assertGreater(compared, 60)


class UntrustedFilesTest(unittest.TestCase):
    def test_only_a_regular_file_is_read_and_no_link(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "file").write_text("content", encoding="utf-8")
            (folder / "link").symlink_to(folder / "file")
            os.mkfifo(folder / "pipe")
            self.assertEqual(content_of(folder / "file", 4), b"cont")
            for other in ("link", "pipe", ".", "absent"):
                self.assertEqual(content_of(folder / other, 100), b"", other)

    def test_json_that_is_none_is_nothing(self):
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name, "report")
            for text in ("{", "[" * 100000, "\x00", json.dumps({"a": "b" * 2000})):
                file.write_text(text, encoding="utf-8")
                self.assertIsNone(json_in(content_of(file, 1000)), text[:10])

    def test_json_that_no_program_of_ours_writes_is_nothing(self):
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name, "report")
            for content in (
                b'"\\ud800"', b'{"\\uDFFF": 1}', b'"\xed\xa0\x80"', b'"\xff"', b"1e999", b"-1e999", b"0.5",
                b"NaN", b"Infinity", b"18446744073709551616", b"-18446744073709551616", b"1" * 900,
            ):  # fmt: skip
                file.write_bytes(content)
                self.assertIsNone(json_in(content_of(file, 1000)), content)
            file.write_bytes(b'{"n": 18446744073709551615, "text": "\\ud83d\\ude00 \\u00fc"}')
            self.assertEqual(
                json_in(content_of(file, 1000)), {"n": (1 << 64) - 1, "text": "\U0001f600 \u00fc"}
            )
            file.write_text('{"a": 1}', encoding="utf-8")
            self.assertEqual(json_in(content_of(file, 1000)), {"a": 1})


def _command_lines():
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                found.append((folder / "cmdline").read_bytes().decode(errors="replace"))
            except OSError:
                continue
    return found
