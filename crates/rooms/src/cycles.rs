//! The dependency cycles of a graph.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
};

use crate::graph::{Graph, edge};

/// Files that all use each other, directly or through other files among them: a strongly connected component.
pub struct Cycle<'a> {
    graph: &'a Graph,
    /// All files of the component.
    pub files: BTreeSet<&'a str>,
    /// The shortest cycle among the files. It ends with the file that it begins with.
    pub shortest: Vec<&'a str>,
}

/// Finds all cycles of a graph.
pub fn cycles(graph: &Graph) -> Vec<Cycle<'_>> {
    let mut cycles: Vec<Cycle> = Vec::new();
    for file in graph.keys() {
        let Some(shortest) = way(graph, file, file) else {
            continue;
        };
        let reaches = |from: &str, to: &str| way(graph, from, to).is_some();
        let known = cycles.iter_mut().find(|cycle| {
            let member = cycle.shortest[0];
            reaches(file, member) && reaches(member, file)
        });
        match known {
            Some(cycle) => {
                cycle.files.insert(file);
                if shortest.len() < cycle.shortest.len() {
                    cycle.shortest = shortest;
                }
            }
            None => cycles.push(Cycle {
                graph,
                files: [file.as_str()].into(),
                shortest,
            }),
        }
    }
    cycles
}

/// Finds the shortest way from one file to another, or back to itself. Both ends are included.
fn way<'a>(graph: &'a Graph, from: &str, to: &str) -> Option<Vec<&'a str>> {
    let (from, _) = graph.get_key_value(from)?;
    let mut came_from = BTreeMap::new();
    let mut ahead = VecDeque::from([from.as_str()]);
    while let Some(file) = ahead.pop_front() {
        for next in graph.get(file).into_iter().flat_map(|uses| uses.keys()) {
            if came_from.contains_key(next.as_str()) {
                continue;
            }
            came_from.insert(next.as_str(), file);
            if next == to {
                return Some(trace(&came_from, from, next));
            }
            ahead.push_back(next);
        }
    }
    None
}

fn trace<'a>(came_from: &BTreeMap<&'a str, &'a str>, from: &str, to: &'a str) -> Vec<&'a str> {
    let mut way = vec![to];
    loop {
        let before = came_from[way[way.len() - 1]];
        way.push(before);
        if before == from {
            way.reverse();
            return way;
        }
    }
}

impl fmt::Display for Cycle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<_> = self.files.iter().copied().collect();
        write!(
            f,
            "a cycle of {} files: {}; the shortest way round:",
            files.len(),
            files.join(", ")
        )?;
        self.shortest
            .windows(2)
            .try_for_each(|pair| write!(f, "\n    {}", edge(self.graph, pair[0], pair[1])))
    }
}
