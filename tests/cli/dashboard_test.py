"""yosida dashboard as a program asks it; what a browser shows of it is tested with the report."""
import concurrent.futures
import contextlib
import http.client
import os
import re
import resource
import signal
import socket
import subprocess
import time
import unittest

from yosida_cli import BINARY, TIMEOUT_SECONDS, Cli, strict_json

COMPARE = ["compare", "--data", "spectra", "--methods", "my-hpo,sho:alpha=0.05", "--quiet"]


class DashboardCli(Cli):
    def setUp(self):
        super().setUp()
        self.yosida(*COMPARE, "--seeds", "2", "--study", "s.study")

    def start(self, *arguments, **options):
        process = subprocess.Popen([BINARY, "dashboard", "s.study", *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, encoding="utf-8", **options)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        line = process.stdout.readline()
        found = re.search(r"http://(.*):(\d+)/", line)
        self.assertTrue(found, line or process.stderr.read())
        return process, found[1].strip("[]"), int(found[2])

    def ask(self, host, port, path="/data.json", method="GET", **headers):
        connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECONDS)
        self.addCleanup(connection.close)
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer, answer.read()

    def until(self, host, port, status):
        end = time.monotonic() + TIMEOUT_SECONDS
        while (found := self.ask(host, port))[0].status != status and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(found[0].status, status)
        return strict_json(found[1].decode())

    def connect(self, host, port):
        client = socket.create_connection((host, port), timeout=TIMEOUT_SECONDS)
        self.addCleanup(client.close)
        return client

    def send(self, host, port, request):
        """All that comes back for these bytes."""
        client = self.connect(host, port)
        client.sendall(request)
        return b"".join(iter(lambda: client.recv(65536), b""))


