//! Resolves the paths in a crate to the files that define the items they name.

use std::collections::HashSet;

use crate::{
    graph::{Graph, Use},
    source::{Mention, Module, Name, Source},
};

/// Builds the graph of a crate. A use leads to the file that defines the item, through all re-exports. A module that
/// only re-exports items of its descendants does not use them. `crates` are the other crates to look for.
pub fn graph(source: &Source, crates: &[&str]) -> Graph {
    let resolver = Resolver { source, crates };
    let mut graph = Graph::new();
    for (number, module) in source.modules.iter().enumerate() {
        let uses = graph.entry(module.file.clone()).or_default();
        for (target, used) in resolver.uses(number, module) {
            if target != module.file {
                uses.entry(target).or_default().insert(used);
            }
        }
    }
    graph
}

struct Resolver<'a> {
    source: &'a Source,
    crates: &'a [&'a str],
}

/// The target of a path.
enum Found {
    Module(usize),
    /// An item that this module defines.
    Item(usize),
    Crate(String),
}

/// The lookups that have begun and not ended. They are kept because an import may lead back to itself.
type Open = HashSet<(usize, String)>;

impl Resolver<'_> {
    fn uses(&self, number: usize, module: &Module) -> Vec<(String, Use)> {
        let mut uses = Vec::new();
        let mut add = |mention: &Mention, item: String, found: Vec<Found>| {
            for target in found
                .iter()
                .filter_map(|found| self.target(number, mention, found))
            {
                let item = item.clone();
                uses.push((
                    target,
                    Use {
                        line: mention.line,
                        item,
                    },
                ));
            }
        };
        for mention in &module.mentions {
            if !self.starts_with_item(number, mention) {
                let found = self.resolve(number, &mention.path, &mut Open::new());
                add(mention, without_start(&mention.path), found);
            }
        }
        for glob in &module.globs {
            let is_unbound = |word: &&String| !module.names.contains_key(*word);
            for word in module.words.iter().filter(is_unbound) {
                let found = self.resolve_in_glob(number, glob, word, &mut Open::new());
                add(glob, word.clone(), found);
            }
        }
        uses
    }

    /// Returns whether the path begins with an item, as in `Item::function`. The use of the item was counted where it was imported.
    fn starts_with_item(&self, number: usize, mention: &Mention) -> bool {
        let [first, _, ..] = mention.path.as_slice() else {
            return false;
        };
        let found = self.resolve(number, std::slice::from_ref(first), &mut Open::new());
        !found.is_empty() && found.iter().all(|found| matches!(found, Found::Item(_)))
    }

    /// Returns the file or the crate that `mention` uses. Naming a module is not a use of the module, but of its items.
    fn target(&self, number: usize, mention: &Mention, found: &Found) -> Option<String> {
        match found {
            Found::Module(_) => None,
            Found::Item(definer) if self.only_reexports(number, mention, *definer) => None,
            Found::Item(definer) => Some(self.source.modules[*definer].file.clone()),
            Found::Crate(name) => Some(name.clone()),
        }
    }

    /// Returns whether the module re-exports an item of a descendant and does not name it otherwise.
    fn only_reexports(&self, module: usize, mention: &Mention, definer: usize) -> bool {
        let Some(name) = &mention.reexported_as else {
            return false;
        };
        let parent = |module: &usize| self.source.modules[*module].parent;
        std::iter::successors(Some(definer), parent).any(|ancestor| ancestor == module)
            && !self.source.modules[module].words.contains(name)
    }

    fn resolve(&self, from: usize, path: &[String], open: &mut Open) -> Vec<Found> {
        let (first, mut rest) = path.split_first().expect("a path has a name");
        let mut found = match first.as_str() {
            "crate" => vec![Found::Module(0)],
            "self" => vec![Found::Module(from)],
            "super" => vec![Found::Module(self.parent(from))],
            name => self.look_up(from, name, open),
        };
        if found.is_empty() && self.crates.contains(&first.as_str()) {
            return vec![Found::Crate(first.clone())];
        }
        while let Some((name, after)) = rest.split_first() {
            found = found
                .into_iter()
                .flat_map(|found| self.step(found, name, open))
                .collect();
            rest = after;
        }
        found
    }

    /// Resolves the next name of a path. A name that is not found was defined by a macro, or comes from a crate outside the
    /// workspace. In both cases it counts as an item of this module.
    fn step(&self, found: Found, name: &str, open: &mut Open) -> Vec<Found> {
        let Found::Module(module) = found else {
            return vec![found];
        };
        if name == "super" {
            return vec![Found::Module(self.parent(module))];
        }
        let found = self.look_up(module, name, open);
        if found.is_empty() {
            vec![Found::Item(module)]
        } else {
            found
        }
    }

    fn look_up(&self, module: usize, name: &str, open: &mut Open) -> Vec<Found> {
        let here = &self.source.modules[module];
        let is_first = open.insert((module, name.to_owned()));
        let mut found = Vec::new();
        for meaning in here.names.get(name).into_iter().flatten() {
            match meaning {
                Name::Item => found.push(Found::Item(module)),
                Name::Module(child) => found.push(Found::Module(*child)),
                Name::Import(path) if is_first => found.extend(self.resolve(module, path, open)),
                Name::Import(_) => {}
            }
        }
        if is_first && !here.names.contains_key(name) {
            found.extend(
                here.globs
                    .iter()
                    .flat_map(|glob| self.resolve_in_glob(module, glob, name, open)),
            );
        }
        if is_first {
            open.remove(&(module, name.to_owned()));
        }
        found
    }

    /// Resolves a name that `glob` may import.
    fn resolve_in_glob(&self, module: usize, glob: &Mention, name: &str, open: &mut Open) -> Vec<Found> {
        let targets = self.resolve(module, &glob.path, open);
        let modules = targets.into_iter().filter_map(|found| match found {
            Found::Module(module) => Some(module),
            _ => None,
        });
        modules
            .flat_map(|module| self.look_up(module, name, open))
            .collect()
    }

    fn parent(&self, module: usize) -> usize {
        self.source.modules[module].parent.unwrap_or(0)
    }
}

/// Removes `crate`, `self` and `super` from the start of a path: `super::rows::Row` → `rows::Row`.
fn without_start(path: &[String]) -> String {
    let is_start = |name: &&String| matches!(name.as_str(), "crate" | "self" | "super");
    let names: Vec<_> = path.iter().skip_while(is_start).map(String::as_str).collect();
    names.join("::")
}
