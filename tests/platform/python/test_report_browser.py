# SPDX-License-Identifier: Apache-2.0
"""Report pages in Chromium, without a network: figures are drawn, tables and keys work, nothing overflows, nothing complains."""

import contextlib
import io
import json
import os
import tempfile
import unittest
from pathlib import Path

from regatta.commands.compare import main as compare
from regatta.commands.report import main as report
from regatta.reports.page import Section, write_page

from .browser import DESKTOP, PHONE, BrowserTest, Keys
from .made import document, launch
from .test_report import CSV, LISTING, run_document

VISIBLE = "function seen(e) { const b = e.getBoundingClientRect(); return b.width > 0 && b.top >= 0 && b.bottom <= innerHeight; } "


def colored(canvas):
    """Whether something is drawn: a share of points that are not transparent."""
    return ("const c = " + canvas + "; const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0; "
            "for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n / (d.length / 4)")


def made(out, *words):
    with contextlib.redirect_stdout(io.StringIO()):
        assert report([*words, "--out", out]) == 0


class PageTest(BrowserTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        here = os.getcwd()
        os.chdir(cls.folder)
        cls.addClassCleanup(os.chdir, here)
        Path("a.json").write_text(json.dumps(run_document()))
        b = run_document(config={"dram.latency": 300}, scheme="regless")
        for rows in (b["cpi_lines"][0]["lines"], b["cpi_lines"][0]["instructions"]):
            rows[0]["by_reason"], rows[1]["by_reason"] = {"issued": 100, "memory": 60}, {"issued": 20, "scoreboard": 20}
        Path("b.json").write_text(json.dumps(b))
        Path("k.cu").write_text("// first\nx = a < b;\ny = load(x);\n" + "// more\n" * 200)
        Path("a.csv").write_text(CSV)
        Path("k.lst").write_text(LISTING)
        made("r.html", "a.json", "b.json", "--samples", "a.csv", "--listing", "k.lst")
        with contextlib.redirect_stdout(io.StringIO()):
            assert compare(["a.json", "b.json", "--html", "c.html"]) == 0

    def column(self, table, index):
        return self.js("return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)].map((r) => r.cells[arguments[1]].textContent)",
                       table, index)


class FiguresTest(PageTest):
    def test_stacks_and_energy_have_marks(self):
        self.open("r.html")
        widths = self.js("return [...document.querySelectorAll('#cpi .of-run:not([hidden]) figure:first-of-type rect')]"
                         ".map((r) => r.getBoundingClientRect().width)")
        whole = self.js("return document.querySelector('#cpi svg').getBoundingClientRect().width")
        self.assertEqual(len(widths), 5 + 3 + 3)
        self.assertAlmostEqual(sum(widths[:5]), whole, delta=2)
        self.assertEqual(self.js("return document.querySelectorAll('#cpi-every rect').length"), 10)
        bars = self.js("return [...document.querySelectorAll('#energy .of-run:not([hidden]) rect')]"
                       ".map((r) => r.getBoundingClientRect().width)")
        self.assertEqual(len(bars), 2)
        self.assertAlmostEqual(bars[1] / bars[0], 2 / 3, delta=0.01)

    def test_counters_over_time(self):
        self.open("r.html")
        self.assertEqual(self.js("return document.querySelectorAll('#samples-charts canvas').length"), 2)
        self.assertGreater(self.js(colored("document.querySelector('#samples-charts canvas')")), 0.02)
        # Search a further counter, and draw it.
        self.js("document.querySelector('.chooser').open = true")
        search = self.find("#samples-search")
        search.send_keys("queue_max")
        names = self.js("return [...document.querySelectorAll('#samples-choices input')].map((i) => i.value)")
        self.assertEqual(names, ["IPC", "DRAM bytes", "total.l1.queue_max"])
        search.send_keys(Keys.TAB, Keys.TAB)
        for _ in range(3):
            if self.js("return document.activeElement.value") == "total.l1.queue_max":
                break
            self.keys(Keys.TAB)
        self.keys(Keys.SPACE)
        self.assertEqual(self.js("return document.querySelectorAll('#samples-charts canvas').length"), 3)
        self.assertIn("largest 9", self.find("#samples-charts").text)
        # Zoom by key: the announced range is the middle half.
        button = self.find("[data-zoom=in]")
        self.js("arguments[0].focus()", button)
        self.keys(Keys.ENTER)
        self.assertEqual(self.js("return document.querySelector('#announce').textContent"), "Cycles 38 to 113")
        # By dragging, with another chart following.
        self.find("[data-zoom=all]").click()
        before = self.js("return document.querySelectorAll('#samples-charts canvas')[1].toDataURL()")
        from selenium.webdriver.common.action_chains import ActionChains
        over = self.find("#samples-charts .u-over")
        ActionChains(self.driver).move_to_element_with_offset(over, -100, 0).click_and_hold().move_by_offset(200, 0).release().perform()
        self.wait("return document.querySelectorAll('#samples-charts canvas')[1].toDataURL() !== " + json.dumps(before))

    def test_a_vega_figure_with_a_menu_follows_the_colours(self):
        spec = {"width": "container", "data": {"values": [{"x": i, "y": i * i} for i in range(5)]}, "mark": "point",
                "params": [{"name": "least", "value": 0, "bind": {"input": "select", "options": [0, 3], "name": "least "}}],
                "transform": [{"filter": "datum.x >= least"}],
                "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}}}
        template = self.folder / "figure.html.j2"
        template.write_text('{% import "macros.html.j2" as m %}{{ m.vega_figure("f", spec, "caption") }}')
        from regatta.reports import page
        from unittest import mock
        import jinja2
        loader = jinja2.FileSystemLoader([page.FOLDER / "templates", self.folder])
        with mock.patch("jinja2.FileSystemLoader", return_value=loader):
            write_page("v.html", "t", [Section("s", "S", "figure.html.j2", {"spec": spec})])
        self.open("v.html")
        marks = "return document.querySelectorAll('#f .mark-symbol path').length"
        self.wait("return document.querySelector('#f').dataset.drawn")
        self.assertEqual(self.js(marks), 5)
        from selenium.webdriver.support.ui import Select
        Select(self.find("#f select")).select_by_visible_text("3")
        self.wait(marks + " === 2")
        text = "return document.querySelector('#f .role-axis-label text').getAttribute('fill')"
        light = self.js(text)
        Select(self.find("#choose-theme")).select_by_visible_text("dark")
        self.wait(text + " !== " + json.dumps(light))
        self.wait(marks + " === 2")  # what was chosen is kept


class TablesTest(PageTest):
    def test_sort(self):
        self.open("r.html")
        head = self.find("#energy-rows-0 th:nth-child(1) button")
        self.js("arguments[0].scrollIntoView()", head)
        head.send_keys(Keys.ENTER)
        self.assertEqual(self.column("energy-rows-0", 0), ["dram", "l2"])
        head.send_keys(Keys.ENTER)
        self.assertEqual(self.column("energy-rows-0", 0), ["l2", "dram"])
        self.assertEqual(self.js("return document.querySelector('#energy-rows-0 th').getAttribute('aria-sort')"), "descending")
        self.find("#energy-rows-0 th:nth-child(2) button").send_keys(Keys.SPACE)
        self.assertEqual(self.column("energy-rows-0", 1), ["3", "2"])
        self.assertIsNone(self.js("return document.querySelector('#energy-rows-0 th').getAttribute('aria-sort')"))

    def test_filter(self):
        self.open("r.html")
        box = self.find("[data-filter=statistics-rows]")
        box.send_keys("bytes read")
        self.assertEqual(self.column("statistics-rows", 1), ["bytes_read"])
        self.assertEqual(self.find("[data-count=statistics-rows]").text, "1 of 4")
        box.send_keys(" nothing")
        self.assertEqual(self.column("statistics-rows", 1), [])
        box.send_keys(Keys.CONTROL, "a")
        box.send_keys(Keys.DELETE)
        self.assertEqual(len(self.column("statistics-rows", 1)), 4)

    def test_thousands_of_rows(self):
        d = run_document()
        d["stats"] = {f"module_{i:04}": {"value": (i * 7919) % 5000} for i in range(5000)}
        Path("m.json").write_text(json.dumps(d))
        made("m.html", "m.json")
        self.open("m.html")
        self.assertEqual(len(self.column("statistics-rows", 0)), 25)
        self.find("#statistics-rows th:nth-child(3) button").send_keys(Keys.ENTER)
        self.assertEqual(self.column("statistics-rows", 2)[:3], ["4,999", "4,998", "4,997"])
        self.js("[...document.querySelectorAll('.more')].find((b) => b.closest('#statistics')).click()")
        self.assertEqual(len(self.column("statistics-rows", 0)), 225)


class SourceTest(PageTest):
    def chosen(self, pane):
        return self.js("return [...document.querySelectorAll(`#${arguments[0]} .chosen`)]"
                       ".map((r) => r.querySelector('.number').textContent)", pane)

    def test_the_slowest_line_is_chosen_and_seen(self):
        self.open("r.html")
        self.js("document.getElementById('source').scrollIntoView()")
        self.assertTrue(self.js(VISIBLE + "return seen(document.querySelector('#slowest-0 tbody tr'))"))
        self.assertEqual((self.chosen("source-lines"), self.chosen("source-code")), (["3"], ["1"]))
        self.assertEqual(self.find("#source-detail").text, "k.cu:3: 170 scheduler-cycles, 56.7 % (issued 26.7 %, memory 20.0 %, "
                                                           "LSU collectors full 10.0 %)")

    def test_a_line_shows_its_instructions_and_back(self):
        self.open("r.html")
        self.find("#slowest-0 tbody tr:nth-child(2) a").click()
        self.assertEqual((self.chosen("source-lines"), self.chosen("source-code")), (["2"], ["0"]))
        self.assertEqual(self.js("return document.activeElement.id"), "source-lines")
        self.keys(Keys.ARROW_DOWN)
        self.assertEqual((self.chosen("source-lines"), self.chosen("source-code")), (["3"], ["1"]))
        self.keys(Keys.END)
        self.assertEqual((self.chosen("source-lines"), self.chosen("source-code")), (["203"], []))
        self.assertTrue(self.js("const r = document.querySelector('#source-lines .chosen').getBoundingClientRect(), "
                                "b = document.querySelector('#source-lines').getBoundingClientRect(); "
                                "return r.top >= b.top && r.bottom <= b.bottom + 1"))
        self.assertIn("no cycles", self.find("#source-detail").text)
        self.find("#source-code .row").click()
        self.assertEqual((self.chosen("source-lines"), self.chosen("source-code")), (["2"], ["0"]))

    def test_heat_is_a_colour_and_a_number(self):
        self.open("r.html")
        rows = self.js("return [...document.querySelectorAll('#source-lines .row')].slice(0, 3).map((r) => "
                       "[getComputedStyle(r).backgroundColor, r.querySelector('.cost').textContent])")
        self.assertEqual([r[1] for r in rows], ["", "40.0", "56.7"])
        self.assertEqual(len({r[0] for r in rows}), 3)

    def test_the_other_run_has_other_lines(self):
        self.open("r.html")
        from selenium.webdriver.support.ui import Select
        Select(self.find("#choose-run")).select_by_index(1)
        self.assertFalse(self.find("#slowest-0").is_displayed())
        self.assertEqual(self.column("slowest-1", 0)[0], "k.cu:2")
        self.assertEqual(self.chosen("source-lines"), ["2"])
        self.assertIn("no samples", self.find("#samples").text)


class ReadersTest(PageTest):
    def test_answers_without_scrolling(self):
        """The slowest line and the largest consumer are seen where the page opens."""
        made("one.html", "a.json")
        self.open("one.html")
        cards = self.js(VISIBLE + "return [...document.querySelectorAll('.cards li')].filter(seen).map((e) => e.innerText)")
        self.assertTrue(any("slowest line\nk.cu:3" in c for c in cards), cards)
        self.assertTrue(any("largest energy consumer\ndram" in c for c in cards), cards)

    def test_keyboard(self):
        self.open("r.html")
        self.find("body").send_keys(Keys.TAB)
        self.assertEqual(self.focused(), "Skip to the content")
        self.assertTrue(self.js(VISIBLE + "return seen(document.activeElement)"))
        self.keys(Keys.ENTER)
        self.assertEqual(self.js("return document.activeElement.id"), "content")
        # Everything that can be pressed is reached, in the order of the page, and has a name.
        unnamed = self.js("return [...document.querySelectorAll('button, a, select, input')].filter((e) => !e.hidden && "
                          "!(e.textContent.trim() || e.ariaLabel || e.labels?.length)).map((e) => e.outerHTML)")
        self.assertEqual(unnamed, [])
        self.assertEqual(self.js("return document.querySelectorAll('[tabindex]:not([tabindex=\"0\"]):not([tabindex=\"-1\"])').length"), 0)

    def test_phone(self):
        for page in ("r.html", "c.html"):
            self.open(page, PHONE)
            self.fits()
            self.assertEqual(self.js("return [...document.querySelectorAll('h2')]"
                                     ".filter((h) => h.getBoundingClientRect().right > innerWidth).length"), 0)

    def contrast(self):
        """Of the text to the ground: the least of some elements."""
        return self.js("""
          const light = (c) => { const v = c.match(/[\\d.]+/g).slice(0, 3).map((x) => x / 255)
            .map((x) => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4); return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
          const ground = light(getComputedStyle(document.body).backgroundColor);
          return Math.min(...['body', 'a', '.lead', 'caption', '.good', 'small', '.code .number'].map((s) => {
            const l = light(getComputedStyle(document.querySelector(s)).color);
            return (Math.max(l, ground) + 0.05) / (Math.min(l, ground) + 0.05); }));""")

    def test_dark(self):
        ground = "return getComputedStyle(document.body).backgroundColor"
        self.open("r.html", DESKTOP, "dark")
        self.assertEqual(self.js(ground), "rgb(13, 17, 23)")
        self.assertGreater(self.contrast(), 4.5)
        dark = self.js("return document.querySelector('#samples-charts canvas').toDataURL()")
        from selenium.webdriver.support.ui import Select
        Select(self.find("#choose-theme")).select_by_visible_text("light")
        self.assertEqual(self.js(ground), "rgb(255, 255, 255)")
        self.wait("return document.querySelector('#samples-charts canvas').toDataURL() !== " + json.dumps(dark))
        self.assertGreater(self.contrast(), 4.5)

    def test_print(self):
        self.open("r.html", DESKTOP, "dark")
        pdf = self.pdf()
        self.assertTrue(pdf.startswith(b"%PDF"))
        self.assertGreater(len(pdf), 20_000)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        self.assertFalse(self.find("nav").is_displayed())
        self.assertEqual(self.js("return getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")

    def test_regatta_compare(self):
        self.open("c.html")
        self.assertIn("b.json against a.json", self.find("h3").text)
        self.find("#comparison-1-1 th:nth-child(2) button").send_keys(Keys.ENTER)
        self.assertEqual(self.find("#comparison-1-1 th:nth-child(2)").get_attribute("aria-sort"), "descending")

    def test_a_run_of_nothing_but_cycles(self):
        Path("n.json").write_text(json.dumps(document([launch("k", 10)], energy={"total_nj": 0.0}, stats={}, config={})))
        made("n.html", "n.json")
        self.open("n.html", PHONE)
        self.fits()


if __name__ == "__main__":
    unittest.main()
