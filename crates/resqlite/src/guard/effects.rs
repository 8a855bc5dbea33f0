//! The effects of a statement, as the authorizer learns them while SQLite prepares it.

use resqlite_sqlite::{Action, action};

use super::pragmas;
use crate::core::names::after_prefix;

/// The effects of a statement besides reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// Creates, alters or drops something.
    pub(crate) schema: bool,
    /// Gathers statistics, by which SQLite chooses plans.
    pub(crate) statistics: bool,
    /// Is a PRAGMA that only reports something. SQLite counts some of them as writing.
    pub(crate) only_reports: bool,
    /// Looks for damage.
    pub(crate) checks_integrity: bool,
    /// Tables (schema, name) whose rows the statement may change, also through triggers and cascades.
    pub(crate) writes: Vec<(String, String)>,
    /// Has triggers that write.
    pub(crate) triggers: bool,
    /// Another effect, which the pre-update hook does not report. It is boxed, because few statements have such an effect, but
    /// every `Effects` is moved around.
    pub(crate) unreported: Option<Box<Unreported>>,
}

/// An effect that the pre-update hook does not report, other than a change of the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unreported {
    /// Opens the savepoint of this name.
    Savepoint(String),
    /// Releases the savepoint of this name.
    Release(String),
    /// Rolls back to the savepoint of this name.
    RollBackTo(String),
    /// Sets a number in the header of the file: the number that the PRAGMA of this name is about.
    Header(String),
}

impl Effects {
    /// Adds an action that the authorizer was asked about.
    pub(super) fn record(&mut self, action: Action<'_>) {
        match action.code {
            action::INSERT | action::UPDATE | action::DELETE => {
                let table = action.first.unwrap_or("");
                if table.starts_with("sqlite_") && table != "sqlite_sequence" {
                    return;
                }
                self.triggers |= action.through.is_some();
                let entry = (action.schema.unwrap_or("main").to_owned(), table.to_owned());
                if !self.writes.contains(&entry) {
                    self.writes.push(entry);
                }
            }
            action::PRAGMA => {
                let name = action.first.unwrap_or("");
                self.only_reports = pragmas::only_reports(name, action.second.is_some());
                self.checks_integrity |= pragmas::checks_integrity(name);
                self.statistics |= name.eq_ignore_ascii_case("optimize");
                if action.second.is_some() && pragmas::sets_header(name) {
                    self.unreported = Some(Box::new(Unreported::Header(name.to_ascii_lowercase())));
                }
            }
            action::READ => {
                let function = action.first.and_then(|table| after_prefix(table, "pragma_"));
                self.checks_integrity |= function.is_some_and(pragmas::checks_integrity);
            }
            action::SAVEPOINT => {
                let name = action.second.unwrap_or("").to_owned();
                self.unreported = Some(Box::new(match action.first {
                    Some("BEGIN") => Unreported::Savepoint(name),
                    Some("RELEASE") => Unreported::Release(name),
                    _ => Unreported::RollBackTo(name),
                }));
            }
            code if SCHEMA_ACTIONS.contains(&code) => {
                self.schema = true;
                self.statistics |= code == action::ANALYZE;
            }
            _ => {}
        }
    }
}

/// The actions that change definitions, or the order in which queries visit rows: ANALYZE makes SQLite choose other plans,
/// REINDEX follows a collation that changed.
const SCHEMA_ACTIONS: [i32; 23] = [
    action::ANALYZE,
    action::CREATE_INDEX,
    action::CREATE_TABLE,
    action::CREATE_TEMP_INDEX,
    action::CREATE_TEMP_TABLE,
    action::CREATE_TEMP_TRIGGER,
    action::CREATE_TEMP_VIEW,
    action::CREATE_TRIGGER,
    action::CREATE_VIEW,
    action::CREATE_VTABLE,
    action::DROP_INDEX,
    action::DROP_TABLE,
    action::DROP_TEMP_INDEX,
    action::DROP_TEMP_TABLE,
    action::DROP_TEMP_TRIGGER,
    action::DROP_TEMP_VIEW,
    action::DROP_TRIGGER,
    action::DROP_VIEW,
    action::DROP_VTABLE,
    action::ALTER_TABLE,
    action::ATTACH,
    action::DETACH,
    action::REINDEX,
];
