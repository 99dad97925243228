# SPDX-License-Identifier: Apache-2.0
"""The API reference from Doxygen's XML: a page for each public header, and one for each group of them.

The pages are reStructuredText, so that Sphinx knows their headings; declarations are HTML in them. Sphinx's own C++ domain takes minutes
for as many as we have.
"""

import posixpath
import re
import xml.etree.ElementTree as ElementTree
from html import escape
from pathlib import Path, PurePosixPath

HEADER = re.compile(r"(?P<part>(?!tests/).+)/include/(?P<include>regatta/.+\.h)$")
ROOMS = ("traces", "compiler", "platform", "models")
CLASSES = ("class", "struct", "union")
LONGEST_VALUE = 60  # of an initial value that is shown
TAGS = {"emphasis": "em", "bold": "strong", "itemizedlist": "ul", "orderedlist": "ol", "listitem": "li", "table": "table", "row": "tr",
        "entry": "td", "para": "p", "subscript": "sub", "superscript": "sup"}
CHARACTERS = {"ndash": "–", "mdash": "—", "nonbreakablespace": " ", "linebreak": " "}


def headers(files):
    """{path: match of HEADER} of the public headers; tests have none."""
    return {name: match for name in files if (match := HEADER.match(name))}


def document(include):
    """Name of a header's page."""
    return "api/" + include.removesuffix(".h")


def group(part):
    """platform/sm/... is of platform/sm, models/wir/... of models/wir, traces/format/... of traces."""
    room, *rest = part.split("/")
    return f"{room}/{rest[0]}" if room in ("platform", "models") and rest else room


def title(text, mark):
    shown = re.sub(r"([\\*`|_<>])", r"\\\1", text)
    return f"{shown}\n{mark * len(shown)}\n\n"


def indented(text):
    return "".join("   " + line if line.strip() else line for line in text.splitlines(keepends=True))


def raw(html):
    return ".. raw:: html\n\n" + indented(html) + "\n\n"


def plain(element):
    return "" if element is None else " ".join("".join(element.itertext()).split())


def beginning(header):
    """The comment at the beginning of a header, without the licence, as paragraphs in HTML."""
    lines = []
    for line in header.splitlines():
        if not line.startswith("//") or line.startswith("///"):
            break
        if "SPDX" not in line:
            lines.append(line[2:].strip())
    paragraphs = (" ".join(paragraph.split()) for paragraph in "\n".join(lines).split("\n\n"))
    return [re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(paragraph, quote=False)) for paragraph in paragraphs if paragraph]


