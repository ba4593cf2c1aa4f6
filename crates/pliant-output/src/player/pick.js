// What is under the pointer, and the values of what was picked.

/** Where a ray meets a triangle, in lengths of its direction; Infinity if it misses. */
function meetTriangle(from, way, a, b, c) {
  const u = [b[0] - a[0], b[1] - a[1], b[2] - a[2]], v = [c[0] - a[0], c[1] - a[1], c[2] - a[2]];
  const p = cross(way, v), det = dot(u, p);
  if (Math.abs(det) < 1e-30) return Infinity;
  const t = [from[0] - a[0], from[1] - a[1], from[2] - a[2]];
  const x = dot(t, p) / det, q = cross(t, u), y = dot(way, q) / det;
  if (x < 0 || y < 0 || x + y > 1) return Infinity;
  const s = dot(v, q) / det;
  return s > 0 ? s : Infinity;
}

/** Where a ray meets a body of these half sizes or triangles, in its axes. */
function meetBody(body, from, way) {
  if (body.kind === "sphere") {
    const b = dot(from, way), c = dot(from, from) - body.size[0] ** 2, d = b * b - c;
    const s = -b - Math.sqrt(Math.max(0, d));
    return d >= 0 && s > 0 ? s : Infinity;
  }
  const half = body.kind === "axes" ? body.size.map((x) => 0.5 * x) : body.size;
  let [enter, leave] = [0, Infinity];
  for (let k = 0; k < 3; k++) {
    const [s, t] = [(-half[k] - from[k]) / way[k], (half[k] - from[k]) / way[k]];
    if (Number.isNaN(s) || Number.isNaN(t)) continue;
    enter = Math.max(enter, Math.min(s, t));
    leave = Math.min(leave, Math.max(s, t));
  }
  if (enter > leave) return Infinity;
  if (body.kind !== "mesh") return enter;
  if (!body.corners) body.corners = unpack(body.mesh || "", Float32Array);
  const scale = 4 * Math.max(...body.size), n = body.corners;
  const corner = (i) => [n[i] * scale, n[i + 1] * scale, n[i + 2] * scale];
  let best = Infinity;
  for (let i = 0; i + 17 < n.length; i += 18) best = Math.min(best, meetTriangle(from, way, corner(i), corner(i + 6), corner(i + 12)));
  return best;
}

/** What is at a pixel of the picture: { kind, index } of a point, body, line or joint; null for nothing. */
function pick({ motion, things, camera, view, showsJoints }, px, py) {
  const [w, h] = [view.clientWidth, view.clientHeight];
  const [eye, way] = camera.ray(px, py, w, h);
  let best = { depth: Infinity, found: null };
  const take = (depth, kind, index) => { if (depth < best.depth) best = { depth, found: { kind, index } }; };
  const point = (i) => [motion.points[4 * i], motion.points[4 * i + 1], motion.points[4 * i + 2]];
  motion.bodies.forEach((body, b) => {
    if (!things.ofBody[b].shown) return;
    const pose = motion.poses[b];
    const back = [pose[3], -pose[4], -pose[5], -pose[6]];
    take(meetBody(body, rotate(back, eye.map((x, k) => x - pose[k])), rotate(back, way)), "body", b);
  });
  const t = motion.triangles;
  for (let s = 0; s + 2 < t.length; s += 3) {
    const thing = things.of(t[s]);
    if (!thing.shown) continue;
    const [a, b, c] = [point(t[s]), point(t[s + 1]), point(t[s + 2])];
    const depth = meetTriangle(eye, way, a, b, c);
    if (depth >= best.depth) continue;
    // The nearest of the three corners.
    const at = eye.map((x, k) => x + depth * way[k]);
    const away = [a, b, c].map((p) => Math.hypot(...p.map((x, k) => x - at[k])));
    take(depth, "point", t[s + away.indexOf(Math.min(...away))]);
  }
  // Points and lines that are near enough to the pointer, and not behind what was met.
  const near = (p, reach) => {
    const [x, y, depth] = camera.project(p, w, h);
    return depth > 0 && depth < best.depth * 1.02 && Math.hypot(x - px, y - py) < reach ? depth * 0.98 : Infinity;
  };
  const all = best;
  for (let i = 0; i < motion.pointCount; i++) if (things.of(i).shown) take(near(point(i), 7), "point", i);
  if (best === all) {
    for (let s = 0; s < things.lineOf.length; s++) {
      const line = things.lineOf[s];
      if (line < 0 || !things.ofLine[line].shown) continue;
      const [a, b] = [point(motion.segments[2 * s]), point(motion.segments[2 * s + 1])];
      const [pa, pb] = [camera.project(a, w, h), camera.project(b, w, h)];
      const along = [pb[0] - pa[0], pb[1] - pa[1]];
      const f = clamp(((px - pa[0]) * along[0] + (py - pa[1]) * along[1]) / (along[0] ** 2 + along[1] ** 2 || 1), 0, 1);
      take(near(a.map((x, k) => x + f * (b[k] - x)), 6), "line", line);
    }
  }
  if (showsJoints) {
    motion.marks.forEach((mark, m) => {
      if (!things.ofMark[m].shown) return;
      const [x, y, depth] = camera.project(motion.markPose(mark)[0], w, h);
      // They are drawn over everything.
      if (depth > 0 && Math.hypot(x - px, y - py) < 9) best = { depth: 0, found: { kind: "joint", index: m } };
    });
  }
  return best.found;
}

