# SPDX-License-Identifier: Apache-2.0
"""follow_page.py finds what is wrong with a page."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("follow_page.py")
GOOD = """# A page
```sh
make install
```
Text.
```sh
printf 'one 1\\ntwo 2,000 cycles\\n'
```

```text
two   2,100 cycles
```

```sh
echo '| a | +1.5 % |'; value=3
```

| a | -2.0 % |

```sh
[ "$value" = 3 ]
```
```cpp
int kept;
```
"""


class FollowPage(unittest.TestCase):
    def follow(self, page, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "page.md").write_text(page)
            (root / "file.h").write_text("// file\nint kept;\n")
            run = subprocess.run([sys.executable, SCRIPT, root / "page.md", root / "work", *arguments],
                                 capture_output=True, text=True)
            return run.returncode, run.stdout + run.stderr

    def refused(self, old, new, message):
        self.assertIn(old, GOOD)
        status, text = self.follow(GOOD.replace(old, new), "--skip", "make install")
        self.assertEqual(status, 1, text)
        self.assertIn(message, text)

    def test_good(self):
        status, text = self.follow(GOOD, "--skip", "make install")
        self.assertEqual(status, 0, text)
        self.assertIn("3 blocks of commands, 2 lines of output compared", text)

    def test_another_number(self):
        self.refused("2,100", "2,300", "two   2,300 cycles")

    def test_another_digit(self):
        self.refused("two   2,100 cycles", "one 2", "one 2")

    def test_another_word(self):
        self.refused("two   2,100 cycles", "two   2,100 bytes", "bytes")

    def test_another_order(self):
        self.refused("two   2,100 cycles", "two 2,000 cycles\none 1", "one 1")

    def test_a_command_fails(self):
        self.refused('"$value" = 3', '"$value" = 4', "ended with status 1")

    def test_code_that_no_file_has(self):
        self.refused("int kept;", "int lost;", "int lost;")

    def test_nothing_to_skip(self):
        self.refused("make install", "true", "0 sh blocks have 'make install'; expected 1")

    def test_no_commands(self):
        status, text = self.follow("# Nothing\n")
        self.assertEqual(status, 1)
        self.assertIn("no sh block to run", text)


if __name__ == "__main__":
    unittest.main()
