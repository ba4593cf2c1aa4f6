// Numbers over time by name: energies, probes, joints.

/** Powers of ten with prefixes. */
const PREFIXES = { "-12": "p", "-9": "n", "-6": "\u00b5", "-3": "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T" };
/** Units that take no prefix. */
const PLAIN = ["", "rad", "m^2", "m^3", "s"];

/** The power of ten of the prefix with which numbers up to `x` read best. */
function prefixFor(x, unitName) {
  if (!(x > 0) || !Number.isFinite(x) || PLAIN.includes(unitName)) return 0;
  return clamp(3 * Math.floor(Math.log10(x * (1 + 1e-9)) / 3), -12, 12);
}

/** `x` in units of a power of ten, with so many digits behind the point; by a power of ten where that has no room. */
function fixed(x, power, digits) {
  const scaled = x / 10 ** power;
  const text = Math.abs(scaled) >= 1e6 || (digits > 12 && scaled !== 0) ? scaled.toExponential(3) : scaled.toFixed(clamp(digits, 0, 12));
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "\u2212");
}

const withUnit = (text, power, unitName) => (unitName ? text + " " + PREFIXES[power] + unitName : text);

/** `x` with an SI prefix and four significant digits. */
function si(x, unitName) {
  if (!Number.isFinite(x)) return "none";
  const power = prefixFor(Math.abs(x), unitName);
  const scaled = Math.abs(x) / 10 ** power;
  const digits = scaled > 0 ? 3 - Math.floor(Math.log10(scaled)) : 0;
  return withUnit(fixed(x, power, digits), power, unitName);
}

/** One column of a table over time. */
class Series {
  /** The value of one that is constant to rounding. */
  level() {
    const middle = (this.low + this.high) / 2;
    return Math.abs(middle) <= this.noise ? 0 : middle;
  }

  constructor(name, unitName, times, values, every) {
    [this.name, this.unit, this.times, this.values, this.every] = [name, unitName, times, values, every];
    [this.low, this.high] = [Infinity, -Infinity];
    for (const x of values) {
      if (!Number.isFinite(x)) continue;
      this.low = Math.min(this.low, x);
      this.high = Math.max(this.high, x);
    }
    this.empty = this.low > this.high;
  }

  /** The value at `time`, on the straight line between its neighbours; NaN where there is none. */
  at(time) {
    const { times, values } = this;
    if (times.length === 0) return NaN;
    let low = 0, high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= time) low = middle; else high = middle - 1;
    }
    const next = Math.min(low + 1, times.length - 1), span = times[next] - times[low];
    const f = span > 0 ? clamp((time - times[low]) / span, 0, 1) : 0;
    return f > 0 ? values[low] * (1 - f) + values[next] * f : values[low];
  }
}

/** All series of a recording, and how to find them. */
class SeriesList {
  constructor(tables, size) {
    this.groups = [];
    for (const table of tables) {
      const times = unpack(table.times, Float64Array), all = unpack(table.values, Float64Array);
      const width = table.columns.length;
      const column = (c) => Float64Array.from(times, (t, line) => all[line * width + c]);
      const list = table.columns.map((name, c) => new Series(name, table.units[c], times, column(c), table.every));
      if (table.name === "energies") {
        const sum = Float64Array.from(times, (t, line) => all[line * width] + all[line * width + 1]);
        list.splice(2, 0, new Series("total", "J", times, sum, table.every));
        this.energies = list.filter((one) => one.name !== "dissipated" || one.high > one.low || one.high !== 0);
        this.groups.push(["energies", this.energies]);
      } else {
        this.groups.push([table.name, list]);
      }
    }
    // What differs by less than a billionth of the largest number of its unit is constant to rounding.
    const largest = new Map([["m", size]]);
    for (const one of this.all()) {
      if (!one.empty) largest.set(one.unit, Math.max(largest.get(one.unit) || 0, Math.abs(one.low), Math.abs(one.high)));
    }
    for (const one of this.all()) {
      one.noise = 1e-9 * (largest.get(one.unit) || 0);
      one.constant = !one.empty && one.high - one.low <= one.noise;
    }
  }

  all() { return this.groups.flatMap(([, list]) => list); }

  /** The columns of the table of joints that are of one joint, from a column on. */
  joint(column) {
    const group = this.groups.find(([name]) => name === "joints");
    return group ? group[1].slice(column, column + 6) : [];
  }

  /** The series of a name, of a thing ("box": all of its columns), or "energies". */
  named(name) {
    if (name === "energies") return this.energies || [];
    const exact = this.all().filter((one) => one.name === name || one.name + "_" + one.unit === name);
    return exact.length > 0 ? exact.slice(0, 1) : this.all().filter((one) => one.name.startsWith(name + "."));
  }
}
