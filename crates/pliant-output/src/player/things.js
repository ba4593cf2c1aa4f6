// What the scene has by name: nodes of points, bodies, lines and joints, with colours, and whether each is shown.

/** Things "limb 0", "limb 1", ... are one family, "limb". */
const family = (name) => name.replace(/ \d+$/, "");

class Things {
  constructor(motion) {
    this.motion = motion;
    this.list = [];
    const colours = new Map(motion.look.colours);
    const add = (kind, name, index) => {
      let thing = this.list.find((one) => one.kind === kind && one.name === name);
      if (!thing) {
        thing = { kind, name, items: [], shown: !motion.look.hidden.includes(name) };
        this.list.push(thing);
      }
      thing.items.push(index);
      return thing;
    };
    this.ofGroup = motion.groups.map((group, g) => add("points", group.name, g));
    this.ofBody = motion.bodies.map((body, b) => add("body", family(body.name), b));
    this.ofLine = motion.lines.map((line, l) => add("line", family(line.name), l));
    this.ofMark = motion.marks.map((mark, m) => add("joint", family(mark.name), m));
    // The palette goes on from thing to thing; lines are as their points unless they have a colour of their own.
    let next = 0;
    for (const thing of this.list) {
      const given = colours.get(thing.name);
      thing.own = given !== undefined;
      if (given) thing.colour = given;
      else if (thing.kind === "joint") thing.colour = [0.93, 0.72, 0.12];
      else if (thing.kind !== "line") thing.colour = PALETTE[next % PALETTE.length];
      if (thing.kind === "points" || thing.kind === "body") next++;
    }
    for (const thing of this.list) {
      if (thing.colour) continue;
      // Those of the first of their points.
      const point = motion.segments[2 * motion.lines[thing.items[0]].first];
      const group = this.ofGroup[motion.groups.findIndex((g) => point < g.start + g.count)];
      thing.colour = group ? group.colour : PALETTE[7];
    }
    // Nodes by point, and the line of each segment that has one.
    this.groupOf = new Uint32Array(motion.pointCount);
    motion.groups.forEach((group, g) => this.groupOf.fill(g, group.start, group.start + group.count));
    this.lineOf = new Int32Array(motion.segments.length / 2).fill(-1);
    motion.lines.forEach((line, l) => this.lineOf.fill(l, line.first, line.first + line.count));
  }

  /** The thing that item `i` (the points, then the bodies) belongs to. */
  of(i) {
    const { pointCount } = this.motion;
    return i < pointCount ? this.ofGroup[this.groupOf[i]] : this.ofBody[i - pointCount];
  }

  named(name) {
    return this.list.filter((thing) => thing.name === name);
  }

  /** A test of items: of all that are shown and have this name, that move, or all. */
  test(what) {
    const { motion } = this;
    if (what === "all") return (i) => this.of(i).shown;
    if (what === "moving") {
      const any = motion.moves.some((moves, i) => moves && this.of(i).shown);
      return any ? (i) => motion.moves[i] && this.of(i).shown : this.test("all");
    }
    if (what === "framed") {
      const moving = this.test("moving");
      return (i) => moving(i) || (motion.framed[i] && this.of(i).shown);
    }
    // One body of many, "limb 3", or all that have the name.
    const body = motion.bodies.findIndex((one) => one.name === what);
    if (body >= 0 && this.ofBody[body].name !== what) return (i) => i === motion.pointCount + body;
    return (i) => this.of(i).name === what;
  }
}
