// The camera: turns about a target that may move along with a thing.

/** Windows of time in each of which the camera frames what moves. */
const WINDOWS = 24;

class Camera {
  constructor(motion, things) {
    this.motion = motion;
    this.things = things;
    this.tangent = Math.tan((17 * Math.PI) / 180); // of half the vertical angle of view
    this.aspect = 1;
    this.anchor = [0, 0, 0];
    this.near = 1;
    this.reset();
    this.moveAnchor(motion.start);
  }

  /** The first view: that of the scene, or one that sees what moves. */
  reset() {
    const { camera } = this.motion.look;
    if (camera) return this.apply(camera);
    this.see("moving", "");
  }

  /** Clouds of what moves about each of some times, if a picture of the whole way would hardly show it; else null. */
  windows() {
    const { motion, things } = this;
    const extent = (cloud) => {
      const sides = [0, 1, 2].map((k) => cloud.reduce((m, p) => Math.max(m, p[k] + p[3]), -Infinity) -
        cloud.reduce((m, p) => Math.min(m, p[k] - p[3]), Infinity));
      return cloud.length > 0 ? Math.hypot(...sides) : 0;
    };
    if (motion.count < 8) return null;
    const has = things.test("framed");
    const last = motion.count - 1;
    const clouds = [];
    for (let k = 0; k < WINDOWS; k++) {
      const middle = (k / (WINDOWS - 1)) * last, half = (0.7 / WINDOWS) * last;
      clouds.push(motion.cloudOf(has, Math.max(0, Math.floor(middle - half)), Math.min(last, Math.ceil(middle + half))));
    }
    const sizes = clouds.map(extent).sort((a, b) => a - b);
    return extent(this.cloud) > 2 * sizes[WINDOWS >> 2] ? clouds : null;
  }

  /** Frames things over the whole run: "all", "moving" ones, or those of a name; moving along with `follow` if it is given. */
  see(what, follow) {
    const { motion, things } = this;
    this.follow(follow);
    const anchor = this.following ? (f) => motion.middle(this.following, f) || [0, 0, 0] : null;
    this.cloud = motion.cloudOf(things.test(what === "moving" ? "framed" : what), 0, motion.count - 1, anchor);
    this.choose();
    this.clouds = what === "moving" && !follow ? this.windows() : null;
    this.fit();
    // A point, or a small thing, is seen with what is about it.
    if (what !== "moving" && what !== "all") {
      const some = this.fitted(motion.cloudOf(things.test("framed"), 0, 0));
      this.distance = this.home = Math.max(this.distance, 0.4 * some.distance);
    }
  }

  /** Frames what moves, or all, as it is at frame `f`, from the present direction. */
  seeNow(f) {
    this.follow(this.followed);
    const anchor = this.following ? (g) => this.motion.middle(this.following, g) || [0, 0, 0] : null;
    this.cloud = this.motion.cloudOf(this.things.test(this.followed && this.followed !== "moving" ? this.followed : "framed"), f, f, anchor);
    this.clouds = null;
    this.fit();
    this.touched = true;
  }

  /** Moves along with a thing from now on; with none if `what` is empty. */
  follow(what) {
    this.clouds = null;
    this.followed = what || "";
    this.following = what ? this.things.test(what) : null;
  }

  /** A view of the scene, or of the address line: from `eye` to `target` in world coordinates, as it is at the start. */
  apply({ eye, target, follow }) {
    if (!eye) {
      this.see(follow, follow);
      return;
    }
    this.follow(follow);
    this.moveAnchor(0);
    this.look(eye, target);
  }

  /** Looks from one place to another one, in world coordinates. */
  look(eye, target) {
    const { motion } = this;
    if (!this.following) this.anchor = [0, 0, 0];
    const away = eye.map((x, k) => x - target[k]);
    const z = unit(away);
    this.distance = this.home = Math.hypot(...away);
    this.pitch = Math.asin(clamp(dot(z, motion.up), -1, 1));
    this.yaw = Math.atan2(dot(z, motion.right), dot(z, motion.back));
    this.target = target.map((x, k) => x - motion.centre[k] - this.anchor[k]);
    this.near = 1;
    this.clouds = null;
    this.touched = true;
  }

