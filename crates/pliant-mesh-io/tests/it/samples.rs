//! MSH files built by bytes: the same mesh in every version and encoding.

/// A version and encoding of the format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flavour {
    pub(crate) four: bool,
    /// `None` for text, else whether big-endian.
    pub(crate) binary: Option<bool>,
    pub(crate) size_bytes: usize,
}

impl Flavour {
    pub(crate) const TEXT_2: Self = Self {
        four: false,
        binary: None,
        size_bytes: 8,
    };

    /// All that the format knows.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for binary in [None, Some(false), Some(true)] {
            all.push(Self {
                four: false,
                binary,
                size_bytes: 8,
            });
            all.push(Self {
                four: true,
                binary,
                size_bytes: 8,
            });
            all.push(Self {
                four: true,
                binary,
                size_bytes: 4,
            });
        }
        all
    }
}

/// Writes numbers as the flavour wants them.
pub(crate) struct Writer {
    flavour: Flavour,
    pub(crate) bytes: Vec<u8>,
}

impl Writer {
    /// A file with its header.
    pub(crate) fn new(flavour: Flavour) -> Self {
        let mut writer = Self {
            flavour,
            bytes: Vec::new(),
        };
        let version = if flavour.four { "4.1" } else { "2.2" };
        let kind = u8::from(flavour.binary.is_some());
        writer.line(&format!("$MeshFormat\n{version} {kind} {}", flavour.size_bytes));
        if flavour.binary.is_some() {
            writer.int(1);
            writer.line("");
        }
        writer.line("$EndMeshFormat");
        writer
    }

    pub(crate) fn line(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(b'\n');
    }

    fn put(&mut self, text: &str, little: &[u8]) {
        let start = self.bytes.len();
        match self.flavour.binary {
            None => {
                self.bytes.extend_from_slice(text.as_bytes());
                self.bytes.push(b' ');
            }
            Some(big_endian) => {
                self.bytes.extend_from_slice(little);
                if big_endian {
                    self.bytes[start..].reverse();
                }
            }
        }
    }

    pub(crate) fn int(&mut self, value: i32) {
        self.put(&value.to_string(), &value.to_le_bytes());
    }

    pub(crate) fn size(&mut self, value: u64) {
        self.put(
            &value.to_string(),
            &value.to_le_bytes()[..self.flavour.size_bytes],
        );
    }

    pub(crate) fn real(&mut self, value: f64) {
        self.put(&format!("{value:?}"), &value.to_le_bytes());
    }

    /// The end of a line of numbers, which binary data do not have.
    pub(crate) fn end(&mut self) {
        if self.flavour.binary.is_none() {
            self.bytes.push(b'\n');
        }
    }

    /// Nodes `(tag, position)` on the volume 1.
    pub(crate) fn nodes(&mut self, nodes: &[(i32, [f64; 3])]) {
        self.line("$Nodes");
        if self.flavour.four {
            let tags = nodes.iter().map(|node| node.0 as u64);
            let (least, greatest) = (tags.clone().min().unwrap_or(0), tags.max().unwrap_or(0));
            for number in [1, nodes.len() as u64, least, greatest] {
                self.size(number);
            }
            self.end();
            for number in [3, 1, 0] {
                self.int(number);
            }
            self.size(nodes.len() as u64);
            self.end();
            for &(tag, _) in nodes {
                self.size(tag as u64);
                self.end();
            }
        } else {
            self.line(&nodes.len().to_string());
        }
        for &(tag, position) in nodes {
            if !self.flavour.four {
                self.int(tag);
            }
            position.iter().for_each(|&x| self.real(x));
            self.end();
        }
        self.line("\n$EndNodes");
    }

