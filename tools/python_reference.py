#!/usr/bin/env python3
"""Writes docs/use/python.md from the docstrings of the installed package: tools/python_reference.py >
docs/use/python.md

Docstrings are in numpydoc's form: a summary, then sections such as "Parameters" whose names are underlined.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
import types

HEAD = """# Python

<!-- Made by tools/python_reference.py from the docstrings of python/npgnn: change those. -->

```sh
pip install .        # from a clone: builds the library, with the packages that ./run installs
./run wheel          # makes dist/npgnn-*.whl, which installs on any Linux with glibc 2.34 or later, without a compiler
```

Both give the environment the command `npgnn` too, without `fetch`, `serve` and training in several processes.

The package needs numpy and scipy. It uses pandas, networkx, scikit-learn, torch and tqdm where they are installed.

```python
import npgnn
model = npgnn.LinkPredictor("universal")              # or "best", "default"
model.fit(edges, nodes=nodes)                         # DataFrames, networkx, scipy.sparse, numpy, PyG
model.predict_proba([("anna", "bert")])[:, 1]
model.recommend(["anna"], k=10, explain=True)         # a DataFrame
model.save("m.safetensors")
npgnn.evaluate(edges, nodes, method="best", protocol="inductive", seeds=10)
npgnn.compare(edges, nodes, methods=["best", "katz"], scores={"mine": my_function})
```

[examples/python/](../../examples/python) has three complete programs. [bench/pyg/](../../bench/pyg) has what the same
takes with PyG (a graph auto-encoder, 200 epochs; its probabilities are not calibrated). Lines of code without blank
ones, and processor seconds on two cores that others used too:

| job | npgnn: lines, seconds, AUC | PyG: lines, seconds, AUC |
|---|---|---|
| two messy CSV files to suggestions, and 3 seeds of evaluation | 8, 10, 87.5 | 64, 74, 83.3 |
| Cora from PyG's `Data`, the same | 7, 55, 97.3 | 44, 187, 88.8 |
| a networkx graph without features to suggestions | 7, 1 | 36, 17 |

From a networkx graph of 10,000 nodes without features to ten suggestions for every node, `universal` takes 16 processor seconds
in two threads, neither of which has more than 8.6.

What holds for all of it:

