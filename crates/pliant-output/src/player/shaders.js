// The shaders. Positions are relative to the centre of the motion; widths are in device pixels.

const HEAD = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
uniform mat4 uView;
uniform mat4 uProjection;
uniform vec2 uSize;    // of the picture [px]
uniform float uPixel;  // device pixels per CSS pixel
uniform float uNear;
uniform vec4 uGround;  // up, level
uniform vec3 uSun;     // direction to the light that casts the shadow
uniform float uShadow; // darkness while drawing the shadow, else 0
`;

const VERTEX = HEAD + `
uniform sampler2D uPoints;
uniform sampler2D uNormals;
uniform sampler2D uPaint; // colours of the points; nothing of hidden ones is drawn
vec4 texel(sampler2D from, uint i) {
  uint width = uint(textureSize(from, 0).x);
  return texelFetch(from, ivec2(i % width, i / width), 0);
}
vec4 paint(uint i) { return texel(uPaint, i); }
const vec4 NOWHERE = vec4(2.0, 2.0, 2.0, 1.0);
// The place of a world point, or of its shadow on the ground.
vec4 place(vec3 p) {
  float height = dot(uGround.xyz, p) - uGround.w;
  if (uShadow > 0.0) p -= height / dot(uGround.xyz, uSun) * uSun;
  return uView * vec4(p, 1.0);
}
// Pixels per metre at the depth z of the view.
float density(float z) { return 0.5 * uProjection[1][1] * uSize.y / max(-z, uNear); }
`;

const FRAGMENT = HEAD + `
out vec4 colour;
// Two-sided light: a lamp over the viewer's left shoulder, sky from above, a soft highlight.
vec3 light(vec3 base, vec3 normal, vec3 position, float gloss) {
  vec3 eye = normalize(-position);
  vec3 n = normalize(normal);
  if (dot(n, eye) < 0.0) n = -n;
  vec3 lamp = normalize(vec3(-0.45, 0.65, 0.75));
  vec3 up = mat3(uView) * uGround.xyz;
  float diffuse = max(dot(n, lamp), 0.0);
  float sky = 0.5 + 0.5 * dot(n, up);
  float shine = pow(max(dot(n, normalize(lamp + eye)), 0.0), 42.0);
  return base * (0.42 + 0.2 * sky + 0.5 * diffuse) + gloss * shine;
}
// Writes the colour, or the shadow; nearly clear fragments leave no mark.
void put(vec3 c, float alpha) {
  if (uShadow > 0.0) {
    if (alpha < 0.5) discard;
    colour = vec4(0.0, 0.0, 0.0, uShadow);
  } else {
    if (alpha < 0.02) discard;
    colour = vec4(c * alpha, alpha);
  }
}
`;

const SHADERS = {
  // Particles: squares towards the viewer, shaded as balls.
  points: [VERTEX + `
uniform vec3 uRadius; // [m], smallest [px], largest [px]
out vec2 vCorner;
out float vPixels;
out vec3 vColour;
out vec3 vPosition;
void main() {
  vec4 data = texel(uPoints, uint(gl_InstanceID));
  vec4 c = place(data.xyz);
  float perMetre = density(c.z);
  vPixels = clamp(uRadius.x * perMetre, uRadius.y, uRadius.z);
  float grow = (vPixels + 1.0) / vPixels;
  vCorner = grow * vec2(float(gl_VertexID & 1) * 2.0 - 1.0, float(gl_VertexID >> 1) * 2.0 - 1.0);
  float r = vPixels / perMetre;
  vec4 ink = paint(uint(gl_InstanceID));
  vColour = ink.rgb;
  vPosition = c.xyz;
  if (ink.a == 0.0) { gl_Position = NOWHERE; return; }
  gl_Position = uProjection * (c + vec4(r * vCorner, 0.0, 0.0));
  // As near as the front of the ball, so that the lines which end in it do not cover it.
  vec4 front = uProjection * (c + vec4(0.0, 0.0, min(1.3 * r, -c.z - uNear), 0.0));
  if (c.z < -uNear) gl_Position.z = front.z / front.w * gl_Position.w;
}`, FRAGMENT + `
in vec2 vCorner;
in float vPixels;
in vec3 vColour;
in vec3 vPosition;
void main() {
  float d = length(vCorner);
  vec3 n = vec3(vCorner, sqrt(max(0.0, 1.0 - d * d)));
  put(light(0.9 * vColour, n, vPosition, 0.35), clamp((1.0 - d) * vPixels + 0.5, 0.0, 1.0));
}`],

  // Segments: strips towards the viewer, shaded as rods.
  segments: [VERTEX + `
