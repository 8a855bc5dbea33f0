//! The properties of virtual tables that matter for reads, by their modules.

use sqlite3_parser::{
    Bump, FallibleIterator,
    ast::{Cmd, Stmt},
    lexer::sql::Parser,
};

use super::names::unquoted;

/// Returns whether all rows of a virtual table come from tables of its own, so that their changes are reported under the name of
/// the virtual table. `sql` is the statement that created it.
pub(super) fn is_self_contained(sql: &str) -> bool {
    let Some((module, arguments)) = module_and_arguments(sql) else {
        return false;
    };
    match module.as_str() {
        "fts3" | "fts4" | "fts5" => !arguments.iter().any(|argument| may_read_elsewhere(argument)),
        "rtree" | "rtree_i32" | "geopoly" => true,
        _ => false,
    }
}

/// Returns the columns of a virtual table that needs no declaration and only lists what is in its arguments; `None` for others.
pub(super) fn columns_of_function(name: &str) -> Option<&'static [&'static str]> {
    match name.to_ascii_lowercase().as_str() {
        "generate_series" => Some(&["value", "start", "stop", "step"]),
        "json_each" | "json_tree" | "jsonb_each" | "jsonb_tree" => Some(&[
            "key", "value", "type", "atom", "id", "parent", "fullkey", "path", "json", "root",
        ]),
        _ => None,
    }
}

/// Options of full-text tables that do not move their content elsewhere. Abbreviations of other options (`content`) are possible.
const HARMLESS: [&str; 12] = [
    "tokenize",
    "prefix",
    "columnsize",
    "detail",
    "locale",
    "tokendata",
    "notindexed",
    "order",
    "matchinfo",
    "languageid",
    "compress",
    "uncompress",
];

fn may_read_elsewhere(argument: &str) -> bool {
    argument.split_once('=').is_some_and(|(option, _)| {
        let option = option.trim();
        !HARMLESS
            .iter()
            .any(|harmless| harmless.eq_ignore_ascii_case(option))
    })
}

fn module_and_arguments(sql: &str) -> Option<(String, Vec<String>)> {
    let bump = Bump::new();
    let command = Parser::new(&bump, sql.as_bytes()).next().ok()??;
    let Cmd::Stmt(Stmt::CreateVirtualTable {
        module_name, args, ..
    }) = command
    else {
        return None;
    };
    let arguments = args
        .unwrap_or_default()
        .iter()
        .map(|&argument| argument.to_owned());
    Some((unquoted(module_name.0).to_ascii_lowercase(), arguments.collect()))
}
