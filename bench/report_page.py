#!/usr/bin/env python3
"""How long large reports take to open in headless Chromium: bench/report_page.py build/release/tests/page_tool

For studies of 10 000 runs (1000 methods × 10 seeds and 10 × 1000): the size of the page, and the milliseconds from asking for
it until its tables and charts in sight are painted (the median of five), until all parts are drawn, and until every line is.
"""
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "report"))
import browser  # noqa: E402

SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "tests" / "report" / "sample_page.py"
PAINTED = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))"


def after(chromium, script):
    start = time.monotonic()
    chromium.run(script)
    chromium.driver.execute_async_script(PAINTED)
    return 1000 * (time.monotonic() - start)


def measure(chromium, tool, name, folder):
    data = subprocess.run([sys.executable, SAMPLES, name], stdout=subprocess.PIPE, check=True).stdout
    page = folder / f"{name}.html"
    page.write_bytes(subprocess.run([tool, "report", name], input=data, stdout=subprocess.PIPE, check=True).stdout)
    times = []
    for _ in range(5):
        chromium.open(page)
        times.append(chromium.driver.execute_async_script(PAINTED))
        assert chromium.run("return document.querySelectorAll('.results tbody tr').length") > 0
    everything = after(chromium, "dispatchEvent(new Event('beforeprint'))")
    lines = after(chromium, "document.querySelector('.legend-tools button').click()")
    print(f"{name:6} {page.stat().st_size / 1e6:6.1f} MB   opened {statistics.median(times):5.0f} ms (most {max(times):.0f})   "
          f"all parts {everything:5.0f} ms   every line {lines:5.0f} ms")


def main():
    chromium = browser.Browser()
    try:
        chromium.resize(1280, 900)
        with tempfile.TemporaryDirectory(prefix="yosida-page-") as folder:
            for name in ("paper", "wide", "long"):
                measure(chromium, sys.argv[1], name, pathlib.Path(folder))
    finally:
        chromium.close()


if __name__ == "__main__":
    main()
