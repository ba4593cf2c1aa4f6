"use strict";
// The recording: unpacking, bounds over the whole motion, and the state at any time between two frames.

const $ = (id) => document.getElementById(id);

/** Small vectors as plain arrays. */
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => a.map((x) => x / Math.hypot(...a));
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

/** The vector `v` in body axes seen in world axes, for the quaternion `q` = (w, x, y, z) of length one. */
function rotate(q, v) {
  const u = [q[1], q[2], q[3]];
  const t = cross(u, v).map((x) => 2 * x);
  const s = cross(u, t);
  return [v[0] + q[0] * t[0] + s[0], v[1] + q[0] * t[1] + s[1], v[2] + q[0] * t[2] + s[2]];
}

/** The product of two quaternions. */
const multiply = (a, b) => [
  a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
  a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
  a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
  a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
];

/** The quaternion of the shortest turn from z to the direction `d` of length one. */
function fromZ(d) {
  const q = [1 + d[2], -d[1], d[0], 0];
  const norm = Math.hypot(...q);
  return norm > 1e-9 ? q.map((x) => x / norm) : [0, 1, 0, 0];
}

/** Between the quaternions at `a[i..]` and `b[j..]` along the shorter arc, of length one. */
function slerp(a, i, b, j, f) {
  let c = 0, na = 0, nb = 0;
  for (let k = 0; k < 4; k++) {
    c += a[i + k] * b[j + k];
    na += a[i + k] ** 2;
    nb += b[j + k] ** 2;
  }
  c /= Math.sqrt(na * nb);
  const sign = c < 0 ? -1 : 1;
  const angle = Math.acos(Math.min(1, Math.abs(c)));
  let p = 1 - f, q = f;
  if (angle > 1e-3) {
    p = Math.sin((1 - f) * angle) / Math.sin(angle);
    q = Math.sin(f * angle) / Math.sin(angle);
  }
  const out = [0, 1, 2, 3].map((k) => (p * a[i + k]) / Math.sqrt(na) + (sign * q * b[j + k]) / Math.sqrt(nb));
  const norm = Math.hypot(...out);
  return out.map((x) => x / norm);
}

function unpack(text, Numbers) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Numbers(bytes.buffer);
}

class Motion {
  constructor(data) {
    this.title = data.title;
    this.groups = data.groups;
    this.bodies = data.bodies;
    this.lines = data.lines;
    this.marks = data.marks;
    this.look = data.look;
    this.leftOut = data.left_out;
    this.pointCount = data.points;
    this.count = data.count;
    this.times = unpack(data.times, Float64Array);
    this.frames = unpack(data.frames, Float32Array);
    this.activations = unpack(data.activations, Float32Array);
    this.muscles = this.activations.length > 0 ? this.lines.filter((line) => line.muscle) : [];
    this.muscles.forEach((line, m) => { line.activation = m; });
    // Numbers at points, and at bodies behind them.
    this.fields = data.fields.map((field) => ({ ...field, values: unpack(field.values, Uint16Array) }));
    this.segments = unpack(data.segments, Uint32Array);
    this.triangles = unpack(data.triangles, Uint32Array);
    // Frames since which, and up to which, each triangle is there; empty where all are always.
    this.spans = unpack(data.spans || "", Uint32Array);
    this.whole = this.spans.length > 0 ? this.triangles.slice() : this.triangles;
    this.tears = false;
    // Contact forces: where those of each frame start, and point and force of each.
    this.arrowStarts = unpack(data.arrow_starts, Uint32Array);
    this.arrows = unpack(data.arrows, Float32Array);
    this.stride = 3 * this.pointCount + 7 * this.bodies.length;
    if (this.times.length !== this.count || this.frames.length !== this.count * this.stride) {
      throw new Error("the data of this page are incomplete");
    }
    this.start = this.times[0];
    this.end = this.times[this.count - 1];
    // Axes of the scene: `right` across, `up` against gravity, `back` towards the viewer.
    this.up = data.up;
    const across = Math.abs(this.up[0]) > 0.9 ? [0, 1, 0] : [1, 0, 0];
    this.right = unit(across.map((x, k) => x - dot(across, this.up) * this.up[k]));
    this.back = cross(this.right, this.up);
    this.measure();
    // Positions at the present time relative to `centre`; poses (p, w x y z).
    this.width = Math.min(1024, Math.max(1, this.pointCount));
    this.rows = Math.max(1, Math.ceil(this.pointCount / this.width));
    this.points = new Float32Array(4 * this.width * this.rows);
    this.poses = this.bodies.map(() => new Array(7).fill(0));
    this.normals = new Float32Array(this.triangles.length > 0 ? this.points.length : 4);
  }

