# SPDX-License-Identifier: Apache-2.0
"""Chromium without a screen and without a network, for tests of pages: BrowserTest opens files and asks them."""

import base64
import shutil
import unittest
from pathlib import Path

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:  # the tests are skipped
    webdriver = None

MISSING = webdriver is None or not shutil.which("chromium") or not shutil.which("chromedriver")
DESKTOP, PHONE = (1280, 900), (360, 740)


def driver():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                 "--host-resolver-rules=MAP * ~NOTFOUND", "--force-device-scale-factor=1"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


@unittest.skipIf(MISSING, "Chromium, its driver or python3-selenium is not installed (.cmake/setup-packages.sh --studies-tests)")
class BrowserTest(unittest.TestCase):
    """`self.open(path)`, then `self.js("return ...")`, `self.find(css)`, `self.keys(...)`; every test ends with a look at the
    console."""

    @classmethod
    def setUpClass(cls):
        cls.driver = driver()
        cls.addClassCleanup(cls.driver.quit)

    def open(self, path, size=DESKTOP, scheme="light"):
        self.addCleanup(self.no_errors)
        cdp = self.driver.execute_cdp_cmd
        cdp("Emulation.setDeviceMetricsOverride", {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False})
        cdp("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        cdp("Network.enable", {})
        cdp("Network.emulateNetworkConditions", {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
        self.driver.get(Path(path).resolve().as_uri())

    def no_errors(self):
        self.assertEqual([e["message"] for e in self.driver.get_log("browser")], [])

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def find_all(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def keys(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def focused(self):
        """The focused element's text, or its id."""
        return self.js("const e = document.activeElement; return e.textContent.trim() || e.id")

    def wait(self, script, seconds=120):
        """Until the script returns something true."""
        from selenium.webdriver.support.ui import WebDriverWait
        return WebDriverWait(self.driver, seconds, 0.05).until(lambda d: d.execute_script(script))

    def fits(self):
        """The page does not scroll sideways."""
        wide, page = self.js("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        self.assertLessEqual(wide, page)

    def screenshot(self, path, whole=False):
        """`whole`: all of the page, not the window alone."""
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": whole})
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def pdf(self):
        return base64.b64decode(self.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])


__all__ = ["BrowserTest", "Keys", "DESKTOP", "PHONE", "MISSING", "driver"]
