// Draws the memory graph: pan, zoom, neighbours. The list beside it says the same without it.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const NEAR = 40; // units between neighbours

function made(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}

// Shapes differ, not colours alone.
const SHAPES = {
  UserRequest: ["circle", { r: 6 }],
  UserPreference: ["path", { d: "M0-7 6 4H-6Z" }],
  AgentAnswer: ["rect", { x: -5.5, y: -5.5, width: 11, height: 11 }],
  AgentAction: ["path", { d: "M0-7 7 0 0 7-7 0Z" }],
  Event: ["path", { d: "M-3-6H3L6 0 3 6H-3L-6 0Z" }],
  DataSource: ["rect", { x: -7, y: -4, width: 14, height: 8, rx: 4 }],
};

function draw(holder, graph) {
  holder.replaceChildren();
  const svg = made("svg", { role: "group", "aria-label": `${graph.nodes.length} nodes, ${graph.edges.length} edges` }, holder);
  const view = made("g", {}, svg);
  const nodes = graph.nodes.map(([address, kind, label, x, y, chosen]) => ({ address, kind, label, x: x * NEAR, y: y * NEAR, chosen, near: new Set() }));
  const edges = graph.edges.map(([source, target, weight, label]) => ({ source: nodes[source], target: nodes[target], weight, label }));
  for (const edge of edges) {
    edge.source.near.add(edge.target);
    edge.target.near.add(edge.source);
    edge.line = made("line", { class: "edge", "stroke-width": 0.5 + 2 * edge.weight }, view);
    made("title", {}, edge.line).textContent = `${edge.label} (${edge.weight.toFixed(2)})`;
  }
  for (const node of nodes) {
    node.link = made("a", { href: node.address, class: `node kind-${node.kind}${node.chosen ? " chosen" : ""}`, "aria-label": `${node.kind}: ${node.label}` }, view);
    const [shape, attributes] = SHAPES[node.kind];
    made(shape, attributes, node.link);
    made("title", {}, node.link).textContent = `${node.kind}: ${node.label}`;
    if (nodes.length <= 25) made("text", { y: 18, "text-anchor": "middle" }, node.link).textContent = node.label.slice(0, 22);
    const only = (on) => {
      svg.classList.toggle("only", on);
      for (const one of [node, ...node.near]) one.link.classList.toggle("near", on);
      for (const edge of edges) if (edge.source === node || edge.target === node) edge.line.classList.toggle("near", on);
    };
    for (const begin of ["pointerenter", "focus"]) node.link.addEventListener(begin, () => only(true));
    for (const end of ["pointerleave", "blur"]) node.link.addEventListener(end, () => only(false));
  }
  const place = () => {
    for (const node of nodes) node.link.setAttribute("transform", `translate(${node.x.toFixed(1)} ${node.y.toFixed(1)})`);
    for (const { line, source, target } of edges) {
      line.setAttribute("x1", source.x.toFixed(1));
      line.setAttribute("y1", source.y.toFixed(1));
      line.setAttribute("x2", target.x.toFixed(1));
      line.setAttribute("y2", target.y.toFixed(1));
    }
  };
  const xs = nodes.map((node) => node.x), ys = nodes.map((node) => node.y);
  const box = { x: Math.min(...xs) - 50, y: Math.min(...ys) - 30, width: Math.max(...xs) - Math.min(...xs) + 100, height: Math.max(...ys) - Math.min(...ys) + 70 };
  const frame = () => svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
  place();
  frame();

  const zoom = (factor, x = box.x + box.width / 2, y = box.y + box.height / 2) => {
    box.x = x - (x - box.x) * factor;
    box.y = y - (y - box.y) * factor;
    box.width *= factor;
    box.height *= factor;
    frame();
  };
  const at = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const point = at(event);
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, point.x, point.y);
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => {
    if (event.target.closest("a")) return;
    const start = at(event);
    const move = (moved) => {
      const point = at(moved);
      box.x += start.x - point.x;
      box.y += start.y - point.y;
      frame();
    };
    svg.setPointerCapture(event.pointerId);
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerup", () => svg.removeEventListener("pointermove", move), { once: true });
  });
  for (const [sign, label, factor] of [["+", "Zoom in", 1 / 1.3], ["−", "Zoom out", 1.3]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = sign;
    button.ariaLabel = label;
    button.addEventListener("click", () => zoom(factor));
    holder.append(button);
  }
}

for (const holder of document.querySelectorAll("[data-graph]")) {
  fetch(holder.dataset.graph)
    .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(answer.status))))
    .then((graph) => graph.nodes.length && draw(holder, graph))
    .catch(() => {
      holder.firstElementChild.textContent = "The graph could not be drawn: load the page again.";
    });
}
