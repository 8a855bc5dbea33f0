//! Databases that cannot be attached.

use resqlite_sqlite::Connection;

use crate::{
    connection::{known_file::identity_of, schemas::databases},
    core::{error::Result, names::quoted},
};

/// Detaches databases that cannot be used. If a database has no file, readers would not find it. If its file is already open under
/// another name, the writer would wait for its own lock. `attached` (names and paths) keeps the other databases. Returns the reason for
/// the last database that was detached.
///
/// # Errors
/// SQLite's errors.
pub(crate) fn detach(writer: &Connection, attached: &mut Vec<(String, String)>) -> Result<Option<String>> {
    if attached.is_empty() {
        return Ok(None);
    }
    let mut known = databases(writer)?;
    known.retain(|(name, _)| name == "main");
    let mut reason = None;
    for (name, file) in std::mem::take(attached) {
        match why(&known, &file) {
            None => {
                known.push((name.clone(), file.clone()));
                attached.push((name, file));
            }
            Some(why) => {
                writer.execute_script(&format!("DETACH {}", quoted(&name, '"')))?;
                reason = Some(format!("{name:?} was not attached: {why}"));
            }
        }
    }
    Ok(reason)
}

fn why(known: &[(String, String)], file: &str) -> Option<String> {
    if file.is_empty() {
        let why = "a database in memory exists for one connection only; attach a file";
        return Some(why.into());
    }
    let same = |other: &str| {
        other == file || identity_of(other).is_some_and(|other| Some(other) == identity_of(file))
    };
    let (other, _) = known.iter().find(|(_, known)| same(known))?;
    Some(format!(
        "it is the file of {other:?}, and would wait for its own lock"
    ))
}
