/* Put into the page by tests/page/run.sh, which defines PAGE: looks at the page as it is laid out, and tells the page around it what is wrong. */
"use strict";
const problems = [];
addEventListener("error", event => problems.push(`error: ${event.message}`));
addEventListener("securitypolicyviolation", event => problems.push(`wanted to fetch ${event.blockedURI}`));

const SLACK = 1; /* pixels by which boxes may touch */

function overlap(a, b) {
  return a.left < b.right - SLACK && b.left < a.right - SLACK && a.top < b.bottom - SLACK && b.top < a.bottom - SLACK;
}

/* No two of these elements may cover each other. */
function checkApart(elements, what) {
  const boxes = [...elements].map(element => ({ element, box: element.getBoundingClientRect() }));
  boxes.forEach((one, i) => boxes.slice(i + 1).forEach(other => {
    if (overlap(one.box, other.box))
      problems.push(`${what} overlap: "${one.element.textContent.slice(0, 30)}" and "${other.element.textContent.slice(0, 30)}"`);
  }));
}

function checkLayout() {
  const all = selector => document.querySelectorAll(selector);
  if (document.documentElement.scrollWidth > innerWidth) problems.push("the page is wider than its window");
  all("svg[role=img]").forEach(drawing => checkApart(drawing.querySelectorAll("text"), "labels of a chart"));
  all(".charts").forEach(charts => checkApart(charts.children, "charts"));
  all(".legend").forEach(legend => checkApart(legend.children, "entries of a legend"));
  checkApart(all("h1, h2, h3, p, ol, section > svg, summary, .scroll, .charts"), "blocks");
  all("svg path").forEach(path => /NaN|undefined/.test(path.getAttribute("d")) && problems.push("a path is broken"));
}

/* The suggestions that came true are drawn in green and, like the others, dashed. */
function checkColours() {
  document.querySelectorAll("path.s").forEach(path => {
    const style = getComputedStyle(path), [red, green, blue] = style.stroke.match(/\d+/g).map(Number);
    if ((green > red && green > blue) !== path.classList.contains("t")) problems.push(`a suggestion has the colour ${style.stroke}`);
    if (style.strokeDasharray === "none") problems.push("a suggestion is not dashed");
  });
  const count = selector => document.querySelectorAll(selector).length;
  if (count("path.t") !== count("li .true")) problems.push("the drawings and the lists disagree on what came true");
}

/* What the page is about must be there, for those who do not see it too. */
function checkContent() {
  const count = selector => document.querySelectorAll(selector).length;
  const least = {
    /* 5 packages with 5 suggestions each; some came true */
    demo: { "svg[role=img]": 5, "path.s": 25, "path.s.t": 1, "path.l": 30, "ol li": 25, "li .true": 1 },
    /* best and universal in each table; a chart of AUC and one of AP over the known nodes, and curves in a group per share of them */
    reproduce: { table: 4, "svg[role=img]": 20, ".curve": 60, "tbody tr": 30, "tr.group": 3, h4: 3, "text.class": 3 },
    /* 3 methods: a row of means each, 3 rows of differences for two of them, 2 curves each */
    compare: { table: 2, "svg[role=img]": 2, ".curve": 6, "tbody tr": 9, ".legend li": 3 },
  }[PAGE];
  for (const [selector, number] of Object.entries(least))
    if (count(selector) < number) problems.push(`only ${count(selector)} of ${selector}`);
  if (count("svg[role=img]:not([aria-label])") > 0) problems.push("a drawing without a description");
  if (count("table:not([aria-label])") > 0) problems.push("a table without a name");
  if (performance.getEntriesByType("resource").length > 0) problems.push("something was fetched");
}

/* The tables fit a telephone without scrolling sideways. A ROC curve rises from left to right; every curve stays inside the axes and has a colour of its own. */
function checkCurves() {
  document.querySelectorAll(".scroll").forEach(box => {
    if (box.scrollWidth > box.clientWidth) problems.push("a table is wider than the page");
  });
  document.querySelectorAll("figure svg").forEach((chart, index) => {
    const colours = new Set();
    chart.querySelectorAll(".curve").forEach(path => {
      const points = path.getAttribute("d").slice(1).split("L").map(point => point.split(" ").map(Number));
      if (points.length !== 101) problems.push(`a curve has ${points.length} points`);
      if (points.some(([x, y]) => x < 46 || x > 346 || y < 12 || y > 312)) problems.push("a curve leaves the axes");
      if (index === 0 && points.some(([, y], i) => i > 0 && y > points[i - 1][1])) problems.push("a ROC curve falls");
      colours.add(getComputedStyle(path).stroke);
    });
    if (colours.size !== chart.querySelectorAll(".curve").length) problems.push("two curves have the same colour");
  });
}

/* The tables fit, best and universal are in each of them, and the curves of few-shot are under the share of nodes that they belong to. */
function checkReproduce() {
  document.querySelectorAll(".scroll").forEach(box => {
    if (box.scrollWidth > box.clientWidth) problems.push(`a table is wider than the page: ${box.scrollWidth} > ${box.clientWidth}`);
    const rows = [...box.querySelectorAll("tbody th")].map(cell => cell.textContent);
    if (box.getAttribute("aria-label") !== "Data sets" && !["best", "universal"].every(name => rows.includes(name)))
      problems.push("best or universal is missing in a table");
  });
  document.querySelectorAll("h4").forEach(head => {
    if (!/^\d+ % of the nodes$/.test(head.textContent)) problems.push(`a group is called ${head.textContent}`);
    if (!head.nextElementSibling || head.nextElementSibling.children.length < 4) problems.push("a group of curves is incomplete");
  });
}

addEventListener("load", () => {
  checkLayout();
  checkContent();
  if (PAGE === "demo") checkColours();
  if (PAGE === "compare") checkCurves();
  if (PAGE === "reproduce") checkReproduce();
  parent.postMessage(`width ${innerWidth}: ${problems.join("; ") || "no problem"}`, "*");
});
