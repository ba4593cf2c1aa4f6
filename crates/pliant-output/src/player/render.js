// Drawing with WebGL2. Everything on the card is made in `build`, so that a lost context can be built again.

/** The length 1, 2 or 5 times a power of ten that is next to `x`, not above it. */
function niceStep(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  const digit = x / power;
  return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

const BODY_FLOATS = 13; // position 3, rotation 4, size 3, colour 3
/** How joints are marked: mesh, and half sizes over that of the mark. */
const MARKS = {
  "hinge": ["rods", [1, 1, 2.2]], "cylindrical joint": ["rods", [1, 1, 3]], "screw": ["rods", [1, 1, 3]],
  "slider": ["cubes", [0.6, 0.6, 3]], "point on a line": ["cubes", [0.3, 0.3, 4]],
  "planar joint": ["cubes", [2.5, 2.5, 0.3]], "point on a plane": ["cubes", [2.5, 2.5, 0.2]],
  "fixed joint": ["cubes", [0.9, 0.9, 0.9]],
};

class Renderer {
  /** Throws if WebGL2 is missing. */
  constructor(canvas, motion, things, paint) {
    this.canvas = canvas;
    this.motion = motion;
    this.things = things;
    this.paint = paint;
    this.gl = canvas.getContext("webgl2", { antialias: true, stencil: true, alpha: true, premultipliedAlpha: true });
    if (!this.gl) {
      throw new Error("This page draws with WebGL2, which this browser does not offer; please try another browser or device.");
    }
    this.step = niceStep(motion.size / 8);
    this.markCount = 0;
    this.build();
  }

  program([vertex, fragment]) {
    const gl = this.gl;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
        throw new Error("shader: " + gl.getShaderInfoLog(shader));
      }
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error("program: " + gl.getProgramInfoLog(program));
    }
    const at = {};
    const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) || 0;
    for (let i = 0; i < count; i++) {
      const name = gl.getActiveUniform(program, i).name.replace("[0]", "");
      at[name] = gl.getUniformLocation(program, name);
    }
    return { program, at };
  }

  texture(unit, pixels, width, rows) {
    const gl = this.gl;
    const texture = gl.createTexture();
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32F, width, rows);
    return { unit, texture, width, rows, pixels };
  }

  upload({ unit, texture, width, rows, pixels }) {
    const gl = this.gl;
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, rows, gl.RGBA, gl.FLOAT, pixels);
  }

  /** A vertex array of `size` point indices per instance, and of colours if they are given. */
  indexArray(indices, size, colours) {
    const gl = this.gl;
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, indices, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribIPointer(0, size, gl.UNSIGNED_INT, 0, 0);
    gl.vertexAttribDivisor(0, 1);
    if (!colours) return array;
    this.inks = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.inks);
    gl.bufferData(gl.ARRAY_BUFFER, colours, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 4, gl.FLOAT, false, 0, 0);
    gl.vertexAttribDivisor(1, 1);
    return array;
  }

  /** A mesh of (position, face normal) drawn once per instance of `count` bodies. */
  bodyArray(mesh, count) {
    const gl = this.gl;
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(mesh), gl.STATIC_DRAW);
    for (const slot of [0, 1]) {
      gl.enableVertexAttribArray(slot);
      gl.vertexAttribPointer(slot, 3, gl.FLOAT, false, 24, 12 * slot);
    }
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, 4 * BODY_FLOATS * count, gl.DYNAMIC_DRAW);
    let offset = 0;
    [3, 4, 3, 3].forEach((size, k) => {
      gl.enableVertexAttribArray(2 + k);
      gl.vertexAttribPointer(2 + k, size, gl.FLOAT, false, 4 * BODY_FLOATS, offset);
      gl.vertexAttribDivisor(2 + k, 1);
      offset += 4 * size;
    });
    return { array, buffer, vertices: mesh.length / 6, data: new Float32Array(BODY_FLOATS * count), count };
  }

  build() {
    const { gl, motion } = this;
    this.programs = {};
    for (const name of Object.keys(SHADERS)) this.programs[name] = this.program(SHADERS[name]);
    this.points = this.texture(0, motion.points, motion.width, motion.rows);
    const bent = motion.triangles.length > 0;
    this.normals = this.texture(1, motion.normals, bent ? motion.width : 1, bent ? motion.rows : 1);
    this.colours = this.texture(2, this.paint.points, motion.width, motion.rows);
    this.paint.stale = true;
    this.segments = this.indexArray(motion.segments, 2, this.paint.segments);
    this.triangles = this.indexArray(motion.triangles, 3);
    this.corners = gl.getParameter(gl.ARRAY_BUFFER_BINDING);
    const count = (kind) => motion.bodies.filter((body) => body.kind === kind).length;
    this.boxes = this.bodyArray(cubeMesh(), count("box") + 3 * count("axes"));
    this.balls = this.bodyArray(ballMesh(40, 20), count("sphere"));
    this.meshes = motion.bodies.map((body) => body.kind === "mesh" ? this.bodyArray(unpack(body.mesh || "", Float32Array), 1) : null);
    this.bodySets = [this.boxes, this.balls, ...this.meshes.filter((set) => set)];
    this.arrows = this.bodyArray(arrowMesh(), motion.arrowExtent()[0] + motion.marks.length);
    this.arrowCount = 0;
    this.marks = { rods: this.bodyArray(cylinderMesh(20), motion.marks.length), cubes: this.bodyArray(cubeMesh(), motion.marks.length),
      balls: this.bodyArray(ballMesh(20, 10), motion.marks.length) };
    this.empty = gl.createVertexArray();
    gl.bindVertexArray(null);
  }

  /** Writes position, rotation, size and colour of every body into the two instance buffers. */
  placeBodies() {
    const { gl, motion } = this;
    let box = 0, ball = 0;
    const put = (set, index, position, rotation, size, colour) =>
      set.data.set([...position, ...rotation, ...size, ...colour], BODY_FLOATS * index);
    motion.bodies.forEach((body, b) => {
      const position = motion.poses[b].slice(0, 3), rotation = motion.poses[b].slice(3);
      const shown = this.paint.bodies[4 * b + 3];
      const colour = this.paint.bodies.subarray(4 * b, 4 * b + 3);
      const sized = body.size.map((x) => x * shown);
      if (body.kind === "box") {
        put(this.boxes, box++, position, rotation, sized, colour);
      } else if (body.kind === "sphere") {
        put(this.balls, ball++, position, rotation, sized, colour);
      } else if (body.kind === "mesh") {
        const scale = 4 * Math.max(...sized);
        put(this.meshes[b], 0, position, rotation, [scale, scale, scale], colour);
      } else {
        for (let k = 0; k < 3; k++) {
          const half = [0, 1, 2].map((j) => sized[0] * (j === k ? 0.5 : 0.03));
          const way = rotate(rotation, [0, 1, 2].map((j) => (j === k ? 0.5 * body.size[0] : 0)));
          put(this.boxes, box++, position.map((x, j) => x + way[j]), rotation, half, tint(AXIS_COLOURS[k], this.scene.dark));
        }
      }
    });
    for (const set of this.bodySets) {
      gl.bindBuffer(gl.ARRAY_BUFFER, set.buffer);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, set.data);
    }
  }

  /** Writes arrows: each with a point, a force and a colour; a newton is so many metres long. */
  placeArrows(arrows, newton) {
    const { gl } = this;
    this.arrowCount = arrows.length;
    if (this.arrowCount === 0) return;
    arrows.forEach(({ point, force, colour }, i) => {
      const size = Math.hypot(...force);
      const q = fromZ(force.map((x) => (size > 0 ? x / size : 0)));
      const width = Math.min(0.045 * this.scene.high, 0.5 * newton * size);
      this.arrows.data.set([...point, ...q, width, width, 4 * newton * size, ...tint(colour, this.scene.dark)], BODY_FLOATS * i);
    });
    gl.bindBuffer(gl.ARRAY_BUFFER, this.arrows.buffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, this.arrows.data);
  }

  /** The size of the mark of a joint: as thick as its body, within bounds. */
  markSize(mark) {
    const { motion } = this;
    const most = 0.016 * this.scene.high;
    return mark.body === null ? 0.7 * most : clamp(0.6 * Math.min(...motion.bodies[mark.body].size), 0.3 * most, most);
  }

  /** Draws the marks of joints over everything; returns their number. */
  joints(shown) {
    const { gl, motion, things } = this;
    if (!shown || motion.marks.length === 0) return 0;
    const counts = { rods: 0, cubes: 0, balls: 0 };
    motion.marks.forEach((mark, m) => {
      const thing = things.ofMark[m];
      if (!thing.shown) return;
      const [set, shape] = MARKS[mark.kind] || ["balls", [1.3, 1.3, 1.3]];
      const [position, rotation] = motion.markPose(mark);
      const size = this.markSize(mark) * (set === "rods" ? 4 : 1);
      this.marks[set].data.set([...position, ...rotation, ...shape.map((x) => x * size), ...tint(thing.colour, this.scene.dark)],
        BODY_FLOATS * counts[set]++);
    });
    gl.clear(gl.DEPTH_BUFFER_BIT);
    const at = this.use("bodies", false);
    gl.uniform1f(at.uSheer, 0);
    for (const [name, set] of Object.entries(this.marks)) {
      if (counts[name] === 0) continue;
      gl.bindBuffer(gl.ARRAY_BUFFER, set.buffer);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, set.data);
      gl.bindVertexArray(set.array);
      gl.drawArraysInstanced(gl.TRIANGLES, 0, set.vertices, counts[name]);
    }
    return counts.rods + counts.cubes + counts.balls;
  }

  /** Draws the forces over everything: they point into the bodies that they act on. */
  forces() {
    const { gl } = this;
    if (this.arrowCount === 0) return 0;
    gl.clear(gl.DEPTH_BUFFER_BIT);
    const at = this.use("bodies", false);
    gl.uniform1f(at.uSheer, 0);
    gl.bindVertexArray(this.arrows.array);
    gl.drawArraysInstanced(gl.TRIANGLES, 0, this.arrows.vertices, this.arrowCount);
    return this.arrowCount;
  }

  use(name, shadow) {
    const gl = this.gl;
    const { program, at } = this.programs[name];
    const { camera, dark, pixel } = this.scene;
    const { motion } = this;
    gl.useProgram(program);
    gl.uniformMatrix4fv(at.uView, false, camera.view);
    gl.uniformMatrix4fv(at.uProjection, false, camera.project);
    gl.uniform2f(at.uSize, this.canvas.width, this.canvas.height);
    gl.uniform1f(at.uPixel, pixel);
    gl.uniform1f(at.uNear, camera.near);
    gl.uniform4f(at.uGround, ...motion.up, motion.ground);
    gl.uniform3f(at.uSun, ...motion.up.map((x, k) => x + 0.16 * motion.right[k] + 0.22 * motion.back[k]));
    gl.uniform1f(at.uShadow, shadow ? (dark ? 0.4 : 0.16) : 0);
    gl.uniform1i(at.uPoints, 0);
    gl.uniform1i(at.uNormals, 1);
    gl.uniform1i(at.uPaint, 2);
    return at;
  }

  /** Draws all parts, or their shadows; returns their number. */
  parts(shadow) {
    const { gl, motion } = this;
    const { pixel } = this.scene;
    const fine = motion.triangles.length > 0 ? 0.5 : motion.pointCount > 4000 ? 0.7 : 1;
    const segments = motion.segments.length / 2, triangles = motion.triangles.length / 3;
    if (triangles > 0) {
      this.use("triangles", shadow);
      gl.enable(gl.POLYGON_OFFSET_FILL);
      gl.polygonOffset(1.5, 3);
      gl.bindVertexArray(this.triangles);
      gl.drawArraysInstanced(gl.TRIANGLES, 0, 3, triangles);
      gl.disable(gl.POLYGON_OFFSET_FILL);
    }
    for (const set of this.bodySets) {
      if (set.count === 0) continue;
      const at = this.use("bodies", shadow);
      gl.uniform1f(at.uSheer, this.meshes.includes(set) ? 1 : 0);
      gl.bindVertexArray(set.array);
      gl.drawArraysInstanced(gl.TRIANGLES, 0, set.vertices, set.count);
    }
    if (segments > 0) {
      const at = this.use("segments", shadow);
      gl.uniform3f(at.uRadius, 0.45 * fine * motion.radius, 1.5 * fine * pixel, 4 * fine * pixel);
      gl.bindVertexArray(this.segments);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, segments);
    }
    if (motion.pointCount > 0) {
      const at = this.use("points", shadow);
      gl.uniform3f(at.uRadius, fine * motion.radius, 3.2 * fine * pixel, 9 * fine * pixel);
      gl.bindVertexArray(this.empty);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, motion.pointCount);
    }
    return segments + triangles + motion.pointCount + motion.bodies.length;
  }

  ground(camera) {
    const { gl, motion } = this;
    const at = this.use("ground", false);
    // The grid lies about the target, and its lines on multiples of the step in world coordinates.
    const target = camera.at();
    this.step = niceStep(0.11 * camera.range());
    const reach = 5 * Math.max(motion.size, 0.4 * camera.range());
    const lift = motion.ground - dot(motion.up, target);
    const middle = target.map((x, k) => x + lift * motion.up[k]);
    const period = 5 * this.step;
    const shift = [motion.right, motion.back].map((axis) => (dot(middle, axis) + dot(motion.centre, axis)) % period);
    gl.uniformMatrix3fv(at.uPlane, false, [...motion.right, ...motion.back, ...middle]);
    gl.uniform1f(at.uReach, reach);
    gl.uniform1f(at.uStep, this.step);
    gl.uniform2f(at.uShift, ...shift);
    gl.uniform3f(at.uInk, ...(this.scene.dark ? [0.5, 0.57, 0.66] : [0.3, 0.38, 0.48]));
    gl.bindVertexArray(this.empty);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.depthMask(true);
  }

  shadows() {
    const gl = this.gl;
    // The stencil darkens every pixel once.
    gl.enable(gl.STENCIL_TEST);
    gl.stencilFunc(gl.EQUAL, 0, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    gl.disable(gl.DEPTH_TEST);
    this.parts(true);
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.STENCIL_TEST);
  }

  /** Draws the present state of the motion; returns the number of parts drawn, zero while the context is lost. */
  draw(camera, dark, { time, arrows, newton, joints }) {
    const { gl, motion, paint } = this;
    if (gl.isContextLost()) return 0;
    this.scene = { camera: camera.matrices(), dark, pixel: this.canvas.width / Math.max(1, this.canvas.clientWidth),
      high: 2 * camera.tangent * camera.range() };
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.upload(this.points);
    if (paint.update(time, dark)) {
      this.upload(this.colours);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.inks);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, paint.segments);
    }
    if (motion.tears) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, motion.triangles);
      motion.tears = false;
    }
    if (motion.triangles.length > 0) this.upload(this.normals);
    this.placeBodies();
    this.placeArrows(arrows, newton);
    const above = dot(camera.eye(), motion.up) > motion.ground;
    if (above) {
      this.ground(camera);
      this.shadows();
    }
    let drawn = this.parts(false);
    if (!above) this.ground(camera);
    drawn += this.joints(joints) + this.forces();
    const fault = gl.getError();
    if (fault !== gl.NO_ERROR && !gl.isContextLost()) throw new Error("WebGL reports the error " + fault);
    return drawn;
  }
}
