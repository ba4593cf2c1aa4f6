//! Pixels with depths: four samples of each are drawn, and averaged in the end.

/// Samples along each side of a pixel.
const FINE: usize = 2;
/// The colour where there is nothing.
const PAPER: [u8; 3] = [0xf5, 0xf6, 0xf8];
/// Rows of a picture whose lines and dots have their widths in pixels as they are.
const ROWS: f64 = 480.0;

/// A corner on the canvas: samples to the right and down, and one over the distance before the eye
/// (1/m).
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) nearness: f64,
}

pub(super) struct Canvas {
    width: usize,
    height: usize,
    colours: Vec<[u8; 3]>,
    nearness: Vec<f64>,
}

impl Canvas {
    /// A blank canvas for a picture of this width and height in pixels.
    pub(super) fn new([width, height]: [usize; 2]) -> Self {
        let (width, height) = (FINE * width, FINE * height);
        Self {
            width,
            height,
            colours: vec![PAPER; width * height],
            nearness: vec![0.0; width * height],
        }
    }

    /// Samples of a row, and rows of samples.
    pub(super) fn size(&self) -> [usize; 2] {
        [self.width, self.height]
    }

    /// Samples of a length that is one pixel in a picture of 480 rows.
    pub(super) fn unit(&self) -> f64 {
        (self.height as f64 / ROWS).max(1.0)
    }

    /// Fills a triangle where it is nearer than what is there.
    pub(super) fn triangle(&mut self, [a, b, c]: [Corner; 3], colour: [u8; 3]) {
        let area = side(a, b, c.x, c.y);
        if !(area.abs() > 0.0 && area.is_finite()) {
            return;
        }
        let [left, right] = range([a.x, b.x, c.x], self.width);
        let [top, bottom] = range([a.y, b.y, c.y], self.height);
        for row in top..bottom {
            for column in left..right {
                let (x, y) = (column as f64 + 0.5, row as f64 + 0.5);
                let shares = [side(b, c, x, y), side(c, a, x, y), side(a, b, x, y)].map(|s| s / area);
                if shares.iter().all(|share| *share >= 0.0) {
                    let near = shares[0] * a.nearness + shares[1] * b.nearness + shares[2] * c.nearness;
                    self.sample(row * self.width + column, near, colour);
                }
            }
        }
    }

    /// Draws a line of this width in samples, a little nearer than it is, so that lines on surfaces
    /// are seen.
    pub(super) fn line(&mut self, [a, b]: [Corner; 2], width: f64, colour: [u8; 3]) {
        let (dx, dy) = (b.x - a.x, b.y - a.y);
        let length = dx.hypot(dy);
        if !(length > 0.0 && length.is_finite()) {
            return self.disc(a, 0.5 * width, colour);
        }
        let (px, py) = (-0.5 * width * dy / length, 0.5 * width * dx / length);
        let beside = |corner: Corner, sign: f64| Corner {
            x: corner.x + sign * px,
            y: corner.y + sign * py,
            nearness: 1.001 * corner.nearness,
        };
        self.triangle([beside(a, 1.0), beside(a, -1.0), beside(b, 1.0)], colour);
        self.triangle([beside(a, -1.0), beside(b, 1.0), beside(b, -1.0)], colour);
    }

    /// Fills a disc of this radius in samples.
    pub(super) fn disc(&mut self, at: Corner, radius: f64, colour: [u8; 3]) {
        let [left, right] = range([at.x - radius, at.x + radius, at.x], self.width);
        let [top, bottom] = range([at.y - radius, at.y + radius, at.y], self.height);
        for row in top..bottom {
            for column in left..right {
                let (x, y) = (column as f64 + 0.5 - at.x, row as f64 + 0.5 - at.y);
                if x * x + y * y <= radius * radius {
                    self.sample(row * self.width + column, 1.001 * at.nearness, colour);
                }
            }
        }
    }

    fn sample(&mut self, place: usize, nearness: f64, colour: [u8; 3]) {
        if nearness > self.nearness[place] {
            self.nearness[place] = nearness;
            self.colours[place] = colour;
        }
    }

    /// Pixels, row by row: red, green and blue of each.
    pub(super) fn pixels(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(3 * self.width * self.height / (FINE * FINE));
        for row in (0..self.height).step_by(FINE) {
            for column in (0..self.width).step_by(FINE) {
                let mut sum = [0usize; 3];
                for fine in 0..FINE * FINE {
                    let place = (row + fine / FINE) * self.width + column + fine % FINE;
                    for (sum, part) in sum.iter_mut().zip(self.colours[place]) {
                        *sum += usize::from(part);
                    }
                }
                out.extend(sum.map(|sum| ((sum + FINE * FINE / 2) / (FINE * FINE)) as u8));
            }
        }
        out
    }
}

/// Twice the area of a triangle, by its sign the side of the line `a b` that a place is on.
fn side(a: Corner, b: Corner, x: f64, y: f64) -> f64 {
    (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x)
}

/// The samples whose middles lie between three numbers, of so many.
fn range(numbers: [f64; 3], count: usize) -> [usize; 2] {
    let low = numbers.iter().fold(f64::INFINITY, |a, b| a.min(*b));
    let high = numbers.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    let clamped = |x: f64| x.clamp(0.0, count as f64) as usize;
    [clamped((low - 0.5).floor()), clamped((high + 0.5).ceil())]
}