class Dashboard(DashboardCli):
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
        for name in ["evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "", "[::1].evil.example", "[::1",
                     "127.0.0.1:80@evil.example", "127.0.0.1:evil.example"]:
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

    def test_a_study_without_runs_yet(self):
        for method in ["my-hpo", "sho"]:
            self.yosida("study", "prune", "s.study", "--method", method)
        _, host, port = self.start("--port", "0")
        self.assertEqual(strict_json(self.ask(host, port)[1].decode())["runs"], 0)

    def test_a_study_that_vanishes_and_another_in_its_place(self):
        _, host, port = self.start("--port", "0")
        (self.folder / "s.study").rename(self.folder / "old.study")
        self.assertIn("s.study: is gone", self.until(host, port, 503)["error"])
        self.yosida(*COMPARE, "--seeds", "3", "--study", "s.study")
        self.assertEqual(self.until(host, port, 200)["runs"], 6)
        (self.folder / "new").write_bytes(b"no study at all" * 1000)
        (self.folder / "new").rename(self.folder / "s.study")
        self.assertIn("is not a study", self.until(host, port, 503)["error"])

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


class Requests(DashboardCli):
    """What a client may write, well-formed or not."""

    def test_ranges_are_not_served(self):
        _, host, port = self.start("--port", "0")
        def check(path, **options):
            answer, whole = self.ask(host, port, path, **options)
            size = len(whole)
            ranges = ["0-0", "0-", "-1", f"-{size}", f"-{size + 9999}", f"{size // 2}-{size + 9999}", f"{size - 1}-", f"{size}-",
                      f"{size + 1}-{size + 30000}", "30000-60000", "99999999-", "5-2", "-0", "--5", "-", "", "a-b", "0-1,2-3",
                      "0-9,5-20,1-1", ",".join(["0-"] * 1000), f"0-1,{size}-{size + 9999}", "9223372036854775807-9223372036854775808",
                      "18446744073709551615-", "18446744073709551610-18446744073709551615", "0-99999999999999999999999999"]
            for value in [*(f"bytes={each}" for each in ranges), "bytes", "", "lines=0-1", "bytes 0-1/2", "\xff"]:
                with self.subTest(path=path, range=value, **options):
                    ranged, body = self.ask(host, port, path, Range=value, **options)
                    self.assertEqual((ranged.status, body), (answer.status, whole))
                    self.assertIsNone(ranged.getheader("Content-Range"))
            return answer.status
        self.assertEqual(check("/"), 200)
        self.assertEqual(check("/data.json"), 200)
        self.assertEqual(check("/data.json", method="HEAD"), 200)
        self.assertEqual(check("/other"), 404)
        self.assertEqual(check("/", Host="evil.example"), 403)
        self.assertEqual(check("/", method="DELETE"), 405)
        (self.folder / "s.study").unlink()
        self.until(host, port, 503)
        self.assertEqual(check("/data.json"), 503)

    def test_head(self):
        _, host, port = self.start("--port", "0")
        for path in ["/", "/data.json", "/other"]:
            answer, whole = self.ask(host, port, path)
            head, nothing = self.ask(host, port, path, method="HEAD")
            self.assertEqual((head.status, nothing), (answer.status, b""), path)
            self.assertEqual(head.getheaders(), answer.getheaders())
            self.assertEqual(int(head.getheader("Content-Length")), len(whole))

    def test_headers_of_every_answer(self):
        _, host, port = self.start("--port", "0")
        for path, name, method in [("/", "localhost", "GET"), ("/data.json", "localhost", "GET"), ("/other", "localhost", "GET"),
                                   ("/", "evil.example", "GET"), ("/", "localhost", "PUT")]:
            answer = self.ask(host, port, path, method, Host=name)[0]
            for header, value in [("Cache-Control", "no-cache"), ("X-Content-Type-Options", "nosniff"),
                                  ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
                                  ("Connection", "close")]:
                self.assertEqual(answer.getheader(header), value, (path, name, method))

    def test_whole_addresses_as_to_a_proxy(self):
        _, host, port = self.start("--port", "0")
        for address, status in [(f"http://127.0.0.1:{port}/data.json", b"200"), ("http://localhost", b"200"),
                                ("http://localhost?x", b"200"), ("http://evil.example/", b"403"),
                                ("http://evil.example@127.0.0.1/", b"403"), ("https://127.0.0.1/", b"400"), ("*", b"400")]:
            answer = self.send(host, port, f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            self.assertEqual(answer[:12], b"HTTP/1.1 " + status, address)

    def test_what_is_no_request(self):
        _, host, port = self.start("--port", "0")
        for request in [b"", b"GET", b"GET /", b"GET / HTTP/1.1 x", b"GET  / HTTP/1.1", b"GET / HTTP/2.0", b"GET data.json HTTP/1.1",
                        b"\x16\x03\x01\x00\xff\x00", b"GET / HTTP/1.1\r\nHost", b"GET / HTTP/1.1\r\n: localhost",
                        b"GET / HTTP/1.1\r\nHost : localhost", b"GET / HTTP/1.1\r\nHost: localhost\r\n folded: x",
                        b"GET / HTTP/1.1\r\nHost: localhost\r\nhost: evil.example"]:
            self.assertEqual(self.send(host, port, request + b"\r\n\r\n")[:12], b"HTTP/1.1 400", request)
        self.assertEqual(self.send(host, port, b"GET / HTTP/1.1\r\n\r\n")[:12], b"HTTP/1.1 403", "without a host")
        self.assertEqual(self.send(host, port, b"GET /?a=b HTTP/1.0\r\nHOST:localhost \r\n\r\n")[:12], b"HTTP/1.1 200")

    def test_one_answer_to_a_connection(self):
        _, host, port = self.start("--port", "0")
        answers = self.send(host, port, b"GET /data.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
        self.assertEqual(answers.count(b"HTTP/1.1 200 OK"), 1)
        strict_json(answers.partition(b"\r\n\r\n")[2].decode())

    def test_a_client_that_has_said_all(self):
        _, host, port = self.start("--port", "0")
        client = self.connect(host, port)
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        client.shutdown(socket.SHUT_WR)
        self.assertEqual(b"".join(iter(lambda: client.recv(65536), b"")).partition(b"\r\n\r\n")[2], self.ask(host, port, "/")[1])

    def test_other_verbs_are_refused_unread(self):
        _, host, port = self.start("--port", "0")
        with socket.create_connection((host, port)) as client:
            client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000000\r\n\r\n" + 100_000 * b"x")
            self.assertIn(b" 405 ", client.recv(100))

    def test_long_heads_are_refused(self):
        process, host, port = self.start("--port", "0")
        line = b"X-Filling: " + 1000 * b"x" + b"\r\n"
        self.assertEqual(self.send(host, port, b"GET / HTTP/1.1\r\nHost: localhost\r\n" + 10 * line + b"\r\n")[:12], b"HTTP/1.1 200")
        for request in [b"GET / HTTP/1.1\r\n" + 25 * line, b"GET / HTTP/1.1\r\n" + 17 * line + b"\r\n", b"GET /" + 25000 * b"x"]:
            self.assertEqual(self.send(host, port, request)[:12], b"HTTP/1.1 431")
        before = most_kilobytes(process)
        client = self.connect(host, port)
        with contextlib.suppress(ConnectionError):
            client.sendall(b"GET / HTTP/1.1\r\n")
            for _ in range(100):
                client.sendall(1000 * line)
        self.assertLess(most_kilobytes(process) - before, 5000)


class Load(DashboardCli):
    """Clients that take what they can get."""

    def assert_quick(self, host, port):
        """A request is answered at once; a machine that is busy with other things is given several attempts."""
        seconds = []
        for _ in range(5):
            begin = time.monotonic()
            self.assertEqual(self.ask(host, port)[0].status, 200)
            seconds.append(time.monotonic() - begin)
        self.assertLess(min(seconds), 1)
        self.assertLess(max(seconds), 15)

    def assert_ends(self, process):
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=TIMEOUT_SECONDS), 0)
        self.assertLess(time.monotonic() - begin, 10)

    def test_silent_and_dripping_clients_keep_nobody_waiting(self):
        process, host, port = self.start("--port", "0")
        silent = [self.connect(host, port) for _ in range(200)]
        for client in silent[:100]:
            client.sendall(b"GET / HTTP/1.1\r\n")
        dripping = [self.connect(host, port) for _ in range(64)]
        for letter in b"GET / HTTP":
            for client in dripping:
                client.sendall(bytes([letter]))
            time.sleep(0.02)
        self.assert_quick(host, port)
        self.assert_ends(process)

    def test_a_slow_client_does_not_hold_up_the_end(self):
        process, host, port = self.start("--port", "0")
        client = self.connect(host, port)
        client.sendall(b"GET / HTTP/1.1")
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < begin + TIMEOUT_SECONDS:
                client.sendall(b"x")
                time.sleep(0.1)
        self.assertEqual(process.wait(timeout=TIMEOUT_SECONDS), 0)
        self.assertLess(time.monotonic() - begin, 10)

    def test_clients_that_do_not_read(self):
        process, host, port = self.start("--port", "0")
        for _ in range(100):
            client = socket.socket()
            self.addCleanup(client.close)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)  # so that little fits on the way
            client.connect((host, port))
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assert_quick(host, port)
        self.assert_ends(process)

    def test_many_at_once(self):
        _, host, port = self.start("--port", "0")
        body = self.ask(host, port)[1]
        with concurrent.futures.ThreadPoolExecutor(500) as pool:
            answers = list(pool.map(lambda _: self.ask(host, port), range(500)))
        self.assertEqual({(answer.status, text) for answer, text in answers}, {(200, body)})

    def test_a_request_has_a_time_limit(self):
        process, host, port = self.start("--port", "0")
        client = self.connect(host, port)
        end = time.monotonic() + 40
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < end:  # never silent for long
                client.sendall(b"x")
                time.sleep(0.2)
        self.assertLess(time.monotonic(), end)

    def test_more_clients_than_places(self):
        def few_files():
            resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
        process, host, port = self.start("--port", "0", preexec_fn=few_files)
        silent = [self.connect(host, port) for _ in range(100)]
        self.assert_quick(host, port)
        self.assert_ends(process)

    def test_no_file_for_another_client(self):
        process, host, port = self.start("--port", "0")
        self.ask(host, port)
        limits = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{process.pid}/fd")), limits[1]))
        silent = [self.connect(host, port) for _ in range(20)]
        before = processor_seconds(process)
        time.sleep(1)
        self.assertLess(processor_seconds(process) - before, 0.5, "waits instead of asking the system again and again")
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, limits)
        self.assert_quick(host, port)


def most_kilobytes(process):
    """The most memory that the process has had."""
    with open(f"/proc/{process.pid}/status") as status:
        return int(re.search(r"VmHWM:\s*(\d+) kB", status.read())[1])


def processor_seconds(process):
    with open(f"/proc/{process.pid}/stat") as stat:
        user, system = stat.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    unittest.main()
