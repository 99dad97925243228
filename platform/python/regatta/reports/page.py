# SPDX-License-Identifier: Apache-2.0
"""Pages of HTML that are one file each: sections from templates, one style, one script, and the libraries that a page uses.

A section is a template of this folder's `templates` and its data:

    Section("energy", "Energy by structure", "energy.html.j2", {"rows": rows})

The template is rendered with the section's data as variables, and `section` itself. `macros.html.j2` has what sections share:

    {% import "macros.html.j2" as m %}
    {{ m.table("energy-rows", ["structure", "nJ"], rows, caption="...") }}     an HTML table that sorts, filters and pages
    {{ m.big_table("points", ["run", "cycles"], rows) }}                       the same for thousands of rows
    {{ m.vega_figure("front", spec, "caption") }}                              a figure that Vega-Lite draws
    {% call(run) m.of_runs(runs) %} ... {% endcall %}                          a part per run, of which one is shown

Nothing is taken from the network: a content security policy in the page forbids it.
"""

from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from ..files import write_or_print
from ..statistics import InputError
from ..text import number

FOLDER = Path(__file__).resolve().parent
MOST_BYTES = 5_000_000


class Section(NamedTuple):
    """`id`: of the element, and of links to it. `template`: a file of `templates`. `data`: its variables."""
    id: str
    title: str
    template: str
    data: Dict[str, Any]


class _Part(NamedTuple):
    """What a page embeds if `marker` is in it. Text from outside cannot hold a marker: its quotes are escaped."""
    marker: str
    styles: Tuple[str, ...]
    scripts: Tuple[str, ...]
    licenses: Tuple[str, ...] = ()


_PARTS = (
    _Part('data-menus="', ("menus.css",), ("menus.js",)),
    _Part('data-figure="vega"', (), ("vendor/vega.min.js", "vendor/vega-lite.min.js", "tooltip.js", "vega_figures.js"),
          ("vendor/LICENSE.vega", "vendor/LICENSE.vega-parts", "vendor/LICENSE.vega-lite")),
    _Part('data-figure="samples"', ("vendor/uPlot.min.css",), ("vendor/uPlot.iife.min.js", "samples.js"),
          ("vendor/LICENSE.uPlot",)),
    _Part('data-figure="source"', (), ("source.js",)),
)


def share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _environment() -> Any:
    try:
        import jinja2
    except ImportError:
        raise InputError("pages need the Python module 'jinja2', which is not there; install Debian's package "
                         "python3-jinja2 (.cmake/setup-packages.sh)") from None
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(FOLDER / "templates"), autoescape=True,
                                     undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False, "separators": (",", ":"), "allow_nan": False}
    environment.filters["number"] = number
    environment.tests["number"] = lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)
    return environment


def _embedded(names: Sequence[str]) -> str:
    """Files of this folder, one after another. A library's line that names its source map would be looked for."""
    texts = []
    for name in names:
        lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
        texts.append("\n".join(line for line in lines if not line.startswith("//# sourceMappingURL=")))
    return "\n".join(texts)


def render(title: str, sections: Sequence[Section], runs: Sequence[str] = (), lead: str = "") -> str:
    """The page as text. `runs`: names of the runs that the reader can switch between; `lead`: a line under the title."""
    environment = _environment()
    from markupsafe import Markup  # comes with jinja2
    bodies: List[Tuple[Section, Any]] = [
        (s, Markup(environment.get_template(s.template).render(section=s, **s.data))) for s in sections]
    used = [part for part in _PARTS if any(part.marker in body for _, body in bodies)]
    styles = [s for part in used for s in part.styles] + ["style.css"]
    scripts = ["page.js"] + [s for part in used for s in part.scripts]
    page: str = environment.get_template("page.html.j2").render(
        title=title, lead=lead, runs=runs, sections=bodies, style=Markup(_embedded(styles)),
        scripts=[Markup(_embedded([s])) for s in scripts],
        licenses=[Markup(_embedded([s])) for part in used for s in part.licenses])
    return page + "\n"


def write_page(path: str, title: str, sections: Sequence[Section], runs: Sequence[str] = (), lead: str = "") -> int:
    """Writes the page, and returns its bytes."""
    text = render(title, sections, runs, lead)
    size = len(text.encode("utf-8"))
    if size > MOST_BYTES:
        largest = max(sections, key=lambda s: len(render("", [s], runs)))
        raise InputError(f"'{path}': found a page of {size / 1e6:.1f} MB, expected at most {MOST_BYTES / 1e6:.0f} MB; the "
                         f"largest section is '{largest.title}': give fewer runs, or leave out what it shows")
    write_or_print(path, text)
    return size
