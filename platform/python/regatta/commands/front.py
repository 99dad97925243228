# SPDX-License-Identifier: Apache-2.0
"""regatta: runs the other programs, lists what they know, and makes their completions and man pages."""

import difflib
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Callable, Dict, List, NoReturn, Optional, Sequence

from .. import completion, kernels, manual, tools
from ..errors import InputError
from ..files import write_whole
from ..programs import LISTS, OWN, SEARCHED, TOOLS, ask, parse
from ..text import did_you_mean, table
from ..version import of_program
from .arguments import Parser
from .ending import status_of

_LINES = "\n".join(f"  {name:<11} {text}" for name, text in TOOLS.items())
_OWN_LINES = "\n".join(f"  {name:<11} {text}" for name, text in OWN.items())
_HELP = f"""\
usage: regatta COMMAND [ARGUMENT ...]

regatta executes the PTX of a CUDA kernel once and replays the trace, with all register values, on a cycle-level model of a
GPU. Each command is a program of its own too: regatta sim is regatta-sim.

{_LINES}

{_OWN_LINES}

A first run (regatta demo shows one):

  regatta annotate --launch launch.toml --out kernel.rgt     a kernel and its data become a trace
  regatta sim kernel.rgt --stats baseline.json               the trace on the GPU without a scheme
  regatta sim kernel.rgt --scheme regless                    the same trace on another operand storage

regatta list kernels names kernels to start from; regatta list knobs PATTERN finds a knob, and regatta help KNOB explains it;
regatta help COMMAND prints the options of a command; regatta --version prints the version.
"""
_WIDTH = 118


def _refuse(what: str, found: str, known: Sequence[str], otherwise: str) -> NoReturn:
    near = did_you_mean(difflib.get_close_matches(found, known, 1))
    raise InputError(f"unknown {what} '{found}'" + (near or f", expected {otherwise}"))


def _program(name: str) -> Path:
    """Beside this program, or else where the package finds programs. Throws InputError."""
    beside = Path(sys.argv[0]).resolve().parent / name
    return beside if shutil.which(str(beside)) else tools.find(name)


def _become(name: str, arguments: Sequence[str]) -> NoReturn:
    """Goes on as another program of regatta, which gets this one's signals, input and output."""
    path = str(_program(name))
    sys.stdout.flush()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # ignored by Python, and by what it would start
        signal.signal(number, signal.SIG_DFL)
    os.execv(path, [path, *arguments])


def _tool(found: str) -> str:
    name = found[len("regatta-"):] if found.startswith("regatta-") else found
    if name not in TOOLS:
        _refuse("command", found, list(TOOLS), f"one of {', '.join(TOOLS)}")
    return name


def _kernel_table() -> str:
    rows = [["kernel", "launches", "programs of the papers", "full size", "what it exercises"]]
    for kernel in kernels.kernels():
        cells = [textwrap.wrap(text, width) or [""] for text, width in
                 ((", ".join(kernel["programs"]) or "-", 22), (kernel["full_size"], 28), (kernel["exercises"], 30))]
        first = [kernel["name"], "-" if kernel["launches"] is None else str(kernel["launches"])]
        for i in range(max(map(len, cells))):
            rows.append([*(first if i == 0 else ["", ""]), *(c[i] if i < len(c) else "" for c in cells)])
    return (table(rows, left=len(rows[0])) +
            f"\nA kernel's launch file: {kernels.needed_folder()}/NAME/launch.toml (launch.small.toml for a test)\n")


_LIST = """\
Lists what regatta knows: names, and what is behind each. WHAT is energy for energy tables. PATTERN is a part of the name or of the
help of a knob or of a statistic; capitals are equal. Knobs are those of the baseline and of every scheme, with the scheme; statistics
are those of one scheme.

  regatta list knobs l1.size
  regatta list statistics conflict --scheme regless
"""


def _list_parser() -> Parser:
    parser = Parser(prog="regatta list", description=_LIST)
    parser.add_argument("what", metavar="WHAT", nargs="?", help=", ".join((*LISTS, "kernels")))
    parser.add_argument("pattern", metavar="PATTERN", nargs="?", help="of knobs and statistics: a part of the name or of the help")
    parser.add_argument("--scheme", metavar="NAME", help="of knobs and statistics: those of this scheme only")
    parser.add_argument("--json", action="store_true", help="as JSON")
    return parser


