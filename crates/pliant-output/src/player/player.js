// The controls and the clock.

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const PLAY = '<svg viewBox="0 0 16 16"><path d="M3 1.5v13l11-6.5z"/></svg>';
const PAUSE = '<svg viewBox="0 0 16 16"><path d="M3 2h4v12H3zM9 2h4v12H9z"/></svg>';
/** Views that every player has. */
const VIEWS = ["moving", "all", "front", "side", "top"];
/** The most things that the list of parts names. */
const MOST_LISTED = 200;

class Player {
  constructor(motion, tables) {
    this.motion = motion;
    this.view = $("view");
    this.things = new Things(motion);
    this.paint = new Paint(motion, this.things);
    this.series = this.seriesOf(tables, motion.size);
    this.camera = new Camera(motion, this.things);
    this.renderer = new Renderer(this.view, motion, this.things, this.paint);
    this.plots = new Plots($("plots"), $("plot"), motion, this.series, (time) => this.seek(time));
    this.plots.changed = () => this.queue();
    this.dark = window.matchMedia("(prefers-color-scheme: dark)");
    this.time = motion.start;
    this.views = new Map(motion.look.views.map((view) => [view.name, view]));
    if (motion.look.camera) this.views.set("scene", motion.look.camera);
    this.playing = false;
    this.last = null;
    this.queued = false;
    this.picked = null;
    this.label();
    this.listen();
    this.measureForces();
    this.readHash(true);
    this.resize();
    this.draw();
  }

  /** The numbers over time. */
  seriesOf(tables, size) { return new SeriesList(tables, size); }

  label() {
    const { motion } = this;
    if (!motion.title.trim()) $("title").textContent = document.title = "Untitled motion";
    this.swatches = [];
    for (const thing of this.things.list.slice(0, MOST_LISTED)) {
      const item = document.createElement("li"), label = document.createElement("label"), box = document.createElement("input");
      const dab = document.createElement("span"), name = document.createElement("span");
      box.type = "checkbox";
      box.checked = thing.shown;
      box.addEventListener("change", () => this.show(thing, box.checked));
      dab.className = "swatch " + thing.kind;
      name.textContent = thing.name;
      label.append(box, dab, name);
      label.title = (thing.kind === "points" ? "points" : thing.kind) + (thing.items.length > 1 ? ", " + thing.items.length + " of them" : "");
      item.append(label);
      $("legend").append(item);
      thing.box = box;
      this.swatches.push([dab, thing]);
    }
    this.paintLegend();
    const more = this.things.list.length - MOST_LISTED;
    if (more > 0) {
      const item = document.createElement("li");
      item.textContent = "and " + more + " more";
      $("legend").append(item);
    }
    for (const name of ["", ...this.paint.names()]) $("colour").append(new Option(name || "by part", name));
    this.listViews();
    $("views").value = this.views.has("scene") ? "scene" : "moving";
    $("follow").append(new Option("nothing", ""), new Option("what moves", "moving"));
    for (const name of new Set(this.things.list.filter((t) => t.kind === "points" || t.kind === "body").map((t) => t.name))) {
      $("follow").append(new Option(name, name));
    }
    $("joints-row").hidden = motion.marks.length === 0;
    $("forces-label").hidden = motion.arrows.length === 0;
    $("left-out").hidden = motion.leftOut.length === 0;
    $("left-out").textContent = "too large for this page: " + motion.leftOut.join(", ");
    if (window.matchMedia("(max-width: 720px)").matches) $("tools").open = false;
    const scrub = $("scrub");
    scrub.min = motion.start;
    scrub.max = motion.end;
    scrub.disabled = motion.end <= motion.start;
    // A motion of a blink is shown slowly at first.
    const length = motion.end - motion.start;
    const first = SPEEDS.findLast((speed) => speed <= 1 && length / speed >= 1) || (length > 0 ? SPEEDS[0] : 1);
    for (const speed of SPEEDS) {
      const option = new Option(speed + "\u00d7", String(speed), speed === first, speed === first);
      $("speed").append(option);
    }
  }

  listViews() {
    $("views").replaceChildren(new Option("free", "free"), ...[...this.views.keys(), ...VIEWS].map((name) => new Option(name, name)));
    $("views").options[0].hidden = true;
  }

