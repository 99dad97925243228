# SPDX-License-Identifier: Apache-2.0
import csv
import unittest

from regatta_reproduce import ReproductionError, parts
from regatta_reproduce.page import table

head = "<!-- SPDX -->\n<!-- Made. -->\n# A page\n\n**Verdict.** Good.\n\n"
shown = parts.named_table("shown", table(["first", "value"], [["a", 1]]))


def by_kernel(name, count, columns=3, last="mean"):
    header = ["kernel", *(f"column {c}" for c in range(columns))]
    rows = [[f"{name}|{k}", *(f"{k}.{c} %" for c in range(columns))] for k in range(count)]
    return parts.named_table(name, table(header, [*rows, [f"{last} of {name}", *("9 %" for _ in range(columns))]]))


def comparisons(name, count):
    return parts.named_table(name, table(parts.comparison_header, [
        [f"statement {i} of {name}, in many words", "Fig 1", "7 %", "8 %", "agrees (+14 %)" if i % 3 else "**does not hold**"]
        for i in range(count)], left=2))


def rows(text):
    """Of all tables of a Markdown text, without their headers."""
    lines = text.splitlines()
    return [parts.cells(line) for line, following in zip(lines, [*lines[1:], ""])
            if line.startswith("| ") and not line.startswith("| ---") and not following.startswith("| ---")]


def kept_rows(page):
    return [row for text in page.tables.values() for row in list(csv.reader(text.splitlines()))[1:]]


