# SPDX-License-Identifier: Apache-2.0
"""regatta-report --study in Chromium: figures are drawn as the menus say, tables sort and filter, narrow and dark pages work."""

import contextlib
import io
import json
import random
import tempfile
import unittest
from pathlib import Path

from regatta.commands import report
from regatta.reports import charts, study_data, study_sections
from regatta.reports.chart_tables import Names
from regatta.reports.study_values import ALL, Values

from . import made_study
from .browser import PHONE, BrowserTest, Keys
from .made_study import grid

# Chooses option i of a figure's menu, and waits for the drawing.
CHOOSE = """const [figure, menu, i] = arguments;
const select = document.querySelector(`#${figure} select[data-menu="${menu}"]`);
select.value = String(i);
select.dispatchEvent(new Event("change"));
return document.getElementById(figure).redraw();"""


class StudyPageTest(BrowserTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def page(self, runs, **more):
        path = made_study.write(self.folder / "s.study", runs)
        self.values = Values(study_data.load(path))
        out = self.folder / "page.html"
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(report.main(["--study", str(path), "--out", str(out)]), 0)
        self.open(out, **more)
        self.figures = [f.get_attribute("id") for f in self.find_all("figure[data-menus]")]
        for figure in self.figures:
            self.wait(f"return document.getElementById('{figure}').dataset.drawn === 'true'")

    RUNS = list(grid(["a", "bb", "ccc"], 2, ("baseline", "regless"), x_bytes=[1024, 2048, 16384], x_policy=["lru", "fifo"]))

    def marks(self, figure, kind):
        """What the marks of a kind say of themselves."""
        return self.js(f"return [...document.querySelectorAll('#{figure} .view .role-mark.mark-{kind} path')].map("
                       "(m) => m.getAttribute('aria-label'))")

    def choose(self, figure, menu, text):
        options = self.js(f"return [...document.querySelectorAll('#{figure} select[data-menu=\"{menu}\"] option')].map((o) => o.text)")
        self.js(CHOOSE, figure, menu, options.index(text))

    def said(self, figure):
        return self.find(f"#{figure} .said").text

    def test_curves(self):
        self.page(self.RUNS)
        self.assertEqual(self.figures, ["study-curves-figure", "study-map-figure", "study-fronts-figure"])
        figure = self.figures[0]
        self.assertEqual(self.said(figure), "Each mark is the least over all values of x.policy.")
        # Three values along x of two schemes, each with line and band.
        self.assertEqual([len(self.marks(figure, k)) for k in ("symbol", "line", "area")], [6, 2, 2])
        self.assertIn("x.bytes: 2048", self.marks(figure, "symbol")[1])
        # The scheme is the colour: no menu fixes it.
        fixes = [e.get_attribute("data-menu") for e in self.find_all(f"#{figure} .fixes select") if e.is_displayed()]
        self.assertEqual(fixes, ["only_d2"])
        self.choose(figure, "only_d2", "fifo")
        self.assertEqual(self.said(figure), "Fixed: x.policy = fifo.")
        values, reference = self.values.spreads("cycles", ALL), self.values.reference("cycles", ALL)
        point = next(p for p, v in enumerate(self.values.study.points) if v == {
            "scheme": "baseline", "machine": "m", "x.bytes": 1024, "x.policy": "fifo"})
        label = next(t for t in self.marks(figure, "symbol") if "x.bytes: 1024" in t and "baseline" in t)
        self.assertAlmostEqual(float(label.split("cycles / reference: ")[1].split(";")[0]), values[point].mean / reference, 4)

    def test_each_program_has_a_figure(self):
        self.page(self.RUNS)
        figure = self.figures[0]
        self.choose(figure, "program", "each program")
        titles = self.js(f"return [...document.querySelectorAll('#{figure} .role-column-header text, #{figure} .role-header text, "
                         f"#{figure} .role-title text')].map((t) => t.textContent)")
        self.assertEqual([t for t in titles if t in ("a", "bb", "ccc")], ["a", "bb", "ccc"])
        self.assertEqual(len(self.marks(figure, "symbol")), 18)
        self.choose(figure, "program", "bb")
        self.assertEqual(len(self.marks(figure, "symbol")), 6)
        self.fits()

    def test_bars_over_texts(self):
        self.page(self.RUNS)
        figure = self.figures[0]
        self.choose(figure, "x", "x.policy")
        bars = self.js(f"return [...document.querySelectorAll('#{figure} .view .role-mark.mark-rect path')].map((m) => "
                       "m.getBoundingClientRect().height)")
        self.assertEqual(len(bars), 4)
        self.assertGreater(min(bars), 20)

    def test_specifications_are_those_of_python(self):
        self.page(self.RUNS)
        names = Names(self.values)
        x, colour = study_sections.first_choices(self.values.study, self.values.matters("cycles"))
        for figure, made in (("study-curves-figure", charts.curves(names, x, colour)),
                             ("study-fronts-figure", charts.pareto(names, colour))):
            for menu in made.menus:
                for i in range(len(menu.options)):
                    if len(menu.options) > 1:
                        self.js(CHOOSE, figure, menu.name, i)
                        found = self.js("return document.getElementById(arguments[0]).chosen()", figure)
                        self.assertEqual(json.dumps(found, sort_keys=True),
                                         json.dumps(made.chosen(**{menu.name: i}), sort_keys=True), (figure, menu.name, i))
                if len(menu.options) > 1:
                    self.js(CHOOSE, figure, menu.name, menu.chosen)

    def test_every_choice_is_drawn(self):
        self.page(self.RUNS)
        for figure in self.figures:
            for select in self.find_all(f"#{figure} select"):
                menu = select.get_attribute("data-menu")
                first = select.get_attribute("value")
                for i in range(len(select.find_elements("css selector", "option"))):
                    self.js(CHOOSE, figure, menu, i)
                    marks = self.js(f"return document.querySelectorAll('#{figure} .view .role-mark path').length")
                    self.assertGreater(marks, 0, (figure, menu, i))
                self.js(CHOOSE, figure, menu, first)

    def test_map(self):
        self.page(self.RUNS)
        cells = self.js("return [...document.querySelectorAll('#study-map-figure .role-mark.mark-text text')].map((t) => t.textContent)")
        self.assertEqual(len(cells), 6)
        spreads, reference = self.values.spreads("cycles", ALL), self.values.reference("cycles", ALL)
        self.assertIn(f"{min(s.mean for s in spreads.values()) / reference:.3f}", cells)

    def test_front_and_what_a_mark_says(self):
        dice = random.Random(5)
        self.page([{"program": "a", "scheme": s, "knobs": {"x.y": i}, "totals": {"cycles": dice.randint(50, 99), "energy_nj": 9.0 * dice.random()}}
                   for s in ("p", "q") for i in range(12)])
        figure = "study-fronts-figure"
        front = self.values.front("cycles", "energy_nj", "a")
        self.assertTrue(1 < len(front) < 24)
        layers = self.js(f"return [...document.querySelectorAll('#{figure} .role-mark.mark-symbol')].map((g) => g.childElementCount)")
        self.assertEqual(layers, [24 - len(front), len(front)])
        mark = self.find_all(f"#{figure} .role-mark.mark-symbol path")[-1]
        self.js("arguments[0].scrollIntoView({block: 'center'})", mark)
        from selenium.webdriver import ActionChains
        ActionChains(self.driver).move_to_element(mark).perform()
        self.wait("const t = document.querySelector('.tooltip'); return t && !t.hidden")
        names = self.js("return [...document.querySelectorAll('.tooltip dt')].map((t) => t.textContent)")
        self.assertEqual(names, ["program", "scheme", "x.y", "cycles / reference", "energy (nJ) / reference"])

    def test_nothing_to_draw_is_said(self):
        self.page([{"program": g, "knobs": {"x.y": k}, "totals": {"cycles": 5 + k},
                    "statistics": {("m", "n"): k if g == "a" else 0}} for g in ("a", "b") for k in (0, 1, 2)])
        figure = self.figures[0]
        self.choose(figure, "y", "m.n")
        self.assertIn("a value above 0 of each", self.find(f"#{figure} .view").text)
        self.choose(figure, "program", "a")
        self.assertEqual(len(self.marks(figure, "symbol")), 3)

    def test_tables_sort_and_filter(self):
        self.page(self.RUNS)
        first = "return document.querySelector('#study-points-rows tbody tr').textContent"
        best = self.values.best("cycles", ALL).point
        self.assertTrue(self.js(first).startswith(f"{best + 1}baseline"))
        self.js("document.querySelector('#study-points-rows th button').focus()")
        self.keys(Keys.ENTER)
        self.assertTrue(self.js(first).startswith("12regless"))
        self.keys(Keys.ENTER)
        self.assertTrue(self.js(first).startswith("1baseline"))
        self.find('[data-filter="study-runs-rows"]').send_keys("bb fifo")
        rows = self.js("return [...document.querySelectorAll('#study-runs-rows tbody tr')].map((r) => r.textContent)")
        self.assertEqual(len(rows), 12)
        self.assertTrue(all("bb" in r and "fifo" in r for r in rows))

    def test_narrow_and_dark(self):
        self.page(self.RUNS, size=PHONE, scheme="dark")
        self.fits()
        for figure in self.figures:
            self.assertLessEqual(self.js(f"return document.querySelector('#{figure} svg').getBoundingClientRect().width"), 360)
        self.choose(self.figures[0], "program", "each program")
        self.fits()
        self.assertLessEqual(self.js(f"return document.querySelector('#{self.figures[0]} svg').getBoundingClientRect().width"), 360)
        color = "return document.querySelector('#study-fronts-figure .role-axis-label text').getAttribute('fill')"
        dark = self.js(color)
        self.js("const c = document.getElementById('choose-theme'); c.value = 'light'; c.dispatchEvent(new Event('change'))")
        self.wait(f"return ({color.replace('return ', '')}) !== '{dark}'")

    def test_hostile_names(self):
        evil = "</script><b>'\"&[]{}.\\ \u2028"
        self.page([{"program": g, "scheme": s, "knobs": {evil: v, "x.y": i}, "totals": {"cycles": 10 + i, "energy_nj": 30 - i},
                    "statistics": {(evil, "n"): 1 + i}}
                   for g in (evil, "b") for i, (s, v) in enumerate([("p", evil), (evil, "b"), ("p", "b")])])
        self.assertEqual(self.find_all("main b"), [])
        for figure in self.figures:
            self.assertGreater(len(self.find_all(f"#{figure} .view .role-mark path")), 0)
        self.js(CHOOSE, self.figures[0], "program", 2)
        self.assertEqual(len(self.marks(self.figures[0], "symbol")), 3)

    def test_thousands_of_points(self):
        dice = random.Random(3)
        self.page([{"program": "a", "scheme": dice.choice("pqr"), "knobs": {"x.z": dice.choice([1, 2, 4]), **({"x.y": i} if i % 10 else {"x.w": i})},
                    "totals": {"cycles": dice.randint(100, 10 ** 6), "energy_nj": 100 * dice.random()}} for i in range(5000)])
        # 500 points do not set it: they are dashed lines.
        self.choose(self.figures[0], "x", "x.y")
        self.assertEqual(len(self.marks(self.figures[0], "symbol")), 4500)
        # All points have a colour.
        self.choose(self.figures[0], "x", "x.z")
        self.choose(self.figures[0], "colour", "x.y")
        fills = self.js(f"return [...document.querySelectorAll('#{self.figures[0]} .role-mark.mark-symbol path')].map((m) => "
                        "m.getAttribute('fill'))")
        self.assertGreater(len(fills), 4000)
        self.assertNotIn(None, fills)
        self.assertIn("#8a8a8a", fills)
        self.fits()


if __name__ == "__main__":
    unittest.main()
