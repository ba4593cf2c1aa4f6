//! The same muscles written again: Thelen's in the form of his paper, with the speed as a function
//! of the force; Millard's by de Casteljau's subdivision and bisections.

/// Curves of a muscle in its own units.
pub(crate) trait Curves {
    fn active(&self, n: f64) -> f64;
    fn passive(&self, n: f64) -> f64;
    /// Over the strain.
    fn tendon(&self, strain: f64) -> f64;
    /// The velocity (largest speeds of shortening) at which the fibre has a force.
    fn velocity(&self, a: f64, n: f64, force: f64) -> f64;
}

pub(crate) struct Thelen;

impl Curves for Thelen {
    fn active(&self, n: f64) -> f64 {
        (-(n - 1.0).powi(2) / 0.45).exp()
    }

    fn passive(&self, n: f64) -> f64 {
        ((5.0 * (n - 1.0) / 0.6).exp() - 1.0).max(0.0) / (5.0f64.exp() - 1.0)
    }

    fn tendon(&self, strain: f64) -> f64 {
        let e3 = 3.0f64.exp();
        let toe = 99.0 * 0.033 * e3 / (166.0 * e3 - 67.0);
        if strain > toe {
            0.33 + 0.67 / (0.033 - toe) * (strain - toe)
        } else {
            (0.33 / (e3 - 1.0) * ((3.0 * strain / toe).exp() - 1.0)).max(0.0)
        }
    }

    /// Equations 6 and 7 of the paper, on between no force and .95 of the largest.
    fn velocity(&self, a: f64, n: f64, force: f64) -> f64 {
        let isometric = a * self.active(n);
        let contractile = force - self.passive(n);
        assert!(contractile >= 0.0 && contractile <= 0.95 * 1.4 * isometric);
        let b = if contractile <= isometric {
            isometric + contractile / 0.25
        } else {
            (2.0 + 2.0 / 0.25) * (isometric * 1.4 - contractile) / 0.4
        };
        (0.25 + 0.75 * a) * (contractile - isometric) / b
    }
}

pub(crate) struct Millard;

type Knot = (f64, f64, f64);

fn bezier(points: [f64; 6], u: f64) -> f64 {
    let mut p = points;
    for last in (1..6).rev() {
        for k in 0..last {
            p[k] += u * (p[k + 1] - p[k]);
        }
    }
    p[0]
}

/// A curve through knots, with a curviness for all.
fn through(knots: &[Knot], curviness: &[f64], x: f64) -> f64 {
    let ((first, y, slope), (last, ..)) = (knots[0], knots[knots.len() - 1]);
    if x < first {
        return y + slope * (x - first);
    }
    if x > last {
        let (_, y, slope) = knots[knots.len() - 1];
        return y + slope * (x - last);
    }
    let k = (0..knots.len() - 2).find(|k| x <= knots[k + 1].0);
    let k = k.unwrap_or(knots.len() - 2);
    let ((x0, y0, s0), (x1, y1, s1)) = (knots[k], knots[k + 1]);
    let c = 0.1 + 0.8 * curviness[k];
    let meet = (y0 - y1 + x1 * s1 - x0 * s0) / (s1 - s0);
    let height = y0 + s0 * (meet - x0);
    let of = |from: f64, to: f64, meet: f64| {
        let (a, b) = ((1.0 - c) * from + c * meet, (1.0 - c) * to + c * meet);
        [from, a, a, b, b, to]
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *(if bezier(of(x0, x1, meet), middle) < x {
            &mut low
        } else {
            &mut high
        }) = middle;
    }
    bezier(of(y0, y1, height), 0.5 * (low + high))
}

impl Millard {
    pub(crate) fn moving(u: f64) -> f64 {
        let knots = [
            (-1.0, 0.0, 0.0),
            (-0.9, 0.0125, 0.25),
            (0.0, 1.0, 5.0),
            (0.9, 1.3925, 0.15),
            (1.0, 1.4, 0.0),
        ];
        through(&knots, &[0.6, 0.6, 0.9, 0.9], u)
    }
}

impl Curves for Millard {
    fn active(&self, n: f64) -> f64 {
        let shallow = 1.0 - 0.8616 * 0.22;
        let knots = [
            (0.4441, 0.0, 0.0),
            (0.58705, shallow / 2.0, 1.25 * shallow / 0.2859),
            (0.84, (1.0 + shallow) / 2.0, 0.8616),
            (1.0, 1.0, 0.0),
            (1.43115, 0.5, -1.0 / 0.7123),
            (1.8123, 0.0, 0.0),
        ];
        through(&knots, &[1.0; 5], n)
    }