def _list(arguments: Sequence[str]) -> int:
    known = (*LISTS, "kernels")
    o = _list_parser().parse_args(arguments)
    if o.what is None:
        raise InputError(f"found no WHAT to list, expected one of {', '.join(known)}")
    if o.what not in known:
        _refuse("list", o.what, known, f"one of {', '.join(known)}")
    if o.what not in SEARCHED:
        for found in (o.pattern, o.scheme and f"--scheme {o.scheme}"):
            if found:
                raise InputError(f"found '{found}' behind {o.what}, expected it behind {' or '.join(SEARCHED)} only")
    if o.what != "kernels":
        _become("regatta-sim", ["--list", o.what, *(["--match=" + o.pattern] if o.pattern else []),
                                *(["--scheme", o.scheme] if o.scheme else []), *(["--json"] if o.json else [])])
    sys.stdout.write(json.dumps(kernels.kernels(), indent=2) + "\n" if o.json else _kernel_table())
    return 0


_DEMO = """\
Executes a kernel, replays it under three operand storages, plants a fault that is found, and turns a knob. All that is run is
shown. Results go to FOLDER, which is made; what another demo wrote there is replaced.
"""


def _demo_parser() -> Parser:
    parser = Parser(prog="regatta demo", description=_DEMO)
    parser.add_argument("folder", metavar="FOLDER", nargs="?", default="regatta-demo", help="default: regatta-demo")
    return parser


def _demo(arguments: Sequence[str]) -> int:
    o = _demo_parser().parse_args(arguments)
    place = kernels.share()
    script = place / "examples" / "quickstart" / "run.sh" if place is not None else None
    if script is None or not script.is_file():
        raise InputError(f"found no demo in {', '.join(f'{p}' for p in tools.beside_package('share'))}; expected "
                         "examples/quickstart/run.sh there, as an installation and a checkout have it")
    sys.stdout.flush()
    return subprocess.run([str(script), str(_program("regatta-sim").parent), o.folder], check=False).returncode


_COMPLETION = """\
Prints a script that completes command lines of regatta and of its programs: commands, options, knobs of the scheme that the line
names, names of schemes, machines, schedulers and energy tables, and files.

  source <(regatta completion bash)            in ~/.bashrc
  source <(regatta completion zsh)             in ~/.zshrc, behind compinit
"""


def _completion_parser() -> Parser:
    parser = Parser(prog="regatta completion", description=_COMPLETION)
    parser.add_argument("shell", metavar="SHELL", help=" or ".join(completion.SHELLS))
    return parser


def _completion_script(shell: str) -> str:
    return completion.script(shell, [parse(p.prog, p.format_help()) for p in
                                     (_demo_parser(), _list_parser(), _completion_parser(), _man_parser(), _help_parser())])


def _completion(arguments: Sequence[str]) -> int:
    o = _completion_parser().parse_args(arguments)
    if o.shell not in completion.SHELLS:
        _refuse("shell", o.shell, completion.SHELLS, " or ".join(completion.SHELLS))
    sys.stdout.write(_completion_script(o.shell))
    return 0


def _manual_text(name: str) -> str:
    return manual.front_page(_HELP) if name == "" else manual.page(name, completion.names_of("schemes") if name == "sim" else ())


def _write_all(folder: str) -> int:
    """Man pages and completions below `folder`, as below share of an installation. A program that cannot run, as on a host
    without what it needs, has no page."""
    place = Path(folder)
    for tool in ("", *TOOLS):
        name = f"regatta-{tool}" if tool else "regatta"
        try:
            write_whole(place / "man" / "man1" / f"{name}.1", _manual_text(tool), parents=True)
        except InputError as e:
            print(f"regatta: no man page of {name}: {e}", file=sys.stderr)
    write_whole(place / "zsh" / "site-functions" / "_regatta", _completion_script("zsh"), parents=True)
    completions = place / "bash-completion" / "completions"
    write_whole(completions / "regatta", _completion_script("bash"), parents=True)
    for tool in TOOLS:  # bash-completion looks for a file of the program's name
        write_whole(completions / f"regatta-{tool}", '. "${BASH_SOURCE[0]%/*}/regatta"\n')
    return 0