/** The thing, the title, the place relative to `centre` (null of a line), and rows of names and values of what was picked. */
function describe({ motion, things, paint, series, time }, { kind, index }) {
  const rows = [];
  // Positions are in single precision.
  const fine = 2e-7 * (motion.size + Math.hypot(...motion.centre));
  // Numbers that are rounding are zero.
  const vector = (raw, unitName, noise) => {
    const v = raw.map((x) => (Math.abs(x) <= noise ? 0 : x));
    const power = prefixFor(Math.max(...v.map(Math.abs)), unitName);
    return withUnit("(" + v.map((x) => fixed(x, power, 4 - Math.ceil(Math.log10(Math.max(...v.map(Math.abs)) / 10 ** power || 1)))).join(", ") + ")", power, unitName);
  };
  if (kind === "joint") {
    const mark = motion.marks[index], [place] = motion.markPose(mark);
    rows.push(["kind", mark.kind], ["position", vector(place.map((x, k) => x + motion.centre[k]), "m", fine)]);
    const columns = series.joint(mark.force), six = columns.map((one) => one.at(time));
    if (six.length === 6) {
      rows.push(["force", vector(six.slice(0, 3), "N", columns[0].noise)], ["torque", vector(six.slice(3), "Nm", columns[3].noise)]);
    }
    for (const one of series.named(mark.name)) {
      if (!/\.(force|torque)_[xyz]$/.test(one.name)) rows.push([one.name.slice(mark.name.length + 1), si(one.at(time), one.unit)]);
    }
    return { thing: things.ofMark[index], title: mark.name, place, rows };
  }
  if (kind === "line") {
    const line = motion.lines[index];
    let length = 0;
    for (let s = line.first; s < line.first + line.count; s++) {
      const [a, b] = [4 * motion.segments[2 * s], 4 * motion.segments[2 * s + 1]];
      length += Math.hypot(...[0, 1, 2].map((k) => motion.points[a + k] - motion.points[b + k]));
    }
    rows.push(["length", si(length, "m")]);
    if (line.activation !== undefined) rows.push(["activation", motion.activationAt(line.activation, time).toFixed(3)]);
    return { thing: things.ofLine[index], title: line.name, place: null, rows };
  }
  const item = kind === "point" ? index : motion.pointCount + index;
  const thing = things.of(item);
  const place = kind === "point" ? Array.from(motion.points.subarray(4 * index, 4 * index + 3)) : motion.poses[index].slice(0, 3);
  const group = kind === "point" ? motion.groups[things.groupOf[index]] : null;
  rows.push(["position", vector(place.map((x, k) => x + motion.centre[k]), "m", fine)]);
  const moved = motion.displacement(item);
  rows.push(["displacement", si(moved <= fine ? 0 : moved, "m")]);
  for (const field of motion.fields) {
    const value = motion.fieldAt(field, item, time);
    if (Number.isFinite(value)) rows.push([field.name, si(value, field.unit)]);
  }
  const title = group ? group.name + (group.count > 1 ? "[" + (index - group.start) + "]" : "") : motion.bodies[index].name;
  return { thing, title, place, rows };
}
