// A motion that goes on: its frames are kept as they come, and so are the numbers of the plots.

/** The most bytes of frames that are kept; of more, every second one of the older ones goes. */
const MOST_BYTES = 96e6;
/** The most frames that are kept. */
const MOST_KEPT = 20000;

/** `list` with room for `count` numbers. */
function grown(list, count) {
  if (list.length >= count) return list;
  const longer = new list.constructor(Math.max(count, 2 * list.length));
  longer.set(list);
  return longer;
}

class LiveMotion extends Motion {
  constructor(data) {
    super(data);
    this.movable = data.moving;
    this.reachable = data.reach;
    this.findMoving();
    this.restart();
  }

  /** What can move is taken for moving from the start. */
  findMoving() {
    if (!this.movable) return;
    this.moves = this.movable;
    this.framed = this.movable;
  }

  /** Keeps the first frame alone, which the next one takes the place of. */
  restart() {
    this.fresh = true;
    this.count = 1;
    this.start = this.end = this.times[0];
    this.furthest = 0;
    this.arrows = new Float32Array(6);
    this.arrowStarts = new Uint32Array(2);
    this.mostArrows = 0;
    this.largestArrow = 0;
    for (const field of this.fields) {
      [field.low, field.high] = [0, 0];
      field.values = new Float32Array(this.itemsOf(field));
    }
    this.most = clamp(Math.floor(MOST_BYTES / (4 * (this.stride + this.fieldItems() + 8))), 16, MOST_KEPT);
  }

  itemsOf(field) { return this.pointCount + (field.bodies ? this.bodies.length : 0); }

  fieldItems() { return this.fields.reduce((sum, field) => sum + this.itemsOf(field), 0); }

  /** Takes a frame of the socket; says whether a field has values beyond those so far. */
  append(time, numbers) {
    if (this.count >= this.most) this.thin();
    const f = this.fresh ? 0 : this.count;
    this.fresh = false;
    let at = 0;
    const take = (count) => numbers.subarray(at, (at += count));
    this.times = grown(this.times, f + 1);
    this.times[f] = time;
    this.frames = grown(this.frames, (f + 1) * this.stride);
    this.frames.set(take(this.stride), f * this.stride);
    this.activations = grown(this.activations, (f + 1) * this.muscles.length);
    this.activations.set(take(this.muscles.length), f * this.muscles.length);
    let wider = false;
    for (const field of this.fields) {
      const items = this.itemsOf(field), values = take(items);
      field.values = grown(field.values, (f + 1) * items);
      field.values.set(values, f * items);
      for (const x of values) {
        if (x < field.low || x > field.high) {
          [field.low, field.high] = [Math.min(field.low, x), Math.max(field.high, x)];
          wider = true;
        }
      }
    }
    const arrows = numbers.subarray(at), first = f > 0 ? this.arrowStarts[f] : 0, count = arrows.length / 6;
    this.arrowStarts = grown(this.arrowStarts, f + 2);
    this.arrowStarts[f] = first;
    this.arrowStarts[f + 1] = first + count;
    this.arrows = grown(this.arrows, 6 * (first + count));
    this.arrows.set(arrows, 6 * first);
    for (let i = 0; i < arrows.length; i += 6) this.largestArrow = Math.max(this.largestArrow, Math.hypot(...arrows.subarray(i + 3, i + 6)));
    this.mostArrows = Math.max(this.mostArrows, count);
    this.count = f + 1;
    [this.start, this.end] = [this.times[0], time];
    this.follow(f);
    return wider;
  }

  /** The largest displacement, and the ground below all that there was so far. */
  follow(f) {
    const p = this.frames, now = f * this.stride;
    let lowest = Infinity;
    for (let i = 0; i < this.pointCount + this.bodies.length; i++) {
      const at = this.place(i);
      this.furthest = Math.max(this.furthest, Math.hypot(p[now + at] - p[at], p[now + at + 1] - p[at + 1], p[now + at + 2] - p[at + 2]));
      const high = this.up[0] * p[now + at] + this.up[1] * p[now + at + 1] + this.up[2] * p[now + at + 2];
      if (i < this.pointCount) lowest = Math.min(lowest, high - this.radius);
      else {
        const q = slerp(p, now + at + 3, p, now + at + 3, 0);
        lowest = Math.min(lowest, high - this.below(this.bodies[i - this.pointCount], q));
      }
    }
    if (Number.isFinite(lowest)) this.ground = Math.min(this.ground, lowest - dot(this.up, this.centre));
  }

