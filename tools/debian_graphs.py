#!/usr/bin/env python3
"""Makes real attributed graphs of up to 25,000 nodes on any Debian machine, for judging a model on data it was not tuned on.

    tools/debian_graphs.py OUT [--graphs NAME,...]     writes OUT/NAME/{edges.tsv,features.svm,nodes.txt} and prints a table
    npgnn eval OUT/people --preset best

What is linked, and what describes a node:

    languages     libraries of programming languages: source packages, linked when a binary of one needs or recommends a binary
                  of the other; words of the descriptions (citations)
    programs      the same for all other packages
    plain         programs, described by section, priority, size and number of binaries alone: says little about links
    shuffled      languages, each node with the words of another: says nothing about links
    bought        binary packages that many packages need together; words of the descriptions (co-purchase)
    people        maintainers who look after a package together; words of their packages (co-authors)
    circles       source packages with at least two people in common; words of the descriptions (social: dense, clustered)
    words         words that descriptions use together; their letters in threes (language: features say little)
    headers       C++ headers of Boost that include each other; words of their code (needs the package libboost-dev)

The package lists come from the mirror by apt, into OUT/.lists (90 MB), without root and without touching the lists of the system. The
suites are stable releases and the rules below have no chance in them: the same lists give the same files.
"""
import argparse
import collections
import itertools
import math
import os
import random
import re
import subprocess

SUITE = "bookworm"  # packages; people are also taken from the releases before and after it
SUITES = ("bullseye", SUITE, "trixie")
BOOST = "/usr/include/boost"
HELPER = "/usr/lib/apt/apt-helper"
HUB = 0.05  # what more than this share of the nodes links to (the C library, an interpreter) tells nothing about them
LANGUAGES = set("cli-mono gnu-r golang haskell java javascript lisp ocaml perl php python ruby rust zope".split())
TEAM = re.compile(r"team|group|maintainers|developers|packagers|packaging|task force|project|debian|ubuntu", re.I)
STOP = set("""about above after again all also although among and another any are around based because been before being between
both but can cannot contain contains could different does done down each easily either etc even every example few file files for
from full further get given has have having how however into including includes include its itself just large like made
main make makes many may more most much must need needed new not number off often once one only other others our out over own
package packages part particular possible program programs provide provided provides providing same see set several should
simple since small some such support supports than that the their them then there these they this those through thus time two
under until upon use used useful user users uses using usually various very via want was way well were what when where whether
which while who whose will with within without work would written you your http https www org com""".split())


# Reading: apt's lists, and what their fields say.

def apt(folder, *words):
    """Runs apt-get on lists of our own in `folder`."""
    settings = {"Dir::Etc::sourcelist": f"{folder}/sources.list", "Dir::Etc::sourceparts": "/dev/null",
                "Dir::State::lists": f"{folder}/lists",
                "Dir::Cache::pkgcache": "", "Dir::Cache::srcpkgcache": "", "Acquire::Languages": "en",
                "APT::Architecture": "amd64", "APT::Architectures": "amd64"}
    command = ["apt-get"] + [word for key in settings for word in ("-o", f"{key}={settings[key]}")]
    return subprocess.run(command + list(words), check=True, stdout=subprocess.PIPE, text=True).stdout


