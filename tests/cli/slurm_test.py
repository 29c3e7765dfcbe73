"""Processes that srun has started share rows like those of mpirun. A controller, a node of this machine and a munged of the test's own
run in its folder, on ports and sockets of their own (packages slurm-wlm and munge)."""
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import time
import unittest

import numpy as np

from yosida_cli import BINARY, Cli, strict_json

PROGRAMS = {name: shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
            for name in ("munged", "slurmctld", "slurmd", "srun", "sinfo", "sbatch", "squeue", "scancel")}
LIMIT_SECONDS = 100


def free_ports(count):
    with_ports = [socket.socket() for _ in range(count)]
    for each in with_ports:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in with_ports]
    for each in with_ports:
        each.close()
    return ports


@unittest.skipUnless(all(PROGRAMS.values()), "there is no Slurm (packages slurm-wlm and munge)")
@unittest.skipIf(os.geteuid() != 0, "a node of Slurm wants to be run by root")
class Slurm(Cli):
    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)  # munge wants its socket where all may look
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "XDG_CACHE_HOME": str(self.folder / "cache")}
        self.daemons = []
        self.addCleanup(self.end_daemons)
        self.begin_munge()
        self.write_settings()
        self.begin("slurmctld", "-D")
        self.begin("slurmd", "-D")
        self.wait(lambda: "idle" in self.slurm("sinfo", "-h", "-o", "%T").stdout, "Slurm's node does not come up")

    def begin(self, name, *words):
        with open(self.folder / f"{name}.out", "w", encoding="utf-8") as out:
            self.daemons.append(subprocess.Popen([PROGRAMS[name], *words], env=self.environment, stdin=subprocess.DEVNULL, stdout=out,
                                                 stderr=subprocess.STDOUT))

    def end_daemons(self):
        for process in reversed(self.daemons):
            process.terminate()
        for process in self.daemons:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def begin_munge(self):
        folder = self.folder / "munge"
        folder.mkdir(mode=0o755)
        (folder / "key").write_bytes(os.urandom(128))
        (folder / "key").chmod(0o400)
        self.begin("munged", "--foreground", "--force", *(f"--{name}-file={folder / name}" for name in ("key", "pid", "log", "seed")),
                   f"--socket={folder / 'socket'}")
        self.wait((folder / "socket").exists, "munged does not begin")

    def write_settings(self):
        user, host = pwd.getpwuid(os.getuid()).pw_name, socket.gethostname().split(".")[0]
        ports = free_ports(2)
        (self.folder / "cgroup.conf").write_text("CgroupAutomount=no\n", encoding="utf-8")
        settings = {
            "ClusterName": "one", "SlurmctldHost": f"{host}(127.0.0.1)", "SlurmUser": user, "SlurmdUser": user, "SlurmctldPort": ports[0],
            "SlurmdPort": ports[1], "AuthType": "auth/munge", "AuthInfo": f"socket={self.folder}/munge/socket", "StateSaveLocation": self.folder / "state",
            "SlurmdSpoolDir": self.folder / "spool", "SlurmctldPidFile": self.folder / "ctld.pid", "SlurmdPidFile": self.folder / "d.pid",
            "ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none", "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_Core",
            "ReturnToService": 2, "SchedulerParameters": "sched_min_interval=2", "NodeName": f"{host} NodeAddr=127.0.0.1 CPUs={len(os.sched_getaffinity(0))}",
            "PartitionName": "all Nodes=ALL Default=YES State=UP OverSubscribe=YES"}
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        (self.folder / "slurm.conf").write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")

    def wait(self, is_there, message):
        for _ in range(int(LIMIT_SECONDS / 0.1)):
            if is_there():
                return
            time.sleep(0.1)
        said = "\n".join((self.folder / name).read_text(encoding="utf-8")[-600:] for name in sorted(os.listdir(self.folder)) if name.endswith(".out"))
        self.fail(f"{message}\n{said}")

    def slurm(self, name, *words):
        return subprocess.run([PROGRAMS[name], *map(str, words)], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_SECONDS, encoding="utf-8", check=False)

    def write_rows(self, rows, cols):
        generator = np.random.default_rng(7)
        x = generator.normal(size=(rows, cols))
        np.save(self.folder / "x.npy", x)
        np.save(self.folder / "y.npy", (x @ np.linspace(1.0, -1.0, cols) + generator.logistic(size=rows) > 0).astype(float))

    def run_of(self, iterations, *more):
        return [BINARY, "tune", "--quiet", "--train", "x.npy", "--train-target", "y.npy", "--model", "logistic", "--method", "hoag",
                "--lambda-per", "feature", "--threads", "1", "--max-iterations", str(iterations), *more]

    def submit(self, ranks, iterations, out):
        """A job of a script, like examples/tune.slurm: returns its number."""
        words = " ".join(self.run_of(iterations, "--checkpoint", "run.checkpoint", "--json", "result.json", "--save", "model.json"))
        (self.folder / "job.sh").write_text(f"#!/bin/sh\nsrun --overcommit --mpi=pmix {words}\n", encoding="utf-8")
        done = self.slurm("sbatch", "--parsable", "--overcommit", "-n", ranks, "-o", out, "job.sh")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def wait_for_end_of(self, job):
        self.wait(lambda: not self.slurm("squeue", "-h", "-j", job, "-o", "%i").stdout.strip(), "the job does not end")

    def wait_for_work(self, out):
        """Until the checkpoint has been written twice: what it holds at first may be of a time before the first iterate."""
        checkpoint = self.folder / "run.checkpoint"
        self.wait(checkpoint.exists, f"no checkpoint comes: {self.read(out) if (self.folder / out).exists() else ''}")
        first = checkpoint.stat().st_mtime_ns
        self.wait(lambda: checkpoint.stat().st_mtime_ns != first, "the checkpoint stays as it is")

    def test_srun(self):
        self.write_rows(40_000, 6)
        run = self.run_of(10, "--save", "model.json")
        self.assertEqual(subprocess.run(run, cwd=self.folder, env=self.environment, check=False).returncode, 0)
        alone = self.read("model.json")
        for ranks in (2, 3):
            (self.folder / "model.json").unlink()
            done = self.slurm("srun", "--overcommit", "--mpi=pmix", "-n", ranks, *run)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.read("model.json"), alone, ranks)
        done = self.slurm("srun", "--overcommit", "--mpi=pmix", "-n", "2", BINARY, "tune", "--train", "nothing.npy")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("there is no such file"), 1, done.stderr)

    def test_a_job_that_is_warned_or_killed_goes_on_from_its_checkpoint(self):
        self.write_rows(60_000, 8)
        job = self.submit(2, 100_000, "warned.out")
        self.wait_for_work("warned.out")
        self.slurm("scancel", "--signal=USR1", job)
        self.wait_for_end_of(job)
        stopped = strict_json(self.read("result.json"))
        self.assertEqual(stopped["status"], "stopped")

        iterations = stopped["iterations"] + 30
        job = self.submit(2, 100_000, "killed.out")  # from the same checkpoint
        self.wait_for_work("killed.out")
        begin = time.monotonic()
        found = subprocess.run(["pgrep", "-f", "--", f"^{BINARY} .*--max-iterations 100000 --checkpoint"], stdout=subprocess.PIPE,
                               encoding="utf-8", check=False).stdout.split()
        ours = [int(pid) for pid in found if os.path.realpath(f"/proc/{pid}/cwd") == str(self.folder.resolve())]
        self.assertEqual(len(ours), 2, found)
        os.kill(ours[-1], signal.SIGKILL)
        self.wait_for_end_of(job)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertRegex(self.read("killed.out"), r"task \d: Killed")

        self.wait_for_end_of(self.submit(3, iterations, "ended.out"))
        together = self.read("model.json")
        done = subprocess.run(self.run_of(iterations, "--save", "alone.json"), cwd=self.folder, env=self.environment, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(together, self.read("alone.json"))


if __name__ == "__main__":
    unittest.main()