  /** Goes to where the followed thing is at `time`, or to where all that moves then is seen. */
  moveAnchor(time) {
    const { motion } = this;
    if (this.clouds) {
      const at = clamp((motion.count > 1 ? motion.frameAt(time) + motion.bracket(time)[2] : 0) / (motion.count - 1), 0, 1) * (WINDOWS - 1);
      const k = Math.min(Math.floor(at), WINDOWS - 2), f = at - k, s = f * f * (3 - 2 * f);
      const [a, b] = [this.stops[k], this.stops[k + 1]];
      this.anchor = a.target.map((x, j) => x + s * (b.target[j] - x));
      this.near = a.distance ** (1 - s) * b.distance ** s;
      return;
    }
    this.near = 1;
    if (!this.following) {
      this.anchor = [0, 0, 0];
      return;
    }
    const [a, b, f] = motion.bracket(time);
    const p = motion.middle(this.following, a), q = motion.middle(this.following, b);
    this.anchor = p && q ? p.map((x, k) => x + f * (q[k] - x)) : [0, 0, 0];
  }

  /** The direction from which the cloud is seen best: across its widest horizontal direction, a little from above. */
  choose() {
    const { right, back, up } = this.motion;
    const mean = [0, 1, 2].map((k) => this.cloud.reduce((sum, p) => sum + p[k], 0) / (this.cloud.length || 1));
    let aa = 0, ab = 0, bb = 0, hh = 0;
    for (const p of this.cloud) {
      const d = mean.map((x, k) => p[k] - x);
      const a = dot(d, right), b = dot(d, back), h = dot(d, up);
      aa += a * a;
      ab += a * b;
      bb += b * b;
      hh += h * h;
    }
    const spread = Math.hypot(aa - bb, 2 * ab);
    const long = (aa + bb + spread) / 2, short = (aa + bb - spread) / 2;
    const principal = 0.5 * Math.atan2(2 * ab, aa - bb);
    const flat = clamp(1 - 2 * Math.sqrt(hh / (long || 1)), 0, 1);
    this.yaw = short < 0.4 * long ? -principal + 0.42 : 0.5;
    this.pitch = 0.24 + 0.28 * flat;
  }

  /** A direction by its name. */
  turnTo(name) {
    [this.yaw, this.pitch] = { front: [0, 0], side: [Math.PI / 2, 0], top: [0, 1.55] }[name];
    this.clouds = null;
    this.fit();
    this.touched = true;
  }

  /** Unit vectors of the screen: right, up, towards the viewer. */
  axes() {
    const { right, back, up } = this.motion;
    const [s, c] = [Math.sin(this.yaw), Math.cos(this.yaw)];
    const [sp, cp] = [Math.sin(this.pitch), Math.cos(this.pitch)];
    const z = up.map((x, k) => cp * (s * right[k] + c * back[k]) + sp * x);
    const x = right.map((v, k) => c * v - s * back[k]);
    return [x, cross(z, x), z];
  }

  /** Moves target and distance so that the cloud just fits the picture, or the clouds one after the other. */
  fit() {
    this.touched = false;
    if (!this.clouds) {
      const all = () => this.motion.cloudOf(this.things.test("all"), 0, this.motion.count - 1);
      Object.assign(this, this.fitted(this.cloud || all()));
      this.near = 1;
      this.home = this.distance;
      return;
    }
    this.frameWindows();
    [this.target, this.distance] = [[0, 0, 0], 1];
    this.home = 1;
  }

  /** Where the camera stands for each of the windows: not nearer than for its neighbours, and no jumps. */
  frameWindows() {
    const own = this.clouds.map((cloud) => this.fitted(cloud));
    const some = (k, list) => list.slice(Math.max(0, k - 1), k + 2);
    const far = own.map((one, k) => Math.max(...some(k, own).map((other) => other.distance)));
    this.stops = own.map((one, k) => {
      const near = some(k, own), wide = some(k, far);
      return {
        target: [0, 1, 2].map((j) => near.reduce((sum, other) => sum + other.target[j], 0) / near.length),
        distance: Math.exp(wide.reduce((sum, d) => sum + Math.log(d), 0) / wide.length),
      };
    });
  }