  paintLegend() {
    for (const [dab, thing] of this.swatches) dab.style.background = css(tint(thing.colour, this.dark.matches));
  }

  show(thing, shown) {
    thing.shown = shown;
    if (thing.box) thing.box.checked = shown;
    this.paint.stale = true;
    this.queue();
  }

  /** The address line: see reference/scenes/results.md of the book. */
  readHash(first) {
    const words = new URLSearchParams(window.location.hash.slice(1));
    // A list of names: each by itself, or several between commas.
    const list = (key) => words.getAll(key).flatMap((text) => (this.things.named(text).length > 0 ? [text] : text.split(","))).filter((x) => x);
    const time = words.has("t") ? Number(words.get("t")) : NaN;
    if (Number.isFinite(time)) this.time = clamp(time, this.motion.start, this.motion.end);
    if (SPEEDS.includes(Number(words.get("speed")))) $("speed").value = String(Number(words.get("speed")));
    for (const key of ["forces", "reactions"]) if (words.has(key)) $(key).checked = true;
    if (words.has("joints")) $("joints").checked = words.get("joints") !== "off";
    if (words.has("once")) $("loop").checked = false;
    for (const name of list("hide")) for (const thing of this.things.named(name)) this.show(thing, false);
    for (const name of list("show")) for (const thing of this.things.named(name)) this.show(thing, true);
    if (words.has("colour")) this.colourBy(words.get("colour"));
    if (words.has("plot")) this.plots.set(words.getAll("plot").flatMap((text) => text.split(",")));
    else if (first) this.plots.first();
    if (words.has("view")) this.goTo(words.get("view"), list("follow")[0]);
    else if (words.has("follow")) this.follow(list("follow")[0]);
    if (Number(words.get("scale")) > 0) $("length").value = Math.log10(1 / Number(words.get("scale")) / this.newton);
    if (words.has("pick")) this.pickNamed(words.get("pick"));
    this.reports = words.has("state");
    document.body.classList.toggle("bare", words.has("bare"));
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (words.has("paused")) this.setPlaying(false);
    else if (first) this.setPlaying(!still && this.motion.end > this.motion.start);
    this.queue();
  }

  /** Goes to a view: one that has a name, or six numbers, the places of the eye and of what it looks at. */
  goTo(name, follow) {
    const { camera } = this;
    const six = name.split(",").map(Number);
    if (six.length === 6 && six.every(Number.isFinite)) {
      camera.apply({ eye: six.slice(0, 3), target: six.slice(3), follow });
    } else if (this.views.has(name)) {
      const view = this.views.get(name);
      camera.apply({ ...view, follow: follow || view.follow });
    } else if (name === "moving" || name === "all") {
      camera.see(name, follow);
    } else if (VIEWS.includes(name)) {
      camera.turnTo(name);
    } else {
      return;
    }
    $("follow").value = camera.followed;
    $("views").value = this.views.has(name) || VIEWS.includes(name) ? name : "free";
    this.queue();
  }

  /** Moves along with a thing, from where the camera is. */
  follow(name) {
    const { camera } = this;
    if (camera.clouds) camera.look(camera.eye().map((x, k) => x + this.motion.centre[k]), camera.at().map((x, k) => x + this.motion.centre[k]));
    const before = camera.anchor;
    camera.follow(name && (name === "moving" || this.things.test(name)) ? name : "");
    camera.moveAnchor(this.time);
    camera.target = camera.target.map((x, k) => x + before[k] - camera.anchor[k]);
    camera.touched = true;
    $("follow").value = camera.followed;
    this.queue();
  }

