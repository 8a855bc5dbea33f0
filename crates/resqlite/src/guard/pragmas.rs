//! The PRAGMAs of SQLite: their effects, and who may use them.
//!
//! A database has many connections, so a PRAGMA that sets something for one of them is refused by name, with advice.

use crate::core::error::{Error, Result};

/// The user of a PRAGMA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// A statement that reads, on one connection of many.
    Reader,
    /// A statement inside a transaction.
    Transaction,
    /// A statement by itself.
    Statement,
    /// A script.
    Script,
}

/// The effect of a PRAGMA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Reports something, with an argument or without.
    Reports,
    /// With an argument it changes the file.
    File,
    /// With an argument it chooses something that cannot change once the file has content.
    Creation,
    /// Works on the file, which only the connection that writes can do.
    Works,
    /// Belongs to the connection that writes, which alone can report it: the other connections still have the value that they
    /// read when they were opened.
    Writer,
    /// With an argument it changes how the connection that writes works, until the end of a script. Then it returns to
    /// the value of the option `pragmas`, or to this default.
    Script(&'static str),
    /// Like `Script`, but it returns to the value of an option of its own. Another option switches it for one transaction.
    ForeignKeys,
    /// With an argument it changes how the connection that writes works, until the end of a transaction.
    Transaction,
    /// With an argument it lets a script change the schema by hand, where the database is not defensive.
    SchemaByHand,
    /// With an argument it changes how one connection works.
    Connection,
    /// With an argument it changes what resqlite decides. The text says what to do instead, or why this is refused.
    Own(&'static str),
    /// Does something to one connection, even without an argument. The text says why that is of no use.
    Never(&'static str),
}

use Class::{
    Connection, Creation, File, ForeignKeys, Never, Own, Reports, SchemaByHand, Script, Transaction, Works,
    Writer,
};

const HEAP: &str = "SQLite does not count memory here, which would cost a lock that all threads share";
const PROCESS: &str = "it is a setting of the whole process, which no thread may change while others read it";

/// Every PRAGMA, by name.
const PRAGMAS: [(&str, Class); 68] = [
    ("analysis_limit", Script("0")),
    ("application_id", File),
    ("auto_vacuum", Writer),
    ("automatic_index", Connection),
    ("busy_timeout", Own("use the option for the busy timeout")),
    ("cache_size", Connection),
    ("cache_spill", Connection),
    ("case_sensitive_like", Connection),
    ("cell_size_check", Connection),
    ("checkpoint_fullfsync", Connection),
    ("collation_list", Reports),
    ("compile_options", Reports),
    ("count_changes", Connection),
    ("data_store_directory", Own(PROCESS)),
    ("data_version", Reports),
    ("database_list", Reports),
    ("default_cache_size", Own("it is deprecated; use cache_size")),
    ("defer_foreign_keys", Transaction),
    ("empty_result_callbacks", Connection),
    ("encoding", Creation),
    ("foreign_key_check", Reports),
    ("foreign_key_list", Reports),
    ("foreign_keys", ForeignKeys),
    ("freelist_count", Reports),
    ("full_column_names", Connection),
    ("fullfsync", Connection),
    ("function_list", Reports),
    ("hard_heap_limit", Own(HEAP)),
    ("ignore_check_constraints", Script("OFF")),
    ("incremental_vacuum", Works),
    ("index_info", Reports),
    ("index_list", Reports),
    ("index_xinfo", Reports),
    ("integrity_check", Reports),
    ("journal_mode", Own("resqlite always uses a write-ahead log")),
    (
        "journal_size_limit",
        Own("resqlite keeps the write-ahead log bounded itself"),
    ),
    ("legacy_alter_table", Script("OFF")),
    (
        "lock_proxy_file",
        Own("readers and the writer need the file at the same time"),
    ),
    (
        "locking_mode",
        Own("readers and the writer need the file at the same time"),
    ),
    ("max_page_count", Script("4294967294")),
    ("mmap_size", Connection),
    ("module_list", Reports),
    ("optimize", Works),
    ("page_count", Reports),
    ("page_size", Creation),
    ("pragma_list", Reports),
    ("query_only", Own("open the database for reading only")),
    ("quick_check", Reports),
    ("read_uncommitted", Connection),
    ("recursive_triggers", Connection),
    ("reverse_unordered_selects", Connection),
    ("schema_version", SchemaByHand),
    ("secure_delete", Connection),
    ("short_column_names", Connection),
    (
        "shrink_memory",
        Never("the option pragmas bounds the memory of all, by cache_size"),
    ),
    ("soft_heap_limit", Own(HEAP)),
    ("synchronous", Own("use the option for durability")),
    ("table_info", Reports),
    ("table_list", Reports),
    ("table_xinfo", Reports),
    ("temp_store", Connection),
    ("temp_store_directory", Own(PROCESS)),
    ("threads", Connection),
    ("trusted_schema", Own("use the option for a trusted schema")),
    ("user_version", File),
    ("wal_autocheckpoint", Own("use the option checkpoints")),
    ("wal_checkpoint", Works),
    ("writable_schema", SchemaByHand),
];

/// The connections that a setting is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All connections.
    All,
    /// The connection that writes.
    Writer,
    /// The connection that writes, as the first thing that it does.
    Creation,
}

fn class(name: &str) -> Option<Class> {
    let known = PRAGMAS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    known.map(|(_, class)| *class)
}

/// Returns whether SQLite knows this PRAGMA.
pub(crate) fn is_known(name: &str) -> bool {
    class(name).is_some()
}

/// Returns whether this is a PRAGMA of SQLite3 Multiple Ciphers that takes a key.
fn takes_key(name: &str) -> bool {
    let names = ["key", "rekey", "hexkey", "hexrekey", "textkey", "textrekey"];
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Returns whether a PRAGMA does nothing before its first step. SQLite carries others out while it prepares them.
pub(crate) fn waits_for_its_first_step(name: &str) -> bool {
    matches!(class(name), Some(File | Works))
}

/// Returns whether the PRAGMA of this name looks for damage.
pub(super) fn checks_integrity(name: &str) -> bool {
    ["integrity_check", "quick_check"]
        .iter()
        .any(|check| check.eq_ignore_ascii_case(name))
}

/// Returns whether a PRAGMA reports something and does nothing else.
pub(crate) fn only_reports(name: &str, argument: bool) -> bool {
    match class(name) {
        Some(Reports) => true,
        Some(Works | Writer | Never(_)) | None => false,
        Some(_) => !argument,
    }
}

/// Returns whether a PRAGMA, given an argument, sets a number in the header of the file.
pub(crate) fn sets_header(name: &str) -> bool {
    matches!(class(name), Some(File))
}

/// Returns whether a PRAGMA may change the stored data. Where each change must be known, such a PRAGMA must run in a
/// transaction.
pub(crate) fn may_write(name: &str) -> bool {
    matches!(class(name), Some(File | Works)) && !name.eq_ignore_ascii_case("wal_checkpoint")
}

/// Returns the reason why `asker` may not use this PRAGMA; `None` if it may.
pub(crate) fn refusal(name: &str, argument: bool, asker: Asker, defensive: bool) -> Option<String> {
    if takes_key(name) {
        return Some(format!(
            "PRAGMA {name} is refused: SQL is seen in many places, and so would be the key; use the option for a key"
        ));
    }
    let Some(class) = class(name) else {
        return Some(format!("SQLite knows no PRAGMA {name}"));
    };
    if only_reports(name, argument) {
        return None;
    }
    let reader = asker == Asker::Reader;
    let advice = match class {
        Works | Writer | File if !reader => return None,
        Works | Writer => "it is for the connection that writes; use execute",
        File => "select only reads; use execute",
        Creation => "it is chosen before the file has content; give it to open as one of its pragmas",
        Connection => "it would be set for one connection of many; give it to open as one of its pragmas",
        Own(advice) | Never(advice) => advice,
        SchemaByHand if defensive => "it takes a database that was opened with defensive off",
        Script(_) | ForeignKeys | SchemaByHand if asker == Asker::Script => return None,
        Transaction if matches!(asker, Asker::Script | Asker::Transaction) => return None,
        Script(_) => {
            "it is for a script given to exec, and ends with it; or give it to open as one of its pragmas"
        }
        ForeignKeys => {
            "it would be set for everybody who writes; use a transaction that has foreign keys off, and checks them \
             before its commit"
        }
        SchemaByHand => "it is for a script given to exec",
        Transaction => "it is for a transaction or a script given to exec, and ends with it",
        Reports => unreachable!("it only reports, whatever the argument is"),
    };
    Some(format!("PRAGMA {name} is refused here: {advice}"))
}

/// Returns whether a setting that a script makes with this PRAGMA must be taken back when the script ends.
pub(crate) fn ends_with_script(name: &str) -> bool {
    matches!(
        class(name),
        Some(Script(_) | ForeignKeys | SchemaByHand | Transaction)
    )
}

/// The PRAGMAs that scripts may set, with the values to which they return. Foreign keys return to the value of their option.
pub(crate) fn defaults() -> impl Iterator<Item = (&'static str, &'static str)> {
    PRAGMAS.iter().filter_map(|&(name, class)| match class {
        Script(default) => Some((name, default)),
        Transaction => Some((name, "OFF")),
        SchemaByHand if name == "writable_schema" => Some((name, "OFF")),
        _ => None,
    })
}

/// Checks the PRAGMAs that a caller wants on every connection. They are put into SQL, so only words and numbers are accepted.
///
/// # Errors
/// [`Error::Option`] names the first PRAGMA that is refused, and gives the reason.
pub(crate) fn check_options(pragmas: &[(String, String)]) -> Result<()> {
    pragmas
        .iter()
        .try_for_each(|(name, value)| check_option(name, value))
}

fn check_option(name: &str, value: &str) -> Result<()> {
    let word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !word(name) {
        return Err(Error::Option(format!("pragmas: {name:?} is no name of a PRAGMA")));
    }
    if let Err(advice) = as_option(name) {
        return Err(Error::Option(format!(
            "pragmas: {name} cannot be set here: {advice}"
        )));
    }
    if !word(&value.replace('-', "_")) && value.parse::<f64>().is_err() {
        return Err(Error::Option(format!(
            "pragmas: {name}: {value:?} is neither a word nor a number"
        )));
    }
    Ok(())
}

/// Returns the connections for which an option of `open` may set this PRAGMA.
///
/// # Errors
/// The reason why no such option may set it.
pub(crate) fn as_option(name: &str) -> Result<Reach, &'static str> {
    match class(name) {
        Some(Creation) => Ok(Reach::Creation),
        Some(File | Writer) => Ok(Reach::Writer),
        Some(Connection | Script(_)) => Ok(Reach::All),
        Some(Own(advice)) => Err(advice),
        Some(ForeignKeys) => Err("use the option for foreign keys"),
        Some(Reports | Works | Transaction | SchemaByHand | Never(_)) => {
            Err("it is not for the life of a database")
        }
        None => Err("SQLite knows no such PRAGMA"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use resqlite_sqlite::{Access, Connection};

    use super::{PRAGMAS, defaults};

    fn column(connection: &Connection, sql: &str) -> Vec<String> {
        let mut rows = connection.prepare(sql, false).unwrap().statement.unwrap();
        let mut found = Vec::new();
        while rows.step().unwrap() {
            found.push(rows.column_text(0).unwrap());
        }
        found
    }

    fn connection() -> Connection {
        Connection::open(":memory:", Access::ReadWriteCreate, None).unwrap()
    }

    // G6, S7
    #[test]
    fn every_pragma_of_sqlite_has_one_class() {
        let of_sqlite: BTreeSet<_> = column(&connection(), "PRAGMA pragma_list").into_iter().collect();
        let ours: BTreeSet<_> = PRAGMAS.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(ours.len(), PRAGMAS.len(), "a PRAGMA has two classes");
        let elsewhere: BTreeSet<_> = ours.symmetric_difference(&of_sqlite).cloned().collect();
        // Windows and Apple's systems have one PRAGMA more each.
        let known = ["data_store_directory", "lock_proxy_file"].map(str::to_owned);
        assert!(elsewhere.is_subset(&known.into()), "{elsewhere:?}");
    }

    // G6
    #[test]
    fn what_scripts_may_set_is_as_sqlite_has_it_without_them() {
        let connection = connection();
        for (name, value) in defaults() {
            let before = column(&connection, &format!("PRAGMA {name}"));
            connection
                .execute_script(&format!("PRAGMA {name} = {value}"))
                .unwrap();
            assert_eq!(column(&connection, &format!("PRAGMA {name}")), before, "{name}");
        }
    }
}
