#!/usr/bin/env python3
"""The live page against a server whose study grows: live_page_test.py PAGE_TOOL [unittest arguments]

Exit code 77 (skipped) where Chromium or its driver is not installed.
"""
import copy
import http.server
import json
import threading

import sample_page
from page_case import PageTest, main, page_of


class StudyServer:
    """Serves the live page and data.json with its ETag; may go away and come back at the same port."""

    def __init__(self, data):
        self.page = page_of(data, "live").encode()
        self.port = 0
        self.give(data)
        self.start()

    def give(self, data):
        self.body = json.dumps(data).encode()
        self.tag = f'"{hash(self.body)}"'

    def start(self):
        study = self
        self.answers = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                is_data = self.path == "/data.json"
                is_known = is_data and self.headers.get("If-None-Match") == study.tag
                known_path = is_data or self.path == "/"
                code = 304 if is_known else 200 if known_path else 404
                study.answers.append((self.path, code))
                self.send_response(code)
                body = b"" if code != 200 else study.body if is_data else study.page
                if is_data:
                    self.send_header("ETag", study.tag)
                self.send_header("Content-Type", "application/json" if is_data else "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        class Server(http.server.ThreadingHTTPServer):
            allow_reuse_address = True
            daemon_threads = True

        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def shortened(study, points):
    """The study as it was when its curves had so many points, and its last row had no run yet."""
    study = copy.deepcopy(study)
    for problem in study["problems"]:
        problem["rows"].pop()
        problem["curves"].pop()
        for response in problem["responses"]:
            response["paths"].pop()
        problem["results"] = [result for result in problem["results"] if result[0] < len(problem["rows"])]
        for curve in problem["curves"]:
            for key in ("iterations", "work", "seconds", "median", "low", "high", "gap", "gap_low", "gap_high", "running"):
                curve[key] = curve[key][:points]
    study["runs"] -= 10 * len(study["problems"])
    return study


class Live(PageTest):
    def setUp(self):
        super().setUp()
        self.study = sample_page.paper()
        self.server = StudyServer(shortened(self.study, 40))
        self.addCleanup(lambda: self.server.stop())
        # The page is left before its server goes, so that nothing is logged by the next test.
        self.addCleanup(lambda: self.browser.open("about:blank"))
        self.browser.open(f"http://127.0.0.1:{self.server.port}/")
        self.wait(lambda: self.one("#live").text.startswith("live"))
        self.run_script("window.is_same_page = true")

    def line(self, part):
        return self.run_script("return document.querySelector(arguments[0] + ' .chart .line[data-row=\"5\"] path').getAttribute('d')", part)

    def test_new_points_come_and_choices_stay(self):
        part = self.see_part("Convergence")
        table = self.see_part("Results")
        runs = self.see_part("Certificates")
        self.one(f"{runs} summary").click()
        self.one(f"{table} select").send_keys("loss")
        self.see(part)
        self.one(f"{part} input[value=seconds]").click()
        self.one(f"{part} [data-row='4'] .series").click()
        self.run_script("document.querySelector(arguments[0] + ' [data-row=\"5\"] .series').focus()", part)
        choices = lambda: self.run_script("""
            const [table, part, runs] = [...arguments].map((selector) => document.querySelector(selector));
            return [table.querySelector('select').value, part.querySelector('input[value=seconds]').checked,
                    part.querySelector('[data-row="4"] .series').ariaPressed, runs.querySelector('details').open,
                    Math.round(part.getBoundingClientRect().top),
                    document.activeElement === part.querySelector('[data-row="5"] .series'), window.is_same_page]""", table, part, runs)
        before, line = choices(), self.line(part)
        self.assertEqual(before[:4], ["loss", True, "false", True])
        self.assertTrue(before[5])

        self.server.give(self.study)
        self.wait(lambda: self.line(part) != line)
        self.assertEqual(choices(), before)
        self.assertIn("my-hpo", self.texts(f"{table} .results tbody .name"), "the row that came with new runs")
        self.assertIn("my-hpo", self.texts(f"{part} .series .name"))
        self.assertEqual(self.texts(f"{runs} summary"), ["Every run and its certificate (140)"])
        self.assertIn("560 runs", self.one("#facts").text)
        self.assertEqual(self.browser.console(), [])

    def test_counter_says_how_many_runs_are_there_and_how_long_it_takes(self):
        counter = lambda: self.one("#live .counter").text
        self.assertEqual(counter(), "", "nothing is said of a study without a plan")
        for planned, text in (({"done": 5, "total": 18, "seconds_left": 115}, "5 of 18 runs, about 2 min left"),
                              ({"done": 6, "total": 18, "seconds_left": None}, "6 of 18 runs"),
                              ({"done": 18, "total": 18, "seconds_left": 0}, "18 of 18 runs, all done")):
            self.server.give({**self.study, "planned": planned})
            self.wait(lambda: counter() == text)
        self.server.give({**self.study, "planned": {"done": 7, "total": 18, "seconds_left": 3}})
        self.wait(lambda: counter() == "7 of 18 runs, a moment left")
        self.assertIn("so far", self.texts("#summary .card p")[0])
        self.assertIn("7 of 18 planned", self.one("#facts").text)

    def test_what_has_not_changed_is_not_sent_again(self):
        self.wait(lambda: self.server.answers.count(("/data.json", 304)) >= 2)
        self.assertEqual(self.server.answers.count(("/data.json", 200)), 1)
        self.assertEqual({path for path, _ in self.server.answers}, {"/", "/data.json"})

    def test_server_goes_and_comes_back(self):
        part = self.see_part("Convergence")
        line = self.line(part)
        self.server.stop()
        self.wait(lambda: "server gone" in self.one("#live").text)
        self.assertEqual(self.line(part), line, "what was known stays")
        self.server.give(self.study)
        self.server.start()
        self.wait(lambda: self.one("#live").text.startswith("live"), seconds=20)
        self.assertNotEqual(self.line(part), line)
        self.assertTrue(self.run_script("return window.is_same_page"))


if __name__ == "__main__":
    main()
