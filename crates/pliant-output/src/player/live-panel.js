// What a live page has beside the picture: controls of the run, parameters, the force of a pull, complaints.

const STEP_ICON = '<svg viewBox="0 0 16 16"><path d="M3 2h2.5v12H3zM7.5 1.5v13l7-6.5z"/></svg>';
const RESTART_ICON = '<svg viewBox="0 0 16 16"><path d="M8 2.2a5.8 5.8 0 1 0 5.8 5.8h-2A3.8 3.8 0 1 1 8 4.2V7l4.4-3.6L8 0z"/></svg>';

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "class") element.className = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

class LivePanel {
  /** `send` hands a message to the run. */
  constructor(send) {
    this.send = send;
    const controls = $("controls");
    this.step = make("button", { type: "button", id: "step", "aria-label": "Step", title: "One step (right arrow)" });
    this.step.innerHTML = STEP_ICON;
    this.restart = make("button", { type: "button", id: "restart", "aria-label": "Restart", title: "Back to the start, with all parameters as they are set" });
    this.restart.innerHTML = RESTART_ICON;
    $("play").after(this.step, this.restart);
    this.rate = make("span", { id: "rate", title: "Simulated time over time of the clock" });
    $("time").after(this.rate);
    $("loop").parentElement.style.display = "none";
    this.pulls = make("input", { id: "pulls", type: "checkbox" });
    this.pulls.checked = true;
    controls.append(make("label", { title: "Dragging a thing pulls at it with a spring; off, it turns the picture" }, this.pulls, " pull"));
    this.list = make("div", { id: "parameters" });
    this.stiffness = make("input", { id: "stiffness", type: "range", min: "-2", max: "2", step: "0.02", value: "0", "aria-label": "Stiffness of the pull" });
    this.newtons = make("span", { id: "stiffness-text" }, "stiffness \u00d71");
    this.pull = make("div", { id: "pull-row" }, make("label", {}, "pull ", this.stiffness), this.newtons);
    $("tools").append(this.pull, this.list);
    this.problem = make("pre", { id: "problem", role: "alert", hidden: "" });
    this.said = make("p", { id: "said", role: "status", hidden: "" });
    this.overlay = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.overlay.id = "pull";
    this.overlay.innerHTML = '<line/><circle r="5"/><text></text>';
    $("stage").append(this.overlay, this.problem, this.said);
    this.overlay.style.display = "none";
    this.step.addEventListener("click", () => send({ do: "step" }));
    this.restart.addEventListener("click", () => send({ do: "reset" }));
    this.stiffness.addEventListener("input", () => send({ do: "stiffness", factor: this.factor() }));
    this.rows = new Map();
    $("help").textContent = "drag a thing: pull at it \u00b7 drag: turn \u00b7 shift or right drag: move \u00b7 wheel: zoom \u00b7 click: values \u00b7 space: play \u00b7 \u2192: step";
  }

  /** The stiffness of pulls over the usual one. */
  factor() { return 10 ** Number(this.stiffness.value); }

  /** The state of the run, as the socket tells it. */
  show(state) {
    this.problem.hidden = !state.problem;
    this.problem.textContent = state.problem || "";
    this.said.hidden = !state.said;
    this.said.textContent = state.said || "";
    this.said.classList.toggle("failed-step", state.failed);
    this.showParameters(state.parameters);
  }

  showRate(rate) {
    this.rate.textContent = rate === null ? "" : Number(rate.toPrecision(3)) + "\u00d7 real time";
  }

  /** A row for each parameter: its name, its value, a slider, and when it acts. */
  showParameters(parameters) {
    const names = parameters.map((one) => one.name).join("\n");
    if (names !== this.names) {
      this.names = names;
      this.rows.clear();
      this.list.replaceChildren();
      for (const one of parameters) this.addRow(one);
    }
    for (const one of parameters) {
      const row = this.rows.get(one.name);
      row.when.textContent = one.at_once ? "at once" : one.waits ? "on restart \u21ba" : "on restart";
      row.when.classList.toggle("waits", one.waits);
      // Not what is being typed or dragged.
      if (document.activeElement === row.number || row.held) continue;
      row.number.value = Number(one.value.toPrecision(6));
      row.slider.value = one.value;
    }
  }

  addRow({ name, value, start }) {
    const [low, high] = start > 0 ? [0, 2 * start] : start < 0 ? [2 * start, 0] : [-1, 1];
    const slider = make("input", { type: "range", min: String(low), max: String(high), step: "any", value: String(value), "aria-label": name });
    const number = make("input", { type: "number", step: "any", value: String(value), "aria-label": name });
    const when = make("span", { class: "when" });
    const row = { slider, number, when, held: false };
    const set = (x) => { if (Number.isFinite(x)) this.send({ do: "set", name, value: x }); };
    slider.addEventListener("pointerdown", () => { row.held = true; });
    for (const end of ["pointerup", "pointercancel", "change"]) slider.addEventListener(end, () => { row.held = false; });
    slider.addEventListener("input", () => {
      number.value = Number(Number(slider.value).toPrecision(6));
      set(Number(slider.value));
    });
    number.addEventListener("change", () => { if (number.value.trim()) set(Number(number.value)); });
    number.addEventListener("keydown", (event) => event.stopPropagation());
    slider.addEventListener("keydown", (event) => event.stopPropagation());
    this.list.append(make("div", { class: "parameter" }, make("div", {}, make("span", { class: "name" }, name), number, when), slider));
    this.rows.set(name, row);
  }

  /** The spring of a pull, from the point that is held to where it pulls, in pixels; none without them. */
  drawPull(from, to, force, stiffness) {
    this.overlay.style.display = from ? "" : "none";
    this.newtons.textContent = stiffness ? si(stiffness, "N/m") : "stiffness \u00d7" + Number(this.factor().toPrecision(2));
    if (!from) return;
    const [line, circle, text] = this.overlay.children;
    for (const [name, value] of [["x1", from[0]], ["y1", from[1]], ["x2", to[0]], ["y2", to[1]]]) line.setAttribute(name, value);
    circle.setAttribute("cx", from[0]);
    circle.setAttribute("cy", from[1]);
    text.setAttribute("x", to[0] + 12);
    text.setAttribute("y", to[1] - 10);
    text.textContent = si(force, "N");
  }
}
