#!/usr/bin/env python3
"""From runs to what a reader sees: reproduce, report and dashboard, in Chromium. whole_path_test.py YOSIDA [unittest arguments]

The numbers on the page are compared with those that `yosida study export` gives, put together here. Exit code 77 (skipped)
where Chromium or its driver is not installed.
"""
import json
import re
import statistics
import subprocess

from page_case import TOOL as YOSIDA
from page_case import PageTest, main, number, percent, rounded, with_error


class WholePath(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.study = cls.folder / 'odd <script>alert(1) "name" λ.study'
        if not cls.study.exists():
            cls.reproduce(3)

    @classmethod
    def reproduce(cls, seeds):
        cls.yosida("reproduce", "--problem", "spectra", "--seeds", str(seeds), "--study", cls.study, "--quiet")

    @classmethod
    def yosida(cls, *arguments):
        return subprocess.run([YOSIDA, *map(str, arguments)], cwd=cls.folder, stdout=subprocess.PIPE, check=True, timeout=120,
                              encoding="utf-8").stdout

    def finals(self, study=None):
        """Of each method and its settings: the outcomes of its runs, None where one diverged."""
        runs = json.loads(self.yosida("study", "export", study or self.study, "--format", "json"))
        grouped = {}
        for run in runs:
            key = (run["spec"]["method"], *sorted(run["spec"]["settings"].items()))
            grouped.setdefault(key, []).append(None if run["status"] == "diverged" else run["outcome"])
        return runs, grouped

    def shown(self):
        """The table: of each row its label and cells by heading."""
        return self.run_script("""
            const table = document.querySelector('#problem-0 .results');
            const titles = [...table.querySelectorAll('thead th')].map((node) => node.innerText.replace(/\\s+/g, ' ').trim());
            return [...table.querySelectorAll('tbody tr')].map((row) => [row.querySelector('.name').textContent,
              Object.fromEntries([...row.children].map((cell, i) => [titles[i], (cell.querySelector('.value') ?? cell).textContent]))])""")

    def check_table(self, study=None):
        runs, grouped = self.finals(study)
        self.assertIn(f"{len(runs)} runs", self.one("#facts").text)
        shown = self.shown()
        self.assertEqual(len(shown), len(grouped))
        expected = []
        for outcomes in grouped.values():
            ended = [outcome["final"]["scaled_loss"]["validation"] for outcome in outcomes if outcome]
            shown_value = None
            if ended and (None in outcomes or len(ended) == 1):
                shown_value = rounded(statistics.median(ended))
            elif ended:
                shown_value = number(with_error(statistics.mean(ended), statistics.stdev(ended)).split(" ")[0])
            expected.append((shown_value, outcomes.count(None)))
        found = [(number(cells["Validation"]), int(re.match(r"\d+", cells["Diverged"]).group())) for _, cells in shown]
        key = lambda pair: (pair[0] is None, pair)
        self.assertEqual(sorted(found, key=key), sorted(expected, key=key))

    def test_report(self):
        self.yosida("report", self.study, "--out", "report.html")
        self.browser.open(self.folder / "report.html")
        self.assertEqual(self.one("h1").get_attribute("textContent"), self.study.name)
        self.see_part("Results")
        self.check_table()
        self.assertIn("yosida reproduce --problem spectra --seeds", " ".join(self.texts("#made code")))
        part = self.see_part("Convergence")
        self.assertGreater(len(self.all(f"{part} .chart .line")), 5)
        part = self.see_part("Validation loss against λ")
        self.assertGreater(len(self.all(f"{part} .chart path")), 5)
        self.see_part("Stability")
        self.assert_silent()

    def test_band_interval_and_rules(self):
        """What is drawn is what `tune --trust` says of the same rows."""
        self.yosida("compare", "--data", "spectra", "--folds", "5", "--methods", "my-hpo,grid", "--seeds", "1", "--trust", "--study",
                    "sure.study", "--quiet")
        self.yosida("tune", "--data", "spectra", "--folds", "5", "--trust", "--quiet", "--json", "sure.json")
        trust = json.loads((self.folder / "sure.json").read_text())["trust"]
        self.yosida("report", "sure.study", "--out", "sure.html")
        self.browser.open(self.folder / "sure.html")
        part = self.see_part("Validation loss against λ")
        self.assertEqual(len(self.all(f"{part} .trust-band")), 1)
        band, = self.run_script(
            "return JSON.parse(document.querySelector('#data').textContent).problems[0].responses.map((response) => response.trust)")
        least = trust["minimum"][0]
        for key, wanted in [("minimum", least), ("one_standard_error", least + trust["shift_one_se_rule"])]:
            self.assertAlmostEqual(band[key], wanted, delta=1e-6)
        interval = trust["shift_within_one_se"]
        for given, wanted in zip(band["interval"], [interval["low"], interval["high"]]):
            self.assertAlmostEqual(given, least + wanted, delta=1e-4)
        self.assertGreater(len(band["curve"]), 20)
        lines = self.run_script(f"return [...document.querySelectorAll('{part} .trust-rule')].map((node) => Number(node.getAttribute('x1')))")
        self.assertEqual(len(lines), 2)
        self.assertGreaterEqual(lines[1], lines[0])
        self.assertEqual(self.texts(f"{part} .trust text"), ["min", "1se"])
        self.assert_silent()

    def test_report_of_one_seed(self):
        self.yosida("reproduce", "--problem", "spectra", "--seeds", "1", "--study", "one.study", "--quiet")
        self.yosida("report", "one.study", "--out", "one.html")
        self.browser.open(self.folder / "one.html")
        self.see_part("Results")
        self.check_table("one.study")
        gaps = [cells["λ gap"].replace("−", "-") for name, cells in self.shown() if name == "my-hpo-full"]
        expected = [run["outcome"]["final"]["lambda_gap"] for run in self.finals("one.study")[0] if run["method"] == "my-hpo-full"]
        self.assertEqual(gaps, [percent(gap) for gap in expected])
        self.see_part("Stability")
        self.assert_silent()

    def test_dashboard_follows_the_study(self):
        server = subprocess.Popen([YOSIDA, "dashboard", self.study, "--port", "0"], stdout=subprocess.PIPE, encoding="utf-8")
        self.addCleanup(server.wait)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.terminate)
        self.addCleanup(lambda: self.browser.open("about:blank"))
        address = re.search(r"http://\S+", server.stdout.readline()).group()
        self.browser.open(address)
        self.wait(lambda: self.one("#live").text.startswith("live"))
        self.see_part("Results")
        self.check_table()
        self.run_script("window.is_same_page = true")
        before = self.one("#facts").text
        self.reproduce(5)
        self.wait(lambda: self.one("#facts").text != before)
        self.wait(lambda: f"{len(self.finals()[0])} runs" in self.one("#facts").text)
        self.see_part("Results")
        self.check_table()
        self.assertTrue(self.run_script("return window.is_same_page"), "the page was loaded anew")
        self.assertEqual(self.browser.console(), [])
        self.assertEqual({request for request in self.browser.requests() if request.startswith("http")},
                         {address, f"{address}data.json"})


if __name__ == "__main__":
    main()
