// Meshes of (position, face normal), about the origin.

function cubeMesh() {
  const mesh = [];
  for (let k = 0; k < 3; k++) {
    for (const side of [-1, 1]) {
      for (const [a, b] of [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]]) {
        const corner = [0, 0, 0], face = [0, 0, 0];
        corner[k] = face[k] = side;
        corner[(k + 1) % 3] = a;
        corner[(k + 2) % 3] = b;
        mesh.push(...corner, ...face);
      }
    }
  }
  return mesh;
}

/** An arrow along z of length and half width 1/4, away from the edges of the cube, which are drawn as lines. */
function arrowMesh() {
  const mesh = [];
  const face = (corners, normal) => {
    for (let k = 2; k < corners.length; k++) {
      for (const p of [corners[0], corners[k - 1], corners[k]]) mesh.push(...p.map((x) => x / 4), ...normal);
    }
  };
  for (const [c, s] of [[1, 0], [0, 1], [-1, 0], [0, -1]]) {
    // A corner at the side `a` across and `z` up, in the axes of this face.
    const at = (out, a, z) => [c * out - s * a, s * out + c * a, z];
    face([at(0.3, -0.3, 0), at(0.3, 0.3, 0), at(0.3, 0.3, 0.75), at(0.3, -0.3, 0.75)], [c, s, 0]);
    face([at(1, -1, 0.75), at(1, 1, 0.75), [0, 0, 1]], unit([c, s, 0.5]));
  }
  face([[-1, -1, 0.75], [-1, 1, 0.75], [1, 1, 0.75], [1, -1, 0.75]], [0, 0, -1]);
  return mesh;
}

function ballMesh(around, rows) {
  const at = (i, j) => {
    const [p, t] = [(2 * Math.PI * i) / around, (Math.PI * j) / rows];
    return [Math.sin(t) * Math.cos(p), Math.cos(t), Math.sin(t) * Math.sin(p), 0, 0, 0];
  };
  const mesh = [];
  for (let i = 0; i < around; i++) {
    for (let j = 0; j < rows; j++) {
      for (const [a, b] of [[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]]) mesh.push(...at(i + a, j + b));
    }
  }
  return mesh;
}

/** A cylinder along z of radius and half length 1/4. */
function cylinderMesh(around) {
  const mesh = [];
  const at = (i, z) => {
    const a = (2 * Math.PI * i) / around;
    return [Math.cos(a) / 4, Math.sin(a) / 4, z / 4];
  };
  for (let i = 0; i < around; i++) {
    const n = [Math.cos((2 * Math.PI * (i + 0.5)) / around), Math.sin((2 * Math.PI * (i + 0.5)) / around), 0];
    for (const p of [at(i, -1), at(i + 1, -1), at(i + 1, 1), at(i, -1), at(i + 1, 1), at(i, 1)]) mesh.push(...p, ...n);
    for (const z of [-1, 1]) {
      for (const p of z > 0 ? [[0, 0, z / 4], at(i, z), at(i + 1, z)] : [[0, 0, z / 4], at(i + 1, z), at(i, z)]) {
        mesh.push(...p, 0, 0, z);
      }
    }
  }
  return mesh;
}
