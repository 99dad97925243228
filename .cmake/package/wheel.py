#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wheel.py BUILD FOLDER: a wheel of the Python package with the tools of BUILD, their libraries and the kernels, in FOLDER.

platform/python/pyproject.toml alone makes a wheel that looks for tools elsewhere. This one has them in regatta/bin; the shared
libraries that they need, glibc's apart, with their licences in regatta/lib; and kernels and the demo in regatta/share. So it
runs wherever glibc is as new as the wheel's tag says. Needs patchelf, readelf, and Python's setuptools and wheel.
Status: 0 done; 1 something failed, and FOLDER is as it was.
"""

import keyword
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, Tuple

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("regatta-annotate", "regatta-capture", "regatta-import", "regatta-sim", "regatta-trace")
# glibc's own: they belong to the kernel and the loader of the machine.
SYSTEM = re.compile(r"(linux-vdso|ld-linux[\w-]*|libc|libm|libpthread|libdl|librt)\.so[.\d]*$")
SETUP = """\
from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel


class OfThisPlatform(bdist_wheel):
    def get_tag(self):
        return "py3", "none", "{platform}"


class WithPrograms(Distribution):
    def has_ext_modules(self):
        return True


setup(distclass=WithPrograms, cmdclass={{"bdist_wheel": OfThisPlatform}},
      package_data={{"regatta": ["py.typed", "bin/*", "lib/*", "lib/licences/*", "lib/regatta/*", "share/**"],
                    "regatta.reports": ["*.js", "*.css", "templates/*.j2", "vendor/*"]}})
"""


class Failed(Exception):
    """What did not work."""


def function_of(tool: str) -> str:
    """In regatta.commands.native; a word of Python has a line behind it."""
    name = tool.split("-")[1]
    return name + ("_" if keyword.iskeyword(name) else "")


def said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)} ended with status {done.returncode}: {(done.stdout + done.stderr).strip()[-2000:]}")
    return done.stdout


def libraries(program: Path) -> Dict[str, Path]:
    """Shared libraries that the loader brings, by name; glibc's are left out."""
    found = {}
    for name, path in re.findall(r"(?m)^\s*(\S+)(?: => (\S+))? \(0x|^\s*(?:\S+) => not found", said("ldd", str(program))):
        if not name:
            raise Failed(f"{program}: a library that it needs is not found")
        if path and not SYSTEM.match(name):
            found[name] = Path(path).resolve()
    return found


def licence(library: Path) -> Path:
    """Debian's file of the package that the library is of."""
    for path in (library, Path(str(library).replace("/usr/lib/", "/lib/", 1))):
        done = subprocess.run(["dpkg-query", "-S", str(path)], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            file = Path("/usr/share/doc") / done.stdout.split(":")[0] / "copyright"
            if file.is_file():
                return file
    raise Failed(f"{library}: found no package that it is of, and so no licence to put beside it")


def newest_glibc(files: List[Path]) -> Tuple[int, ...]:
    versions = {tuple(map(int, v.split("."))) for f in files for v in re.findall(r"GLIBC_([\d.]+)", said("readelf", "-V", str(f)))}
    return max(versions)


def check_whole(files: List[Path], brought: List[str]) -> None:
    """No program or library needs what the wheel neither brings nor may expect."""
    for file in files:
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", said("readelf", "-d", str(file))):
            if name not in brought and not SYSTEM.match(name):
                raise Failed(f"{file.name} needs {name}, which the wheel does not bring")


def stage(build: Path, tree: Path) -> str:
    """The package's tree, and its platform's tag."""
    shutil.copytree(ROOT / "platform" / "python", tree, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    package = tree / "regatta"
    binaries, shared = package / "bin", package / "lib"
    for folder in (binaries, shared / "licences"):
        folder.mkdir(parents=True)
    needed: Dict[str, Path] = {}
    for tool in TOOLS:
        source = build / "bin" / tool
        if not source.is_file():
            raise Failed(f"{source}: found no program, expected those of a build (make tools)")
        needed.update(libraries(source))
        shutil.copy2(source, binaries / tool)
    for name, path in needed.items():
        shutil.copy2(path, shared / name)
        shutil.copy2(licence(path), shared / "licences" / name)
    # What regatta-capture puts in front of a program needs nothing but glibc.
    shutil.copytree(build / "lib" / "regatta", shared / "regatta")
    in_front = list((shared / "regatta").iterdir())
    files = [*binaries.iterdir(), *(p for p in shared.iterdir() if p.is_file())]
    for file in files:
        said("strip", "--strip-unneeded", str(file))
        # Not RUNPATH: that of a program does not count for what its libraries need.
        said("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../lib" if file.parent == binaries else "$ORIGIN", str(file))
    for file in in_front:
        said("strip", "--strip-unneeded", str(file))
    check_whole([*files, *in_front], [*needed, *(file.name for file in in_front)])
    said("cmake", "--install", str(build), "--component", "tools", "--prefix", str(tree / "installed"))
    shutil.move(str(tree / "installed" / "share" / "regatta"), str(package / "share"))
    shutil.rmtree(tree / "installed")
    machine = said("uname", "-m").strip()
    tag = f"manylinux_{'_'.join(map(str, newest_glibc([*files, *in_front])))}_{machine}"
    (tree / "setup.py").write_text(SETUP.format(platform=tag), encoding="utf-8")
    # The programs that Python starts, beside those that it is.
    project = tree / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    scripts = "".join(f'{tool} = "regatta.commands.native:{function_of(tool)}"\n' for tool in TOOLS)
    text = text.replace("[project.scripts]\n", "[project.scripts]\n" + scripts)
    text = re.sub(r"(?s)\[tool\.setuptools\.package-data\].*?(?=\n\[)", "", text)
    project.write_text(text, encoding="utf-8")
    return tag


def main() -> int:
    build, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="regatta_wheel_") as name:
        work = Path(name)
        try:
            stage(build, work / "tree")
            said(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
                 "--wheel-dir", str(work / "out"), str(work / "tree"))
            wheels = list((work / "out").glob("*.whl"))
            if len(wheels) != 1:
                raise Failed(f"pip made {len(wheels)} wheels, expected one")
        except Failed as e:
            print(f"wheel.py: {e}", file=sys.stderr)
            return 1
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("regatta-*.whl"):
            old.unlink()
        made = folder / wheels[0].name
        shutil.copy2(wheels[0], folder / (wheels[0].name + ".partial"))
        (folder / (wheels[0].name + ".partial")).rename(made)
    print(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
