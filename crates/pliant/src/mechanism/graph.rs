//! The bodies that hang on each joint.

use crate::Simulation;
use pliant_model::{ComponentId, ElementIndex, JointHandle, NodeId, NodeKind, Pose};

/// Independent elements that move as one, with the world, and the joints between them.
pub(super) struct Graph {
    /// Of each independent element and of the world, which is the last, another one that it moves
    /// with; itself at the end.
    parent: Vec<usize>,
    /// The elements by their numbers.
    elements: Vec<ElementIndex>,
    /// Both sides of each joint.
    edges: Vec<[usize; 2]>,
}

impl Graph {
    pub(super) fn of(simulation: &Simulation, joints: &[JointHandle]) -> Self {
        let model = simulation.model();
        let mut elements = Vec::new();
        for (node, entry) in model.nodes().iter().enumerate() {
            if entry.first_dof().is_some() {
                elements.extend((0..entry.count).map(|element| ElementIndex { node, element }));
            }
        }
        let mut graph = Self {
            parent: (0..=elements.len()).collect(),
            elements,
            edges: Vec::new(),
        };
        let world = graph.elements.len();
        graph.join_fixed(simulation);
        let of_joints: Vec<ComponentId> = joints
            .iter()
            .filter(|joint| !joint.coordinates.is_empty())
            .flat_map(|joint| joint.rows.iter().chain(&joint.attached).copied())
            .collect();
        graph.join_constrained(simulation, &of_joints);
        for joint in joints {
            let side = |(body, _): &(Option<(NodeId, usize)>, Pose)| match body {
                Some((node, element)) => {
                    let own = graph.independent(simulation, node.index(), *element);
                    own.first().copied().unwrap_or(world)
                }
                None => world,
            };
            let sides = [side(&joint.frames[0]), side(&joint.frames[1])];
            graph.edges.push(sides);
        }
        graph
    }

    /// The numbers of the independent elements that an element of a node depends on.
    fn independent(&self, simulation: &Simulation, node: usize, element: usize) -> Vec<usize> {
        let at = ElementIndex { node, element };
        if let Ok(number) = self.elements.binary_search(&at) {
            return vec![number];
        }
        let NodeKind::Mapped { parents, .. } = &simulation.model().nodes()[node].kind else {
            return Vec::new();
        };
        let mut out = Vec::new();
        for on in simulation.system.evaluation.dependencies(node, element) {
            let parent = parents[on.parent].index();
            out.extend(self.independent(simulation, parent, on.element));
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Elements of which every coordinate is fixed are the world.
    fn join_fixed(&mut self, simulation: &Simulation) {
        let fixed = &simulation.system.assembler.system().fixed;
        let world = self.elements.len();
        for number in 0..world {
            let ElementIndex { node, element } = self.elements[number];
            let entry = &simulation.model().nodes()[node];
            let size = entry.space.velocity_size();
            let first = entry.first_dof().unwrap_or_default() + element * size;
            if fixed[first..first + size].iter().all(|fixed| *fixed) {
                self.join(number, world);
            }
        }
    }

    /// Elements that one element of a node with a constraint hangs on, or with a force field of
    /// three numbers or more, as finite elements and rods have, move as one, but for those of
    /// joints.
    fn join_constrained(&mut self, simulation: &Simulation, of_joints: &[ComponentId]) {
        let model = simulation.model();
        let fields = model.force_fields().iter().enumerate();
        let fields = fields.map(|(i, field)| (ComponentId::ForceField(i), field.node, false));
        let constraints = model.constraints().iter().enumerate();
        let constraints = constraints.map(|(i, c)| (ComponentId::Constraint(i), c.node, true));
        for (component, node, is_constraint) in fields.chain(constraints) {
            let entry = model.node(node);
            let is_bond = is_constraint || entry.space.velocity_size() >= 3;
            let is_mapped = matches!(entry.kind, NodeKind::Mapped { .. });
            if of_joints.contains(&component) || !is_bond || !is_mapped {
                continue;
            }
            for element in 0..entry.count {
                let all = self.independent(simulation, node.index(), element);
                for pair in all.windows(2) {
                    self.join(pair[0], pair[1]);
                }
            }
        }
    }

    fn root(&self, mut number: usize) -> usize {
        while self.parent[number] != number {
            number = self.parent[number];
        }
        number
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        // The world, which has the largest number, and then the larger one, is the root.
        self.parent[a.min(b)] = a.max(b);
    }

    /// The first element of everything that joints connect, but not with the world.
    pub(super) fn bases(&self) -> Vec<ElementIndex> {
        let mut joined = Self {
            parent: self.parent.clone(),
            elements: Vec::new(),
            edges: Vec::new(),
        };
        for [a, b] in &self.edges {
            joined.join(*a, *b);
        }
        let world = joined.root(self.elements.len());
        let mut seen = vec![world];
        let mut bases = Vec::new();
        for (number, element) in self.elements.iter().enumerate() {
            let root = joined.root(number);
            if !seen.contains(&root) {
                seen.push(root);
                bases.push(*element);
            }
        }
        bases
    }

    /// The elements that each joint carries; none of a joint in a loop.
    pub(super) fn carried(&self, joints: &[JointHandle]) -> Vec<Option<Vec<ElementIndex>>> {
        let roots: Vec<usize> = (0..=self.elements.len()).map(|k| self.root(k)).collect();
        let world = roots[self.elements.len()];
        let edges: Vec<[usize; 2]> = self.edges.iter().map(|e| e.map(|k| roots[k])).collect();
        let reach = |from: usize, without: usize| {
            let mut found = vec![from];
            let mut next = 0;
            while let Some(at) = found.get(next).copied() {
                next += 1;
                // The world holds whatever hangs on it, and carries nothing on.
                let others = edges
                    .iter()
                    .enumerate()
                    .filter(|(k, _)| *k != without && at != world);
                for (_, [a, b]) in others {
                    for (one, other) in [(a, b), (b, a)] {
                        if *one == at && !found.contains(other) {
                            found.push(*other);
                        }
                    }
                }
            }
            found
        };
        let one = |(k, joint): (usize, &JointHandle)| {
            let [a, b] = edges[k];
            if joint.coordinates.is_empty() || a == b {
                return None;
            }
            let (of_a, of_b) = (reach(a, k), reach(b, k));
            let is_loop = of_a.contains(&b) || (of_a.contains(&world) && of_b.contains(&world));
            if is_loop {
                return None;
            }
            let far = if of_b.contains(&world) { of_a } else { of_b };
            let own = self.elements.iter().zip(&roots);
            let own = own.filter(|(_, root)| far.contains(root));
            Some(own.map(|(element, _)| *element).collect())
        };
        joints.iter().enumerate().map(one).collect()
    }
}