- **The same bits** as from the program, for the same data, options and seed, and for any number of threads ([what it covers](train.md#the-same-bits)).
- **Errors** are exceptions that name the argument, or the file and line. They derive from `npgnn.Error` and from
  `ValueError`, `OSError`, `MemoryError` or `ArithmeticError`.
- **Assumptions** about the data are a `UserWarning` that says what to write instead: weights or directions that are not used, columns
  that look like two kinds of nodes. Users and items that share ids are an error without `bipartite`. An argument that says what is
  meant, such as `weight=False`, gives no warning.
- **Ctrl-C** ends a training, an evaluation or a search at once. KeyboardInterrupt is raised after the library has returned.
- **Threads**: the library works without the GIL. Two threads may use two models, or one.
- **Fork**: a child of `multiprocessing` may use the library and the models that it inherited. Fork while no other thread is
  inside a call of the library, or let `multiprocessing` spawn its children.
- **Notices** of the library, such as rows that were merged, go to the logger `npgnn` at level INFO. With `verbose=1`
  they are printed.
- **Models can be pickled**, with their graphs, and copied.
- A wheel brings its own OpenBLAS (pthread build) and ARPACK, under names of their own: no OpenMP, and no conflict
  with numpy or torch.

## From a table of nodes to features

| dtype of a column | becomes |
|---|---|
| bool | 0 or 1 |
| number | scaled by its quantiles, so that an outlier does no harm; 0 and 1 stay |
| datetime | scaled |
| category | a column of 0 and 1 for each frequent value, and one for the others |
| string, object | by its values: flag, number, date, category, words; ignored if most values differ |
| missing values of any of these | the center, and a column that says so |

It is the encoding that the program gives to a [table of text](formats.md#tables); `Graph.columns()` shows it, and `kinds` replaces it. A
numpy or scipy.sparse matrix is taken as it is.

## Searches of large graphs

`recommend` and `top_links` score all pairs, up to 2^31 of them (46,340 nodes with all nodes). Beyond, `best` and `universal` retrieve
256 candidates for each node and score these alone, and 200 of the nodes are searched exactly as well. A UserWarning says what share of
the best the candidates contain, and `search` chooses:

```python
model.recommend(k=10, search="exact")   # all pairs, however many
model.recommend(k=10, search=512)       # 512 candidates per node; "candidates" for 256. No warning
model.search_info_["recall"]            # the share of the 10 best of a node that are among its candidates
model.search_info_["low"]               # the lower end of its 95 % interval
```

What is found has the probability that `predict_proba` gives, in either case. Where the share is too small, ask for more candidates.
A search of fewer than 200 nodes is not measured: that would take longer than the search.

"""

TORCH = "npgnn.torch"


def signature(name: str, function: object) -> str:
    parts, star = [], False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self" or parameter.name.startswith("_"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        prefix = {parameter.VAR_KEYWORD: "**", parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        parts.append(prefix + parameter.name + default)
    return f"{name}({', '.join(parts)})"


def parameters(lines: list[str]) -> list[str]:
    """numpydoc's "name : type" with an indented description, as a list."""
    out: list[str] = []
    for line in lines:
        if not line.strip():
            continue
        if not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            names = (
                ", ".join(f"`{part}`" for part in name.split(", "))
                if _ or re.fullmatch(r"[\w*, ]+", name) and " " not in name.replace(", ", "")
                else name
            )
            out.append(f"- {names}" + (f" ({kind})" if kind else ""))
        else:
            out[-1] += (
                (":" if out[-1].endswith(("`", ")")) and "\n" not in out[-1] and ": " not in out[-1] else "")
                + " "
                + line.strip()
            )
    return out


def body(text: str) -> str:
    """A docstring as Markdown."""
    lines = inspect.cleandoc(text).splitlines()
    out: list[str] = []
    section, held = "", list[str]()

    def flush() -> None:
        if section in ("Parameters", "Attributes", "Returns"):
            out.extend([f"**{section}**", "", *parameters(held), ""])
        elif section == "Examples":
            out.extend(["```python", *[line for line in "\n".join(held).strip().splitlines()], "```", ""])
        else:
            out.extend(held)

    i = 0
    while i < len(lines):
        if i + 1 < len(lines) and lines[i + 1] and set(lines[i + 1]) == {"-"}:
            flush()
            section, held = lines[i], []
            i += 2
        else:
            held.append(lines[i])
            i += 1
    flush()
    plain = re.sub(r":\w+:`([^`]+)`", r"`\1`", "\n".join(out))
    fenced = plain.split("```")
    fenced[::2] = [part.replace("``", "`") for part in fenced[::2]]
    return re.sub(r"\n{3,}", "\n\n", "```".join(fenced)).strip()


def describe(name: str, thing: object) -> list[str]:
    out = [f"## {name}", ""]
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return []
    out += ["```python", signature(name, thing), "```", "", body(thing.__doc__ or ""), ""]
    if inspect.isclass(thing):
        for member, value in vars(thing).items():
            if member.startswith("_") or not getattr(value, "__doc__", None):
                continue
            if isinstance(value, property):
                out += [f"### {name}.{member}", "", body(value.__doc__ or ""), ""]
            elif isinstance(value, types.FunctionType):
                out += [
                    f"### {name}.{member}",
                    "",
                    "```python",
                    signature(member, value),
                    "```",
                    "",
                    body(value.__doc__ or ""),
                    "",
                ]
    return out


def main() -> None:
    import npgnn

    out = [HEAD]
    first = ["LinkPredictor", "load", "Graph", "evaluate", "compare", "Comparison", "split", "Split", "LinkSplit"]
    for name in first + [name for name in npgnn.__all__ if name not in first]:
        thing = getattr(npgnn, name)
        if inspect.ismodule(thing):
            out += ["\n".join(describe(f"datasets.{function}", getattr(thing, function))) for function in ("fetch",)]
        else:
            out += ["\n".join(describe(name, thing))]
    out += ["## Exceptions\n\n| exception | meaning |\n|---|---|"]
    for name in npgnn.__all__:
        thing = getattr(npgnn, name)
        if inspect.isclass(thing) and issubclass(thing, Exception):
            out += [f"| `{name}` | {(thing.__doc__ or '').splitlines()[0].replace('``', '`')} |"]
    out += [""]
    # torch need not be installed for the reference: a stand-in has what the module mentions
    if importlib.util.find_spec("torch") is None:
        stand_in = types.ModuleType("torch")
        stand_in.Tensor = type("Tensor", (), {})  # type: ignore[attr-defined]
        stand_in.autograd = types.SimpleNamespace(Function=object)  # type: ignore[attr-defined]
        sys.modules["torch"] = stand_in
    import npgnn.torch as module

    out += [f"## {TORCH}\n\n{body(module.__doc__ or '')}\n"]
    for name in ("all_pairs_loss", "AllPairsLoss"):
        out += ["\n".join(describe(f"torch.{name}", getattr(module, name)))]
    sys.stdout.write(re.sub(r"\n{3,}", "\n\n", "\n".join(out)).rstrip() + "\n")


if __name__ == "__main__":
    main()
