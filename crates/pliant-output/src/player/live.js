// The player of a run that goes on, and its socket.

class LivePlayer extends Player {
  constructor(motion, tables, run) {
    super(motion, tables);
    this.run = run;
    this.newest = true;
  }

  seriesOf(tables, size) { return new LiveSeriesList(tables, size); }

  label() {
    super.label();
    const speed = $("speed");
    speed.append(new Option("as fast as it goes", "0"));
    speed.addEventListener("change", () => this.run.send({ do: "speed", factor: Number(speed.value) || null }));
    $("forces-label").hidden = false;
  }

  /** The run plays, not this page: a frame that comes is the last one. */
  setPlaying(playing) {
    this.playing = playing;
    const button = $("play");
    button.innerHTML = playing ? PAUSE : PLAY;
    button.setAttribute("aria-label", playing ? "Pause" : "Play");
    this.queue();
  }

  toggle() {
    this.newest = true;
    this.run.send({ do: this.playing ? "pause" : "play" });
  }

  /** Back in what was so far, the run stands still. */
  seek(time) {
    super.seek(time);
    this.newest = this.time >= this.motion.end;
    if (!this.newest && this.playing) this.run.send({ do: "pause" });
  }

  stepFrame(by) {
    if (by > 0 && this.newest) {
      this.run.send({ do: "step" });
      return;
    }
    const frame = this.motion.frameAt(this.time);
    this.seek(this.motion.times[clamp(frame + by, 0, this.motion.count - 1)]);
  }

  tick() {
    if (this.newest) this.time = this.motion.end;
    this.draw();
    this.run.shown();
  }

  /** Takes a frame. */
  take(head, numbers) {
    const { motion, series } = this;
    const wider = motion.append(head.time, numbers);
    if (series.append(head.time, head.lines)) for (const strip of this.plots.strips) strip.measure();
    this.makeRoom();
    if (!this.measured) {
      this.measureForces();
      this.measured = this.newton !== 1;
    }
    if (this.paint.by && (wider || this.paint.by === "displacement")) this.colourBy(this.paint.by);
    $("scrub").min = motion.start;
    $("scrub").max = motion.end;
    $("scrub").disabled = motion.end <= motion.start;
    this.head = head;
    this.paint.stale = this.paint.stale || Boolean(this.paint.by);
    this.queue();
  }

  /** More contact forces than ever before need more room on the card. */
  makeRoom() {
    const { renderer, motion } = this, needed = motion.mostArrows + motion.marks.length;
    if (needed > renderer.arrows.count) renderer.arrows = renderer.bodyArray(arrowMesh(), 2 * needed);
  }

  /** Forgets what was so far. */
  restart() {
    this.motion.restart();
    this.series.restart();
    this.newest = true;
    this.head = null;
    this.grip = null;
  }

  draw() {
    super.draw();
    if (!this.run) return;
    const { panel } = this.run, pull = this.newest && this.head && this.head.pull;
    panel.showRate(this.playing && this.head ? this.head.rate : null);
    const pixel = (p) => this.camera.project(p.map((x, k) => x - this.motion.centre[k]), this.view.clientWidth, this.view.clientHeight);
    if (pull) panel.drawPull(pixel(pull.held), pixel(pull.place), Math.hypot(...pull.force), pull.stiffness);
    else panel.drawPull(null);
  }

  state(told, bar) {
    const { run } = this;
    return { ...super.state(told, bar), live: run && { ...run.state, head: this.head, frames: run.frames, fps: run.fps } };
  }

