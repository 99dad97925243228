# SPDX-License-Identifier: Apache-2.0
"""Man pages, made from what the programs say (--help)."""

import os
import re
import time
from typing import Dict, List, Sequence, Tuple

from .programs import TOOLS, Option, Page, is_heading, knobs_of_schemes, page_of, split_option
from .version import VERSION

_SPACES = re.compile(r"\s+")


def _date() -> str:
    """Of the writing, or the one that a reproducible build states."""
    return time.strftime("%Y-%m-%d", time.gmtime(float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())))


def _plain(text: str) -> str:
    """Text that the formatter prints as it is."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("^", "\\(ha").replace("~", "\\(ti").replace("`", "\\(ga")
    escaped = escaped.replace("'", "\\(aq")
    return "\\&" + escaped if escaped[:1] in (".",) else escaped


def _filled(text: str) -> str:
    return _plain(_SPACES.sub(" ", text.strip()))


def _entry(left: str, help_text: str) -> List[str]:
    """A tagged paragraph."""
    return [".TP", f"\\fB{_plain(left)}\\fR", _filled(help_text) or "\\&"]


def _option_entry(option: Option) -> List[str]:
    value = f"[={option.value}]" if option.attached else f" {option.value}" if option.value else ""
    return _entry(", ".join(option.names) + value, option.help)


def _blocks(lines: Sequence[str]) -> List[List[str]]:
    """Runs of lines without an empty one, and of the same kind: text, or indented."""
    found: List[List[str]] = []
    for line in lines:
        if not line.strip():
            found.append([])
        elif found and found[-1] and found[-1][-1].startswith(" ") == line.startswith(" "):
            found[-1].append(line)
        else:
            found.append([line])
    return [block for block in found if block]


def _text(lines: Sequence[str]) -> List[str]:
    """Paragraphs; indented lines stay as they are."""
    out: List[str] = []
    for block in _blocks(lines):
        if block[0].startswith(" "):
            out += [".PP", ".nf", *(_plain(line) for line in block), ".fi"]
        else:
            out += [".PP", _filled(" ".join(block))]
    return out[1:] if out and out[0] == ".PP" else out  # a heading begins a paragraph


def _usage(page: Page) -> List[str]:
    """The lines of the usage, without the word."""
    at = next((i for i, line in enumerate(page.lines) if line.startswith("usage: ")), None)
    if at is None:
        return [f"{page.name} [options]"]
    lines = [page.lines[at][len("usage: "):]]
    for line in page.lines[at + 1:]:
        if not line.startswith(" "):
            break
        lines.append(line.strip() if line.strip().startswith(page.name) else f"    {line.strip()}")
    return lines


def _description(page: Page) -> List[str]:
    """What stands between usage and options."""
    lines = list(page.lines)
    if lines and lines[0].startswith("usage: "):
        end = 1
        while end < len(lines) and lines[end].startswith(" "):
            end += 1
        lines = lines[end:]
    elif lines and lines[0].startswith(page.name):  # "regatta-annotate 1.0.0: what it does"
        text = lines[0].split(": ", 1)[-1]
        lines[0] = text[:1].upper() + text[1:]
    end = next((i for i, line in enumerate(lines) if is_heading(line) and _begins_entries(lines, i)), len(lines))
    return _text(lines[:end])


def _begins_entries(lines: Sequence[str], at: int) -> bool:
    following = lines[at + 1] if at + 1 < len(lines) else ""
    return bool(split_option(following)[0]) or lines[at] in ("arguments:", "positional arguments:")


def _after(page: Page) -> List[str]:
    """What stands behind the options: notes, the exit status."""
    last = max((i for i, line in enumerate(page.lines) if split_option(line)[0]), default=len(page.lines))
    rest = page.lines[last + 1:]
    while rest and rest[0].startswith("    "):
        rest = rest[1:]
    return _text(rest)


def _arguments(page: Page) -> List[str]:
    out: List[str] = []
    inside = False
    for line in page.lines:
        if is_heading(line):
            inside = line in ("arguments:", "positional arguments:")
        elif inside and re.match(r" {2,4}\S", line):
            parts = re.split(r"\s{2,}", line.strip(), maxsplit=1)
            if parts[0] != "COMMAND":
                out += _entry(parts[0], parts[1] if len(parts) > 1 else "")
        elif inside and line.strip() and out:
            out[-1] = _filled(f"{line.strip()}") if out[-1] == "\\&" else f"{out[-1]} {_filled(line)}"
        elif not line.strip():
            inside = False
    return out


def _options(options: Sequence[Option], level: str = ".SS") -> List[str]:
    out: List[str] = []
    group = ""
    for option in options:
        if option.group != group:
            group = option.group
            if group.lower() != "options":
                out.append(f"{level} {_plain(group)}")
        out += _option_entry(option)
    return out


def _together(knobs: Dict[str, List[Option]]) -> List[Tuple[List[str], List[Option]]]:
    """Schemes that have the same knobs, once."""
    found: List[Tuple[List[str], List[Option]]] = []
    for scheme, options in knobs.items():
        same = next((names for names, known in found if known == options), None)
        if same is not None:
            same.append(scheme)
        elif options:
            found.append(([scheme], options))
    return found


def _page(page: Page, summary: str, knobs: Dict[str, List[Option]]) -> str:
    out = [f'.TH {page.name.upper()} 1 "{_date()}" "regatta {VERSION}" "regatta"',
           ".SH NAME", f"{_plain(page.name)} \\- {_plain(summary)}",
           ".SH SYNOPSIS", ".nf", *(_plain(line) for line in _usage(page)), ".fi",
           ".SH DESCRIPTION", *_description(page)]
    arguments = _arguments(page)
    if arguments:
        out += [".SH ARGUMENTS", *arguments]
    if page.options:
        out += [".SH OPTIONS", *_options(page.options)]
    for command, own in page.commands.items():
        if own.lines:  # otherwise its options are those of the program
            out += [f".SH COMMAND {command.upper()}", ".nf", *(_plain(line) for line in _usage(own)), ".fi", *_options(own.options)]
    for schemes, options in _together(knobs):
        names = ", ".join(f"\\fB\\-\\-scheme {_plain(scheme)}\\fR" for scheme in schemes)
        out += [f".SH KNOBS OF {', '.join(schemes).upper()}", f"With {names}:", *_options(options)]
    after = _after(page)
    if after:
        out += [".SH NOTES", *after]
    others = [name for name in ("regatta", *(f"regatta-{tool}" for tool in TOOLS)) if name != page.name]
    out += [".SH SEE ALSO", ",\n".join(f"\\fB{_plain(name)}\\fR(1)" for name in others)]
    return "\n".join(out) + "\n"


def page(tool: str, schemes: Sequence[str] = ()) -> str:
    """Of regatta-`tool`, in the language of man. `schemes`: for regatta-sim, those whose knobs it has. Throws InputError if the
    program cannot be asked."""
    own = page_of(tool)
    return _page(own, TOOLS[tool], knobs_of_schemes(own, schemes) if tool == "sim" else {})


def front_page(help_text: str) -> str:
    """Of regatta itself, whose --help is `help_text`."""
    usage, _, rest = help_text.partition("\n")
    return _page(Page("regatta", [usage, *rest.split("\n")]), "run the tools of the simulator regatta", {})
