//! Checks that files, rooms and crates use each other one way only. Run it in the root of the repository.
//!
//! - `cargo run -p rooms` checks all crates.
//! - `cargo run -p rooms -- list resqlite` prints each file with the files that it uses.
//! - `cargo run -p rooms -- mermaid resqlite` prints a Mermaid diagram of its folders.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use rooms::{Graph, Source, cycles, foreign_crates, graph, out_of_order};

/// The crates, each with the crates that it may use.
const CRATES: [(&str, &[&str]); 7] = [
    ("resqlite_sqlite_sys", &[]),
    ("resqlite_sqlite", &["resqlite_sqlite_sys"]),
    ("resqlite_live", &[]),
    ("resqlite", &["resqlite_sqlite", "resqlite_live"]),
    ("resqlite_node", &["resqlite", "resqlite_cluster"]),
    ("resqlite_cluster", &["resqlite"]),
    ("rooms", &[]),
];

/// The folders of crates, in order. Each folder uses only itself and the folders before it.
#[rustfmt::skip]
const ROOMS: [(&str, &[&str]); 2] = [
    ("resqlite", &[
        "core", "functions", "rows", "requests", "guard", "sql", "maintain", "connection", "entries", "commits", "reader", "writer", "log", "backup",
        "live", "events", "api",
    ]),
    ("resqlite_cluster", &["core", "logs", "protocol", "wire", "node", "api"]),
];

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        [] => check(),
        ["list", name] => read(name).map(|graph| print(&list(&graph))),
        ["mermaid", name] => read(name).map(|graph| print(&mermaid(&graph))),
        _ => Err("usage: rooms [list|mermaid <crate>]".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn check() -> Result<(), String> {
    let mut problems = Vec::new();
    for (name, allowed) in CRATES {
        let found = read(name).map_or_else(|error| vec![error], |graph| problems_in(name, allowed, &graph));
        println!("{name}: {} problems", found.len());
        problems.extend(found.iter().map(|text| format!("{name}: {text}")));
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("\n"))
    }
}

fn problems_in(name: &str, allowed: &[&str], graph: &Graph) -> Vec<String> {
    let cycles = cycles(graph).iter().map(ToString::to_string).collect();
    let rooms = ROOMS.iter().find(|(of, _)| *of == name);
    let order = rooms.map_or_else(Vec::new, |(_, rooms)| out_of_order(graph, rooms));
    let crates = foreign_crates(graph, &CRATES.map(|(name, _)| name), allowed);
    [cycles, order, crates].concat()
}

fn read(name: &str) -> Result<Graph, String> {
    let folder = Path::new("crates").join(name.replace('_', "-")).join("src");
    let source = Source::read(&|path| fs::read_to_string(folder.join(path)).ok())?;
    Ok(graph(&source, &CRATES.map(|(name, _)| name)))
}

/// Prints text. Ignores the error if the reader has read enough and closed the pipe, like `head`.
fn print(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

fn list(graph: &Graph) -> String {
    let used = |uses: &BTreeMap<String, _>| {
        uses.keys()
            .map(|used| format!("    {used}\n"))
            .collect::<String>()
    };
    graph
        .iter()
        .map(|(file, uses)| format!("{file}\n{}", used(uses)))
        .collect()
}

fn mermaid(graph: &Graph) -> String {
    let folder = |file: &str| file.split('/').next().unwrap_or(file).to_owned();
    let edges = graph
        .iter()
        .flat_map(|(from, uses)| uses.keys().map(move |to| (folder(from), folder(to))));
    let edges: BTreeSet<_> = edges.filter(|(from, to)| from != to).collect();
    let lines = edges.iter().map(|(from, to)| format!("    {from} --> {to}\n"));
    format!("graph TD\n{}", lines.collect::<String>())
}