layout(location = 0) in uvec2 aEnds;
layout(location = 1) in vec4 aInk; // the colour; of no opacity: those of the ends; of half of it: hidden
uniform vec3 uRadius;
out float vAcross;
out float vPixels;
out vec2 vNormal;
out vec3 vColour;
out vec3 vPosition;
void main() {
  vec4 da = texel(uPoints, aEnds.x), db = texel(uPoints, aEnds.y);
  vec4 inkA = paint(aEnds.x), inkB = paint(aEnds.y);
  bool own = aInk.a > 0.75;
  if (!own && (aInk.a > 0.25 || inkA.a == 0.0 || inkB.a == 0.0)) { gl_Position = NOWHERE; return; }
  vec4 a = place(da.xyz), b = place(db.xyz);
  if (a.z > -uNear && b.z > -uNear) { gl_Position = NOWHERE; return; }
  if (a.z > -uNear) a = mix(b, a, (-uNear - b.z) / (a.z - b.z));
  if (b.z > -uNear) b = mix(a, b, (-uNear - a.z) / (b.z - a.z));
  vec4 pa = uProjection * a, pb = uProjection * b;
  pa /= pa.w;
  pb /= pb.w;
  vec2 along = (pb.xy - pa.xy) * uSize;
  along = dot(along, along) > 1e-8 ? normalize(along) : vec2(1.0, 0.0);
  vNormal = vec2(-along.y, along.x);
  bool last = gl_VertexID > 1;
  vec4 here = last ? b : a;
  vPixels = clamp(uRadius.x * density(here.z), uRadius.y, uRadius.z) * (own ? 1.6 : 1.0);
  vAcross = float(gl_VertexID & 1) * 2.0 - 1.0;
  vAcross *= vPixels + 1.0;
  vColour = own ? aInk.rgb : last ? inkB.rgb : inkA.rgb;
  vPosition = here.xyz;
  vec4 p = last ? pb : pa;
  gl_Position = vec4(p.xy + vNormal * vAcross * 2.0 / uSize, p.z, 1.0);
}`, FRAGMENT + `
in float vAcross;
in float vPixels;
in vec2 vNormal;
in vec3 vColour;
in vec3 vPosition;
void main() {
  float s = clamp(vAcross / vPixels, -1.0, 1.0);
  put(light(vColour, vec3(vNormal * s, sqrt(1.0 - s * s) + 0.05), vPosition, 0.2),
      clamp(vPixels - abs(vAcross) + 0.5, 0.0, 1.0));
}`],

  // Surfaces: smooth where the surface is smooth, faceted at sharp edges, with the mesh drawn in.
  triangles: [VERTEX + `
layout(location = 0) in uvec3 aCorners;
out vec3 vNormal;
out vec3 vCorner;
out vec3 vColour;
out vec3 vPosition;
void main() {
  uint own = gl_VertexID == 0 ? aCorners.x : gl_VertexID == 1 ? aCorners.y : aCorners.z;
  vec3 a = texel(uPoints, aCorners.x).xyz;
  vec3 flat_ = cross(texel(uPoints, aCorners.y).xyz - a, texel(uPoints, aCorners.z).xyz - a);
  vec3 round_ = texel(uNormals, own).xyz;
  flat_ /= max(length(flat_), 1e-30);
  round_ /= max(length(round_), 1e-30);
  vNormal = mat3(uView) * (dot(flat_, round_) > 0.7 ? round_ : flat_);
  vCorner = vec3(gl_VertexID == 0, gl_VertexID == 1, gl_VertexID == 2);
  vColour = paint(own).rgb;
  float shown = min(paint(aCorners.x).a, min(paint(aCorners.y).a, paint(aCorners.z).a));
  vec4 p = place(texel(uPoints, own).xyz);
  vPosition = p.xyz;
  gl_Position = shown == 0.0 ? NOWHERE : uProjection * p;
}`, FRAGMENT + `
in vec3 vNormal;
in vec3 vCorner;
in vec3 vColour;
in vec3 vPosition;
void main() {
  vec3 wide = fwidth(vCorner);
  vec3 edge = vCorner / max(wide, vec3(1e-6));
  float line = 1.0 - clamp(min(edge.x, min(edge.y, edge.z)) / uPixel, 0.0, 1.0);
  // Where the mesh is finer than the lines, no lines.
  line *= 1.0 - smoothstep(0.08, 0.3, max(wide.x, max(wide.y, wide.z)) * uPixel);
  vec3 base = mix(vColour, vec3(1.0), 0.25);
  vec3 n = dot(vNormal, vNormal) > 1e-6 ? vNormal : vec3(0.0, 0.0, 1.0);
  put(light(base, n, vPosition, 0.12) * (1.0 - 0.28 * line), 1.0);
}`],

  // Bodies: one mesh (cube or ball) in many places.
  bodies: [VERTEX + `