    fn passive(&self, n: f64) -> f64 {
        let knots = [(1.0, 0.0, 0.0), (1.035, 0.0035, 0.2), (1.7, 1.0, 2.0 / 0.7)];
        through(&knots, &[0.75; 2], n)
    }

    fn tendon(&self, strain: f64) -> f64 {
        let stiffness = 1.375 / 0.049;
        let toe = 0.049 - 1.0 / 3.0 / stiffness;
        let middle = 0.049 - 2.0 / 3.0 / stiffness;
        let foot = toe / 10.0;
        let slope = 1.0 / 3.0 / (middle - foot);
        let knots = [
            (0.0, 0.0, 0.0),
            (0.5 * (foot + middle), 1.0 / 6.0, slope),
            (toe, 2.0 / 3.0, stiffness),
        ];
        through(&knots, &[0.5; 2], strain)
    }

    /// With the damping .1.
    fn velocity(&self, a: f64, n: f64, force: f64) -> f64 {
        let of = |u: f64| a * self.active(n) * Self::moving(u) + self.passive(n) + 0.1 * u;
        let (mut low, mut high) = (-30.0, 30.0);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            *(if of(middle) < force { &mut low } else { &mut high }) = middle;
        }
        0.5 * (low + high)
    }
}

/// A muscle: force (N), optimal length (m), slack length (m), pennation (rad), speed (1/s).
pub(crate) struct Muscle<'a> {
    pub(crate) curves: &'a dyn Curves,
    pub(crate) force: f64,
    pub(crate) optimal: f64,
    pub(crate) slack: f64,
    pub(crate) pennation: f64,
    pub(crate) speed: f64,
    /// Time constants (s).
    pub(crate) times: (f64, f64),
}

impl Muscle<'_> {
    fn cosine(&self, fibre: f64) -> f64 {
        (1.0 - (self.optimal * self.pennation.sin() / fibre).powi(2)).sqrt()
    }

    /// The tension (N) at a length of the path and of the fibre.
    pub(crate) fn tension(&self, path: f64, fibre: f64) -> f64 {
        let tendon = path - fibre * self.cosine(fibre);
        self.force * self.curves.tendon(tendon / self.slack - 1.0)
    }

    /// The rates of the activation and of the fibre.
    pub(crate) fn rates(&self, path: f64, [a, fibre]: [f64; 2], u: f64) -> [f64; 2] {
        let share = self.tension(path, fibre) / self.cosine(fibre) / self.force;
        let velocity = self.curves.velocity(a, fibre / self.optimal, share);
        let slow = 0.5 + 1.5 * a;
        let time = if u > a {
            self.times.0 * slow
        } else {
            self.times.1 / slow
        };
        [(u - a) / time, velocity * self.optimal * self.speed]
    }

    /// A step of the classical method of Runge and Kutta.
    pub(crate) fn step(&self, path: impl Fn(f64) -> f64, t: f64, h: f64, y: [f64; 2], u: f64) -> [f64; 2] {
        let add = |s: f64, k: [f64; 2]| [y[0] + s * k[0], y[1] + s * k[1]];
        let k1 = self.rates(path(t), y, u);
        let k2 = self.rates(path(t + 0.5 * h), add(0.5 * h, k1), u);
        let k3 = self.rates(path(t + 0.5 * h), add(0.5 * h, k2), u);
        let k4 = self.rates(path(t + h), add(h, k3), u);
        let mean = |k: usize| (k1[k] + 2.0 * k2[k] + 2.0 * k3[k] + k4[k]) / 6.0;
        add(h, [mean(0), mean(1)])
    }

    /// The fibre at rest, by a bisection between an optimal length short and the slack tendon.
    pub(crate) fn at_rest(&self, path: f64, a: f64) -> f64 {
        let h = self.optimal * self.pennation.sin();
        let length = |reach: f64| (reach * reach + h * h).sqrt();
        let (mut low, mut high) = (0.1 * self.optimal, path - self.slack);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            let fibre = length(middle);
            let n = fibre / self.optimal;
            let pull = (a * self.curves.active(n) + self.curves.passive(n)) * middle / fibre;
            let stronger = self.curves.tendon((path - middle) / self.slack - 1.0) > pull;
            *(if stronger { &mut low } else { &mut high }) = middle;
        }
        length(0.5 * (low + high))
    }
}