  /** Centre, size, lowest level, and which points and bodies move. */
  measure() {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const grow = (p, at, r) => {
      for (let k = 0; k < 3; k++) {
        low[k] = Math.min(low[k], p[at + k] - r);
        high[k] = Math.max(high[k], p[at + k] + r);
      }
    };
    this.reach = this.bodies.map((body) =>
      body.kind === "box" || body.kind === "mesh" ? Math.hypot(...body.size) : body.size[0]);
    const reach = this.reach;
    for (let f = 0; f < this.count; f++) {
      const base = f * this.stride;
      for (let i = 0; i < this.pointCount; i++) grow(this.frames, base + 3 * i, 0);
      reach.forEach((r, b) => grow(this.frames, base + 3 * this.pointCount + 7 * b, r));
    }
    const empty = low[0] > high[0];
    this.centre = empty ? [0, 0, 0] : low.map((x, k) => (x + high[k]) / 2);
    this.size = (empty ? 0 : Math.hypot(...high.map((x, k) => x - low[k]))) || 1;

    const spacing = this.spacing();
    this.radius = Math.min(0.22 * spacing, 0.011 * this.size);
    let lowest = Infinity;
    for (let f = 0; f < this.count; f++) {
      const base = f * this.stride;
      for (let i = 0; i < this.pointCount; i++) {
        const at = base + 3 * i;
        const h = this.up[0] * this.frames[at] + this.up[1] * this.frames[at + 1] + this.up[2] * this.frames[at + 2];
        lowest = Math.min(lowest, h - this.radius);
      }
      this.bodies.forEach((body, b) => {
        const at = base + 3 * this.pointCount + 7 * b;
        const position = this.frames.subarray(at, at + 3);
        lowest = Math.min(lowest, dot(this.up, position) - this.below(body, slerp(this.frames, at + 3, this.frames, at + 3, 0)));
      });
    }
    this.ground = Number.isFinite(lowest) ? lowest - dot(this.up, this.centre) : 0;
    this.findMoving();
  }

  /** Where item `i` (the points, then the bodies) begins in a frame. */
  place(i) {
    return i < this.pointCount ? 3 * i : 3 * this.pointCount + 7 * (i - this.pointCount);
  }

  /** Marks the points and bodies that move or turn by more than a thousandth of what moves most. */
  findMoving() {
    const items = this.pointCount + this.bodies.length;
    const way = new Float64Array(items);
    const p = this.frames;
    for (let f = 1; f < this.count; f++) {
      const base = f * this.stride;
      for (let i = 0; i < items; i++) {
        const at = this.place(i);
        let moved = Math.hypot(p[base + at] - p[at], p[base + at + 1] - p[at + 1], p[base + at + 2] - p[at + 2]);
        if (i >= this.pointCount) {
          let c = 0;
          for (let k = 3; k < 7; k++) c += p[base + at + k] * p[at + k];
          moved += this.reach[i - this.pointCount] * 2 * Math.sqrt(Math.max(0, 1 - c * c));
        }
        if (moved > way[i]) way[i] = moved;
      }
    }
    const most = way.reduce((m, x) => Math.max(m, x), 0);
    this.moves = Array.from(way, (x) => x > 1e-3 * most && x > 1e-6 * this.size);
    // A picture of them has the other ends of their lines, and the other corners of their triangles, too.
    const ends = [...this.moves];
    for (const [list, size] of [[this.segments, 2], [this.triangles, 3]]) {
      for (let s = 0; s + size <= list.length; s += size) {
        const corners = list.subarray(s, s + size);
        if (corners.some((i) => this.moves[i])) for (const i of corners) ends[i] = true;
      }
    }
    this.framed = ends;
  }

