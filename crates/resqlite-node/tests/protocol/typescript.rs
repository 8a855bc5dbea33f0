//! Writes declarations as TypeScript, formatted as the project formats it.

use std::fmt::Write;

use crate::rust::{Field, Item, Table};

const LINE_WIDTH: usize = 110;

/// A TypeScript file in the making.
pub struct File {
    pub text: String,
}

impl File {
    pub fn generated() -> Self {
        let text = "// Generated from the Rust sources. After a change there, write it with:\n\
                    // WRITE_PROTOCOL=1 cargo test -p resqlite-node --test protocol\n";
        Self {
            text: text.to_owned(),
        }
    }

    pub fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    /// The documentation of a Rust module, as a comment of its own.
    pub fn remark(&mut self, docs: &str) {
        self.line("");
        self.line("/*");
        for line in docs.lines().filter(|line| !line.starts_with("```")) {
            self.line(format!(" * {}", plain(line)).trim_end());
        }
        self.line(" */");
    }

    /// The documentation of what is written next.
    pub fn doc(&mut self, docs: &str) {
        self.line("");
        self.comment(docs, "");
    }

    pub fn constant(&mut self, item: &Item, name: &str) {
        self.doc(&item.docs);
        self.line(&format!("export const {name} = {}", literal(item.number)));
    }

    /// An object of the items by their names in capitals.
    pub fn table(&mut self, table: &Table, name: &str) {
        self.object(table, name, screaming_case);
    }

    /// An object of the items by their names in small letters.
    pub fn lowercase_table(&mut self, table: &Table, name: &str) {
        self.object(table, name, str::to_lowercase);
    }

    fn object(&mut self, table: &Table, name: &str, case: fn(&str) -> String) {
        self.doc(&table.docs);
        self.line(&format!("export const {name} = {{"));
        for item in &table.items {
            self.comment(&item.docs, "  ");
            self.line(&format!("  {}: {},", case(&item.name), literal(item.number)));
        }
        self.line("} as const");
    }

    pub fn names(&mut self, docs: &str, name: &str, names: &[String]) {
        self.doc(docs);
        let quoted: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
        let line = format!("export const {name} = [{}] as const", quoted.join(", "));
        if line.len() <= LINE_WIDTH {
            return self.line(&line);
        }
        self.line(&format!("export const {name} = ["));
        quoted.iter().for_each(|name| self.line(&format!("  {name},")));
        self.line("] as const");
    }

    pub fn interface<'a>(
        &mut self,
        docs: &str,
        name: &str,
        fields: impl Iterator<Item = (&'a Field, String)>,
    ) {
        self.doc(docs);
        self.line(&format!("export interface {name} {{"));
        for (field, kind) in fields {
            self.comment(&field.docs, "  ");
            self.line(&format!("  {}: {kind}", camel_case(&field.name)));
        }
        self.line("}");
    }

    fn comment(&mut self, docs: &str, indent: &str) {
        let text = plain(&docs.replace('\n', " "));
        if indent.len() + text.chars().count() + 7 <= LINE_WIDTH {
            return self.line(&format!("{indent}/** {text} */"));
        }
        self.line(&format!("{indent}/**"));
        let mut line = format!("{indent} *");
        for word in text.split(' ') {
            if line.chars().count() + 1 + word.chars().count() > LINE_WIDTH {
                self.line(&line);
                line = format!("{indent} *");
            }
            let _ = write!(line, " {word}");
        }
        self.line(&line);
        self.line(&format!("{indent} */"));
    }
}

/// Rust documentation without its links, and with the names of TypeScript.
fn plain(docs: &str) -> String {
    let mut plain = String::new();
    // Every second piece stood between backticks.
    for (at, piece) in docs.split('`').enumerate() {
        if at % 2 == 1 {
            let name = piece.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            let _ = write!(
                plain,
                "`{}`",
                if name { camel_case(piece) } else { piece.to_owned() }
            );
            continue;
        }
        let after_link = match piece.strip_prefix(']') {
            Some(rest) if rest.starts_with('(') => rest.split_once(')').map_or("", |(_, rest)| rest),
            Some(rest) => rest,
            None => piece,
        };
        plain.push_str(after_link.strip_suffix('[').unwrap_or(after_link));
    }
    plain
}

fn literal(number: i128) -> String {
    let safe = number.unsigned_abs() < 1 << 53;
    format!("{number}{}", if safe { "" } else { "n" })
}

/// `rows_patched` as `rowsPatched`.
pub fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (initial, rest) = word.split_at(usize::from(!word.is_empty()));
        format!("{name}{}{rest}", initial.to_uppercase())
    })
}

/// `RollbackTo` as `ROLLBACK_TO`, which stays as it is.
fn screaming_case(name: &str) -> String {
    let mut out = String::new();
    let mut before_is_small = false;
    for letter in name.chars() {
        if letter.is_uppercase() && before_is_small {
            out.push('_');
        }
        before_is_small = letter.is_lowercase() || letter.is_numeric();
        out.extend(letter.to_uppercase());
    }
    out
}
