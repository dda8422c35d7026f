"""serve_page.py NODE ADDRESS < DOM: what the page of npgnn serve shows for a node is what the server answers."""
import html.parser
import json
import sys
import urllib.request

NODE, ADDRESS = sys.argv[1:]


class Page(html.parser.HTMLParser):
    """Counts classes of elements, and collects links and texts."""

    def __init__(self):
        super().__init__()
        self.classes, self.links, self.texts, self.sources = {}, [], [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        key = (tag, attrs.get("class", ""))
        self.classes[key] = self.classes.get(key, 0) + 1
        if tag == "a":
            self.links.append(attrs["href"])
        self.sources += [attrs[name] for name in ("src", "href") if tag != "a" and name in attrs]

    def handle_data(self, data):
        self.texts.append(data)


page = Page()
page.feed(sys.stdin.read())
with urllib.request.urlopen(f"{ADDRESS}top?node={NODE}&k=8&explain=1") as answer:
    suggestions = json.load(answer)["suggestions"]
with urllib.request.urlopen(f"{ADDRESS}node?node={NODE}") as answer:
    links = json.load(answer)["links"]
drawn = min(len(links), 14)
assert page.classes.get(("path", "s")) == 8, page.classes
assert page.classes.get(("path", "l")) == drawn and page.classes.get(("circle", "n")) == drawn, page.classes
for item in suggestions:
    assert page.links.count("#" + item["node"]) == 2, (item["node"], page.links)  # in the drawing and in the list
    assert item["reason"] in page.texts, item["reason"]
for name in links[:drawn]:
    assert "#" + name in page.links, name
assert page.texts.count(NODE) >= 2
assert page.sources == ["data:,"], page.sources  # nothing from elsewhere