  /** Drops every second frame but the first one and the last. */
  thin() {
    const kept = [];
    for (let f = 0; f < this.count; f++) if (f % 2 === 0 || f === this.count - 1) kept.push(f);
    let arrow = 0;
    kept.forEach((f, k) => {
      const move = (list, width) => list.copyWithin(k * width, f * width, (f + 1) * width);
      this.times[k] = this.times[f];
      move(this.frames, this.stride);
      move(this.activations, this.muscles.length);
      for (const field of this.fields) move(field.values, this.itemsOf(field));
      const [first, last] = [this.arrowStarts[f], this.arrowStarts[f + 1]];
      this.arrows.copyWithin(6 * arrow, 6 * first, 6 * last);
      this.arrowStarts[k] = arrow;
      arrow += last - first;
    });
    this.arrowStarts[kept.length] = arrow;
    this.count = kept.length;
  }

  /** Values are numbers here, not shares. */
  fieldAt(field, i, time) {
    const items = this.itemsOf(field);
    if (i >= items) return NaN;
    const [a, b, f] = this.bracket(time);
    const from = field.values[a * items + i];
    return f > 0 ? from * (1 - f) + field.values[b * items + i] * f : from;
  }

  largestDisplacement() { return this.furthest || 1e-9 * this.size; }

  arrowExtent() { return [this.mostArrows || 0, this.largestArrow || 0]; }
}

/** The tables of a motion that goes on. */
class LiveSeriesList extends SeriesList {
  constructor(tables, size) {
    super(tables, size);
    const energies = this.groups.find(([name]) => name === "energies");
    if (energies && !energies[1].some((one) => one.name === "dissipated")) {
      energies[1].push(new Series("dissipated", "J", energies[1][0].times, Float64Array.of(0), 1));
    }
    this.size = size;
    this.restart();
  }

  restart() {
    this.count = 0;
    for (const one of this.all()) {
      one.room = new Float64Array(1024);
      [one.low, one.high, one.empty] = [Infinity, -Infinity, true];
      [one.times, one.values] = [one.room.subarray(0, 0), one.room.subarray(0, 0)];
    }
    this.room = new Float64Array(1024);
  }

  /** Takes the lines of all tables at `time`; says whether an axis is too short now. */
  append(time, lines) {
    if (this.count >= MOST_KEPT) this.thin();
    const n = this.count++;
    this.room = grown(this.room, n + 1);
    this.room[n] = time;
    const times = this.room.subarray(0, n + 1);
    let wider = false;
    this.groups.forEach(([name, list], g) => {
      let line = (lines[g] || []).map((x) => (x === null ? NaN : x));
      // The total stands between them.
      if (name === "energies") line = [line[0], line[1], line[0] + line[1], line[2]];
      list.forEach((one, c) => {
        const x = line[c] === undefined ? NaN : line[c];
        one.room = grown(one.room, n + 1);
        one.room[n] = x;
        [one.times, one.values] = [times, one.room.subarray(0, n + 1)];
        if (Number.isFinite(x) && (x < one.low || x > one.high)) {
          [one.low, one.high, one.empty] = [Math.min(one.low, x), Math.max(one.high, x), false];
          wider = true;
        }
      });
    });
    if (wider) this.judge();
    return wider;
  }

  /** What is constant to rounding, as in a page that holds its numbers. */
  judge() {
    const largest = new Map([["m", this.size]]);
    for (const one of this.all()) {
      if (!one.empty) largest.set(one.unit, Math.max(largest.get(one.unit) || 0, Math.abs(one.low), Math.abs(one.high)));
    }
    for (const one of this.all()) {
      one.noise = 1e-9 * (largest.get(one.unit) || 0);
      one.constant = !one.empty && one.high - one.low <= one.noise;
    }
  }

  /** Drops every second line. */
  thin() {
    const half = (list) => { for (let k = 0; 2 * k < this.count; k++) list[k] = list[2 * k]; };
    half(this.room);
    for (const one of this.all()) half(one.room);
    this.count = Math.ceil(this.count / 2);
  }
}