layout(location = 0) in vec3 aMesh;     // also the normal of the ball
layout(location = 1) in vec3 aFace;     // normal of the cube, zero for the ball
layout(location = 2) in vec3 iPosition;
layout(location = 3) in vec4 iRotation; // w x y z
layout(location = 4) in vec3 iSize;
layout(location = 5) in vec3 iColour;
out vec3 vMesh;
out vec3 vFace;
out vec3 vNormal;
out vec3 vColour;
out vec3 vPosition;
vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.yzw, cross(q.yzw, v) + q.x * v); }
void main() {
  vMesh = aMesh;
  vFace = aFace;
  vColour = iColour;
  vec3 n = dot(aFace, aFace) > 0.0 ? aFace : aMesh;
  vNormal = mat3(uView) * turn(iRotation, n);
  vec4 p = place(iPosition + turn(iRotation, aMesh * iSize));
  vPosition = p.xyz;
  gl_Position = uProjection * p;
}`, FRAGMENT + `
uniform float uSheer; // 1: what is seen from behind is a veil, so that a bowl shows what it holds
in vec3 vMesh;
in vec3 vFace;
in vec3 vNormal;
in vec3 vColour;
in vec3 vPosition;
void main() {
  vec2 dot_ = mod(floor(gl_FragCoord.xy / max(1.0, uPixel)), 3.0);
  if (uSheer > 0.0 && uShadow == 0.0 && !gl_FrontFacing && dot_.x + dot_.y > 0.5) discard;
  vec3 base = vColour;
  if (dot(vFace, vFace) > 0.0) {
    vec3 half_ = 1.0 / max(fwidth(vMesh), vec3(1e-6)) + 1e6 * abs(vFace); // of the face [px]
    vec3 edge = (1.0 - abs(vMesh)) * half_ + 1e6 * abs(vFace);
    float line = 1.0 - clamp(min(edge.x, min(edge.y, edge.z)) / uPixel - 0.2, 0.0, 1.0);
    // No lines on thin rods.
    line *= smoothstep(4.0, 9.0, min(half_.x, min(half_.y, half_.z)) / uPixel);
    base *= 1.0 - 0.35 * line;
  } else {
    // Eight octants in two tones, so that a turning ball is seen to turn.
    vec3 side = clamp(vMesh / max(fwidth(vMesh), vec3(1e-6)), -1.0, 1.0);
    base = mix(base, vec3(1.0), 0.14 + 0.14 * side.x * side.y * side.z);
  }
  put(light(base, vNormal, vPosition, 0.25), 1.0);
}`],

  // The ground: lines of a grid that fade with the distance.
  ground: [HEAD + `
uniform mat3 uPlane; // right, back, middle of the grid
uniform float uReach;
out vec2 vPlane;
void main() {
  vec2 corner = vec2(float(gl_VertexID & 1) * 2.0 - 1.0, float(gl_VertexID >> 1) * 2.0 - 1.0);
  vPlane = corner * uReach;
  vec3 p = uPlane[2] + uPlane[0] * vPlane.x + uPlane[1] * vPlane.y;
  gl_Position = uProjection * uView * vec4(p, 1.0);
}`, FRAGMENT + `
uniform float uReach;
uniform float uStep;
uniform vec2 uShift; // of the grid against the middle of the plane
uniform vec3 uInk;
in vec2 vPlane;
float lines(vec2 p, vec2 wide, float thick) {
  vec2 away = abs(fract(p - 0.5) - 0.5) / wide;
  float line = 1.0 - clamp(min(away.x, away.y) - 0.5 * (thick - 1.0), 0.0, 1.0);
  return line * (1.0 - smoothstep(0.15, 0.5, max(wide.x, wide.y)));
}
void main() {
  vec2 p = (vPlane + uShift) / uStep;
  vec2 wide = max(fwidth(p), vec2(1e-6));
  float fine = lines(p, wide, uPixel), coarse = lines(p / 5.0, wide / 5.0, 1.3 * uPixel);
  float fade = 1.0 - smoothstep(0.25, 1.0, length(vPlane) / uReach);
  float alpha = fade * max(0.22 * fine, 0.46 * coarse);
  colour = vec4(uInk * alpha, alpha);
}`],
};