def fetch(folder, mirror):
    """The lists, as {(kind, suite): text}; kinds are Packages, Translations and Sources."""
    complete = f"{folder}/complete"  # made last: an update that failed is repeated
    if not os.path.exists(complete):
        os.makedirs(f"{folder}/lists/partial", exist_ok=True)
        with open(f"{folder}/sources.list", "w") as file:
            file.write(f"deb {mirror} {SUITE} main\n")
            file.writelines(f"deb-src {mirror} {suite} main\n" for suite in SUITES)
        apt(folder, "-qq", "update")
        open(complete, "w").close()
    lists = {}
    for line in apt(folder, "indextargets", "--format", "$(CREATED_BY) $(RELEASE) $(CODENAME) $(FILENAME)").splitlines():
        kind, release, codename, name = line.split()
        text = subprocess.run([HELPER, "cat-file", name], check=True, stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")
        lists[kind, release if release in SUITES else codename] = text
    return lists


def paragraphs(text):
    """The stanzas of a control file as dicts."""
    for block in text.split("\n\n"):
        fields, key = {}, None
        for line in block.split("\n"):
            if line[:1] in (" ", "\t"):
                fields[key] += "\n" + line.strip()
            elif ":" in line:
                key, value = line.split(":", 1)
                fields[key] = value.strip()
        if fields:
            yield fields


def relations(package, *fields):
    """The packages that `fields` name; of alternatives the first."""
    parts = ",".join(package.get(field, "") for field in fields).split(",")
    return list(dict.fromkeys(name for name in (re.split(r"[\s(:|\[<]", part.strip(), maxsplit=1)[0] for part in parts) if name))


def read_people(source):
    """Maintainer and uploaders of a source package, without the teams."""
    found = re.findall(r"([^<>,]*)<([^<>]*)>", source.get("Maintainer", "") + ", " + source.get("Uploaders", ""))
    people = [name for name, mail in found if not TEAM.search(name) and "lists." not in mail and "tracker." not in mail]
    names = {" ".join(name.replace('"', "").split()).lower() for name in people}
    return sorted(names - {""})


def tokens(text):
    """Words of three letters and more; camelCase and snake_case are taken apart."""
    text = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
    return [word for word in re.findall(r"[a-z]{3,24}", text.lower()) if word not in STOP]


class Archive:
    """What the graphs are made of: binaries, the words that describe them, sources, people."""

    def __init__(self, lists):
        self.binaries = {package["Package"]: package for package in paragraphs(lists["Packages", SUITE])}
        self.words = {name: set(tokens(package.get("Description", ""))) for name, package in self.binaries.items()}
        for long in paragraphs(lists["Translations", SUITE]):
            if long["Package"] in self.words:
                self.words[long["Package"]].update(tokens(long.get("Description-en", "")))
        self.source_of = {name: package.get("Source", name).split()[0] for name, package in self.binaries.items()}
        self.members = collections.defaultdict(list)  # of a source: its binaries
        for name, source in self.source_of.items():
            self.members[source].append(name)
        self.people = collections.defaultdict(set)  # of a source, over the releases
        for suite in SUITES:
            for source in paragraphs(lists["Sources", suite]):
                self.people[source["Package"]].update(read_people(source))

    def source_words(self, source):
        return set().union(*(self.words[name] for name in self.members.get(source, ())))

    def work(self):
        """The sources of each person, sorted."""
        sources = collections.defaultdict(list)
        for source in sorted(self.people):
            for person in self.people[source]:
                sources[person].append(source)
        return sources

    def section(self, source):
        """The section most binaries of a source are in; libraries of a language count as the language."""
        sections = [self.binaries[name].get("Section", "misc") for name in self.members[source]]
        return min(set(sections), key=lambda section: (section not in LANGUAGES, -sections.count(section), section))


# Graphs: (links, features), links a set of pairs of names, features a function from a name to what describes it.

def without_hubs(pairs):
    """Removes the nodes that more than the share HUB of all nodes link to."""
    degree = collections.Counter(itertools.chain.from_iterable(pairs))
    return {pair for pair in pairs if max(degree[pair[0]], degree[pair[1]]) <= HUB * len(degree)}


def need_links(archive, wanted):
    """Sources of `wanted` sections, linked when one needs the other."""
    inside = {source for source in archive.members if wanted(archive.section(source))}
    pairs = set()
    for name, package in archive.binaries.items():
        for other in relations(package, "Depends", "Pre-Depends", "Recommends"):
            ends = archive.source_of[name], archive.source_of.get(other)
            if ends[0] != ends[1] and ends[0] in inside and ends[1] in inside:
                pairs.add(tuple(sorted(ends)))
    return without_hubs(pairs)


def languages(archive):
    return need_links(archive, lambda section: section in LANGUAGES), archive.source_words


def programs(archive):
    return need_links(archive, lambda section: section not in LANGUAGES), archive.source_words


def plain(archive):
    def describe(source):
        packages = [archive.binaries[name] for name in archive.members[source]]
        size = sum(int(package.get("Installed-Size", 0)) for package in packages)
        return ({"section:" + package.get("Section", "misc") for package in packages}
                | {"priority:" + package.get("Priority", "optional") for package in packages}
                | {f"size:{int(math.log2(size + 1))}", f"binaries:{int(2 * math.log2(len(packages)))}"})
    return need_links(archive, lambda section: section not in LANGUAGES), describe


def shuffled(archive):
    pairs, describe = languages(archive)
    names = sorted(set(itertools.chain.from_iterable(pairs)))
    other = dict(zip(names, random.Random(1).sample(names, len(names))))
    return pairs, lambda name: describe(other[name])


def strong_pairs(baskets, least, cosine):
    """Pairs that at least `least` baskets hold and whose occurrence vectors have at least this cosine."""
    single, double = collections.Counter(), collections.Counter()
    for basket in baskets:
        single.update(basket)
        double.update(itertools.combinations(sorted(basket), 2))
    return {(a, b) for (a, b), count in double.items()
            if count >= least and count >= cosine * math.sqrt(single[a] * single[b])}


def bought(archive):
    baskets = []  # one a source, so that its binaries do not count as many buyers
    for source, names in archive.members.items():
        lists = (relations(archive.binaries[name], "Depends", "Recommends", "Suggests") for name in names)
        needed = {other for other in itertools.chain.from_iterable(lists) if archive.source_of.get(other, source) != source}
        baskets.append(needed if len(needed) <= 100 else ())
    return strong_pairs(baskets, 2, 0.2), lambda name: archive.words[name]


def people(archive):
    pairs = set()
    for names in archive.people.values():
        pairs.update(itertools.combinations(sorted(names), 2))
    work = archive.work()
    return pairs, lambda person: set().union(*(archive.source_words(source) for source in work[person]))


def circles(archive):
    shared = collections.Counter()
    for sources in archive.work().values():
        known = [source for source in sources if source in archive.members]
        if len(known) <= 300:  # who looks after more than that does so for the whole archive
            shared.update(itertools.combinations(known, 2))
    return {pair for pair, count in shared.items() if count >= 2}, archive.source_words


def words(archive):
    texts = [archive.source_words(source) for source in archive.members]
    frequency = collections.Counter(itertools.chain.from_iterable(texts))
    kept = {word for word, count in frequency.items() if 6 <= count <= HUB * len(texts)}
    pairs = strong_pairs([text & kept for text in texts], 4, 0.15)
    return pairs, lambda word: {f"^{word}$"[i:i + 3] for i in range(len(word))}


def read_headers(root):
    """{path below the parent of root: text} of all files under root."""
    code = {}
    for folder, _, files in os.walk(root):
        for path in (os.path.join(folder, file) for file in files):
            with open(path, encoding="utf-8", errors="replace") as text:
                code[os.path.relpath(path, os.path.dirname(root))] = text.read()
    return code


def headers(_):
    if not os.path.isdir(BOOST):
        raise SystemExit(f"{BOOST} is missing: apt-get install libboost-dev, or leave the graph 'headers' out")
    code, pairs, seen = read_headers(BOOST), set(), {}
    for name, text in code.items():
        for other in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', text, re.M):
            near = os.path.normpath(os.path.join(os.path.dirname(name), other))
            other = other if other in code else near
            if other in code and other != name:
                pairs.add(tuple(sorted((name, other))))
        body = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
        seen[name] = set(tokens(re.sub(r"^\s*#.*", " ", body, flags=re.M)))  # not what it includes
    return without_hubs(pairs), seen.get


GRAPHS = {make.__name__: make for make in (languages, programs, plain, shuffled, bought, people, circles, words, headers)}


# Writing.

def columns(bags, least=10, most=0.2):
    """Numbers the features of at least `least` nodes, words also of at most the share `most`: {feature: column from 1}."""
    frequency = collections.Counter(itertools.chain.from_iterable(bags))
    kept = sorted(name for name, count in frequency.items()
                  if count >= least and (":" in name or count <= most * len(bags)))  # "size:9" is no word
    return {name: index + 1 for index, name in enumerate(kept)}


def clustering(pairs):
    """The mean over nodes of the share of their neighbours' pairs that are linked."""
    near = collections.defaultdict(set)
    for u, v in pairs:
        near[u].add(v)
        near[v].add(u)
    closed = collections.Counter()
    for u, v in pairs:  # each common neighbour closes a triangle; each triangle is met at its three sides
        for w in near[u] & near[v]:
            closed[w] += 1
    return sum(2 * closed[u] / (len(near[u]) * (len(near[u]) - 1)) for u in near if len(near[u]) > 1) / max(len(near), 1)


def write(folder, pairs, describe):
    """Writes a graph of the nodes that have links; returns the row of the table."""
    names = sorted(set(itertools.chain.from_iterable(pairs)))
    label = {name: re.sub(r'[\s"]+', "_", name) for name in names}  # as a word of a text file
    bags = [describe(name) or set() for name in names]
    column = columns(bags)
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/edges.tsv", "w") as file:
        file.writelines(f"{label[a]}\t{label[b]}\n" for a, b in sorted(map(sorted, pairs)))
    with open(f"{folder}/features.svm", "w") as file:
        for bag in bags:
            present = sorted(column[name] for name in bag if name in column)
            file.write(" ".join(["0"] + [f"{number}:1" for number in present]) + "\n")
    with open(f"{folder}/nodes.txt", "w") as file:
        file.writelines(label[name] + "\n" for name in names)
    return len(names), len(pairs), len(column), 2 * len(pairs) / max(len(names), 1), clustering(pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="folder to write to")
    parser.add_argument("--graphs", default=",".join(GRAPHS), help="which ones, by commas (default: all)")
    parser.add_argument("--mirror", default="http://deb.debian.org/debian")
    args = parser.parse_args()
    archive = Archive(fetch(os.path.abspath(f"{args.out}/.lists"), args.mirror))
    print("| graph | nodes | links | columns | mean degree | clustering |\n|---|---|---|---|---|---|")
    for name in args.graphs.split(","):
        row = write(f"{args.out}/{name}", *GRAPHS[name](archive))
        print("| {} | {:,} | {:,} | {:,} | {:.1f} | {:.2f} |".format(name, *row), flush=True)


if __name__ == "__main__":
    main()
