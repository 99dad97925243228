# SPDX-License-Identifier: Apache-2.0
"""package_test.py FOLDER: the Debian packages and the wheel in FOLDER (make package wheel), in a Debian that has nothing of them.

The recipe of the image (.cmake/package/Containerfile) is followed in a clean root that mmdebstrap makes, not in a container. There
`regatta demo` has to print the numbers of the quickstart's page, lists and man pages have to be there, and a package that is
removed has to leave nothing; then the wheel runs the demo, where Python is and the libraries that the package needs are no longer.
regatta-dev is unpacked here, and a project of tests/consumer finds it and links it. Status: 0 all that holds; 1 something does
not; 2 there are no packages, or not one of each. Without a network only regatta-dev is tried, and a warning says so.
"""

import fnmatch
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, Tuple

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / ".cmake" / "package" / "Containerfile"
SUITES = {"12": "bookworm"}


class Wrong(Exception):
    """What does not hold."""


class Unreachable(Exception):
    """This machine has no way to a mirror of Debian."""


def recipe(text: str) -> List[Tuple[str, str]]:
    """Instructions and what follows them. Only those that this test follows."""
    found = []
    for line in re.sub(r"\\\n", " ", text).splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        if word not in ("FROM", "COPY", "RUN", "WORKDIR", "ENTRYPOINT", "CMD"):
            raise Wrong(f"{RECIPE.name}: found '{word}', expected FROM, COPY, RUN, WORKDIR, ENTRYPOINT or CMD")
        found.append((word, rest.strip()))
    return found


def suite_of(steps: List[Tuple[str, str]]) -> str:
    image = dict(steps).get("FROM", "")
    version = re.fullmatch(r"debian:(\d+)(-slim)?", image)
    if version is None or version[1] not in SUITES:
        raise Wrong(f"{RECIPE.name}: found FROM '{image}', expected debian:12-slim")
    return SUITES[version[1]]


def in_root(command: str) -> str:
    """A hook of mmdebstrap: `command` of a shell in the new root."""
    return f'chroot "$1" sh -euc {shlex.quote(command)}'


def packages(folder: Path) -> Dict[str, Path]:
    found: Dict[str, Path] = {}
    for name, pattern in (("regatta", "regatta_*.deb"), ("regatta-dev", "regatta-dev_*.deb"), ("wheel", "regatta-*.whl")):
        files = sorted(folder.glob(pattern))
        if len(files) != 1:
            print(f"package_test.py: {folder}: found {len(files)} files {pattern}, expected one: run `make package wheel`", file=sys.stderr)
            sys.exit(2)
        found[name] = files[0]
    return found


# What pip does, which the clean root has not.
UNPACK = """
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for item in wheel.infolist():
        os.chmod(wheel.extract(item, sys.argv[2]), item.external_attr >> 16 or 0o644)
"""


