//! The order of the rooms of a crate, and of the crates.

use crate::graph::{Graph, edge};

/// Lists the uses that break the order of `rooms`, the folders beside `lib.rs`. Each room may use itself and the rooms before it;
/// `lib.rs` may use all rooms.
pub fn out_of_order(graph: &Graph, rooms: &[&str]) -> Vec<String> {
    let room_of = |file: &str| match file.split_once('/') {
        Some((folder, _)) => rooms.iter().position(|room| *room == folder),
        None => (file == "lib.rs").then_some(rooms.len()),
    };
    let mut problems = Vec::new();
    let outside: Vec<_> = graph
        .keys()
        .filter(|file| room_of(file).is_none())
        .map(String::as_str)
        .collect();
    if !outside.is_empty() {
        problems.push(format!("files outside of the rooms: {}", outside.join(", ")));
    }
    for (from, uses) in graph {
        let Some(room) = room_of(from) else { continue };
        let later = uses
            .keys()
            .filter(|to| room_of(to).is_some_and(|other| other > room));
        problems.extend(later.map(|to| format!("use of a later room: {}", edge(graph, from, to))));
    }
    problems
}

/// Lists the uses of those `crates` that are not `allowed`.
pub fn foreign_crates(graph: &Graph, crates: &[&str], allowed: &[&str]) -> Vec<String> {
    let forbidden = |name: &str| crates.contains(&name) && !allowed.contains(&name);
    let edges = graph
        .iter()
        .flat_map(|(from, uses)| uses.keys().map(move |to| (from, to)));
    edges
        .filter(|(_, to)| forbidden(to))
        .map(|(from, to)| format!("use of a crate that is not allowed: {}", edge(graph, from, to)))
        .collect()
}