  /** Keeps the present view under a name and in the address line. */
  keepView() {
    const { camera, motion } = this;
    const world = (p) => p.map((x, k) => x + motion.centre[k]);
    // As it would be at the start, where views are given. A camera that frames what moves stays where it is.
    if (camera.clouds) camera.look(world(camera.eye()), world(camera.at()));
    const now = camera.anchor;
    camera.moveAnchor(motion.start);
    const eye = world(camera.eye()), target = world(camera.at());
    camera.anchor = now;
    let n = 1;
    while (this.views.has("view " + n)) n++;
    this.views.set("view " + n, { name: "view " + n, eye, target, follow: camera.followed });
    this.listViews();
    $("views").value = "view " + n;
    const words = new URLSearchParams({ t: this.time.toFixed(4), paused: "", view: [...eye, ...target].map((x) => x.toPrecision(6)).join(",") });
    if (camera.followed) words.set("follow", camera.followed);
    if (this.paint.by) words.set("colour", this.paint.by);
    for (const thing of this.things.list) if (!thing.shown) words.append("hide", thing.name);
    for (const name of this.plots.names()) words.append("plot", name);
    try {
      window.history.replaceState(null, "", "#" + words);
    } catch {
      // A page within another one has no address of its own; the view is in the list all the same.
    }
  }

  /** The default length of arrows: a quarter of the picture for a force that is the largest of most frames, without spikes. */
  measureForces() {
    const { motion, series } = this;
    const all = [];
    for (let f = 0; f < motion.count; f++) {
      let largest = 0;
      for (let i = motion.arrowStarts[f]; i < motion.arrowStarts[f + 1]; i++) {
        largest = Math.max(largest, Math.hypot(...motion.arrows.subarray(6 * i + 3, 6 * i + 6)));
      }
      for (const mark of motion.marks) {
        const [x, y, z] = series.joint(mark.force);
        if (z) largest = Math.max(largest, Math.hypot(x.at(motion.times[f]), y.at(motion.times[f]), z.at(motion.times[f])) || 0);
      }
      if (largest > 0) all.push(largest);
    }
    all.sort((a, b) => a - b);
    const usual = all[Math.floor(0.8 * (all.length - 1))];
    this.newton = usual > 0 ? (0.5 * this.camera.tangent * this.camera.range()) / usual : 1;
  }

  /** Metres per newton. */
  arrowScale() { return this.newton * 10 ** Number($("length").value); }

  /** The arrows of the picture: contact forces on the second of two things, joint forces on the second side. */
  arrows() {
    const { motion, time } = this;
    const arrows = [];
    if ($("forces").checked) {
      const [first, last] = motion.arrowsAt(time);
      for (let i = first; i < last; i++) {
        const a = motion.arrows.subarray(6 * i, 6 * i + 6);
        arrows.push({ point: [0, 1, 2].map((k) => a[k] - motion.centre[k]), force: [a[3], a[4], a[5]], colour: CONTACT_COLOUR });
      }
    }
    if ($("reactions").checked) {
      motion.marks.forEach((mark, m) => {
        const force = this.series.joint(mark.force).slice(0, 3).map((one) => one.at(time));
        if (force.length === 3 && force.every(Number.isFinite) && this.things.ofMark[m].shown) {
          arrows.push({ point: motion.markPose(mark)[0], force, colour: REACTION_COLOUR });
        }
      });
    }
    return arrows;
  }

