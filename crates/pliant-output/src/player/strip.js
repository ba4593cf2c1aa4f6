// The energies: read-outs and a small plot over time with a cursor.

const ENERGIES = [
  { key: "kinetic", light: "#1667b8", dark: "#63b0f5" },
  { key: "potential", light: "#c8560a", dark: "#f0984f" },
  { key: "total", light: "#2b3644", dark: "#dfe6ee" },
  { key: "dissipated", light: "#a03a78", dark: "#e48cc0" },
];

/** `x` with an SI prefix and four significant digits, or more if changes of `range` would not show. */
function si(x, unitName, range = Math.abs(x)) {
  if (x === 0) return "0 " + unitName;
  const prefixes = { "-9": "n", "-6": "\u00b5", "-3": "m", 0: "", 3: "k", 6: "M", 9: "G" };
  const power = clamp(3 * Math.floor(Math.log10(Math.abs(x) * (1 + 1e-9)) / 3), -9, 9);
  const scaled = x / 10 ** power;
  if (Math.abs(scaled) < 5e-4) return "0 " + unitName;
  const digits = clamp(3 + Math.ceil(Math.log10(Math.abs(x) / (range || Math.abs(x)))), 4, 9);
  const text = Math.abs(scaled) >= 1e5 ? scaled.toExponential(digits - 1) : scaled.toPrecision(digits);
  return text.replace("-", "\u2212") + " " + prefixes[power] + unitName;
}

class Strip {
  constructor(canvas, list, motion) {
    this.canvas = canvas;
    this.motion = motion;
    const e = motion.energies;
    let any = false, lost = false;
    this.floor = Infinity;
    for (let f = 0; f < motion.count; f++) {
      any = any || e[3 * f] !== 0 || e[3 * f + 1] !== 0 || e[3 * f + 2] !== 0;
      lost = lost || e[3 * f + 2] !== 0;
      this.floor = Math.min(this.floor, e[3 * f + 1]);
    }
    this.shown = any;
    $("energy").hidden = !any;
    // The potential has no natural zero: the plot counts it from its lowest value.
    this.curves = ENERGIES.filter((curve) => curve.key !== "dissipated" || lost).map((curve) => {
      const row = document.createElement("div");
      const name = document.createElement("dt"), value = document.createElement("dd"), dab = document.createElement("span");
      dab.className = "swatch";
      name.append(dab, curve.key);
      row.append(name, value);
      list.append(row);
      return { ...curve, dab, value };
    });
    let low = 0, high = 0;
    for (let f = 0; f < motion.count; f++) {
      for (const curve of this.curves) {
        const y = this.height(curve.key, e[3 * f], e[3 * f + 1], e[3 * f + 2]);
        low = Math.min(low, y);
        high = Math.max(high, y);
      }
    }
    this.range = [low, high > low ? high : low + 1];
  }

  height(key, kinetic, potential, dissipated) {
    if (key === "kinetic") return kinetic;
    if (key === "potential") return potential - this.floor;
    if (key === "total") return kinetic + potential - this.floor;
    return dissipated;
  }

  /** Room for the labels on the left [CSS px]. */
  left() { return 74; }

  timeAt(x) {
    const { start, end } = this.motion;
    const width = this.canvas.clientWidth - this.left() - 8;
    return start + clamp((x - this.left()) / Math.max(1, width), 0, 1) * (end - start);
  }

  draw(time, dark) {
    if (!this.shown) return;
    const { motion, canvas } = this;
    const [kinetic, potential, dissipated] = motion.energyAt(time);
    const values = { kinetic, potential, dissipated, total: kinetic + potential };
    for (const curve of this.curves) {
      curve.value.textContent = si(values[curve.key], "J", this.range[1] - this.range[0]);
      curve.dab.style.background = dark ? curve.dark : curve.light;
    }
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
    const [x0, x1, y0, y1] = [this.left(), w - 8, h - 16, 6];
    const [low, high] = this.range;
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
    for (const y of low < 0 && -low > 0.15 * high ? [low, 0, high] : [0, high]) {
      pen.beginPath();
      pen.moveTo(x0, Math.round(py(y)) + 0.5);
      pen.lineTo(x1, Math.round(py(y)) + 0.5);
      pen.stroke();
      pen.fillText(si(y, "J"), x0 - 7, clamp(py(y), 7, h - 20));
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
      pen.strokeStyle = dark ? curve.dark : curve.light;
      pen.lineWidth = curve.key === "total" ? 1.2 : 1.8;
      pen.setLineDash(curve.key === "total" ? [5, 3] : []);
      this.trace(pen, curve.key, px, py, x1 - x0);
    }
    pen.restore();
    pen.setLineDash([]);
    pen.fillStyle = dark ? "#e6ebf2" : "#1d2733";
    pen.fillRect(px(time) - 0.75, y1 - 4, 1.5, y0 - y1 + 4);
    for (const curve of this.curves) {
      pen.fillStyle = dark ? curve.dark : curve.light;
      pen.beginPath();
      pen.arc(px(time), py(this.height(curve.key, kinetic, potential, dissipated)), 3, 0, 7);
      pen.fill();
    }
  }

  /** One curve; of many frames per pixel the lowest and the highest. */
  trace(pen, key, px, py, width) {
    const { motion } = this;
    const e = motion.energies;
    const bin = Math.max(1, Math.floor(motion.count / Math.max(1, 1.5 * width)));
    pen.beginPath();
    for (let f = 0; f < motion.count; f += bin) {
      let low = Infinity, high = -Infinity;
      for (let g = f; g < Math.min(f + bin, motion.count); g++) {
        const y = this.height(key, e[3 * g], e[3 * g + 1], e[3 * g + 2]);
        low = Math.min(low, y);
        high = Math.max(high, y);
      }
      pen.lineTo(px(motion.times[f]), py(low));
      if (high > low) pen.lineTo(px(motion.times[f]), py(high));
    }
    pen.stroke();
  }
}
