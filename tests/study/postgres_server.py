"""A PostgreSQL server of one's own, in a temporary folder, on a Unix socket, as a user without rights."""
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

SKIPPED = 77


def folder_of_programs():
    """Debian keeps them out of PATH."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    return found[-1].parent if found else None


class Server:
    """with Server() as server: server.uri is that of a database that is empty."""

    def __init__(self, *settings):
        self.settings = settings
        self.programs = folder_of_programs()
        if self.programs is None:
            print("skipped: PostgreSQL is not installed")
            sys.exit(SKIPPED)

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="yosida-pg-"))
        # The server refuses to be root.
        self.prefix = []
        if os.geteuid() == 0:
            user = pwd.getpwnam("nobody")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.prefix = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        self.folder.chmod(0o755)
        try:
            self.program("initdb", "--auth=trust", "--username=yosida", "--encoding=UTF8", "--no-locale", "--no-sync")
            self.start()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        host = urllib.parse.quote(str(self.folder), safe="")
        self.uri = f"postgresql://yosida@/postgres?host={host}"
        return self

    def __exit__(self, *_):
        try:
            self.program("pg_ctl", "stop", "-m", "immediate")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def program(self, name, *arguments):
        command = [*self.prefix, str(self.programs / name), "-D", str(self.folder / "data"), *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.folder, timeout=120,
                              encoding="utf-8", errors="replace", env={"PATH": os.environ["PATH"], "LC_ALL": "C"})
        if done.returncode:
            log = self.folder / "log"
            raise RuntimeError(f"{name}: {done.stdout}{log.read_text() if log.exists() else ''}")

    def start(self):
        options = [f"-k {self.folder}", "-c listen_addresses=''", *(f"-c {setting}" for setting in self.settings)]
        self.program("pg_ctl", "start", "-w", "-t", "60", "-l", str(self.folder / "log"), "-o", " ".join(options))

    def crash(self):
        """As by a power cut: no connection is told, nothing is written."""
        self.program("pg_ctl", "stop", "-m", "immediate")

    def sql(self, text, uri=None):
        return subprocess.run([str(self.programs / "psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text, uri or self.uri],
                              stdout=subprocess.PIPE, check=True, encoding="utf-8", timeout=120).stdout
