// The controls and the clock.

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const PLAY = '<svg viewBox="0 0 16 16"><path d="M3 1.5v13l11-6.5z"/></svg>';
const PAUSE = '<svg viewBox="0 0 16 16"><path d="M3 2h4v12H3zM9 2h4v12H9z"/></svg>';

const css = (colour) => "rgb(" + colour.map((x) => Math.round(255 * x)).join(" ") + ")";

class Player {
  constructor(motion) {
    this.motion = motion;
    this.view = $("view");
    this.camera = new Camera(motion);
    this.renderer = new Renderer(this.view, motion);
    this.strip = new Strip($("strip"), $("readout"), motion);
    this.dark = window.matchMedia("(prefers-color-scheme: dark)");
    this.time = motion.start;
    this.playing = false;
    this.last = null;
    this.queued = false;
    this.label();
    this.listen();
    this.readHash(true);
    this.resize();
    this.draw();
  }

  label() {
    const { motion } = this;
    if (!motion.title.trim()) $("title").textContent = document.title = "Untitled motion";
    const parts = motion.groups.map((group, g) => ["", group.name, PALETTE[g % 8]]).concat(
      motion.families.map((family, f) => {
        const b = motion.familyOf.indexOf(f);
        return ["body", family, motion.bodies[b].kind === "axes" ? AXIS_COLOURS[0] : bodyColour(motion, b)];
      }));
    this.swatches = [];
    for (const [kind, name, colour] of parts.slice(0, 8)) {
      const item = document.createElement("li"), dab = document.createElement("span");
      dab.className = "swatch " + kind;
      this.swatches.push([dab, colour]);
      item.append(dab, name);
      $("legend").append(item);
    }
    this.paintLegend();
    if (parts.length > 8) {
      const item = document.createElement("li");
      item.textContent = "and " + (parts.length - 8) + " more";
      $("legend").append(item);
    }
    const step = this.renderer.step;
    $("scale").textContent = "grid " +
      (step >= 0.1 && step < 1000 ? Number(step.toPrecision(1)) + " m" : si(step, "m").replace(/\.0+ /, " "));
    $("forces-label").hidden = motion.arrows.length === 0;
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

  paintLegend() {
    for (const [dab, colour] of this.swatches) dab.style.background = css(tint(colour, this.dark.matches));
  }

  /** `#t=1.25&paused&speed=0.5&once&forces`. */
  readHash(first) {
    const words = new URLSearchParams(window.location.hash.slice(1));
    const time = words.has("t") ? Number(words.get("t")) : NaN;
    if (Number.isFinite(time)) this.time = clamp(time, this.motion.start, this.motion.end);
    if (SPEEDS.includes(Number(words.get("speed")))) $("speed").value = String(Number(words.get("speed")));
    if (words.has("forces")) $("forces").checked = true;
    if (words.has("once")) $("loop").checked = false;
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (words.has("paused")) this.setPlaying(false);
    else if (first) this.setPlaying(!still && this.motion.end > this.motion.start);
    this.queue();
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
    const { motion, time } = this;
    const dark = this.dark.matches;
    motion.moveTo(time);
    const arrows = $("forces").checked ? motion.arrowsAt(time) : [0, 0];
    const drawn = this.renderer.draw(this.camera, dark, arrows);
    this.strip.draw(time, dark);
    drawTriad($("triad"), this.camera);
    const digits = motion.end - motion.start < 0.1 ? 5 : 3;
    $("time").textContent = time.toFixed(digits) + " / " + motion.end.toFixed(digits) + " s";
    $("scrub").value = time;
    $("scrub").setAttribute("aria-valuetext", time.toFixed(digits) + " seconds");
    $("status").textContent = drawn === 0 && this.renderer.gl.isContextLost()
      ? "lost the graphics context"
      : "ready frames=" + motion.count + " time=" + time.toFixed(3) + " drawn=" + drawn;
  }

  listen() {
    $("play").addEventListener("click", () => this.toggle());
    $("forces").addEventListener("change", () => this.queue());
    $("reset").addEventListener("click", () => this.resetView());
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

    const strip = $("strip");
    const drag = (event) => {
      if (event.buttons & 1) this.seek(this.strip.timeAt(event.clientX - strip.getBoundingClientRect().left));
    };
    strip.addEventListener("pointerdown", (event) => {
      strip.setPointerCapture(event.pointerId);
      drag(event);
    });
    strip.addEventListener("pointermove", drag);

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
  }

  /** One finger or button turns, shift or another button moves, two fingers zoom and move. */
  listenPointers() {
    const { view, camera } = this;
    const held = new Map();
    const middle = () => {
      const all = [...held.values()];
      const at = [0, 1].map((k) => all.reduce((sum, p) => sum + p[k], 0) / all.length);
      return { at, wide: all.length > 1 ? Math.hypot(all[0][0] - all[1][0], all[0][1] - all[1][1]) : 0 };
    };
    view.addEventListener("pointerdown", (event) => {
      view.setPointerCapture(event.pointerId);
      held.set(event.pointerId, [event.clientX, event.clientY]);
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
      if (held.size > 1) {
        camera.pan(dx, dy, view.clientHeight);
        if (before.wide > 0 && after.wide > 0) camera.zoom(before.wide / after.wide);
      } else if (event.shiftKey || event.buttons & 6) {
        camera.pan(dx, dy, view.clientHeight);
      } else {
        camera.turn(dx, dy);
      }
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
    if (event.key === " " && !pressable) this.toggle();
    else if (event.key in steps) this.stepFrame(steps[event.key] * (event.shiftKey ? 10 : 1));
    else if (event.key === "Home") this.seek(this.motion.start);
    else if (event.key === "End") this.seek(this.motion.end);
    else if (event.key === "r" || event.key === "R") this.resetView();
    else return;
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

let player;
try {
  player = new Player(new Motion(JSON.parse($("data").textContent)));
} catch (error) {
  fail(error.message);
}
