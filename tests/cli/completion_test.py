"""What bash, zsh and fish propose where yosida is typed: by the shells themselves, those of them that are installed."""
import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

from yosida_cli import BINARY, TIMEOUT_SECONDS, Cli

# What is typed before the tab, and some of what is proposed then, and what is not.
CASES = [
    (["tu"], ["tune"], ["predict", "--target"]),
    (["stu"], ["study"], ["tune"]),
    (["tune", "--tar"], ["--target", "--targets"], ["--train"]),
    (["tune", "--model", ""], ["ridge", "elastic-net", "softmax"], ["my-hpo"]),
    (["tune", "--model", "el"], ["elastic-net"], ["ridge"]),
    (["compare", "--methods", "my-hpo,ho"], ["hoag"], ["tpe"]),
    (["study", ""], ["list", "prune", "export"], ["tune"]),
    (["study", "prune", "--dry"], ["--dry-run"], ["--failed"]),
    (["methods", "gp"], ["gp-ei"], ["grid"]),
]


class Completion(Cli):
    def setUp(self):
        super().setUp()
        self.environment = {"PATH": f"{self.folder}:{os.environ['PATH']}", "HOME": str(self.folder), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        (self.folder / "yosida").symlink_to(shutil.which(BINARY) or BINARY)

    def script(self, shell, file):
        self.write(file, self.yosida("completion", shell).stdout)

    def shell(self, *command):
        if shutil.which(command[0]) is None:
            self.skipTest(f"{command[0]} is not installed")
        done = subprocess.run(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=TIMEOUT_SECONDS, encoding="utf-8", check=False)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)
        return done.stdout

    def assert_proposes(self, proposed_for):
        for words, wanted, unwanted in CASES:
            with self.subTest(" ".join(words)):
                proposed = proposed_for(words)
                for word in wanted:
                    self.assertIn(word, proposed)
                for word in unwanted:
                    self.assertNotIn(word, proposed)

    def test_bash(self):
        self.script("bash", "yosida.bash")

        def proposed(words):
            quoted = " ".join(f"'{word}'" for word in ["yosida", *words])
            text = self.shell("bash", "--norc", "-c", f"""
source ./yosida.bash
compopt() {{ :; }}
COMP_WORDS=({quoted}) COMP_CWORD={len(words)}
_yosida
printf '%s\\n' "${{COMPREPLY[@]}}" """)
            return [word.rpartition(",")[2] for word in text.split()]
        self.assert_proposes(proposed)

    def test_fish(self):
        self.script("fish", "yosida.fish")

        def proposed(words):
            text = self.shell("fish", "--no-config", "-c", f"source ./yosida.fish; complete -C 'yosida {' '.join(words)}'")
            return [line.split("\t")[0].rpartition(",")[2] for line in text.splitlines()]
        self.assert_proposes(proposed)

    def test_zsh(self):
        self.script("zsh", "_yosida")
        self.shell("zsh", "-f", "-n", "_yosida")
        self.assert_proposes(self.typed_in_zsh)

    def typed_in_zsh(self, words):
        """The menu that zsh shows on a terminal, in words."""
        self.write("start", "\n".join([
            "PROMPT='ready> '", f"fpath=({self.folder} $fpath)", "autoload -Uz compinit", "compinit -u -D",
            "setopt no_beep no_always_last_prompt list_rows_first", "LISTMAX=1000", "zstyle ':completion:*' list-separator '#'",
            "zstyle ':completion:*' menu no", "bindkey '^I' list-choices", "stty columns 400 rows 500"]))
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.execvpe("zsh", ["zsh", "-f"], self.environment)
        try:
            os.write(terminal, b"source ./start; echo begin\n")
            self.read_until(terminal, rb"\r\nbegin\r\n.*ready> ")
            os.write(terminal, f"yosida {' '.join(words)}\t".encode())
            shown = self.read_until(terminal, rb"\n.*ready> ")
        finally:
            os.write(terminal, b"\x03\nexit\n")
            os.close(terminal)
            os.waitpid(process, 0)
        lines = shown.split("\n")[1:-1]
        return {word for line in lines for word in re.split(r"  +", re.sub(r" +#.*", "", line.strip())) if word}

    def read_until(self, terminal, pattern):
        """What the shell has written until this stands at its end, without the codes of terminals."""
        text, deadline = b"", time.monotonic() + TIMEOUT_SECONDS
        plain = text
        while not re.search(pattern, plain, re.DOTALL):
            self.assertLess(time.monotonic(), deadline, plain)
            if select.select([terminal], [], [], 0.2)[0]:
                text += os.read(terminal, 65536)
                plain = re.sub(rb"\x1b\[[?0-9;]*[a-zA-Z]|\x1b[=>]", b"", text)
        return plain.decode().replace("\r", "")


if __name__ == "__main__":
    unittest.main()
