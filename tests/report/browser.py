"""Chromium for the tests of the report's page: one headless browser, what it logs, and what it asks the network for."""
import json
import pathlib
import shutil
import tempfile

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb"]


def missing():
    """What the tests need and this machine lacks, in words; "" where all is there."""
    lacking = [program for program in ("chromium", "chromedriver") if shutil.which(program) is None]
    try:
        import selenium.webdriver  # noqa: F401
    except ImportError:
        lacking.append("python3-selenium")
    return ", ".join(lacking)


class Browser:
    def __init__(self):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
        self.profile = tempfile.mkdtemp(prefix="yosida-chromium-")
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for flag in [*FLAGS, f"--user-data-dir={self.profile}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        try:
            self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        except BaseException:
            shutil.rmtree(self.profile, ignore_errors=True)
            raise
        self.driver.set_script_timeout(20)

    def close(self):
        self.driver.quit()
        shutil.rmtree(self.profile, ignore_errors=True)

    def resize(self, width, height):
        """The size of the page itself, however small: windows have a least width, phones do not."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def prefer(self, **features):
        """What the reader's system prefers: prefer(prefers_color_scheme="dark"); also media="print"."""
        media = features.pop("media", "")
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()]})

    def open(self, page):
        """Loads a file or an address and forgets what was logged before."""
        self.console(), self.requests()
        self.driver.get(page.as_uri() if isinstance(page, pathlib.Path) else page)

    def console(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Every address that the pages asked for since the last call."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"]

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)