    /// Elements `(type, dimension, entity, physical tag, node tags)`.
    pub(crate) fn elements(&mut self, elements: &[(i32, i32, i32, i32, &[i32])]) {
        self.line("$Elements");
        let count = elements.len() as u64;
        if self.flavour.four {
            [count, count, 1, count].iter().for_each(|&n| self.size(n));
            self.end();
        } else {
            self.line(&count.to_string());
        }
        for (tag, &(kind, dimension, entity, physical, nodes)) in (1..).zip(elements) {
            if self.flavour.four {
                [dimension, entity, kind].iter().for_each(|&i| self.int(i));
                self.size(1);
                self.end();
                self.size(tag as u64);
                nodes.iter().for_each(|&node| self.size(node as u64));
            } else if self.flavour.binary.is_some() {
                [kind, 1, 2, tag, physical, entity]
                    .iter()
                    .for_each(|&i| self.int(i));
                nodes.iter().for_each(|&node| self.int(node));
            } else {
                [tag, kind, 2, physical, entity].iter().for_each(|&i| self.int(i));
                nodes.iter().for_each(|&node| self.int(node));
            }
            self.end();
        }
        self.line("\n$EndElements");
    }

    /// One entity of tag 1 per dimension, with the given physical tags.
    pub(crate) fn entities(&mut self, physical: [&[i32]; 4]) {
        if !self.flavour.four {
            return;
        }
        self.line("$Entities");
        (0..4).for_each(|_| self.size(1));
        self.end();
        for (dimension, tags) in physical.iter().enumerate() {
            self.int(1);
            (0..if dimension == 0 { 3 } else { 6 }).for_each(|i| self.real(f64::from(i)));
            self.size(tags.len() as u64);
            tags.iter().for_each(|&tag| self.int(tag));
            if dimension > 0 {
                self.size(2);
                [1, -1].iter().for_each(|&i| self.int(i));
            }
            self.end();
        }
        self.line("\n$EndEntities");
    }
}

/// Corners of the unit cube with sparse tags: bit `k` of the corner's number is its coordinate `k`.
fn cube_nodes() -> Vec<(i32, [f64; 3])> {
    (0..8)
        .map(|i| (1000 - 7 * i, [0, 1, 2].map(|k| f64::from(i >> k & 1))))
        .collect()
}

/// The unit cube as six tetrahedra about a diagonal.
pub(crate) fn cube(flavour: Flavour) -> Vec<u8> {
    let tag = |corner: i32| 1000 - 7 * corner;
    // From corner 0 to corner 7 along the axes in each order; odd orders are turned to keep the
    // volume positive.
    let paths = [
        [0, 1, 3, 7],
        [0, 2, 6, 7],
        [0, 4, 5, 7],
        [0, 3, 2, 7],
        [0, 6, 4, 7],
        [0, 5, 1, 7],
    ];
    let paths = paths.map(|path| path.map(tag));
    let mut writer = Writer::new(flavour);
    writer.entities([&[], &[], &[], &[]]);
    writer.nodes(&cube_nodes());
    let elements: Vec<_> = paths.iter().map(|path| (4, 3, 1, 0, &path[..])).collect();
    writer.elements(&elements);
    writer.bytes
}

/// A point, a line, a triangle, a quadrangle and a tetrahedron on the corners of the cube, in named
/// groups, with sections that the reader does not know.
pub(crate) fn mixed(flavour: Flavour) -> Vec<u8> {
    let mut writer = Writer::new(flavour);
    writer.line("$Comments\nnothing $of $EndCommentsX note\n$EndComments");
    writer.line(
        "$PhysicalNames\n4\n0 5 \"tip\"\n1 5 \"the cable\"\n2 6 \"skin\"\n3 6 \"skin\"\n$EndPhysicalNames",
    );
    writer.entities([&[5], &[-5], &[6], &[6]]);
    writer.nodes(&cube_nodes());
    let t: Vec<i32> = cube_nodes().iter().map(|node| node.0).collect();
    writer.elements(&[
        (15, 0, 1, 5, &[t[7]]),
        (1, 1, 1, -5, &[t[0], t[7]]),
        (2, 2, 1, 6, &[t[0], t[1], t[2]]),
        (3, 2, 1, 6, &[t[4], t[5], t[7], t[6]]),
        (4, 3, 1, 6, &[t[0], t[1], t[2], t[4]]),
    ]);
    writer.line("$NodeData\n1\n\"field\"\n$EndNodeData");
    writer.bytes
}