def follow(steps: List[Tuple[str, str]], folder: Path, wheel: Path, results: Path) -> None:
    """The recipe in a clean root, then the programs; what they write goes to `results`."""
    hooks, place, start = [], "/", []
    for word, rest in steps:
        if word == "COPY":
            *patterns, target = rest.split()
            files = [f for f in sorted(folder.iterdir()) for p in patterns if fnmatch.fnmatch(f.name, p)]
            hooks += [f"copy-in {shlex.quote(str(f))} {target}" for f in files]
        elif word == "RUN":
            hooks.append(in_root(rest))
        elif word == "WORKDIR":
            place = rest
        elif word == "ENTRYPOINT":
            start = json.loads(rest)
    program = " ".join(map(shlex.quote, start))
    hooks.append(in_root(f"""
        mkdir -p {place}/results; cd {place}
        {program} demo results/demo > results/demo.txt
        {program} list schemes > results/schemes.txt
        {program} list kernels > results/kernels.txt
        {program} --version > results/version.txt
        for tool in annotate sim trace import study compare report sample; do test -f /usr/share/man/man1/regatta-$tool.1.gz; done
        {program} report results/demo/baseline.json --out results/report.html > results/report.txt
        dpkg -L regatta > results/files.txt
        apt-mark manual python3-jinja2 > results/mark.txt
        apt-get purge -y -q --auto-remove regatta > results/purge.txt
        while read -r file; do if [ -f "$file" ]; then echo "$file"; fi; done < results/files.txt > results/left.txt
        find / -xdev -path {place} -prune -o -name '*regatta*' -print >> results/left.txt
    """))
    hooks.append(f"copy-in {shlex.quote(str(wheel))} /opt")
    hooks.append(in_root(f"""
        if ls /usr/lib/*/libsystemc* 2>/dev/null; then echo 'the libraries are still there' >&2; exit 1; fi
        python3 -c {shlex.quote(UNPACK)} /opt/{wheel.name} /opt/wheel
        cd {place}; PYTHONPATH=/opt/wheel python3 -m regatta.commands.front demo results/wheel > results/wheel.txt
    """))
    hooks.append(f"copy-out {place}/results {shlex.quote(str(results))}")
    command = ["mmdebstrap", "--quiet", "--variant=minbase", "--format=null", "--skip=check/qemu"]
    command += [f"--customize-hook={hook}" for hook in hooks]
    # Into no file, with packages from where the input says.
    done = subprocess.run([*command, suite_of(steps), "-", *(["-"] if sources() else [])], input=sources(), capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        if re.search(r"(?m)^E: apt-get update .* failed$", done.stderr):  # the first thing that needs a network
            raise Unreachable("apt-get update failed")
        raise Wrong(f"mmdebstrap ended with status {done.returncode}:\n{done.stderr[-4000:]}")


def sources() -> str:
    """This machine's sources of packages, in apt's older form. mmdebstrap would take Debian's own, which a machine may not reach."""
    lines = []
    for path in [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*.list"))]:
        if path.is_file():
            lines += [line for line in path.read_text().splitlines() if line.startswith("deb ")]
    for path in sorted(Path("/etc/apt/sources.list.d").glob("*.sources")):
        for stanza in re.split(r"\n\s*\n", path.read_text()):
            fields = dict(re.findall(r"(?m)^([A-Za-z-]+):[ \t]*(.*)$", stanza))
            if fields.get("Types", "").split()[:1] != ["deb"] or fields.get("Enabled") == "no":
                continue
            signed = f" [signed-by={fields['Signed-By']}]" if fields.get("Signed-By", "").startswith("/") else ""
            lines += [f"deb{signed} {uri} {suite} {fields.get('Components', '')}".strip()
                      for uri in fields.get("URIs", "").split() for suite in fields.get("Suites", "").split()]
    return "\n".join(lines) + "\n" if lines else ""


def check_results(results: Path, version: str) -> None:
    text = {path.stem: path.read_text(encoding="utf-8") for path in results.glob("*.txt")}
    for demo in ("demo", "wheel"):
        page = subprocess.run([sys.executable, "-B", str(ROOT / "examples/quickstart/check_page.py"),
                               str(ROOT / "examples/quickstart/README.md"), str(results / demo / "tables.txt")],
                              capture_output=True, text=True, check=False)
        if page.returncode != 0:
            raise Wrong(f"the demo ({demo}) printed other numbers than the quickstart's page:\n" + page.stdout + page.stderr)
    if text["version"].strip() != f"regatta {version}":
        raise Wrong(f"found version '{text['version'].strip()}', expected 'regatta {version}'")
    for list_of, names in (("schemes", ("regless", "wir", "finereg")), ("kernels", ("srad", "/usr/share/regatta/traces/kernels/"))):
        for name in names:
            if name not in text[list_of]:
                raise Wrong(f"regatta list {list_of}: found no '{name}' in\n{text[list_of]}")
    if not (results / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>"):
        raise Wrong("regatta report wrote no whole page")
    if text["left"].strip():
        raise Wrong("a package that is removed leaves files:\n" + text["left"])


def link(debs: Dict[str, Path], folder: Path) -> None:
    """A project that finds the package regatta-dev, built and run against it."""
    for deb in (debs["regatta"], debs["regatta-dev"]):
        subprocess.run(["dpkg", "-x", str(deb), str(folder / "root")], check=True)
    for command in (["cmake", "-S", str(ROOT / "tests/consumer/component"), "-B", str(folder / "build"), "-G", "Ninja",
                     f"-DCMAKE_PREFIX_PATH={folder / 'root' / 'usr'}"],
                    ["cmake", "--build", str(folder / "build")],
                    ["ctest", "--test-dir", str(folder / "build"), "--output-on-failure", "--no-tests=error"]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise Wrong(f"a project that links regatta-dev: {' '.join(command)} ended with status {done.returncode}:\n{done.stdout[-4000:]}")


def main() -> int:
    folder = Path(sys.argv[1])
    debs = packages(folder)
    version = debs["regatta"].name.split("_")[1]
    with tempfile.TemporaryDirectory(prefix="regatta_package_") as name:
        work = Path(name)
        os.chmod(work, 0o755)
        try:
            link(debs, work)
            follow(recipe(RECIPE.read_text(encoding="utf-8")), folder.resolve(), debs["wheel"].resolve(), work)
            check_results(work / "results", version)
        except Unreachable as e:
            print(f"WARNING: not tried in a clean Debian, since no mirror can be reached ({e}); regatta-dev links")
            return 0
        except Wrong as e:
            print(f"package_test.py: {e}", file=sys.stderr)
            print("0 passed, 1 failed")
            return 1
    print("regatta installs in a clean Debian, its demo prints the page's numbers, and it leaves nothing; the wheel runs there without "
          "the libraries that the package needs; regatta-dev links")
    print("1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
