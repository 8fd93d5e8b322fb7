//! What is left of a walk once it is known which futures are waited for, and where.

use super::lines::is_durable;
use super::walk::Walk;
use super::{Node, Weight};

/// Control flow that decides whether, and how often, something is done.
const CONDITIONAL: &[&str] = &[
    "if", "else if", "else", "match", "let else", "&&", "||", "loop", "while", "for",
];

impl Walk<'_> {
    /// Whether futures are made here that are waited for elsewhere.
    fn makes(&self, nodes: &[Node]) -> bool {
        nodes.iter().any(|node| match node {
            Node::Made(operation) => self.operations[*operation].is_used,
            Node::Block(control) => {
                let mut arms = control.arms.iter();
                arms.any(|arm| !CONDITIONAL.contains(&arm.header) && self.makes(&arm.nodes))
            }
            Node::Step { .. } | Node::Exit { .. } | Node::Version { .. } => false,
        })
    }

    /// Nodes without the futures that are waited for elsewhere.
    pub(super) fn resolved(&self, nodes: Vec<Node>) -> Vec<Node> {
        let mut resolved = Vec::with_capacity(nodes.len());
        for node in nodes {
            match node {
                Node::Made(operation) => {
                    let operation = &self.operations[operation];
                    if !operation.is_used {
                        let nodes = self.resolved(operation.nodes.clone());
                        // It may be that nobody waits for it.
                        let unseen = is_durable(&nodes).then(|| Node::Exit {
                            label: "unseen".to_owned(),
                            weight: Weight::Pure,
                            place: operation.place,
                            flow: String::new(),
                        });
                        resolved.extend(nodes);
                        resolved.extend(unseen);
                    }
                }
                Node::Block(mut control) => {
                    for arm in &mut control.arms {
                        let nodes = std::mem::take(&mut arm.nodes);
                        let made = CONDITIONAL.contains(&arm.header) && self.makes(&nodes);
                        arm.nodes = self.resolved(nodes);
                        // Whether, and how often, a future is made for somewhere else depends on this.
                        if made && !is_durable(&arm.nodes) {
                            arm.nodes.push(Node::Exit {
                                label: "made".to_owned(),
                                weight: Weight::Pure,
                                place: arm.place,
                                flow: String::new(),
                            });
                        }
                    }
                    resolved.push(Node::Block(control));
                }
                Node::Version {
                    form,
                    id,
                    arms,
                    place,
                } => resolved.push(Node::Version {
                    form,
                    id,
                    arms: arms
                        .into_iter()
                        .map(|(number, nodes)| (number, self.resolved(nodes)))
                        .collect(),
                    place,
                }),
                other => resolved.push(other),
            }
        }
        resolved
    }
}