  colourBy(name) {
    this.paint.choose(name);
    $("colour").value = this.paint.by;
    const { by, paint } = { by: this.paint.by, paint: this.paint };
    const muscles = this.motion.muscles.length > 0;
    $("scale-bar").hidden = !by && !muscles;
    const stops = (map) => "linear-gradient(to right, " + map.map((c) => css(c)).join(", ") + ")";
    const numbers = $("ramp-numbers").children;
    if (by) {
      const { low, high, unit: unitName } = paint.range();
      const power = prefixFor(Math.max(Math.abs(low), Math.abs(high)), unitName);
      const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / 10 ** power)));
      $("ramp").style.background = stops(paint.map());
      numbers[0].textContent = fixed(low, power, low === 0 ? 0 : digits);
      numbers[1].textContent = by;
      numbers[2].textContent = withUnit(fixed(high, power, digits), power, unitName);
    } else if (muscles) {
      $("ramp").style.background = stops(ACTIVE);
      ["0", "activation", "1"].forEach((text, k) => { numbers[k].textContent = text; });
    }
    this.queue();
  }

  pickNamed(name) {
    const { motion, things } = this;
    const find = (kind, list) => {
      const index = list.findIndex((one) => one.name === name || family(one.name) === name);
      return index >= 0 ? { kind, index } : null;
    };
    const of = /^(.*)\[(\d+)\]$/.exec(name);
    const group = motion.groups.find((one) => one.name === (of ? of[1] : name));
    this.picked = find("body", motion.bodies) || find("joint", motion.marks) || find("line", motion.lines) ||
      (group && group.count > 0 ? { kind: "point", index: group.start + Math.min(group.count - 1, of ? Number(of[2]) : 0) } : null);
    this.things.list.length && this.queue();
  }

  /** Fills the card of what was picked, and places its mark. */
  drawCard() {
    $("card").hidden = !this.picked;
    $("pin").hidden = true;
    if (!this.picked) return null;
    const told = describe(this, this.picked);
    $("card-title").textContent = told.title;
    const rows = told.rows.flatMap(([name, value]) => {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = name;
      dd.textContent = value;
      return [dt, dd];
    });
    $("card-rows").replaceChildren(...rows);
    $("card-follow").hidden = this.picked.kind === "joint" || this.picked.kind === "line";
    if (told.place) {
      const [x, y, depth] = this.camera.project(told.place, this.view.clientWidth, this.view.clientHeight);
      $("pin").hidden = depth <= 0;
      $("pin").style.left = x + "px";
      $("pin").style.top = y + "px";
    }
    return told;
  }

  setPlaying(playing) {
    this.playing = playing && this.motion.end > this.motion.start;
    this.last = null;
    const button = $("play");
    button.innerHTML = this.playing ? PAUSE : PLAY;
    button.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.queue();
  }

  toggle() {
    if (!this.playing && this.time >= this.motion.end) this.time = this.motion.start;
    this.setPlaying(!this.playing);
  }

  seek(time) {
    this.time = clamp(time, this.motion.start, this.motion.end);
    this.last = null;
    this.queue();
  }

  /** To the next or the previous frame, standing still. */
  stepFrame(by) {
    this.setPlaying(false);
    const frame = this.motion.frameAt(this.time);
    const between = this.time > this.motion.times[frame];
    this.seek(this.motion.times[clamp(frame + by + (by < 0 && between ? 1 : 0), 0, this.motion.count - 1)]);
  }

  resetView() {
    this.camera.reset();
    $("follow").value = this.camera.followed;
    $("views").value = this.views.has("scene") ? "scene" : "moving";
    this.queue();
  }

  queue() {
    if (this.queued) return;
    this.queued = true;
    window.requestAnimationFrame((now) => {
      this.queued = false;
      this.tick(now);
    });
  }

  tick(now) {
    if (this.playing) {
      const { start, end } = this.motion;
      // After a long gap (a hidden page) the motion goes on where it stood.
      const passed = this.last === null ? 0 : Math.min(0.1, (now - this.last) / 1000);
      this.last = now;
      this.time += passed * Number($("speed").value);
      if (this.time >= end) {
        if ($("loop").checked) {
          this.time = start + ((this.time - start) % (end - start));
        } else {
          this.time = end;
          this.setPlaying(false);
        }
      }
    }
    this.draw();
    if (this.playing) this.queue();
  }

  resize() {
    const scale = Math.min(3, window.devicePixelRatio || 1);
    const width = Math.max(1, Math.round(this.view.clientWidth * scale));
    const height = Math.max(1, Math.round(this.view.clientHeight * scale));
    if (this.view.width !== width || this.view.height !== height) {
      this.view.width = width;
      this.view.height = height;
    }
    this.camera.aspect = width / height;
    if (!this.camera.touched) this.camera.fit();
    this.queue();
  }

  draw() {
    const { motion, time, camera } = this;
    const dark = this.dark.matches;
    motion.moveTo(time);
    camera.moveAnchor(time);
    this.showsJoints = $("joints").checked && motion.marks.length > 0;
    const arrows = this.arrows();
    const drawn = this.renderer.draw(camera, dark, { time, arrows, newton: this.arrowScale(), joints: this.showsJoints });
    this.plots.draw(time, dark);
    drawTriad($("triad"), camera);
    const told = this.drawCard();
    const bar = this.drawScales(arrows.length > 0 || $("forces").checked || $("reactions").checked);
    const digits = motion.end - motion.start < 0.1 ? 5 : 3;
    $("time").textContent = time.toFixed(digits) + " / " + motion.end.toFixed(digits) + " s";
    $("scrub").value = time;
    $("scrub").setAttribute("aria-valuetext", time.toFixed(digits) + " seconds");
    $("status").textContent = drawn === 0 && this.renderer.gl.isContextLost()
      ? "lost the graphics context"
      : "ready frames=" + motion.count + " time=" + time.toFixed(3) + " drawn=" + drawn;
    if (this.reports) $("state").textContent = JSON.stringify(this.state(told, bar));
  }

  /** Labels of the grid and of the arrows; what a bar of so many pixels stands for. */
  drawScales(shown) {
    const { step } = this.renderer;
    $("scale").textContent = "grid " + (step >= 0.1 && step < 1000 ? Number(step.toPrecision(1)) + " m" : si(step, "m").replace(/\.0+ /, " "));
    $("newtons").hidden = !shown;
    if (!shown) return null;
    const { camera, view } = this;
    const newtonsPerPixel = (2 * camera.tangent * camera.range()) / view.clientHeight / this.arrowScale();
    const newtons = niceStep(90 * newtonsPerPixel), pixels = newtons / newtonsPerPixel;
    $("newton-bar").style.width = pixels.toFixed(1) + "px";
    $("newton-text").textContent = si(newtons, "N").replace(/\.0+ /, " ");
    return { newtons, pixels };
  }

  /** Numbers of the picture, for programs that look at it. */
  state(told, bar) {
    const { motion, things, camera, view } = this;
    const pixel = (p) => camera.project(p, view.clientWidth, view.clientHeight).slice(0, 2).map((x) => Number(x.toFixed(2)));
    return {
      time: this.time,
      follow: camera.followed,
      hidden: things.list.filter((thing) => !thing.shown).map((thing) => thing.name),
      colours: Object.fromEntries(things.list.map((thing) => [thing.name, thing.colour])),
      bodies: Object.fromEntries(motion.bodies.map((body, b) => [body.name, pixel(motion.poses[b].slice(0, 3))])),
      joints: Object.fromEntries(motion.marks.map((mark) => [mark.name, pixel(motion.markPose(mark)[0])])),
      plots: this.plots.strips.map((strip) => ({
        unit: strip.unit, low: strip.low, high: strip.high, step: strip.step,
        curves: strip.curves.map((curve) => ({
          name: curve.series.name, value: curve.series.at(this.time), shift: curve.shift, text: strip.text(curve, this.time),
          constant: curve.series.constant,
        })),
      })),
      colour: this.paint.by ? { name: this.paint.by, ...this.paint.range() } : null,
      arrows: bar,
      muscles: motion.muscles.map((line) => [line.name, motion.activationAt(line.activation, this.time)]),
      picked: told ? { title: told.title, rows: told.rows } : null,
      // The stage begins at the upper left of the page.
      stage: [view.clientWidth, view.clientHeight],
    };
  }

  listen() {
    $("play").addEventListener("click", () => this.toggle());
    for (const id of ["forces", "reactions", "joints", "length"]) $(id).addEventListener("input", () => this.queue());
    $("reset").addEventListener("click", () => this.resetView());
    $("views").addEventListener("change", () => this.goTo($("views").value));
    $("save").addEventListener("click", () => this.keepView());
    $("follow").addEventListener("change", () => this.follow($("follow").value));
    $("colour").addEventListener("change", () => this.colourBy($("colour").value));
    $("card-close").addEventListener("click", () => {
      this.picked = null;
      this.queue();
    });
    $("card-hide").addEventListener("click", () => this.show(describe(this, this.picked).thing, false));
    $("card-follow").addEventListener("click", () => {
      const { kind, index } = this.picked;
      this.follow(kind === "body" ? this.motion.bodies[index].name : describe(this, this.picked).thing.name);
    });
    $("scrub").addEventListener("input", () => this.seek(Number($("scrub").value)));
    window.addEventListener("hashchange", () => this.readHash(false));
    this.dark.addEventListener("change", () => {
      this.paintLegend();
      this.queue();
    });
    new ResizeObserver(() => {
      this.resize();
      // At once: a canvas that was resized is blank until it is drawn.
      this.draw();
    }).observe($("stage"));
    this.view.addEventListener("webglcontextlost", (event) => {
      event.preventDefault(); // asks for the context to be restored
      this.queue();
    });
    this.view.addEventListener("webglcontextrestored", () => {
      this.renderer.build();
      this.draw();
    });
    this.listenPointers();
    document.addEventListener("keydown", (event) => this.key(event));
    this.colourBy("");
  }

  /** One finger or button turns, shift or another button moves, two fingers zoom and move; a click or tap picks. */
  listenPointers() {
    const { view, camera } = this;
    const held = new Map();
    let travelled = 0;
    const middle = () => {
      const all = [...held.values()];
      const at = [0, 1].map((k) => all.reduce((sum, p) => sum + p[k], 0) / all.length);
      return { at, wide: all.length > 1 ? Math.hypot(all[0][0] - all[1][0], all[0][1] - all[1][1]) : 0 };
    };
    view.addEventListener("pointerdown", (event) => {
      view.setPointerCapture(event.pointerId);
      if (held.size === 0) travelled = 0;
      held.set(event.pointerId, [event.clientX, event.clientY]);
    });
    view.addEventListener("pointerup", (event) => {
      if (held.size !== 1 || travelled > 4 || event.button !== 0 || event.shiftKey) return;
      const box = view.getBoundingClientRect();
      this.picked = pick(this, event.clientX - box.left, event.clientY - box.top);
      this.queue();
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      view.addEventListener(end, (event) => held.delete(event.pointerId));
    }
    view.addEventListener("pointermove", (event) => {
      if (!held.has(event.pointerId)) return;
      const before = middle();
      held.set(event.pointerId, [event.clientX, event.clientY]);
      const after = middle();
      const [dx, dy] = [after.at[0] - before.at[0], after.at[1] - before.at[1]];
      travelled += Math.hypot(dx, dy);
      if (travelled <= 4 && held.size === 1) return;
      if (held.size > 1) {
        camera.pan(dx, dy, view.clientHeight);
        if (before.wide > 0 && after.wide > 0) camera.zoom(before.wide / after.wide);
      } else if (event.shiftKey || event.buttons & 6) {
        camera.pan(dx, dy, view.clientHeight);
      } else {
        camera.turn(dx, dy);
      }
      $("views").value = "free";
      this.queue();
    });
    view.addEventListener("wheel", (event) => {
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1);
      camera.zoom(Math.exp(clamp(pixels, -300, 300) * (event.ctrlKey ? 0.01 : 0.0015)));
      this.queue();
    }, { passive: false });
    view.addEventListener("contextmenu", (event) => event.preventDefault());
    view.addEventListener("dblclick", () => this.resetView());
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLSelectElement) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1 };
    // On a button or a box, space keeps its own meaning.
    const pressable = event.target instanceof HTMLButtonElement || event.target.type === "checkbox";
    const letter = event.key.toLowerCase();
    if (event.key === " " && !pressable) this.toggle();
    else if (event.key in steps) this.stepFrame(steps[event.key] * (event.shiftKey ? 10 : 1));
    else if (event.key === "Home") this.seek(this.motion.start);
    else if (event.key === "End") this.seek(this.motion.end);
    else if (event.key === "Escape") this.picked = null;
    else if (letter === "r") this.resetView();
    else if (letter === "f") this.camera.seeNow(this.motion.frameAt(this.time));
    else if (letter === "v") this.keepView();
    else return;
    this.queue();
    event.preventDefault();
  }
}

/** The world axes as seen by the camera, the farthest first. */
function drawTriad(svg, camera) {
  const [x, y, z] = camera.axes();
  const axes = [0, 1, 2].map((k) => ({ name: "xyz"[k], at: [24 * x[k], -24 * y[k]], depth: z[k], colour: AXIS_COLOURS[k] }));
  axes.sort((a, b) => a.depth - b.depth);
  svg.innerHTML = axes.map(({ name, at, colour }) => {
    const ink = css(colour);
    return '<line x2="' + at[0].toFixed(1) + '" y2="' + at[1].toFixed(1) + '" stroke="' + ink + '" stroke-width="2.2" stroke-linecap="round"/>' +
      '<text x="' + (1.28 * at[0]).toFixed(1) + '" y="' + (1.28 * at[1]).toFixed(1) + '" fill="' + ink + '">' + name + "</text>";
  }).join("");
}