_MAN = """\
Shows the man page of a command, or without one that of regatta. What is not a terminal gets the page in the language of man:

  regatta man sim > regatta-sim.1
"""


def _man_parser() -> Parser:
    parser = Parser(prog="regatta man", description=_MAN)
    parser.add_argument("command", metavar="COMMAND", nargs="?", default="", help=", ".join(TOOLS))
    parser.add_argument("--out", metavar="FOLDER", help="write all man pages and completions below FOLDER, as an installation has them "
                                                        "below share")
    return parser


def _man(arguments: Sequence[str]) -> int:
    o = _man_parser().parse_args(arguments)
    if o.out is not None:
        if o.command:
            raise InputError(f"--out writes all pages: found the command '{o.command}' too, expected none")
        return _write_all(o.out)
    page = _manual_text("" if o.command in ("", *OWN, "regatta") else _tool(o.command))
    if not sys.stdout.isatty() or shutil.which("man") is None:
        sys.stdout.write(page)
        return 0
    return subprocess.run(["man", "-l", "-"], input=page, text=True, encoding="utf-8", check=False).returncode


def _help_parser() -> Parser:
    parser = Parser(prog="regatta help", description="Shows the options of a command, a knob, or without an argument what each command does.")
    parser.add_argument("command", metavar="COMMAND", nargs="?", default="", help=", ".join((*TOOLS, *OWN)) + ", or a knob: l1.size_bytes")
    return parser


def _knob_text(name: str) -> str:
    """Throws InputError for what is no knob."""
    knobs = json.loads(ask(_program("regatta-sim"), "--list", "knobs", "--json"))
    by_name = {str(k["name"]): k for k in knobs}
    if name not in by_name:
        begun = sorted((k for k in by_name if k.startswith(name)), key=len)[:3] or difflib.get_close_matches(name, by_name, 3)
        raise InputError(f"unknown knob '{name}'" + (did_you_mean(begun) or "; regatta list knobs PATTERN finds one"))
    knob = by_name[name]

    def value(key: str) -> str:
        return json.dumps(knob[key]) if isinstance(knob[key], bool) else str(knob[key])
    unit = f" {knob['unit']}" if knob["unit"] else ""
    rows = [["value", value("value") + unit], ["default", value("default") + unit], ["range", knob["range"]],
            ["schemes", ", ".join(knob["schemes"]) or "all"], ["to set it", f"regatta sim K.rgt --{name} {value('value')}"]]
    if knob["value"] == knob["default"]:
        del rows[1]
    else:
        rows[0][1] += ", of the machine" + (" or the setting of the scheme's paper" if knob["schemes"] else "")
    return f"{name}: {knob['help']}\n\n" + "".join(f"  {left:<10} {right}\n" for left, right in rows)


def _help(arguments: Sequence[str]) -> int:
    # A knob may be written as the option that sets it.
    o = _help_parser().parse_args([a.lstrip("-") if "." in a else a for a in arguments])
    if not o.command:
        sys.stdout.write(_HELP)
        return 0
    if o.command in _OWN:
        return _OWN[o.command](["--help"])
    if "." in o.command:
        sys.stdout.write(_knob_text(o.command))
        return 0
    _become(f"regatta-{_tool(o.command)}", ["--help"])


_OWN: Dict[str, Callable[[Sequence[str]], int]] = {"demo": _demo, "list": _list, "completion": _completion, "man": _man, "help": _help}


def _run(arguments: List[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(_HELP)
        return 0
    command, rest = arguments[0], arguments[1:]
    if command == "--version":
        sys.stdout.write(of_program("regatta") + "\n")
        return 0
    if command.startswith("-"):
        raise InputError(f"unknown option '{command}'; options of a command come behind it (regatta --help shows the commands)")
    if command in _OWN:
        return _OWN[command](rest)
    if command in TOOLS:
        _become(f"regatta-{command}", rest)
    _refuse("command", command, [*TOOLS, *OWN], f"one of {', '.join((*TOOLS, *OWN))}")


def main(arguments: Optional[List[str]] = None) -> int:
    return status_of("regatta", lambda: _run(sys.argv[1:] if arguments is None else arguments))


if __name__ == "__main__":
    sys.exit(main())