  /** Dragging something that can be pulled at pulls at it; else the pointer does what it does in every page. */
  listenPointers() {
    const { view } = this;
    this.grip = null;
    const place = (event) => {
      const box = view.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    view.addEventListener("pointerdown", (event) => {
      if (this.grip) {
        event.stopImmediatePropagation();
        return;
      }
      if (event.button !== 0 || event.shiftKey || !$("pulls").checked || !this.newest) return;
      const found = this.gripAt(...place(event));
      if (!found) return;
      event.stopImmediatePropagation();
      view.setPointerCapture(event.pointerId);
      this.grip = { ...found, pointer: event.pointerId, from: place(event), pulls: false };
    });
    view.addEventListener("pointermove", (event) => {
      if (!this.grip || event.pointerId !== this.grip.pointer) return;
      event.stopImmediatePropagation();
      const [x, y] = place(event);
      if (!this.grip.pulls && Math.hypot(x - this.grip.from[0], y - this.grip.from[1]) <= 4) return;
      if (!this.grip.pulls) {
        this.grip.pulls = true;
        this.run.send({ do: "grab", item: this.grip.item, point: this.grip.point, factor: this.run.panel.factor() });
      }
      const to = this.onPlane(x, y, this.grip.at);
      if (to) this.run.send({ do: "drag", to });
    });
    const end = (event) => {
      if (!this.grip || event.pointerId !== this.grip.pointer) return;
      event.stopImmediatePropagation();
      if (this.grip.pulls) this.run.send({ do: "drop" });
      else if (event.type === "pointerup") this.picked = pick(this, ...place(event));
      this.grip = null;
      this.queue();
    };
    for (const name of ["pointerup", "pointercancel"]) view.addEventListener(name, end);
    super.listenPointers();
  }

  /** What is under a pixel and can be pulled at: the item, the point in its axes, and the same in the world. */
  gripAt(x, y) {
    const { motion, things, camera, view } = this;
    // Marks, lines and what cannot be pulled at do not stand in the way of the body that carries them.
    const no = { shown: false }, yes = { shown: true };
    const of = (i) => (motion.reachable[i] && things.of(i).shown ? yes : no);
    const reachable = { of, ofBody: motion.bodies.map((body, b) => of(motion.pointCount + b)), ofLine: motion.lines.map(() => no),
      ofMark: motion.marks.map(() => no), ofGroup: things.ofGroup, groupOf: things.groupOf, lineOf: things.lineOf };
    const found = pick({ motion, things: reachable, camera, view, showsJoints: false }, x, y);
    if (!found || (found.kind !== "body" && found.kind !== "point")) return null;
    const item = found.kind === "point" ? found.index : motion.pointCount + found.index;
    if (!motion.reachable[item]) return null;
    if (found.kind === "point") {
      const at = Array.from(motion.points.subarray(4 * item, 4 * item + 3));
      return { item, point: [0, 0, 0], at: at.map((v, k) => v + motion.centre[k]) };
    }
    const [eye, way] = this.camera.ray(x, y, this.view.clientWidth, this.view.clientHeight);
    const pose = motion.poses[found.index], back = [pose[3], -pose[4], -pose[5], -pose[6]];
    const depth = meetBody(motion.bodies[found.index], rotate(back, eye.map((e, k) => e - pose[k])), rotate(back, way));
    const at = eye.map((e, k) => e + depth * way[k]);
    return { item, point: rotate(back, at.map((v, k) => v - pose[k])), at: at.map((v, k) => v + motion.centre[k]) };
  }

  /** The point of the world under a pixel, on the plane of the screen through a point of the world. */
  onPlane(x, y, through) {
    const [eye, way] = this.camera.ray(x, y, this.view.clientWidth, this.view.clientHeight);
    const normal = this.camera.axes()[2], { centre } = this.motion;
    const slope = dot(way, normal);
    if (Math.abs(slope) < 1e-9) return null;
    const depth = dot(through.map((v, k) => v - centre[k] - eye[k]), normal) / slope;
    return depth > 0 ? eye.map((e, k) => e + depth * way[k] + centre[k]) : null;
  }

  /** What a page of another scene takes over from this one. */
  keep() {
    const world = (p) => p.map((x, k) => x + this.motion.centre[k]);
    const { camera } = this;
    const kept = { title: this.motion.title, speed: $("speed").value, colour: this.paint.by };
    if (camera.touched) Object.assign(kept, { eye: world(camera.eye()), target: world(camera.at()) });
    return kept;
  }

  takeOver(kept) {
    if (kept.title !== this.motion.title) return;
    $("speed").value = kept.speed;
    if (kept.colour) this.colourBy(kept.colour);
    if (kept.eye) this.camera.look(kept.eye, kept.target);
  }
}

/** The socket, and what it was told. */
class LiveRun {
  constructor() {
    this.panel = new LivePanel((message) => this.send(message));
    this.state = { parameters: [] };
    this.frames = 0;
    this.fps = 0;
    this.waiting = null;
    const { host, pathname } = window.location;
    this.socket = new WebSocket("ws://" + host + pathname + "socket");
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = (event) => {
      if (typeof event.data === "string") this.read(JSON.parse(event.data));
      else this.readFrame(event.data);
    };
    this.socket.onclose = (event) => this.end(event);
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  read(message) {
    if (message.scene) this.readScene(message.scene);
    if (message.refused) this.panel.show({ ...this.state, said: message.refused, failed: true });
    if (message.state) {
      this.state = message.state;
      this.panel.show(message.state);
      if (player) player.setPlaying(message.state.playing);
      else if (message.state.problem) $("status").textContent = "problem";
      const speed = message.state.speed === null ? "0" : String(message.state.speed);
      if ([...$("speed").options].some((option) => option.value === speed)) $("speed").value = speed;
    }
  }

  /** A page draws one scene: of another one the page is loaded again. */
  readScene(scene) {
    if (player && scene.sum === this.sum) {
      player.restart();
      return;
    }
    if (player) {
      window.sessionStorage.setItem("pliant-view", JSON.stringify(player.keep()));
      window.location.reload();
      return;
    }
    this.sum = scene.sum;
    $("title").textContent = document.title = scene.title;
    player = new LivePlayer(new LiveMotion(scene), scene.tables, this);
    const kept = window.sessionStorage.getItem("pliant-view");
    window.sessionStorage.removeItem("pliant-view");
    if (kept) player.takeOver(JSON.parse(kept));
  }

  /** A frame: the length of its head, the head as JSON, numbers from the next multiple of four bytes on. */
  readFrame(buffer) {
    const length = new DataView(buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    if (!player || head.sum !== this.sum) return;
    this.frames++;
    const now = performance.now();
    if (this.before) this.fps += 0.1 * (1000 / Math.max(1, now - this.before) - this.fps);
    this.before = now;
    this.waiting = head.frame;
    player.take(head, new Float32Array(buffer, 4 * Math.ceil((4 + length) / 4)));
  }

  /** The picture is drawn: the next one may come. */
  shown() {
    if (this.waiting === null) return;
    this.send({ do: "shown", frame: this.waiting });
    this.waiting = null;
  }

  end(event) {
    const why = event.reason || "the program that runs the scene has ended, or cannot be reached";
    this.panel.show({ ...this.state, said: why, failed: true });
    $("status").textContent = "closed: " + why;
    document.body.classList.add("closed");
  }
}

let player = null;
let run;
try {
  run = new LiveRun();
} catch (error) {
  fail(error.message);
}