  /** The mean position of the items for which `has(i)` holds, at frame `f`, relative to `centre`; null without any. */
  middle(has, f) {
    const sum = [0, 0, 0];
    let count = 0;
    for (let i = 0; i < this.pointCount + this.bodies.length; i++) {
      if (!has(i)) continue;
      const at = f * this.stride + this.place(i);
      for (let k = 0; k < 3; k++) sum[k] += this.frames[at + k];
      count++;
    }
    return count > 0 ? sum.map((x, k) => x / count - this.centre[k]) : null;
  }

  /** Spheres (x, y, z, radius) that a camera must see: those of the items for which `has(i)` holds, from frame `first` to
   *  frame `last`, relative to `centre` and to `anchor(f)` if it is given. */
  cloudOf(has, first, last, anchor) {
    const items = [];
    for (let i = 0; i < this.pointCount + this.bodies.length; i++) if (has(i)) items.push(i);
    const skip = Math.max(1, Math.ceil((items.length * (last - first + 1)) / 60000));
    const cloud = [];
    let seen = 0;
    for (let f = first; f <= last; f++) {
      const from = anchor ? anchor(f) : [0, 0, 0];
      for (const i of items) {
        if (seen++ % skip !== 0) continue;
        const at = f * this.stride + this.place(i);
        const r = i < this.pointCount ? this.radius : this.reach[i - this.pointCount];
        cloud.push([0, 1, 2].map((k) => this.frames[at + k] - this.centre[k] - from[k]).concat(r));
      }
    }
    return cloud;
  }

  /** How far `body` with the orientation `q` reaches below its origin. */
  below(body, q) {
    if (body.kind === "sphere") return body.size[0];
    const rise = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((axis, k) => body.size[k] * dot(this.up, rotate(q, axis)));
    if (body.kind === "axes") return Math.max(0, -Math.min(...rise));
    return rise.reduce((sum, x) => sum + Math.abs(x), 0);
  }

  /** The median distance of joined points in the first frame. */
  spacing() {
    const lengths = [];
    const add = (i, j) => {
      const [a, b] = [3 * i, 3 * j];
      const p = this.frames;
      lengths.push(Math.hypot(p[a] - p[b], p[a + 1] - p[b + 1], p[a + 2] - p[b + 2]));
    };
    for (let s = 0; s + 1 < this.segments.length; s += 2) add(this.segments[s], this.segments[s + 1]);
    if (lengths.length === 0) {
      for (let t = 0; t + 2 < this.triangles.length; t += 3) add(this.triangles[t], this.triangles[t + 1]);
    }
    lengths.sort((a, b) => a - b);
    return lengths[lengths.length >> 1] || 0.05 * this.size;
  }

