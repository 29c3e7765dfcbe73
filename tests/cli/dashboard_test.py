"""yosida dashboard as a program asks it; what a browser shows of it is tested with the report."""
import http.client
import re
import signal
import socket
import subprocess
import time
import unittest

from yosida_cli import BINARY, TIMEOUT_SECONDS, Cli, strict_json

COMPARE = ["compare", "--data", "spectra", "--methods", "my-hpo,sho:alpha=0.05", "--quiet"]


class Dashboard(Cli):
    def setUp(self):
        super().setUp()
        self.yosida(*COMPARE, "--seeds", "2", "--study", "s.study")

    def start(self, *arguments):
        process = subprocess.Popen([BINARY, "dashboard", "s.study", *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, encoding="utf-8")
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        line = process.stdout.readline()
        found = re.search(r"http://(.*):(\d+)/", line)
        self.assertTrue(found, line or process.stderr.read())
        return process, found[1].strip("[]"), int(found[2])

    def ask(self, host, port, path="/data.json", **headers):
        connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECONDS)
        self.addCleanup(connection.close)
        connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer, answer.read()

    def test_page_and_data(self):
        _, host, port = self.start("--port", "0")
        self.assertEqual(host, "127.0.0.1")
        answer, page = self.ask(host, port, "/")
        self.assertEqual(answer.status, 200)
        self.assertIn("text/html", answer.getheader("Content-Type"))
        self.assertIn(b"s.study", page)
        answer, body = self.ask(host, port)
        data = strict_json(body.decode())
        self.assertEqual(data["runs"], 4)
        self.assertEqual(data["title"], "s.study")
        # Compressing would cost more than it spares on one machine.
        self.assertEqual(self.ask(host, port, Accept_Encoding="br, gzip")[1], body)
        self.assertEqual(self.ask(host, port, "/other")[0].status, 404)
        self.assertEqual(self.ask(host, port, "/../s.study")[0].status, 404)

    def test_new_runs_appear(self):
        _, host, port = self.start("--port", "0")
        answer, body = self.ask(host, port)
        tag = answer.getheader("ETag")
        same, nothing = self.ask(host, port, If_None_Match=tag)
        self.assertEqual((same.status, nothing), (304, b""))
        self.yosida(*COMPARE, "--seeds", "5", "--study", "s.study")
        end = time.monotonic() + TIMEOUT_SECONDS
        while (answer := self.ask(host, port, If_None_Match=tag)[0]).status == 304 and time.monotonic() < end:
            time.sleep(0.05)
        body = self.ask(host, port)[1]
        self.assertEqual(strict_json(body.decode())["runs"], 10)
        self.assertNotEqual(answer.getheader("ETag"), tag)

    def test_other_names_are_refused(self):
        _, host, port = self.start("--port", "0")
        for name in ["evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", ""]:
            answer, body = self.ask(host, port, Host=name)
            self.assertEqual(answer.status, 403, name)
            self.assertNotIn(b"problems", body)
        for name in ["localhost", f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"]:
            self.assertEqual(self.ask(host, port, Host=name)[0].status, 200, name)

    def test_ends_by_a_signal(self):
        for sent in [signal.SIGINT, signal.SIGTERM]:
            process, host, port = self.start("--port", "0")
            process.send_signal(sent)
            self.assertEqual(process.wait(timeout=TIMEOUT_SECONDS), 0)
            with self.assertRaises(ConnectionError):
                self.ask(host, port)

    def test_silent_clients_keep_nobody_waiting_for_long(self):
        _, host, port = self.start("--port", "0")
        silent = [socket.create_connection((host, port)) for _ in range(20)]
        for each in silent:
            each.sendall(b"GET / HTTP/1.1\r\n")
        self.assertEqual(self.ask(host, port)[0].status, 200)
        for each in silent:
            each.close()

    def test_a_study_without_runs_yet(self):
        for method in ["my-hpo", "sho"]:
            self.yosida("study", "prune", "s.study", "--method", method)
        _, host, port = self.start("--port", "0")
        self.assertEqual(strict_json(self.ask(host, port)[1].decode())["runs"], 0)

    def until(self, host, port, status):
        end = time.monotonic() + TIMEOUT_SECONDS
        while (found := self.ask(host, port))[0].status != status and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(found[0].status, status)
        return strict_json(found[1].decode())

    def test_a_study_that_vanishes_and_another_in_its_place(self):
        _, host, port = self.start("--port", "0")
        (self.folder / "s.study").rename(self.folder / "old.study")
        self.assertIn("s.study: is gone", self.until(host, port, 503)["error"])
        self.yosida(*COMPARE, "--seeds", "3", "--study", "s.study")
        self.assertEqual(self.until(host, port, 200)["runs"], 6)
        (self.folder / "new").write_bytes(b"no study at all" * 1000)
        (self.folder / "new").rename(self.folder / "s.study")
        self.assertIn("is not a study", self.until(host, port, 503)["error"])

    def test_other_verbs_are_refused_unread(self):
        _, host, port = self.start("--port", "0")
        with socket.create_connection((host, port)) as client:
            client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000000\r\n\r\n")
            self.assertIn(b" 405 ", client.recv(100))

    def test_a_slow_client_does_not_hold_up_the_end(self):
        process, host, port = self.start("--port", "0")
        with socket.create_connection((host, port)) as client:
            for letter in b"GET / HTTP/1.1":
                client.sendall(bytes([letter]))
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            begin = time.monotonic()
            while process.poll() is None and time.monotonic() < begin + TIMEOUT_SECONDS:
                client.sendall(b"x") if process.poll() is None else None
                time.sleep(0.2)
        self.assertEqual(process.wait(timeout=TIMEOUT_SECONDS), 0)
        self.assertLess(time.monotonic() - begin, 10)

    def test_occupied_port(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.refused("dashboard", "s.study", "--port", port, names=[f"127.0.0.1:{port}", "in use", "--port"])
        process, _, port = self.start("--port", "0")
        self.refused("dashboard", "s.study", "--port", port, names=[str(port), "in use"])
        self.assertIsNone(process.poll(), "the first goes on")

    def test_refusals(self):
        self.write("notes.txt", "no study\n" * 100)
        for arguments, names in [(["s.study", "--host", "0.0.0.0"], ["0.0.0.0", "loopback", "--allow-remote"]),
                                 (["s.study", "--host", "::"], ["loopback"]),
                                 (["s.study", "--host", "192.0.2.1"], ["loopback"]),
                                 (["s.study", "--host", "192.0.2.1", "--allow-remote"], ["192.0.2.1"]),
                                 (["s.study", "--port", "65536"], ["65536"]),
                                 (["s.study", "--port", "-1"], ["port"]),
                                 (["none.study"], ["none.study", "no such file"]),
                                 (["notes.txt"], ["notes.txt", "not a study"])]:
            with self.subTest(arguments):
                self.refused("dashboard", *arguments, names=names)

    def test_remote_only_when_allowed(self):
        _, host, port = self.start("--host", "0.0.0.0", "--port", "0", "--allow-remote")
        self.assertEqual(self.ask("127.0.0.1", port, Host="box.example")[0].status, 200)


if __name__ == "__main__":
    unittest.main()
