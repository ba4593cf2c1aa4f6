// The camera: turns about a target, fitted to the whole motion at first.

class Camera {
  constructor(motion) {
    this.motion = motion;
    this.tangent = Math.tan((17 * Math.PI) / 180); // of half the vertical angle of view
    this.aspect = 1;
    this.reset();
  }

  /** The first view: across the widest horizontal direction, a little from above. */
  reset() {
    const { cloud, right, back, up } = this.motion;
    let aa = 0, ab = 0, bb = 0, hh = 0;
    for (const p of cloud) {
      const a = dot(p, right), b = dot(p, back), h = dot(p, up);
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
    this.touched = false;
    this.fit();
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

  /** Moves target and distance so that the whole motion just fits the picture. */
  fit() {
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
      for (const p of this.motion.cloud) {
        const off = dot(p, axis), depth = dot(p, z);
        plus = Math.max(plus, off + high * depth + p[3] * Math.hypot(1, high));
        minus = Math.max(minus, -off + low * depth + p[3] * Math.hypot(1, low));
      }
      return [plus, minus];
    });
    this.distance = 2 * this.motion.size;
    this.target = [0, 0, 0];
    if (this.motion.cloud.length > 0) {
      this.distance = Math.max(0.2 * this.motion.size,
        ...bounds.map(([plus, minus], k) => (plus + minus) / (room[k][1] + room[k][2])));
      const [cx, cy] = bounds.map(([plus, minus], k) => (plus - minus + (room[k][2] - room[k][1]) * this.distance) / 2);
      this.target = x.map((v, k) => cx * v + cy * y[k]);
    }
    this.home = this.distance;
  }

  turn(dx, dy) {
    this.touched = true;
    this.yaw -= 0.008 * dx;
    this.pitch = clamp(this.pitch + 0.008 * dy, -1.55, 1.55);
  }

  /** Moves the picture by pixels of a canvas of the given height. */
  pan(dx, dy, height) {
    this.touched = true;
    const [x, y] = this.axes();
    const metres = (2 * this.tangent * this.distance) / height;
    this.target = this.target.map((v, k) => v + metres * (-dx * x[k] + dy * y[k]));
  }

  zoom(factor) {
    this.touched = true;
    this.distance = clamp(this.distance * factor, 0.02 * this.home, 12 * this.home);
  }

  eye() {
    const z = this.axes()[2];
    return this.target.map((v, k) => v + this.distance * z[k]);
  }

  /** View and projection as column-major arrays, and the near distance. */
  matrices() {
    const [x, y, z] = this.axes();
    const e = this.eye();
    const reach = Math.hypot(...e) + 12 * this.motion.size;
    const near = Math.max(0.01 * this.distance, Math.hypot(...e) - 9 * this.motion.size);
    const view = [x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, e), -dot(y, e), -dot(z, e), 1];
    const t = this.tangent;
    const depth = -(reach + near) / (reach - near);
    const project = [1 / (t * this.aspect), 0, 0, 0, 0, 1 / t, 0, 0, 0, 0, depth, -1, 0, 0, (-2 * reach * near) / (reach - near), 0];
    return { view, project, near };
  }
}