  /** The last frame that is not after `time`. */
  frameAt(time) {
    let low = 0, high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time) low = middle; else high = middle - 1;
    }
    return low;
  }

  /** Frame before `time`, frame after it, and the fraction of the way. */
  bracket(time) {
    const a = this.frameAt(time);
    const b = Math.min(a + 1, this.count - 1);
    const span = this.times[b] - this.times[a];
    return [a, b, span > 0 ? clamp((time - this.times[a]) / span, 0, 1) : 0];
  }

  /** Sets `points`, `poses` and `normals` to the state at `time`. */
  moveTo(time) {
    const [a, b, f] = this.bracket(time);
    const p = this.frames;
    const [ia, ib] = [a * this.stride, b * this.stride];
    for (let i = 0; i < this.pointCount; i++) {
      for (let k = 0; k < 3; k++) {
        const from = p[ia + 3 * i + k];
        this.points[4 * i + k] = from + f * (p[ib + 3 * i + k] - from) - this.centre[k];
      }
    }
    this.poses.forEach((pose, body) => {
      const at = 3 * this.pointCount + 7 * body;
      for (let k = 0; k < 3; k++) {
        const from = p[ia + at + k];
        pose[k] = from + f * (p[ib + at + k] - from) - this.centre[k];
      }
      const q = slerp(p, ia + at + 3, p, ib + at + 3, f);
      for (let k = 0; k < 4; k++) pose[3 + k] = q[k];
    });
    if (this.spans.length > 0) this.hide(a);
    this.bend();
  }

  /** Makes triangles that are not there in a frame points, which nothing is drawn of. */
  hide(frame) {
    const { triangles: t, whole, spans } = this;
    for (let k = 0; 2 * k < spans.length; k++) {
      const isThere = frame >= spans[2 * k] && frame < spans[2 * k + 1];
      for (let j = 1; j < 3; j++) {
        const corner = whole[3 * k + (isThere ? j : 0)];
        if (t[3 * k + j] !== corner) [t[3 * k + j], this.tears] = [corner, true];
      }
    }
  }

  /** Normals of the points: sum of the area vectors of their triangles. */
  bend() {
    const { points: p, normals: n, triangles: t } = this;
    n.fill(0);
    for (let s = 0; s + 2 < t.length; s += 3) {
      const a = 4 * t[s], b = 4 * t[s + 1], c = 4 * t[s + 2];
      const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
      const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
      const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
      for (const i of [a, b, c]) {
        n[i] += nx;
        n[i + 1] += ny;
        n[i + 2] += nz;
      }
    }
  }

  /** First and last (exclusive) contact force of the picture at `time`. */
  arrowsAt(time) {
    const f = this.frameAt(time);
    return [this.arrowStarts[f], this.arrowStarts[f + 1]];
  }

  /** Most contact forces in a frame, and the largest of all. */
  arrowExtent() {
    let most = 0, largest = 0;
    for (let f = 0; f < this.count; f++) most = Math.max(most, this.arrowStarts[f + 1] - this.arrowStarts[f]);
    for (let i = 0; i < this.arrows.length; i += 6) {
      largest = Math.max(largest, Math.hypot(this.arrows[i + 3], this.arrows[i + 4], this.arrows[i + 5]));
    }
    return [most, largest];
  }

  /** The value of a field at item `i` (the points, then the bodies) and `time`; NaN where there is none. */
  fieldAt(field, i, time) {
    const items = this.pointCount + (field.bodies ? this.bodies.length : 0);
    if (i >= items) return NaN;
    const [a, b, f] = this.bracket(time);
    const value = (frame) => {
      const code = field.values[frame * items + i];
      return code === 65535 ? NaN : field.low + (code / 65534) * (field.high - field.low);
    };
    return f > 0 ? value(a) * (1 - f) + value(b) * f : value(a);
  }

  /** How far item `i` is from where it was at the start. */
  displacement(i) {
    const at = this.place(i);
    const now = i < this.pointCount ? this.points.subarray(4 * i, 4 * i + 3) : this.poses[i - this.pointCount];
    return Math.hypot(...[0, 1, 2].map((k) => now[k] + this.centre[k] - this.frames[at + k]));
  }

  /** The largest displacement of all. */
  largestDisplacement() {
    if (this.furthest !== undefined) return this.furthest;
    let most = 0;
    const p = this.frames;
    for (let i = 0; i < this.pointCount + this.bodies.length; i++) {
      const at = this.place(i);
      for (let f = 1; f < this.count; f++) {
        const now = f * this.stride + at;
        most = Math.max(most, Math.hypot(p[now] - p[at], p[now + 1] - p[at + 1], p[now + 2] - p[at + 2]));
      }
    }
    this.furthest = most;
    return most;
  }

  /** The activation of a muscle at `time`. */
  activationAt(muscle, time) {
    const [a, b, f] = this.bracket(time);
    const count = this.muscles.length;
    return this.activations[a * count + muscle] * (1 - f) + this.activations[b * count + muscle] * f;
  }

  /** Position (relative to `centre`) and quaternion of a joint at the present time. */
  markPose(mark) {
    if (mark.body === null) return [mark.position.map((x, k) => x - this.centre[k]), mark.rotation];
    const pose = this.poses[mark.body];
    const q = pose.slice(3);
    const arm = rotate(q, mark.position);
    return [arm.map((x, k) => x + pose[k]), multiply(q, mark.rotation)];
  }
}
