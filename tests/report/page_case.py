"""What the tests of the report's page share: pages made of samples, and one browser for all tests of a file."""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import browser
import sample_page

SKIPPED = 77
TOOL = sys.argv.pop(1) if len(sys.argv) > 1 else "page_tool"


def page_of(data, mode="report"):
    return subprocess.run([TOOL, mode, str(data.get("title"))], input=json.dumps(data), stdout=subprocess.PIPE, check=True,
                          encoding="utf-8").stdout


def number(text):
    """The first number in a text as the page writes it; None for a dash."""
    text = text.replace("−", "-").strip()
    return None if text.startswith("–") else float(re.match(r"-?[\d.]+(e-?\d+)?", text).group())


def rounded(value, digits=4):
    """What the page shows of a number: so many digits that count, and no fewer than all before the point."""
    if value is None:
        return None
    return float(math.floor(value + 0.5) if 10 ** digits <= abs(value) < 1e7 else f"{value:.{digits}g}")


def with_error(value, error):
    """What the page shows of a number that may be off by this much: both to the second digit of the error, which has a power of ten
    below 0.00001, as everywhere."""
    of_error = int(f"{error:.1e}".split("e")[1])
    decimals = 1 - of_error
    if of_error < -5:
        return f"{round(value, decimals):.15g} ± {error:.1e}".replace("e-0", "e-")
    places = max(decimals, 0)
    return f"{round(value, decimals):.{places}f} ± {round(error, decimals):.{places}f}"


def percent(share):
    """What the page and the command line show of a share."""
    if share is None:
        return "–"
    text = f"{100 * share:.3e}"
    exponent = int(text.split("e")[1]) if share else 0
    return f"{100 * share:.{2 if exponent < 2 else 1 if exponent < 3 else 0}f}\u00a0%"


class PageTest(unittest.TestCase):
    """Pages of samples, opened in one browser."""

    browser = None
    samples, files = {}, {}

    @classmethod
    def setUpClass(cls):
        if PageTest.browser is None:
            folder = tempfile.TemporaryDirectory(prefix="yosida-page-")
            unittest.addModuleCleanup(folder.cleanup)
            PageTest.folder = pathlib.Path(folder.name)
            PageTest.browser = browser.Browser()
            unittest.addModuleCleanup(PageTest.browser.close)

    def setUp(self):
        self.browser.prefer(prefers_color_scheme="light")
        self.browser.resize(1280, 900)

    def open(self, name, make=None):
        """Opens the page of a sample, or of what `make` gives, in a fresh state; gives its data."""
        if name not in self.files:
            self.samples[name] = (make or sample_page.SAMPLES[name])()
            self.files[name] = self.folder / f"{name}.html"
            self.files[name].write_text(page_of(self.samples[name]), encoding="utf-8")
        self.browser.open(self.files[name])
        return self.samples[name]

    def run_script(self, script, *arguments):
        return self.browser.run(script, *arguments)

    def all(self, selector):
        return self.browser.driver.find_elements("css selector", selector)

    def one(self, selector):
        return self.browser.driver.find_element("css selector", selector)

    def texts(self, selector):
        return self.run_script("return [...document.querySelectorAll(arguments[0])].map((node) => node.textContent)", selector)

    def see(self, selector):
        """Scrolls there and waits until what is drawn on sight is drawn."""
        self.run_script("document.documentElement.style.scrollBehavior = 'auto';"
                        "document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        self.wait(lambda: not self.run_script(
            "const node = document.querySelector(arguments[0]); return node.matches('.waiting') || node.querySelector('.waiting')",
            selector))

    def see_part(self, title, problem=0):
        """A selector of the part with this heading, drawn."""
        place = self.texts(f"#problem-{problem} > .part > h3").index(title) + 1
        selector = f"#problem-{problem} > .part:nth-of-type({place})"
        self.see(selector)
        return selector

    def wait(self, condition, seconds=10):
        from selenium.webdriver.support.wait import WebDriverWait
        return WebDriverWait(self.browser.driver, seconds, 0.05).until(lambda _: condition())

    def assert_silent(self):
        """Nothing in the console, and no request but for the page itself."""
        self.assertEqual(self.browser.console(), [])
        self.assertEqual([request for request in self.browser.requests()
                          if not request.startswith("file:") and not request.startswith("data:")], [])

    def assert_fits(self):
        widths = self.run_script("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        self.assertLessEqual(widths[0], widths[1], "the page scrolls sideways")


def main():
    lacking = browser.missing()
    if lacking:
        print(f"skipped: {lacking} not installed")
        sys.exit(SKIPPED)
    unittest.main()
