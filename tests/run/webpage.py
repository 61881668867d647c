# SPDX-License-Identifier: MIT
# webpage.py - what an HTML report has to be, checked by Python's own parser:
#     webpage.py FILE  prints "finding ID STEPS", "lock NAME", "order A > B" and
#                      "node" and "edge" of the drawing, a line each
# Fails where an element is not closed in turn, an id is there twice, a link has
# no target, something is fetched from elsewhere, or bytes are no UTF-8.
import html.parser
import sys

VOID = {"meta", "input", "br", "link", "img", "hr"}
FETCHES = {"src", "data", "srcset", "poster", "action", "formaction", "ping", "background"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links = [], set(), []
        self.findings, self.rows, self.drawn, self.cells = [], [], [], None

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, attrs)
        a = dict(attrs)
        assert not FETCHES & set(names), (tag, attrs)
        assert not any(name.startswith("on") for name in names), (tag, attrs)
        assert tag not in ("link", "iframe", "object", "embed", "base", "img"), tag
        if "id" in a:
            assert a["id"] not in self.ids, a["id"]
            self.ids.add(a["id"])
        if "href" in a:
            assert a["href"].startswith("#"), a["href"]
            self.links.append(a["href"][1:])
        classes = (a.get("class") or "").split()
        if tag == "article":
            self.findings.append([a["id"], 0])
        if "step" in classes:
            self.findings[-1][1] += 1
        if tag == "a" and classes and classes[0] in ("node", "edge"):
            self.drawn.append(" ".join(classes))
        if tag == "tr" and ("data-lock" in a or "data-from" in a):
            self.rows.append(("lock" if "data-lock" in a else "order", []))
        if tag == "td":
            self.cells = self.rows[-1][1]
            self.cells.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.getpos())
        if tag == "td":
            self.cells = None

    def handle_data(self, data):
        if self.cells is not None:
            self.cells[-1] += data


text = open(sys.argv[1], encoding="utf-8", newline="").read()
assert not [c for c in text if ord(c) < 32 and c not in "\n\t"]
page = Page()
page.feed(text)
page.close()
assert text.startswith("<!DOCTYPE html>") and not page.open
missing = [link for link in page.links if link not in page.ids]
assert not missing, missing
assert "//" not in text.split("<style>")[1].split("</style>")[0]
for id, steps in page.findings:
    print("finding", id, steps)
for kind, cells in page.rows:
    print(kind, " > ".join(cells[:2]) if kind == "order" else cells[0])
for thing in page.drawn:
    print(thing)
