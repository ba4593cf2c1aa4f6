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
    // Bodies "limb 0", "limb 1", ... are one family, "limb".
    const family = (body) => body.name.replace(/ \d+$/, "");
    this.families = [...new Set(this.bodies.map(family))];
    this.familyOf = this.bodies.map((body) => this.families.indexOf(family(body)));
    this.pointCount = data.points;
    this.count = data.count;
    this.times = unpack(data.times, Float64Array);
    this.frames = unpack(data.frames, Float32Array);
    this.energies = unpack(data.energies, Float32Array);
    this.segments = unpack(data.segments, Uint32Array);
    this.triangles = unpack(data.triangles, Uint32Array);
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
    // Positions at the present time relative to `centre`, with the colour index as fourth number; poses (p, w x y z).
    this.width = Math.min(1024, Math.max(1, this.pointCount));
    this.rows = Math.max(1, Math.ceil(this.pointCount / this.width));
    this.points = new Float32Array(4 * this.width * this.rows);
    this.poses = this.bodies.map(() => new Array(7).fill(0));
    this.groups.forEach((group, g) => {
      for (let i = group.start; i < group.start + group.count; i++) this.points[4 * i + 3] = g % 8;
    });
    this.normals = new Float32Array(this.triangles.length > 0 ? this.points.length : 4);
  }

  /** Centre, size, lowest level and a cloud of spheres (x, y, z, radius) that the camera must see. */
  measure() {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const grow = (p, at, r) => {
      for (let k = 0; k < 3; k++) {
        low[k] = Math.min(low[k], p[at + k] - r);
        high[k] = Math.max(high[k], p[at + k] + r);
      }
    };
    const reach = this.bodies.map((body) =>
      body.kind === "box" || body.kind === "mesh" ? Math.hypot(...body.size) : body.size[0]);
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
    this.cloud = [];
    const items = Math.max(1, this.count * (this.pointCount + this.bodies.length));
    const skip = Math.ceil(items / 60000);
    let seen = 0;
    const see = (p, at, r) => {
      if (seen++ % skip === 0) this.cloud.push([0, 1, 2].map((k) => p[at + k] - this.centre[k]).concat(r));
    };
    for (let f = 0; f < this.count; f++) {
      const base = f * this.stride;
      for (let i = 0; i < this.pointCount; i++) {
        const at = base + 3 * i;
        const h = this.up[0] * this.frames[at] + this.up[1] * this.frames[at + 1] + this.up[2] * this.frames[at + 2];
        lowest = Math.min(lowest, h - this.radius);
        see(this.frames, at, this.radius);
      }
      this.bodies.forEach((body, b) => {
        const at = base + 3 * this.pointCount + 7 * b;
        const position = this.frames.subarray(at, at + 3);
        lowest = Math.min(lowest, dot(this.up, position) - this.below(body, slerp(this.frames, at + 3, this.frames, at + 3, 0)));
        see(this.frames, at, reach[b]);
      });
    }
    this.ground = Number.isFinite(lowest) ? lowest - dot(this.up, this.centre) : 0;
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
    this.bend();
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

  /** Kinetic, potential and dissipated energy at `time`. */
  energyAt(time) {
    const [a, b, f] = this.bracket(time);
    return [0, 1, 2].map((k) => this.energies[3 * a + k] * (1 - f) + this.energies[3 * b + k] * f);
  }
}
