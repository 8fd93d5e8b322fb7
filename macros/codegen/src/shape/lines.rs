//! The lines of a shape: as they are, or as one sees them who knows only some markers.

use std::collections::BTreeMap;

use super::flow::hash;
use super::{Arm, Control, Node, Numbering, Place, Shape, Weight};

/// The arms of markers that somebody knows.
pub(crate) type Known = BTreeMap<String, Vec<u32>>;

/// One line, and where in the source it comes from.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) place: Place,
}

/// A shape as somebody sees it.
#[derive(Debug, Default)]
pub(crate) struct Projected {
    pub(crate) lines: Vec<Line>,
    /// Conditions, loop bounds and early ends, in order, as hashes.
    pub(crate) flow: Vec<(u32, Place)>,
    /// Markers that are not known and do not start at 0.
    pub(crate) unknown: Vec<UnknownMarker>,
}

/// A marker that cannot be left out, because the code before it has no arm.
#[derive(Debug, Clone)]
pub(crate) struct UnknownMarker {
    pub(crate) id: String,
    /// The lowest version that has an arm, if any has.
    pub(crate) lowest: Option<u32>,
    pub(crate) place: Place,
}

pub(super) fn whole(shape: &Shape) -> Projected {
    written(shape.nodes.clone(), Vec::new())
}

pub(super) fn project(shape: &Shape, known: &Known) -> Projected {
    let mut unknown = Vec::new();
    let nodes = projected(&shape.nodes, known, &mut unknown);
    written(nodes, unknown)
}

fn written(mut nodes: Vec<Node>, unknown: Vec<UnknownMarker>) -> Projected {
    strip(&mut nodes, &["return"]);
    let mut projected = Projected {
        unknown,
        ..Projected::default()
    };
    if is_durable(&nodes) {
        write(&nodes, 0, &mut projected);
    }
    projected
}

/// Markers that are not known are their lowest arm, and new arms of known ones are not there.
fn projected(nodes: &[Node], known: &Known, unknown: &mut Vec<UnknownMarker>) -> Vec<Node> {
    let mut result = Vec::with_capacity(nodes.len());
    for node in nodes {
        match node {
            Node::Block(control) => {
                let mut control = control.clone();
                for arm in &mut control.arms {
                    arm.nodes = projected(&arm.nodes, known, unknown);
                }
                result.push(Node::Block(control));
            }
            Node::Version {
                form,
                id,
                arms,
                place,
            } => match known.get(id) {
                Some(numbers) => {
                    // An arm below those that are known was put back: runs that need it have it.
                    let arms = arms.iter().filter(|(number, _)| numbers.contains(number));
                    result.push(Node::Version {
                        form,
                        id: id.clone(),
                        arms: arms
                            .map(|(number, nodes)| (*number, projected(nodes, known, unknown)))
                            .collect(),
                        place: *place,
                    });
                }
                None => match arms.first() {
                    Some((0, nodes)) => result.extend(projected(nodes, known, unknown)),
                    first => unknown.push(UnknownMarker {
                        id: id.clone(),
                        lowest: first.map(|(number, _)| *number),
                        place: *place,
                    }),
                },
            },
            other => result.push(other.clone()),
        }
    }
    result
}

/// Takes away what ends something that ends there anyway: `return` as the last thing of a function, `continue` as
/// the last thing of a loop.
fn strip(nodes: &mut Vec<Node>, at_end: &[&str]) {
    while let Some(Node::Exit { label, .. }) = nodes.last()
        && at_end.contains(&label.as_str())
    {
        nodes.pop();
    }
    let last = nodes.len().saturating_sub(1);
    for (index, node) in nodes.iter_mut().enumerate() {
        let is_last = index == last;
        match node {
            Node::Block(control) => {
                let words = control.arms.first().map_or("", |arm| arm.header);
                let at_end: &[&str] = match words {
                    "loop" | "while" | "for" => &["continue"],
                    "async" | "closure" | "cx.spawn" | "submit" | "join!" | "try_join!"
                    | "join_all" => &["return"],
                    "&&" | "||" | "let else" => &[],
                    _ if is_last => at_end,
                    _ => &[],
                };
                for arm in &mut control.arms {
                    strip(&mut arm.nodes, at_end);
                }
            }
            Node::Version { arms, .. } => {
                let at_end = if is_last { at_end } else { &[] };
                for (_, nodes) in arms {
                    strip(nodes, at_end);
                }
            }
            _ => {}
        }
    }
}

