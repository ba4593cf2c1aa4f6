// Plots over time with a cursor: a strip for each unit, whose axis has the numbers of the read-outs.

const ENERGY_INKS = {
  kinetic: ["#1667b8", "#63b0f5"], potential: ["#c8560a", "#f0984f"], total: ["#2b3644", "#dfe6ee"], dissipated: ["#a03a78", "#e48cc0"],
};
const CURVE_INKS = [
  ["#1667b8", "#63b0f5"], ["#c8560a", "#f0984f"], ["#18835f", "#5fd3aa"], ["#a03a78", "#e48cc0"],
  ["#8a6500", "#e3bf4a"], ["#5d49a6", "#b09cf2"], ["#4b5563", "#b6c0cd"], ["#0f7d95", "#62cfe6"],
];
/** The most strips at once. */
const MOST_STRIPS = 4;
/** Room for the labels on the left [CSS px]. */
const LEFT = 84;

class Strip {
  constructor(plots, unitName) {
    [this.plots, this.unit, this.curves] = [plots, unitName, []];
    this.box = document.createElement("div");
    this.list = document.createElement("dl");
    this.canvas = document.createElement("canvas");
    this.box.className = "plot";
    this.list.className = "readout";
    this.canvas.className = "strip";
    this.box.append(this.list, this.canvas);
    const drag = (event) => {
      if (event.buttons & 1) plots.seek(this.timeAt(event.clientX - this.canvas.getBoundingClientRect().left));
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      drag(event);
    });
    this.canvas.addEventListener("pointermove", drag);
  }

  add(series) {
    if (this.curves.some((curve) => curve.series === series)) return;
    const row = document.createElement("button"), name = document.createElement("dt"), value = document.createElement("dd");
    const dab = document.createElement("span");
    row.type = "button";
    row.title = "take this curve out";
    dab.className = "swatch";
    name.append(dab, document.createTextNode(""));
    row.append(name, value);
    this.list.append(row);
    const curve = { series, row, dab, name: name.lastChild, value };
    row.addEventListener("click", () => this.plots.remove(this, curve));
    this.curves.push(curve);
    this.measure();
  }

  remove(curve) {
    curve.row.remove();
    this.curves = this.curves.filter((one) => one !== curve);
    if (this.curves.length > 0) this.measure();
  }

  /** The axis: its range, the step and the digits of its numbers; and what is taken off an energy that is far from zero. */
  measure() {
    const curves = this.curves.filter(({ series }) => !series.empty);
    for (const curve of this.curves) curve.shift = 0;
    const ends = () => {
      const lows = curves.map(({ series, shift }) => (series.constant ? series.level() : series.low) - shift);
      const highs = curves.map(({ series, shift }) => (series.constant ? series.level() : series.high) - shift);
      return [Math.min(...lows), Math.max(...highs)];
    };
    let [low, high] = curves.length > 0 ? ends() : [0, 1];
    // The potential has no natural zero. Far from it, the curves would be flat: then a round number is taken off, and said.
    const span = Math.max(...curves.map(({ series }) => series.high - series.low), 0);
    if (this.plots.isOfEnergies(this) && span > 0 && high - low > 8 * span) {
      for (const curve of curves) {
        if (!["potential", "total"].includes(curve.series.name)) continue;
        const potential = this.plots.series.named("potential")[0] || curve.series;
        curve.shift = niceStep(span) * Math.floor(potential.low / niceStep(span));
      }
      [low, high] = ends();
    }
    if (low > 0 && low < 0.6 * high) low = 0;
    if (high < 0 && high > 0.6 * low) high = 0;
    if (high - low <= 1e-9 * Math.max(Math.abs(low), Math.abs(high))) {
      // All constant: from zero to the value, or about zero.
      [low, high] = low === 0 && high === 0 ? [-1, 1] : [Math.min(low, 0), Math.max(high, 0)];
      this.zero = low === -1 && high === 1;
    } else {
      this.zero = false;
    }
    this.step = niceStep((high - low) / 2.5);
    this.low = Math.floor(low / this.step + 1e-9) * this.step;
    this.high = Math.ceil(high / this.step - 1e-9) * this.step;
    this.power = this.zero ? 0 : prefixFor(Math.max(Math.abs(this.low), Math.abs(this.high)), this.unit);
    this.digits = Math.max(0, -Math.floor(Math.log10(this.step / 10 ** this.power) + 1e-9));
    for (const curve of this.curves) {
      const { series, shift } = curve;
      const off = shift === 0 ? "" : (shift > 0 ? " \u2212 " : " + ") + si(Math.abs(shift), this.unit);
      curve.name.textContent = series.name + off;
      curve.row.classList.toggle("constant", series.constant);
      curve.ink = (this.plots.isOfEnergies(this) && ENERGY_INKS[series.name]) || CURVE_INKS[this.curves.indexOf(curve) % CURVE_INKS.length];
    }
  }

  /** What the read-out says at `time`: with the unit and, but for one digit or two more, the digits of the axis. */
  text(curve, time) {
    const { series, shift } = curve;
    if (series.empty) return "none";
    if (series.constant) return si(series.level() - shift, this.unit) + " (constant)";
    const x = series.at(time) - shift;
    return Number.isFinite(x) ? withUnit(fixed(x, this.power, this.digits + 2), this.power, this.unit) : "none";
  }

  timeAt(x) {
    const { start, end } = this.plots.motion;
    const width = this.canvas.clientWidth - LEFT - 8;
    return start + clamp((x - LEFT) / Math.max(1, width), 0, 1) * (end - start);
  }

  draw(time, dark) {
    for (const curve of this.curves) {
      curve.value.textContent = this.text(curve, time);
      curve.dab.style.background = curve.ink[dark ? 1 : 0];
    }
    const { canvas } = this, { motion } = this.plots;
    const scale = window.devicePixelRatio || 1;
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    if (w === 0 || h === 0) return;
    const [pw, ph] = [Math.round(w * scale), Math.round(h * scale)];
    if (canvas.width !== pw || canvas.height !== ph) {
      canvas.width = pw;
      canvas.height = ph;
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, w, h);
    const [x0, x1, y0, y1] = [LEFT, w - 8, h - 18, 8];
    const { low, high } = this;
    const span = motion.end - motion.start || 1;
    const px = (t) => x0 + ((t - motion.start) / span) * (x1 - x0);
    const py = (y) => y0 + ((y - low) / (high - low)) * (y1 - y0);
    const soft = dark ? "#9ba8b8" : "#566373", rule = dark ? "#36414f" : "#d5dbe3";
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = soft;
    pen.strokeStyle = rule;
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    const room = Math.ceil((14 * (high - low)) / this.step / Math.max(1, y0 - y1));
    for (let k = Math.round(low / this.step), n = 0; k * this.step <= high + 1e-9 * (high - low); k++, n++) {
      const y = k * this.step;
      if (n % Math.max(1, room) !== 0) continue;
      pen.beginPath();
      pen.moveTo(x0, Math.round(py(y)) + 0.5);
      pen.lineTo(x1, Math.round(py(y)) + 0.5);
      pen.stroke();
      pen.fillText(withUnit(fixed(y, this.power, this.digits), this.power, this.unit), x0 - 7, py(y));
    }
    pen.textBaseline = "alphabetic";
    const step = niceStep(span / Math.max(2, (x1 - x0) / 130)) || span;
    for (let k = Math.ceil(motion.start / step - 1e-9); k * step <= motion.end + 1e-9 * span; k++) {
      pen.textAlign = px(k * step) > x1 - 20 ? "right" : px(k * step) < x0 + 8 ? "left" : "center";
      pen.fillText(Number((k * step).toPrecision(6)) + " s", px(k * step), h - 2);
      pen.fillRect(px(k * step) - 0.5, y0, 1, 4);
    }
    pen.save();
    pen.beginPath();
    pen.rect(x0 - 1, 0, x1 - x0 + 2, h - 12);
    pen.clip();
    pen.lineJoin = "round";
    for (const curve of this.curves) {
      pen.strokeStyle = curve.ink[dark ? 1 : 0];
      const dashed = this.plots.isOfEnergies(this) && curve.series.name === "total";
      pen.lineWidth = dashed ? 1.2 : 1.8;
      pen.setLineDash(dashed ? [5, 3] : []);
      this.trace(pen, curve, px, py, x1 - x0);
    }
    pen.restore();
    pen.setLineDash([]);
    pen.fillStyle = dark ? "#e6ebf2" : "#1d2733";
    pen.fillRect(px(time) - 0.75, y1 - 4, 1.5, y0 - y1 + 4);
    for (const curve of this.curves) {
      const { series, shift } = curve;
      const y = series.constant ? series.level() : series.at(time);
      if (!Number.isFinite(y)) continue;
      pen.fillStyle = curve.ink[dark ? 1 : 0];
      pen.beginPath();
      pen.arc(px(time), py(y - shift), 3, 0, 7);
      pen.fill();
    }
  }

  /** One curve; of many lines per pixel the lowest and the highest. What is constant to rounding is a flat line. */
  trace(pen, { series, shift }, px, py, width) {
    pen.beginPath();
    if (series.constant) {
      const y = py(series.level() - shift);
      pen.moveTo(px(this.plots.motion.start), y);
      pen.lineTo(px(this.plots.motion.end), y);
      pen.stroke();
      return;
    }
    const { times, values } = series;
    const bin = Math.max(1, Math.floor(times.length / Math.max(1, 1.5 * width)));
    let down = false;
    for (let f = 0; f < times.length; f += bin) {
      let low = Infinity, high = -Infinity;
      for (let g = f; g < Math.min(f + bin, times.length); g++) {
        if (!Number.isFinite(values[g])) continue;
        low = Math.min(low, values[g] - shift);
        high = Math.max(high, values[g] - shift);
      }
      if (low > high) {
        down = false; // a gap where there is no value
        continue;
      }
      if (down) pen.lineTo(px(times[f]), py(low)); else pen.moveTo(px(times[f]), py(low));
      down = true;
      if (high > low) pen.lineTo(px(times[f]), py(high));
    }
    pen.stroke();
  }
}

