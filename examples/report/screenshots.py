#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""screenshots.py [FOLDER]: the pictures of this page, from what run.sh and study.sh make in FOLDER (default: build/report of the
checkout). Needs Chromium, its driver, Selenium and pngquant (Debian: chromium-driver python3-selenium pngquant)."""

import base64
import subprocess
import sys
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

HERE = Path(__file__).resolve().parent
# Name, page, section, width, height, colours.
SHOTS = (("summary", "report.html", "summary", 1280, 560, "light"), ("source", "report.html", "source", 1280, 990, "light"),
         ("over_time", "report.html", "samples", 1280, 800, "dark"), ("phone", "report.html", "energy", 360, 640, "light"),
         ("study", "sweep.html", "study-curves", 1280, 1130, "light"))


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parents[1] / "build/report").resolve()
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(word)
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        for name, page, section, width, height, colours in SHOTS:
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1,
                                                                         "mobile": False})
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": colours}]})
            driver.get((folder / page).as_uri())
            if section != "summary":
                driver.execute_script("document.getElementById(arguments[0]).scrollIntoView()", section)
            time.sleep(1)
            picture = base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {})["data"])
            done = subprocess.run(["pngquant", "64", "-"], input=picture, stdout=subprocess.PIPE, check=True)
            (HERE / f"{name}.png").write_bytes(done.stdout)
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