/// Whether something in it is shown by itself.
pub(super) fn is_durable(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Step { .. } | Node::Version { .. } => true,
        Node::Exit { weight, .. } => *weight == Weight::Hard,
        Node::Block(control) => control.arms.iter().any(|arm| is_durable(&arm.nodes)),
        Node::Made(_) => false,
    })
}

/// Whether it ends something early, in pure code.
fn leaves(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Exit { .. } => true,
        Node::Block(control) => control.arms.iter().any(|arm| leaves(&arm.nodes)),
        _ => false,
    })
}

fn write(nodes: &[Node], depth: usize, to: &mut Projected) {
    // A `?` directly behind a wait stands on its line.
    let mut before: Option<usize> = None;
    for node in nodes {
        let mut stepped = None;
        match node {
            Node::Step { label, place } => {
                to.line(depth, label, *place);
                stepped = Some(to.lines.len() - 1);
            }
            Node::Exit {
                label,
                weight: Weight::Pure,
                place,
                flow,
            } => {
                to.flow(&format!("{label} {flow}"), *place);
                stepped = before;
            }
            Node::Exit { label, place, .. } => match before {
                Some(line) if label == "?" => to.lines[line].text.push('?'),
                _ => to.line(depth, label, *place),
            },
            Node::Block(control) => {
                let shown = to.lines.len();
                control_lines(control, depth, to);
                if to.lines.len() == shown {
                    stepped = before;
                }
            }
            Node::Version {
                form,
                id,
                arms,
                place,
            } => {
                for (number, nodes) in arms {
                    to.line(depth, &format!("{form} {id:?} {number}"), *place);
                    write(nodes, depth + 1, to);
                }
            }
            Node::Made(_) => {}
        }
        before = stepped;
    }
}

fn control_lines(control: &Control, depth: usize, to: &mut Projected) {
    let Control {
        arms,
        numbering,
        place,
        flow,
    } = control;
    let is_shown = arms.iter().any(|arm| is_durable(&arm.nodes));
    let matters = |arm: &Arm| is_durable(&arm.nodes) || leaves(&arm.nodes);
    let Some(last) = arms.iter().rposition(matters) else {
        return;
    };
    // Who gets so far has passed all that was tested before.
    let catches_all =
        |arm: &Arm| matches!(arm.header, "if" | "else if" | "else") || arm.flow == "_";
    let tested = arms
        .iter()
        .rposition(|arm| matters(arm) && catches_all(arm));
    if !flow.is_empty() {
        let word = arms.first().map_or("", |arm| arm.header);
        to.flow(&format!("{word} {flow}"), *place);
    }
    let mut shown = 0;
    for (index, arm) in arms.iter().enumerate() {
        let Arm {
            header,
            nodes,
            flow,
            place: own,
        } = arm;
        let is_durable = is_durable(nodes);
        let is_tested = tested.is_some_and(|tested| index <= tested);
        if !flow.is_empty() && index <= last && (is_tested || matters(arm)) {
            to.flow(&format!("arm {flow}"), *own);
        }
        let place = if index == 0 { place } else { own };
        match numbering {
            Numbering::None | Numbering::Shown if !is_durable => {
                pure(nodes, to);
                continue;
            }
            Numbering::All if !is_shown && nodes.is_empty() => continue,
            Numbering::None => to.line(depth, header, *place),
            Numbering::Shown => to.line(depth, &format!("{header} {shown}"), *place),
            Numbering::All if arms.len() == 1 => to.line(depth, header, *place),
            Numbering::All => to.line(depth, &format!("{header} {index}"), *place),
        }
        shown += 1;
        write(nodes, depth + 1, to);
    }
}

/// Early ends that are not shown.
fn pure(nodes: &[Node], to: &mut Projected) {
    for node in nodes {
        match node {
            Node::Exit {
                label, place, flow, ..
            } => to.flow(&format!("{label} {flow}"), *place),
            Node::Block(control) if leaves(std::slice::from_ref(node)) => {
                control_lines(control, 0, to);
            }
            _ => {}
        }
    }
}

impl Projected {
    fn line(&mut self, depth: usize, text: &str, place: Place) {
        self.lines.push(Line {
            text: format!("{}{text}", "  ".repeat(depth)),
            place,
        });
    }

    /// Something that the lines do not tell, and between which of them it is.
    fn flow(&mut self, text: &str, place: Place) {
        let hash = hash(&format!("{} {text}", self.lines.len()));
        let folded = (hash >> 32) ^ (hash & 0xffff_ffff);
        // The upper half is gone.
        let folded = u32::try_from(folded & 0xffff_ffff).unwrap_or_default();
        self.flow.push((folded, place));
    }
}
