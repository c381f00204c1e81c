# SPDX-License-Identifier: MIT
"""A Slurm of one's own on this machine: a controller and some nodes, each a process, in one folder."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo", "scontrol")
READY_SECONDS = 90
CONFIGURATION = """\
ClusterName=course
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmUser=root
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/%n.pid
SlurmdLogFile={folder}/%n.log
SlurmdSpoolDir={folder}/spool_%n
SlurmdParameters=config_overrides
SlurmdTimeout=10
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SchedulerParameters=sched_interval=2
MailProg=/bin/true
{nodes}
PartitionName=class Nodes=ALL Default=YES State=UP MaxTime=60
"""


def why_not():
    """Why no Slurm can be started here, or None."""
    missing = [name for name in PROGRAMS if not program(name)]
    if missing:
        return f"without {', '.join(missing)}: apt-get install slurmctld slurmd slurm-client munge"
    return None if os.geteuid() == 0 else "only root can start a Slurm of its own"


def program(name):
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/bin")


class Cluster:
    """A controller and nodes with one processor each. Use it in a `with` block."""

    def __init__(self, folder, nodes=2):
        self.folder = pathlib.Path(folder)
        self.names = [f"node{number}" for number in range(1, nodes + 1)]
        self.processes = {}

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def environment(self):
        """What makes Slurm's commands speak to this one."""
        return {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def _start(self):
        host = socket.gethostname().partition(".")[0]
        ports = _free_ports(1 + len(self.names))
        nodes = "\n".join(
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1"
            for name, port in zip(self.names, ports[1:])
        )
        text = CONFIGURATION.format(host=host, port=ports[0], folder=self.folder, nodes=nodes)
        (self.folder / "slurm.conf").write_text(text, encoding="utf-8")
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        munged = [program("munged"), "--foreground", "--force", f"--key-file={key}"]
        for what in ("socket", "pid-file", "log-file", "seed-file"):
            munged.append(f"--{what}={self.folder / ('munge.' + what.partition('-')[0])}")
        self._launch("munged", munged)
        _until(lambda: (self.folder / "munge.socket").exists(), "munged")
        self._launch("slurmctld", [program("slurmctld"), "-D", "-c"])
        for name in self.names:
            (self.folder / f"spool_{name}").mkdir()
            self.start_node(name)
        _until(lambda: self.states() == dict.fromkeys(self.names, "idle"), "the nodes")

    def start_node(self, name):
        self._launch(name, [program("slurmd"), "-D", "-N", name])

    def kill_node(self, name):
        """As if its machine had lost its power: the node, and all that runs on it."""
        self.processes[name].kill()
        self.processes[name].wait()
        jobs = [pid for pid, variables in self._ours() if f"SLURMD_NODENAME={name}" in variables]
        for pid in {_parent(pid) for pid in jobs if _name(_parent(pid)).startswith("slurmstepd")}:
            _kill(pid)
        for pid in jobs:
            _kill(pid)

    def _ours(self):
        """(process, its variables) of each that belongs to this Slurm."""
        mark = f"SLURM_CONF={self.folder / 'slurm.conf'}"
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                variables = (folder / "environ").read_text(errors="replace").split("\0")
            except OSError:
                continue
            if mark in variables:
                yield int(folder.name), variables

    def states(self):
        """{name of a node: its state}, as Slurm sees them."""
        run = self.command("sinfo", "--noheader", "--Node", "--format=%N %t")
        return dict(line.split() for line in run.stdout.splitlines())

    def command(self, name, *words):
        return subprocess.run(
            [program(name), *words],
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def stop(self):
        """Ends the Slurm, and whatever it still runs."""
        for pid, variables in list(self._ours()):
            if any(variable.startswith("SLURM_JOB_ID=") for variable in variables):
                _kill(pid)
        for process in reversed(list(self.processes.values())):
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _launch(self, name, command):
        with open(self.folder / f"{name}.out", "ab") as out:
            self.processes[name] = subprocess.Popen(
                command,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


def _name(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text()
    except OSError:
        return ""


def _parent(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _until(is_so, what):
    end = time.monotonic() + READY_SECONDS
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not come up within {READY_SECONDS} s")
        time.sleep(0.2)


def _free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
