#!/usr/bin/env python3
"""Whether threads race: races.py [YOSIDA], with valgrind's drd, over compare --jobs 4 and a dashboard that many ask at a time.

Every access to memory that two threads share without an order between them is an error. drd needs no build of its own, and sees the
libraries, too. Its watch costs some 50 times the seconds.
"""
import concurrent.futures
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DRD = ["valgrind", "--tool=drd", "--quiet", "--error-exitcode=99", "--first-race-only=yes"]


RACING = """#include <thread>
int number = 0;
int main() {
  std::thread other([] { for (int i = 0; i < 1000; ++i) *const_cast<volatile int*>(&number) = i; });
  for (int i = 0; i < 1000; ++i) *const_cast<volatile int*>(&number) = i;
  other.join();
}
"""


def control(_, folder):
    """A program that races: where nothing is found in it, nothing is shown by the others."""
    source = pathlib.Path(folder) / "racing.cpp"
    source.write_text(RACING)
    subprocess.run(["c++", "-std=c++20", "-pthread", str(source), "-o", str(source.with_suffix(""))], check=True)
    return subprocess.run([*DRD, str(source.with_suffix(""))], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")


def compare(yosida, folder):
    return subprocess.run([*DRD, yosida, "compare", "--data", "spectra", "--methods", "hoag,my-hpo,random", "--seeds", "4", "--jobs", "4",
                           "--threads", "2", "--max-iterations", "2", "--budget-gradients", "300", "--study", "a.study", "--quiet"],
                          cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")


def dashboard(yosida, folder):
    process = subprocess.Popen([*DRD, yosida, "dashboard", "a.study", "--port", "0"], cwd=folder, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    address = re.search(r"http://\S+?:\d+/", process.stdout.readline())[0]

    def ask(path):
        with urllib.request.urlopen(address + path, timeout=300) as answer:
            return len(answer.read())

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert min(pool.map(ask, ["", "data.json"] * 12)) > 0
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=300)
    return subprocess.CompletedProcess(process.args, process.returncode, said)


def main():
    yosida = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/yosida").resolve())
    failed = False
    with tempfile.TemporaryDirectory(prefix="yosida-races-") as folder:
        if control(yosida, folder).returncode != 99:
            sys.exit("drd does not see a race that is there")
        for watched in (compare, dashboard):
            done = watched(yosida, folder)
            races = len(re.findall(r"Conflicting (?:load|store)", done.stdout))
            print(f"{watched.__name__}: exit code {done.returncode}, {races} races", flush=True)
            if done.returncode == 99 or races or (watched is compare and done.returncode):
                failed = True
                print(done.stdout[-4000:])
    sys.exit(failed)


if __name__ == "__main__":
    main()
