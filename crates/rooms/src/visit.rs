//! Walks the syntax of a file, and of the files that it declares as modules.

use proc_macro2::{Ident, Spacing, TokenStream, TokenTree};
use syn::{
    Attribute, ImplItemFn, Item, ItemMod, ItemUse, Macro, Path, UseTree, Visibility,
    visit::{self, Visit},
};

use crate::{
    attributes::{FileAttribute, attributes_and_name, file_attribute, is_for_tests},
    source::{Mention, Module, Name, Source},
};

impl Source {
    /// Reads `lib.rs` and all files that belong to it. `read` receives a path relative to the folder of `lib.rs`, and returns
    /// `None` if there is no such file.
    pub fn read(read: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let mut modules = Vec::new();
        file(&mut modules, read, None, "lib.rs")?;
        Ok(Self { modules })
    }
}

/// Reads a file into a new module and returns its number.
fn file(
    modules: &mut Vec<Module>,
    read: &dyn Fn(&str) -> Option<String>,
    parent: Option<usize>,
    path: &str,
) -> Result<usize, String> {
    let text = read(path).ok_or_else(|| format!("there is no file {path}"))?;
    let syntax =
        syn::parse_file(&text).map_err(|error| format!("{path}:{}: {error}", error.span().start().line))?;
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = match name {
        "lib.rs" | "mod.rs" => folder.to_owned(),
        _ => path.trim_end_matches(".rs").to_owned(),
    };
    let module = add_module(modules, parent, path);
    let mut reader = Reader {
        modules,
        read,
        module,
        folder,
        error: None,
    };
    reader.visit_file(&syntax);
    reader.error.map_or(Ok(module), Err)
}

fn add_module(modules: &mut Vec<Module>, parent: Option<usize>, file: &str) -> usize {
    modules.push(Module {
        parent,
        file: file.to_owned(),
        names: Default::default(),
        globs: Vec::new(),
        mentions: Vec::new(),
        words: Default::default(),
    });
    modules.len() - 1
}

struct Reader<'a> {
    modules: &'a mut Vec<Module>,
    read: &'a dyn Fn(&str) -> Option<String>,
    module: usize,
    /// The folder in which the files of child modules are.
    folder: String,
    error: Option<String>,
}

impl Visit<'_> for Reader<'_> {
    fn visit_item(&mut self, item: &Item) {
        let (attributes, name) = attributes_and_name(item);
        if attributes.iter().any(is_for_tests) {
            return;
        }
        if let Some(name) = name {
            self.define(name.to_string(), Name::Item);
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, function: &ImplItemFn) {
        if !function.attrs.iter().any(is_for_tests) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_mod(&mut self, item: &ItemMod) {
        let name = item.ident.to_string();
        let below = join(&self.folder, &name);
        if item.content.is_none() {
            return self.files(item, name, &below);
        }
        let file = self.here().file.clone();
        let child = add_module(self.modules, Some(self.module), &file);
        self.define(name, Name::Module(child));
        let outer = (
            std::mem::replace(&mut self.module, child),
            std::mem::replace(&mut self.folder, below),
        );
        visit::visit_item_mod(self, item);
        (self.module, self.folder) = outer;
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        let is_public = !matches!(item.vis, Visibility::Inherited);
        self.import(&item.tree, Vec::new(), is_public);
    }

    fn visit_path(&mut self, path: &Path) {
        let names = path.segments.iter().map(|segment| &segment.ident).collect();
        self.mention(names);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }

    /// Skips attributes: they name traits to derive and lints, and contain documentation.
    fn visit_attribute(&mut self, _: &Attribute) {}
}

impl Reader<'_> {
    fn here(&mut self) -> &mut Module {
        &mut self.modules[self.module]
    }

    fn define(&mut self, name: String, meaning: Name) {
        self.here().names.entry(name).or_default().push(meaning);
    }

    /// Returns the files of `mod name;`. There are several if a platform has its own file.
    fn files(&mut self, item: &ItemMod, name: String, below: &str) {
        let file_folder = self
            .here()
            .file
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder)
            .to_owned();
        let given = |path| join(&file_folder, path);
        let own = [format!("{below}.rs"), format!("{below}/mod.rs")];
        let own = own.into_iter().find(|path| (self.read)(path).is_some());
        let paths = match file_attribute(&item.attrs) {
            Some(FileAttribute::Always(path)) => vec![given(&path)],
            Some(FileAttribute::Sometimes(path)) => own.into_iter().chain([given(&path)]).collect(),
            None => own.into_iter().collect(),
        };
        if paths.is_empty() {
            self.error = Some(format!("{}: there is no file for mod {name}", self.here().file));
        }
        for path in paths {
            match file(self.modules, self.read, Some(self.module), &path) {
                Ok(child) => self.define(name.clone(), Name::Module(child)),
                Err(error) => self.error = Some(error),
            }
        }
    }

    fn import(&mut self, tree: &UseTree, mut before: Vec<String>, is_public: bool) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(&path.tree, before, is_public);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, before.clone(), is_public);
                }
            }
            UseTree::Name(name) => self.import_as(before, &name.ident, None, is_public),
            UseTree::Rename(rename) => {
                self.import_as(before, &rename.ident, Some(&rename.rename), is_public);
            }
            UseTree::Glob(glob) => {
                let line = glob.star_token.spans[0].start().line;
                self.here().globs.push(Mention {
                    path: before,
                    line,
                    reexported_as: None,
                });
            }
        }
    }

    fn import_as(&mut self, mut path: Vec<String>, name: &Ident, alias: Option<&Ident>, is_public: bool) {
        if path.is_empty() || name != "self" {
            path.push(name.to_string());
        }
        let alias = alias.map_or_else(|| path[path.len() - 1].clone(), Ident::to_string);
        self.define(alias.clone(), Name::Import(path.clone()));
        let line = name.span().start().line;
        self.here().mentions.push(Mention {
            path,
            line,
            reexported_as: is_public.then_some(alias),
        });
    }

    fn mention(&mut self, names: Vec<&Ident>) {
        let line = names[0].span().start().line;
        let path: Vec<_> = names.into_iter().map(Ident::to_string).collect();
        self.here().words.insert(path[0].clone());
        if path.len() > 1 {
            self.here().mentions.push(Mention {
                path,
                line,
                reexported_as: None,
            });
        }
    }

    /// Finds the paths among the tokens of a macro: names with `::` between them.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if let TokenTree::Group(group) = &tokens[at] {
                self.tokens(group.stream());
            }
            let mut names = Vec::new();
            while let Some(TokenTree::Ident(name)) = tokens.get(at) {
                names.push(name);
                at += 1;
                if !are_colons(&tokens[at..]) {
                    break;
                }
                at += 2;
            }
            if names.is_empty() {
                at += 1;
            } else {
                self.mention(names);
            }
        }
    }
}

fn are_colons(tokens: &[TokenTree]) -> bool {
    let [TokenTree::Punct(first), TokenTree::Punct(second), ..] = tokens else {
        return false;
    };
    first.as_char() == ':' && first.spacing() == Spacing::Joint && second.as_char() == ':'
}

fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() {
        path.to_owned()
    } else {
        format!("{folder}/{path}")
    }
}
