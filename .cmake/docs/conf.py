# SPDX-License-Identifier: Apache-2.0
"""Sphinx's configuration. build.py has staged the pages and names the tree that they are from in REGATTA_ROOT."""

import os
import re
import sys
from html import escape

sys.path.insert(0, os.path.dirname(__file__))
import pages  # noqa: E402
import staging  # noqa: E402

from docutils import nodes  # noqa: E402
from sphinx import addnodes  # noqa: E402
from sphinx.search.en import SearchEnglish  # noqa: E402

project = "regatta"
html_title = "regatta"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
myst_gfm_only = True  # what GitHub shows
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
smartquotes = False
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = html_show_sourcelink = html_show_sphinx = html_show_copyright = False
html_use_index = False
html_theme_options = {"top_of_page_button": None}

TREE = pages.Tree(os.environ["REGATTA_ROOT"])
SITE = staging.Names(TREE)


def give_github_names(doctree):
    """Each section gets the anchor that GitHub gives its heading."""
    taken = set()
    for section in doctree.findall(nodes.section):
        name = pages.github_name(section.next_node(nodes.title).astext(), taken)
        if name not in section["ids"]:
            for other in doctree.findall(nodes.section):
                if other is not section and name in other["ids"]:
                    other["ids"].remove(name)
            section["ids"].insert(0, name)


def lead_links(doctree, page, document):
    """Links to files of the tree lead to their pages in the site."""
    for link in doctree.findall(nodes.reference):
        target = link.get("refuri", "")
        if not target or ":" in target.partition("/")[0]:
            continue
        name = target.partition("#")[2]
        link["refuri"] = (SITE.address(document, page.leads_to(target)) if target.partition("#")[0] else "") + ("#" + name if name else "")


def add_toctree(doctree, document, caption, entries):
    """`entries`: (title or None, document)."""
    tree = addnodes.toctree(parent=document, entries=entries, includefiles=[to for _, to in entries], maxdepth=-1, caption=caption,
                            glob=False, hidden=True, includehidden=False, numbered=0, titlesonly=True, rawentries=[], rawcaption=caption)
    doctree.next_node(nodes.section).append(tree)


def finish(app, doctree):
    document = app.env.docname
    path = SITE.page(document)
    if path is None:
        return
    give_github_names(doctree)
    lead_links(doctree, TREE.pages[path], document)

    def entries(paths):
        return [(TREE.labels.get(to), SITE.document(to)) for to in paths]
    if path == pages.HOME:
        add_toctree(doctree, document, None, entries([pages.INDEX]))
        for section, paths in TREE.sections:
            add_toctree(doctree, document, section, entries(paths))
        if os.path.exists(os.path.join(app.srcdir, "api/index.rst")):
            add_toctree(doctree, document, "Reference", [(None, "api/index")])
    elif path in TREE.children:
        add_toctree(doctree, document, None, entries(TREE.children[path]))


class SearchWithKnobs(SearchEnglish):
    """Names with dots (osu.entries) are words too; who searches one finds the pages that have all of it."""

    lang = "en"
    js_splitter_code = """
var splitQuery = (query) => query.split(/[^\\p{Letter}\\p{Number}_.]+/gu).flatMap((word) =>
  /^[\\p{Letter}_][\\p{Letter}\\p{Number}_]*([.][\\p{Letter}\\p{Number}_]+)+$/u.test(word) ? [word] : word.split(".")).filter((word) => word);
"""

    def split(self, text):
        return super().split(text) + re.findall(r"\b[^\W\d]\w*(?:\.\w+)+", text)


def sidebar(app, document):
    """The toctree as HTML, with the entries above the document open. Sphinx needs ten times as long for it on each page."""
    environment = app.env
    current = environment.metadata[document].get("group", document) if document in environment.all_docs else document
    above = {to: page for page, found in environment.toctree_includes.items() for to in found}
    open_ones = {current}
    while current in above and above[current] not in open_ones:
        current = above[current]
        open_ones.add(current)

    def entries(toctree, level):
        html = ""
        for title, to in toctree["entries"]:
            shown = escape(title or environment.titles[to].astext())
            html += (f'<li class="toctree-l{level}{" current" if to in open_ones else ""}"><a class="reference internal" '
                     f'href="{app.builder.get_relative_uri(document, to)}">{shown}</a>{below(to, level + 1)}</li>')
        return html

    def below(page, level):
        html = ""
        for toctree in environment.tocs[page].findall(addnodes.toctree):
            if level == 1 and toctree["caption"]:
                html += f'<p class="caption" role="heading"><span class="caption-text">{escape(toctree["caption"])}</span></p>'
            html += f"<ul>{entries(toctree, level)}</ul>"
        return html
    return below(root_doc, 1)


def give_sidebar(app, document, template, context, doctree):
    context["toctree"] = lambda **options: sidebar(app, document)


def setup(app):
    app.add_search_language(SearchWithKnobs)
    app.connect("html-page-context", give_sidebar, priority=400)
    # Before Sphinx collects titles and tables of contents, at 500.
    app.connect("doctree-read", finish, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
