//! The scene graph of a SOFA file: nodes, their components, and the links between them.

use crate::xml::{Spot, Tree};
use std::collections::HashMap;

/// A node of the graph.
pub(super) struct Node {
    pub(super) name: String,
    pub(super) element: usize,
    pub(super) parent: Option<usize>,
    /// Elements of its components, in the order of the file.
    pub(super) components: Vec<usize>,
    pub(super) children: Vec<usize>,
}

/// The nodes of a file, parents first; the first is the root.
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// By element: the node of a component.
    owner: HashMap<usize, usize>,
}

/// Node or component that a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Node(usize),
    Component(usize),
}

impl Graph {
    /// The graph below an element. Nodes that are switched off are left out.
    pub(super) fn read(tree: &mut Tree, root: usize) -> Self {
        let mut graph = Self {
            nodes: Vec::new(),
            owner: HashMap::new(),
        };
        let mut open = vec![(root, None)];
        while let Some((element, parent)) = open.pop() {
            let index = graph.nodes.len();
            let name = tree.value(element, "name").unwrap_or_default().to_owned();
            graph.nodes.push(Node {
                name,
                element,
                parent,
                components: Vec::new(),
                children: Vec::new(),
            });
            if let Some(parent) = parent {
                graph.nodes[parent].children.push(index);
            }
            let mut inner = Vec::new();
            for child in tree.elements[element].children.clone() {
                if tree.elements[child].tag != "Node" {
                    graph.nodes[index].components.push(child);
                    graph.owner.insert(child, index);
                } else if tree.value(child, "activated").is_some_and(|v| !is_true(v)) {
                    let spot = tree.elements[child].spot;
                    tree.remark(spot, "a node with `activated=\"0\"` is not taken");
                } else {
                    inner.push((child, Some(index)));
                }
            }
            open.extend(inner.into_iter().rev());
        }
        graph
    }

    /// The node of a component.
    pub(super) fn node_of(&self, component: usize) -> usize {
        self.owner.get(&component).copied().unwrap_or(0)
    }

    /// A node and all above it, from below.
    pub(super) fn upwards(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |n| self.nodes[*n].parent)
    }

    /// Target of a link from a component, without the name of the data: `@../loader`, `@[-1]`,
    /// `@.`. The component `from` is that which holds the link.
    pub(super) fn target(&self, tree: &Tree, from: usize, path: &str) -> Option<Target> {
        let path = path.strip_prefix('@').unwrap_or(path);
        let mut node = match path.starts_with('/') {
            true => 0,
            false => self.node_of(from),
        };
        let mut found = Target::Node(node);
        for part in path.split('/').filter(|p| !p.is_empty() && *p != ".") {
            if let Target::Component(_) = found {
                return None;
            }
            found = match part {
                ".." => Target::Node(self.nodes[node].parent?),
                part if part.starts_with('[') => self.before(from, part)?,
                part => self.named(tree, node, part)?,
            };
            if let Target::Node(inner) = found {
                node = inner;
            }
        }
        Some(found)
    }

    /// The component so many places before another one: `[-1]`.
    fn before(&self, from: usize, part: &str) -> Option<Target> {
        let back: usize = part.strip_prefix("[-")?.strip_suffix(']')?.parse().ok()?;
        let all = &self.nodes[self.node_of(from)].components;
        let here = all.iter().position(|c| *c == from)?;
        let there = all.get(here.checked_sub(back)?)?;
        Some(Target::Component(*there))
    }

    /// A component or a node of that name in a node; the root by its own name, too.
    fn named(&self, tree: &Tree, node: usize, name: &str) -> Option<Target> {
        let Node {
            components, children, ..
        } = &self.nodes[node];
        let component = components.iter().find(|c| tree.value(**c, "name") == Some(name));
        if let Some(component) = component {
            return Some(Target::Component(*component));
        }
        let child = children.iter().find(|c| self.nodes[**c].name == name);
        match child {
            Some(child) => Some(Target::Node(*child)),
            None => (node == 0 && self.nodes[0].name == name).then_some(Target::Node(0)),
        }
    }
}

/// The kind of a component: its tag, or `type` of the old notation `<Object type="..">`.
pub(super) fn kind(tree: &Tree, component: usize) -> String {
    let tag = &tree.elements[component].tag;
    match tree.value(component, "type") {
        Some(kind) if tag == "Object" => kind.to_owned(),
        _ => tag.clone(),
    }
}

/// The place of an element.
pub(super) fn spot(tree: &Tree, element: usize) -> Spot {
    tree.elements[element].spot
}

/// A truth value as SOFA reads it.
pub(super) fn is_true(value: &str) -> bool {
    matches!(value.trim().bytes().next(), Some(b'1'..=b'9' | b't' | b'T'))
}

/// A link and the name of its data: `@../mesh.edges`. A link without data has none.
pub(super) fn split_data(link: &str) -> (&str, Option<&str>) {
    match link.rfind('.') {
        Some(dot) if dot + 1 < link.len() && !link[dot..].contains('/') && !link[..dot].ends_with('.') => {
            let (path, data) = link.split_at(dot);
            (path, Some(&data[1..]))
        }
        _ => (link, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_split_at_their_last_dot() {
        assert_eq!(split_data("@../mesh.edges"), ("@../mesh", Some("edges")));
        assert_eq!(split_data("@[-1].indices"), ("@[-1]", Some("indices")));
        assert_eq!(split_data("@../"), ("@../", None));
        assert_eq!(split_data("@.."), ("@..", None));
        assert_eq!(split_data("@."), ("@.", None));
        assert_eq!(split_data("@../../DOF"), ("@../../DOF", None));
    }
}