class SplitTest(unittest.TestCase):
    def test_the_first_table_and_short_ones_stay(self):
        first, short = by_kernel("first", 20), by_kernel("short", 2)
        page = parts.split(head + first + "\n\n" + short + "\n")
        self.assertEqual(page.tables, {})
        self.assertEqual(page.findings, "")
        self.assertEqual(page.page, (head + first + "\n\n" + short + "\n").replace("<!-- table: first -->\n", "")
                         .replace("<!-- table: short -->\n", ""))

    def test_a_long_table_becomes_a_file(self):
        page = parts.split(f"{head}{shown}\n\n{by_kernel('long', 30)}\n\nText.\n")
        self.assertTrue(page.page.endswith("| kernel | column 0 | column 1 | column 2 |\n| --- | ---: | ---: | ---: |\n"
                                           "| mean of long | 9 % | 9 % | 9 % |\n\nTable: [long.csv](tables/long.csv), 31 rows.\n\nText.\n"),
                        page.page)
        self.assertEqual(page.tables["long.csv"].splitlines()[:2], ["kernel,column 0,column 1,column 2", "long|0,0.0 %,0.1 %,0.2 %"])
        self.assertEqual(page.files(), {"README.md": page.page, "tables/long.csv": page.tables["long.csv"]})

    def test_without_means_or_with_many_columns_the_link_names_the_columns(self):
        page = parts.split(f"{head}{shown}\n\n{by_kernel('long', 30, last='sum')}\n\n{by_kernel('wide', 30, columns=12)}\n")
        self.assertIn("\n\nTable: [long.csv](tables/long.csv), 31 rows: kernel; column 0; column 1; column 2\n\n", page.page)
        self.assertIn("\n\nTable: [wide.csv](tables/wide.csv), 31 rows: kernel; column 0; column 1; column 2; column 3; column 4; ...\n",
                      page.page)

    def test_comparisons_become_a_count(self):
        page = parts.split(f"{head}{shown}\n\n{comparisons('c_compared', 9)}\n")
        self.assertTrue(page.page.endswith("\n\n6 of 9 statements agree ([all](tables/c_compared.csv)).\n"))
        self.assertEqual(page.tables["c_compared.csv"].splitlines()[:2],
                         ["statement,where,paper,ours,verdict", '"statement 0 of c_compared, in many words",Fig 1,7 %,8 %,does not hold'])

    def test_comparisons_with_a_mark_do_not_count(self):
        for verdicts, text in ((["agrees (+1 %)", "+40 %", "formula: agrees"], "1 of 2 clean statements agrees; 1 does not count"),
                               (["agrees", "agrees", "input: agrees", "fitted: +30 %"], "2 of 2 clean statements agree; 2 do not count"),
                               (["formula: agrees", "duplicate: not 0"], "None of the 2 statements counts"),
                               (["not 0", "agrees"], "1 of 2 statements agrees")):
            with self.subTest(text):
                self.assertEqual(parts.agreement(verdicts, "c.csv"), f"{text} ([all](tables/c.csv)).")

    def test_findings_and_details_move_to_a_page_of_their_own(self):
        text = (f"{head}{shown}\n\n## Energy (Fig 1)\n\n{comparisons('e', 1)}\n\n{parts.finding('One, two.', 'First.' + chr(10) * 2 + 'Second.')}\n\n"
                f"{parts.finding('Three', 'See [below](#left-out).')}\n\n{by_kernel('next', 2)}\n\n## Left out\n\n"
                f"{parts.details('2 statements', '- a' + chr(10) + '- b')}\n")
        page = parts.split(text)
        self.assertIn("\n\n- [One, two](findings.md#one-two)\n- [Three](findings.md#three)\n\n| kernel |", page.page)
        self.assertTrue(page.page.endswith("## Left out\n\n2 statements ([list](findings.md#left-out)).\n"))
        self.assertTrue(page.findings.startswith("<!-- SPDX -->\n<!-- Made. -->\n# A page: findings\n"))
        self.assertTrue(page.findings.endswith("\n\n## Energy (Fig 1)\n\n### One, two\n\nFirst.\n\nSecond.\n\n### Three\n\n"
                                               "See [below](README.md#left-out).\n\n## Left out\n\n- a\n- b\n"), page.findings)

    def test_no_row_is_lost(self):
        for count in range(0, 40, 3):
            text = "\n\n".join([head + shown, by_kernel("a", count), comparisons("b", count), by_kernel("c", count, 11, "sum"),
                                by_kernel("d", count, last="geometric mean")]) + "\n"
            page = parts.split(text)
            stay, moved = rows(page.page), kept_rows(page)
            both = [row for row in stay if row in moved]  # means
            self.assertEqual([row[0] for row in both if "mean" not in row[0]], [])
            self.assertEqual(len(stay) - len(both) + len(moved), len(rows(text)))
            self.assertEqual([row for row in rows(text) if row not in stay + moved], [])

    def test_the_same_text_gives_the_same_parts_and_a_page_stays_as_it_is(self):
        text = f"{head}{shown}\n\n{by_kernel('a', 30)}\n\n## E\n\n{parts.finding('F.', 'g')}\n"
        page = parts.split(text)
        self.assertEqual(page, parts.split(text))
        again = parts.split(page.page)
        self.assertEqual((again.page, again.findings, again.tables), (page.page, "", {}))

    def test_a_name_without_a_table_is_dropped(self):
        self.assertEqual(parts.split(head + parts.named_table("none", "(not run)") + "\n\n" + parts.named_table("nothing", "") + "\n").page,
                         head + "(not run)\n\n\n")

    def test_what_is_wrong_is_refused(self):
        long = by_kernel("long", 30)
        for text, message in ((f"{shown}\n\n{long}\n\n{long}\n", "two tables of the page are called 'long'"),
                              ("<!-- finding: F -->\ntext\n", "'<!-- finding: F -->' has no end"),
                              (parts.finding("F", shown), "'<!-- table: shown -->' stands inside another part")):
            with self.subTest(message), self.assertRaisesRegex(ReproductionError, message):
                parts.split(text)

    def test_too_many_words_are_told(self):
        self.assertEqual(parts.Parts("a " * parts.most_words).complaints(), [])
        self.assertEqual(parts.Parts("a " * 2501).complaints(), ["README.md has 2,501 words, at most 2,500 are allowed"])

    def test_names_of_headings_are_github_s(self):
        self.assertEqual(parts.anchor("Energy of b+tree at 90 % (their Fig 2.13a): a_b, c-d"), "energy-of-btree-at-90--their-fig-213a-a_b-c-d")


if __name__ == "__main__":
    unittest.main()