/** All strips, and the list of what can be plotted. */
class Plots {
  constructor(box, select, motion, series, seek) {
    [this.box, this.select, this.motion, this.series, this.seek] = [box, select, motion, series, seek];
    this.strips = [];
    for (const [name, list] of series.groups) {
      const group = document.createElement("optgroup");
      group.label = name;
      if (name === "energies") group.append(new Option("all energies", "energies"));
      for (const one of list) group.append(new Option(one.name + (one.unit ? " [" + one.unit + "]" : ""), one.name));
      if (list.length > 0) select.append(group);
    }
    select.addEventListener("change", () => {
      this.add(select.value);
      select.value = "";
      this.changed();
    });
    this.changed = () => {};
  }

  /** What is plotted if nothing is asked for: the energies, or the first of what was measured. */
  first() {
    const some = (this.series.energies || []).some((one) => one.low !== 0 || one.high !== 0);
    if (some) return this.set(["energies"]);
    const first = this.series.all().find((one) => !(this.series.energies || []).includes(one));
    this.set(first ? [first.name] : []);
  }

  set(names) {
    for (const strip of this.strips) strip.box.remove();
    this.strips = [];
    for (const name of names) this.add(name);
  }

  add(name) {
    for (const series of this.series.named(name)) {
      let strip = this.strips.find((one) => one.unit === series.unit);
      if (!strip) {
        strip = new Strip(this, series.unit);
        this.strips.push(strip);
        this.box.append(strip.box);
        if (this.strips.length > MOST_STRIPS) this.strips.shift().box.remove();
      }
      strip.add(series);
    }
  }

  remove(strip, curve) {
    strip.remove(curve);
    if (strip.curves.length === 0) {
      strip.box.remove();
      this.strips = this.strips.filter((one) => one !== strip);
    }
    this.changed();
  }

  /** Whether all curves of a strip are energies of everything. */
  isOfEnergies(strip) {
    return strip.curves.every(({ series }) => (this.series.energies || []).includes(series));
  }

  /** Names of what is plotted. */
  names() {
    return this.strips.flatMap((strip) => strip.curves.map(({ series }) => series.name));
  }

  draw(time, dark) {
    this.box.hidden = this.strips.length === 0;
    for (const strip of this.strips) strip.draw(time, dark);
  }
}
