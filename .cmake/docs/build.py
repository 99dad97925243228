#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the documentation site from the pages that git tracks and the comments of the public headers. See README.md."""

import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import api  # noqa: E402
import pages  # noqa: E402
import staging  # noqa: E402


NORMALIZE = Path("/usr/share/javascript/normalize.css/normalize.css")


class Failure(Exception):
    pass


def check_tools():
    missing = [program for program in ("doxygen",) if shutil.which(program) is None]
    missing += [f"Python's {module}" for module in ("sphinx", "myst_parser", "linkify_it", "furo") if importlib.util.find_spec(module) is None]
    missing += [] if NORMALIZE.is_file() else [str(NORMALIZE)]
    if missing:
        raise Failure(f"make docs: found no {', no '.join(missing)} ({sys.executable}); .cmake/setup-packages.sh --docs installs what is missing")


def run_doxygen(tree, work):
    """Folder of the XML."""
    headers = list(api.headers(tree.files))
    configuration = (HERE / "Doxyfile").read_text(encoding="utf-8")
    configuration += f"OUTPUT_DIRECTORY = \"{work}\"\nINPUT = " + " ".join(f'"{name}"' for name in headers) + "\n"
    done = subprocess.run(["doxygen", "-"], input=configuration, cwd=tree.root, text=True, capture_output=True)
    said = [line.removeprefix(f"{tree.root}/") for line in done.stderr.splitlines() if line.strip()]
    if done.returncode != 0 or said:
        raise Failure("\n".join((*sorted(set(said)), f"make docs: doxygen found errors in comments of headers (status {done.returncode})")))
    return work / "xml"


def run_sphinx(tree, work, jobs):
    """Folder of the site."""
    source, site = work / "pages", work / "site"
    environment = {**os.environ, "REGATTA_ROOT": str(tree.root), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", str(jobs), "-c", HERE, "-d", work / "doctrees",
                           "-b", "html", source, site], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        said = re.sub(r"^(\S*)index\.md\b", r"\1README.md", done.stdout.replace(f"{source}/", "").rstrip(), flags=re.M)
        raise Failure(f"{said}\nmake docs: sphinx ended with status {done.returncode}")
    mend(site)
    return site


def mend(site):
    """What Sphinx and Debian's theme leave to do."""
    for name in (".buildinfo", "objects.inv", "_static/scripts/gumshoe-patched.js"):
        (site / name).unlink(missing_ok=True)
    # Debian's style sheet imports another one by its place on a web server of Debian.
    style = site / "_static/styles/furo.css"
    shutil.copyfile(NORMALIZE, style.with_name("normalize.css"))
    style.write_text(style.read_text(encoding="utf-8").replace("url(/javascript/normalize.css/normalize.css)", "url(normalize.css)"),
                     encoding="utf-8")
    # The order of entries depends on processes. A page's own title is without an anchor, or the page is found twice.
    file, begin = site / "searchindex.js", "Search.setIndex("
    index = json.loads(file.read_text(encoding="utf-8").removeprefix(begin)[:-1])
    index["alltitles"] = {title: sorted([page, None if index["titles"][page] == title else anchor] for page, anchor in found)
                          for title, found in index["alltitles"].items()}
    file.write_text(begin + json.dumps(index, sort_keys=True, separators=(",", ":")) + ")", encoding="utf-8")


def build(root, out, jobs):
    tree = pages.Tree(root)
    if tree.errors:
        raise Failure("\n".join((*tree.errors, f"make docs: errors in pages: {len(tree.errors)}")))
    check_tools()
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{out.name}.partial.", dir=out.parent) as name:
        work = Path(name)
        (work / "pages").mkdir()
        staging.stage(tree, work / "pages")
        if api.headers(tree.files):
            api.Reference(tree.root, tree.files, run_doxygen(tree, work)).write(work / "pages")
        site = run_sphinx(tree, work, jobs)
        if out.exists():
            out.rename(work / "old")
        site.rename(out)
    return sum(1 for _ in out.rglob("*.html"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=HERE.parents[1], help="the git repository (default: this one)")
    parser.add_argument("--out", type=Path, help="folder of the site (default: build/docs in the repository)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: as many as processors)")
    options = parser.parse_args()
    root = options.root.resolve()
    out = (options.out or root / "build/docs").resolve()
    try:
        count = build(root, out, options.jobs)
    except (Failure, pages.NoGit) as failure:
        print(failure, file=sys.stderr)
        return 2
    print(f"{count} pages: {out / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
