//! Writes an expression in the syntax of the `regex` and `fancy-regex` crates.
//!
//! They prefer the first alternative where PostgreSQL prefers the longest match. Whether there is a
//! match and where the first one begins is the same; [`super::exact`] finds where it ends.

use super::syntax::{Class, Node, Place, Prefer};
use std::fmt::Write;

/// The expression, with or without what it captures.
pub(super) fn translate(node: &Node) -> String {
    let mut out = String::new();
    write_node(node, &mut out);
    out
}

/// Recursion is bounded by the depth that the parser allows.
fn write_node(node: &Node, out: &mut String) {
    match node {
        Node::Empty => {}
        Node::Class(class) => write_class(class, out),
        Node::At(place) => out.push_str(place_text(*place)),
        Node::Look { behind, negative, node } => {
            out.push_str(if *behind { "(?<" } else { "(?" });
            out.push(if *negative { '!' } else { '=' });
            write_node(node, out);
            out.push(')');
        }
        Node::Sequence(nodes) => nodes.iter().for_each(|node| write_inner(node, out)),
        Node::Choice(nodes) => {
            for (number, node) in nodes.iter().enumerate() {
                if number > 0 {
                    out.push('|');
                }
                write_node(node, out);
            }
        }
        // The library repeats no nothing.
        Node::Repeat { node, .. } if **node == Node::Empty => {}
        Node::Repeat { node, range } => {
            write_repeated(node, out);
            let _ = match range.max {
                Some(max) => write!(out, "{{{},{max}}}", range.min),
                None => write!(out, "{{{},}}", range.min),
            };
            if range.prefer == Some(Prefer::Short) {
                out.push('?');
            }
        }
        Node::Group(_, node) => {
            out.push('(');
            write_node(node, out);
            out.push(')');
        }
        Node::Back(number) => {
            let _ = write!(out, "(?:\\{number})");
        }
    }
}

fn write_inner(node: &Node, out: &mut String) {
    if matches!(node, Node::Choice(_)) {
        write_repeated(node, out);
    } else {
        write_node(node, out);
    }
}

fn write_repeated(node: &Node, out: &mut String) {
    out.push_str("(?:");
    write_node(node, out);
    out.push(')');
}

fn place_text(place: Place) -> &'static str {
    match place {
        Place::TextStart => r"\A",
        Place::TextEnd => r"\z",
        Place::LineStart => r"(?m:^)",
        Place::LineEnd => r"(?m:$)",
        Place::WordStart => r"(?:\b(?=\w))",
        Place::WordEnd => r"(?:\b(?<=\w))",
        Place::WordEdge => r"\b",
        Place::NoWordEdge => r"\B",
    }
}

fn write_character(c: char, out: &mut String) {
    let _ = write!(out, "\\x{{{:x}}}", u32::from(c));
}

fn write_class(class: &Class, out: &mut String) {
    if class.any_case {
        out.push_str("(?i:");
    }
    match class {
        Class { negative: true, ranges, named, .. } if ranges.is_empty() && named.is_empty() => {
            out.push_str("(?s:.)");
        }
        Class { negative: false, ranges, named, .. } if named.is_empty() && ranges.len() == 1 => {
            let (from, to) = ranges[0];
            if from == to { write_character(from, out) } else { write_set(class, out) }
        }
        _ => write_set(class, out),
    }
    if class.any_case {
        out.push(')');
    }
}

fn write_set(class: &Class, out: &mut String) {
    out.push_str(if class.negative { "[^" } else { "[" });
    for &(from, to) in &class.ranges {
        write_character(from, out);
        out.push('-');
        write_character(to, out);
    }
    for (named, complement) in &class.named {
        if *complement {
            let _ = write!(out, "[^{}]", named.translated());
        } else {
            out.push_str(named.translated());
        }
    }
    out.push(']');
}
