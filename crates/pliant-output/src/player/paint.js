// Colours of everything at the present time: those of the things, or of a field.

/** Colours of groups and bodies, in the order of the recording; readable on light and on dark. */
const PALETTE = [
  [0.09, 0.42, 0.74], [0.87, 0.42, 0.10], [0.10, 0.58, 0.44], [0.76, 0.30, 0.54],
  [0.80, 0.58, 0.06], [0.27, 0.62, 0.82], [0.52, 0.40, 0.78], [0.48, 0.53, 0.58],
];
const AXIS_COLOURS = [[0.88, 0.26, 0.22], [0.16, 0.64, 0.32], [0.22, 0.46, 0.92]];
const CONTACT_COLOUR = [0.9, 0.2, 0.15], REACTION_COLOUR = [0.55, 0.25, 0.85];
/** From low to high, ever lighter; and from below zero to above it. */
const RISING = [[0.17, 0.09, 0.40], [0.11, 0.33, 0.62], [0.08, 0.57, 0.58], [0.42, 0.76, 0.36], [0.98, 0.89, 0.20]];
const SIGNED = [[0.10, 0.25, 0.62], [0.45, 0.66, 0.86], [0.93, 0.93, 0.93], [0.93, 0.60, 0.42], [0.66, 0.10, 0.12]];
/** From no activation to a full one. */
const ACTIVE = [[0.55, 0.60, 0.68], [0.93, 0.55, 0.45], [0.86, 0.08, 0.10]];
/** Of what has no value. */
const BLANK = [0.62, 0.65, 0.69];

/** A colour for a light or a dark page. */
const tint = (colour, dark) => (dark ? colour.map((x) => 0.78 * x + 0.22) : colour);
const css = (colour) => "rgb(" + colour.map((x) => Math.round(255 * x)).join(" ") + ")";

/** The colour at the share `f` of a map. */
function ramp(map, f) {
  if (!Number.isFinite(f)) return BLANK;
  const at = clamp(f, 0, 1) * (map.length - 1), i = Math.min(Math.floor(at), map.length - 2);
  return map[i].map((x, k) => x + (at - i) * (map[i + 1][k] - x));
}

class Paint {
  constructor(motion, things) {
    this.motion = motion;
    this.things = things;
    // Red, green, blue; the fourth is zero for what is hidden.
    this.points = new Float32Array(motion.points.length);
    this.bodies = new Float32Array(4 * motion.bodies.length);
    // The fourth: 1 a colour of its own, 0 those of its ends, 0.5 hidden.
    this.segments = new Float32Array(2 * motion.segments.length);
    this.by = "";
    this.stale = true;
  }

  /** Names of the fields there are. */
  names() {
    const { motion } = this;
    return motion.fields.map((field) => field.name).concat(motion.largestDisplacement() > 0 ? ["displacement"] : []);
  }

  choose(name) {
    this.by = this.names().includes(name) ? name : "";
    this.field = this.motion.fields.find((field) => field.name === this.by);
    this.stale = true;
  }

  /** Lowest and highest value and the unit of the field that is shown: over the whole run, from zero where it has no sign. */
  range() {
    const { field, motion } = this;
    if (!field) return { low: 0, high: motion.largestDisplacement() || 1, unit: "m" };
    let { low, high } = field;
    if (low < 0 && high > 0) low = -(high = Math.max(-low, high));
    else if (low > 0) low = 0;
    else if (high < 0) high = 0;
    return { low, high, unit: field.unit };
  }

  map() { return this.range().low < 0 && this.range().high > 0 ? SIGNED : RISING; }

  /** The value of the field at an item now. */
  value(i, time) {
    return this.field ? this.motion.fieldAt(this.field, i, time) : this.motion.displacement(i);
  }

  /** Sets all colours to those at `time`; says whether any changed. */
  update(time, dark) {
    const muscles = this.motion.muscles.length > 0;
    const over = this.motion.lines.filter((line) => line.until !== null && time >= line.until).length;
    if (!this.stale && !this.by && !muscles && dark === this.dark && over === this.over) return false;
    this.over = over;
    const { motion, things, by } = this;
    [this.stale, this.dark] = [false, dark];
    const range = by ? this.range() : null, map = by ? this.map() : null;
    const isMotion = by === "speed" || by === "displacement";
    const colour = (i, thing) => {
      if (!by) return tint(thing.colour, dark);
      // Still things, such as the ground, would all be of the lowest colour.
      if (isMotion && !motion.moves[i]) return tint(BLANK, dark);
      const share = (this.value(i, time) - range.low) / (range.high - range.low);
      return Number.isFinite(share) ? ramp(map, share) : tint(BLANK, dark);
    };
    const plain = new Map(things.list.map((thing) => [thing, tint(thing.colour, dark)]));
    for (let i = 0; i < motion.pointCount; i++) {
      const thing = things.of(i);
      const c = by ? colour(i, thing) : plain.get(thing);
      this.points[4 * i] = c[0];
      this.points[4 * i + 1] = c[1];
      this.points[4 * i + 2] = c[2];
      this.points[4 * i + 3] = thing.shown ? 1 : 0;
    }
    motion.bodies.forEach((body, b) => {
      const thing = things.ofBody[b];
      this.bodies.set([...colour(motion.pointCount + b, thing), thing.shown ? 1 : 0], 4 * b);
    });
    for (let s = 0; s < things.lineOf.length; s++) {
      const l = things.lineOf[s];
      if (l < 0) continue;
      const line = motion.lines[l], thing = things.ofLine[l];
      let own = thing.own && !by ? [...tint(thing.colour, dark), 1] : [0, 0, 0, 0];
      if (line.activation !== undefined) own = [...ramp(ACTIVE, motion.activationAt(line.activation, time)), 1];
      const isThere = thing.shown && (line.until === null || time < line.until);
      this.segments.set(isThere ? own : [0, 0, 0, 0.5], 4 * s);
    }
    return true;
  }
}