class Reference:
    def __init__(self, root, files, xml):
        self._headers = headers(files)
        self._beginnings = {path: beginning((Path(root) / path).read_text(encoding="utf-8")) for path in self._headers}
        self._at = {}  # (document, anchor) of what a reference may lead to, by Doxygen's id
        self._classes = {path: [] for path in self._headers}
        self._members = {path: [] for path in self._headers}  # of namespaces
        self._namespaces, self._hidden, self._anchors = set(), set(), set()
        compounds = [ElementTree.parse(file).getroot().find("compounddef") for file in sorted(Path(xml).glob("*.xml"))]
        for compound in compounds:
            if compound is not None and compound.get("kind") == "namespace":
                self._namespaces.add(compound.findtext("compoundname"))
            elif compound is not None and compound.get("prot") == "private":
                self._hidden.add(compound.findtext("compoundname"))
        for compound in compounds:
            if compound is not None and compound.find("location") is not None:
                self._read(compound)
        for found in (*self._classes.values(), *self._members.values()):
            found.sort(key=lambda element: int(element.find("location").get("line")))

    def _read(self, compound):
        kind, name = compound.get("kind"), compound.findtext("compoundname")
        path = compound.find("location").get("file")
        if kind == "file" and path in self._headers:
            self._at[compound.get("id")] = (document(self._headers[path]["include"]), "")
        if "@" in name or any(name == hidden or name.startswith(hidden + "::") for hidden in self._hidden):
            return
        if kind in CLASSES and path in self._headers:
            self._classes[path].append(compound)
            self._note(compound, path, name)
        if kind in (*CLASSES, "namespace"):
            for member in compound.iter("memberdef"):
                path = member.find("location").get("file")
                if path not in self._headers or member.get("prot") == "private" or member.get("kind") == "friend":
                    continue
                if kind == "namespace":
                    self._members[path].append(member)
                full = f"{name}::{member.findtext('name')}"
                self._note(member, path, full)
                for value in member.iter("enumvalue"):
                    self._note(value, path, f"{full}::{value.findtext('name')}")

    def _note(self, element, path, name):
        """Its anchor: its name, and a number if another one has that."""
        to, anchor, count = document(self._headers[path]["include"]), re.sub(r"\s", "", name.removeprefix("regatta::")), 1
        while (to, anchor) in self._anchors:
            count += 1
            anchor = re.sub(r"(~\d+)?$", f"~{count}", anchor, count=1)
        self._anchors.add((to, anchor))
        self._at[element.get("id")] = (to, anchor)

    # Text.

    def _link(self, identifier, shown, of):
        if identifier not in self._at:
            return shown
        to, anchor = self._at[identifier]
        address = "" if to == of else posixpath.relpath(f"{to}.html", posixpath.dirname(of))
        return f'<a class="reference internal" href="{address}{"#" if anchor else ""}{escape(anchor)}">{shown}</a>'

    def _html(self, element, of):
        """An element's text, with links, as HTML."""
        if element is None:
            return ""
        text = escape(element.text or "", quote=False)
        for part in element:
            inside = self._html(part, of)
            if part.tag == "ref":
                text += self._link(part.get("refid"), inside, of)
            elif part.tag == "computeroutput":
                text += f'<code class="docutils literal">{inside}</code>'
            elif part.tag in TAGS:
                text += f"<{TAGS[part.tag]}>{inside.strip()}</{TAGS[part.tag]}>"
            else:
                text += CHARACTERS.get(part.tag, inside)
            text += escape(part.tail or "", quote=False)
        return text

    def _description(self, element, of):
        return "".join(self._html(element.find(tag), of).strip() for tag in ("briefdescription", "detaileddescription"))

    # Declarations.

    def _entry(self, element, kind, signature, body, of):
        anchor = escape(self._at[element.get("id")][1])
        return (f'<dl class="cpp {kind}"><dt class="sig sig-object cpp" id="{anchor}">{signature}'
                f'<a class="headerlink" href="#{anchor}" title="Permalink">#</a></dt>\n<dd>{body}</dd></dl>\n')

    def _template(self, element, of):
        found = element.find("templateparamlist")
        if found is None:
            return ""
        parameters = []
        for parameter in found.findall("param"):
            value = self._html(parameter.find("defval"), of)
            name = plain(parameter.find("declname"))
            parameters.append(self._html(parameter.find("type"), of) + (f" {name}" if name else "") + (f" = {value}" if value else ""))
        return f"template &lt;{', '.join(parameters)}&gt;<br>"

    def _value(self, element, of):
        value = self._html(element.find("initializer"), of)
        return f" {value}" if value and len(plain(element.find("initializer"))) <= LONGEST_VALUE else ""

    def _signature(self, member, of):
        kind = member.get("kind")
        name = f'<span class="sig-name descname">{escape(member.findtext("name"), quote=False)}</span>'
        kind_of = self._html(member.find("type"), of)
        arguments = escape(plain(member.find("argsstring")), quote=False)
        visible = "protected " if member.get("prot") == "protected" else ""
        if kind == "enum":
            return f"{visible}enum {'class ' if member.get('strong') == 'yes' else ''}{name}" + (f" : {kind_of}" if kind_of else "")
        if kind == "typedef":
            return f"{self._template(member, of)}{visible}using {name} = {kind_of}{arguments}"
        if kind == "variable":
            static = "static " if member.get("static") == "yes" else ""
            bits = plain(member.find("bitfield"))
            return visible + static + f"{kind_of} {name}{arguments}" + (f" : {bits}" if bits else "") + self._value(member, of)
        # Parameters from their elements, which have links; what follows them from argsstring.
        parameters = []
        for parameter in member.findall("param"):
            declared, value = plain(parameter.find("declname")), self._html(parameter.find("defval"), of)
            shown = self._html(parameter.find("type"), of) + (f" {declared}" if declared else "") + escape(plain(parameter.find("array")))
            parameters.append(shown + (f" = {value}" if value else ""))
        after = re.sub(r"=\s*", " = ", arguments.rpartition(")")[2]).rstrip()
        before = [word for word in ("static", "explicit") if member.get(word) == "yes"]
        if member.get("virt") in ("virtual", "pure-virtual") and member.find("reimplements") is None:
            before.append("virtual")
        return self._template(member, of) + visible + " ".join(filter(None, [*before, kind_of])) + f" {name}({', '.join(parameters)}){after}"

    def _member(self, member, of):
        body = self._description(member, of)
        for value in member.findall("enumvalue"):
            shown = f'<span class="sig-name descname">{value.findtext("name")}</span>{self._value(value, of)}'
            body += self._entry(value, "enumerator", shown, self._description(value, of), of)
        return self._entry(member, member.get("kind"), self._signature(member, of), body, of)

    def _class(self, compound, of):
        name = compound.findtext("compoundname")
        short = name.removeprefix(self._space(name) + "::")
        bases = [f"{base.get('prot')} {'virtual ' if base.get('virt') == 'virtual' else ''}"
                 + self._link(base.get("refid"), escape(plain(base), quote=False), of) for base in compound.findall("basecompoundref")]
        final = " final" if compound.get("final") == "yes" else ""
        signature = f'{self._template(compound, of)}{compound.get("kind")} <span class="sig-name descname">{escape(short)}</span>{final}'
        body, overridden = self._description(compound, of), []
        for member in compound.iter("memberdef"):
            if member.get("id") not in self._at or member.get("kind") == "friend":
                continue
            base = member.find("reimplements")
            if base is not None and not self._description(member, of):
                shown = self._link(base.get("refid"), escape(member.findtext("name"), quote=False), of)
                overridden.append(f'<code class="docutils literal" id="{escape(self._at[member.get("id")][1])}">{shown}</code>')
            else:
                body += self._member(member, of)
        if overridden:
            body += f"<p>Overrides, described where they are declared: {', '.join(overridden)}.</p>"
        return title(short, "-") + raw(self._entry(compound, compound.get("kind"), signature + (" : " + ", ".join(bases) if bases else ""), body, of))

    def _space(self, name):
        """The namespace of a class."""
        while name and name not in self._namespaces:
            name = name.rpartition("::")[0]
        return name

    # Pages.

    def header(self, path):
        part, include = self._headers[path]["part"], self._headers[path]["include"]
        of = document(include)
        text = f":orphan:\n:group: api/{group(part)}\n\n{title(PurePosixPath(include).name, '=')}"
        text += f":doc:`API reference </api/index>` / :doc:`{group(part)} </api/{group(part)}>` / ``{part}``\n\n"
        text += raw("".join(f"<p>{paragraph}</p>\n" for paragraph in self._beginnings[path])) if self._beginnings[path] else ""
        spaces = {self._space(c.findtext("compoundname")) for c in self._classes[path]} - {""}
        spaces |= {plain(m.find("qualifiedname")).removesuffix("::" + m.findtext("name")) for m in self._members[path]}
        text += f".. code-block:: cpp\n\n   #include <{include}>\n" + "".join(f"   // namespace {space}\n" for space in sorted(spaces)) + "\n"
        text += "".join(self._class(compound, of) for compound in self._classes[path])
        if self._members[path]:
            text += title("Functions, types and constants", "-")
            text += raw("".join(self._member(member, of) for member in self._members[path]))
        return text

    def groups(self):
        """{group: its page}: the headers of each part, and the classes that they declare."""
        parts = {}
        for path, match in self._headers.items():
            parts.setdefault(group(match["part"]), {}).setdefault(match["part"], []).append(path)
        pages = {}
        for name, of_group in parts.items():
            of, text = f"api/{name}", title(name, "=")
            for part, paths in sorted(of_group.items()):
                rows = ""
                for path in paths:
                    include = self._headers[path]["include"]
                    to = posixpath.relpath(f"{document(include)}.html", posixpath.dirname(of))
                    first = re.split(r"(?<=[.:]) (?=[A-Z])", (self._beginnings[path] or [""])[0])[0].rstrip(":")
                    short = {c.get("id"): c.findtext("compoundname") for c in self._classes[path]}
                    names = ", ".join(self._link(i, escape(n.removeprefix(self._space(n) + "::")), of) for i, n in short.items()
                                      if self._space(n) == n.rpartition("::")[0])
                    rows += (f'<tr><td><a href="{to}"><code class="docutils literal">{include}</code></a></td>'
                             f"<td>{first}{'<br>' if first and names else ''}{names}</td></tr>\n")
                text += title(part, "-") if part != name else ""
                text += raw('<div class="table-wrapper"><table class="docutils align-default headers">\n'
                            '<thead><tr><th>header</th><th>contents</th></tr></thead>\n'
                            f"<tbody>\n{rows}</tbody></table></div>")
            pages[name] = text
        return pages

    def write(self, folder):
        """All pages, into a folder. Returns the groups in order."""
        groups = self.groups()
        order = sorted(groups, key=lambda name: (ROOMS.index(room) if (room := name.split("/")[0]) in ROOMS else len(ROOMS), name))
        pages = {document(match["include"]): self.header(path) for path, match in self._headers.items()}
        pages.update({f"api/{name}": text for name, text in groups.items()})
        pages["api/index"] = (title("API reference", "=") + "The public headers, which other projects may include.\n\n.. toctree::\n\n"
                              + "".join(f"   {name}\n" for name in order))
        for name, text in pages.items():
            file = Path(folder) / f"{name}.rst"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return order