  /** Target and distance for which a cloud just fits the picture. */
  fitted(cloud) {
    const [x, y, z] = this.axes();
    // The slopes of the sight lines that bound the room for the motion; above is the title.
    const room = [
      [x, 0.88 * this.tangent * this.aspect, 0.88 * this.tangent * this.aspect],
      [y, 0.78 * this.tangent, 0.86 * this.tangent],
    ];
    // With the eye at the distance d and the offset c along the axis, the sphere (p, r) is within the room if
    // high d + c >= plus and low d - c >= minus.
    const bounds = room.map(([axis, high, low]) => {
      let plus = -Infinity, minus = -Infinity;
      for (const p of cloud) {
        const off = dot(p, axis), depth = dot(p, z);
        plus = Math.max(plus, off + high * depth + p[3] * Math.hypot(1, high));
        minus = Math.max(minus, -off + low * depth + p[3] * Math.hypot(1, low));
      }
      return [plus, minus];
    });
    let distance = 2 * this.motion.size, target = [0, 0, 0];
    if (cloud.length > 0) {
      distance = Math.max(1e-3 * this.motion.size,
        ...bounds.map(([plus, minus], k) => (plus + minus) / (room[k][1] + room[k][2])));
      const [cx, cy] = bounds.map(([plus, minus], k) => (plus - minus + (room[k][2] - room[k][1]) * distance) / 2);
      target = x.map((v, k) => cx * v + cy * y[k]);
      // In the middle of the depth too, about which the camera turns.
      const depths = cloud.map((p) => dot(p, z));
      const middle = (depths.reduce((m, d) => Math.max(m, d), -Infinity) + depths.reduce((m, d) => Math.min(m, d), Infinity)) / 2;
      target = target.map((v, k) => v + middle * z[k]);
      distance -= middle;
    }
    return { target, distance: Math.max(distance, 1e-3 * this.motion.size) };
  }

  /** The distance of the eye from the middle of the picture. */
  range() { return this.distance * this.near; }

  turn(dx, dy) {
    this.touched = true;
    this.yaw -= 0.008 * dx;
    this.pitch = clamp(this.pitch + 0.008 * dy, -1.55, 1.55);
    if (this.clouds) this.frameWindows();
  }

  /** Moves the picture by pixels of a canvas of the given height. */
  pan(dx, dy, height) {
    this.touched = true;
    const [x, y] = this.axes();
    const metres = (2 * this.tangent * this.range()) / height;
    this.target = this.target.map((v, k) => v + metres * (-dx * x[k] + dy * y[k]));
  }

  zoom(factor) {
    this.touched = true;
    this.distance = clamp(this.distance * factor, 0.02 * this.home, 12 * (this.clouds ? 1 : Math.max(this.home, this.motion.size)));
  }

  /** The place in the middle of the picture. */
  at() { return this.target.map((x, k) => x + this.anchor[k]); }

  eye() {
    const z = this.axes()[2];
    return this.at().map((v, k) => v + this.range() * z[k]);
  }

  /** View and projection as column-major arrays, and the near distance. */
  matrices() {
    const [x, y, z] = this.axes();
    const e = this.eye();
    const reach = Math.hypot(...e) + 12 * this.motion.size;
    const near = Math.max(0.01 * this.range(), Math.hypot(...e) - 9 * this.motion.size);
    const view = [x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, e), -dot(y, e), -dot(z, e), 1];
    const t = this.tangent;
    const depth = -(reach + near) / (reach - near);
    const project = [1 / (t * this.aspect), 0, 0, 0, 0, 1 / t, 0, 0, 0, 0, depth, -1, 0, 0, (-2 * reach * near) / (reach - near), 0];
    return { view, project, near };
  }

  /** Where a point is on the picture [CSS px of a canvas of that size], and its depth. */
  project(p, width, height) {
    const [x, y, z] = this.axes();
    const d = p.map((v, k) => v - this.eye()[k]);
    const depth = -dot(d, z);
    const scale = height / (2 * this.tangent * depth);
    return [width / 2 + scale * dot(d, x), height / 2 - scale * dot(d, y), depth];
  }

  /** The ray through a pixel: where it begins, and its direction. */
  ray(px, py, width, height) {
    const [x, y, z] = this.axes();
    const a = ((px / width) * 2 - 1) * this.tangent * this.aspect, b = (1 - (py / height) * 2) * this.tangent;
    return [this.eye(), unit(z.map((v, k) => a * x[k] + b * y[k] - v))];
  }
}
