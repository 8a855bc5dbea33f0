//! Running a script inside an open transaction, or outside of one.

use super::{Writer, reply::Done};
use crate::{
    connection::prepared::no_nul,
    core::{
        error::{Error, Result},
        profile,
    },
};

impl Writer {
    /// Runs all statements of a script; their rows are dropped. An error says which statement failed, and where the statement
    /// begins or what in it is wrong.
    pub(super) fn script(&mut self, script: &str) -> Result<Done> {
        no_nul(script)?;
        let mut rest = script.trim_start();
        let (mut changes, mut index) = (0, 0);
        while !rest.is_empty() {
            let start = script.len() - rest.len();
            let ran = self.next_of_script(rest).map_err(|error| {
                let error = self.writing.connection.explain_error(in_script(error, start));
                error.of_member(index)
            });
            let (tail, changed) = ran?;
            rest = tail.trim_start();
            index += usize::from(changed.is_some());
            changes += changed.unwrap_or(0);
        }
        Ok(self.written(Vec::new(), changes))
    }

    /// Runs the first statement of a script. Returns the rest of the script, and the number of rows changed; `None` where the text
    /// holds only comments.
    fn next_of_script<'a>(&mut self, script: &'a str) -> Result<(&'a str, Option<i64>)> {
        self.writing.connection.guard.authorizer.forget_effects();
        let prepared = self.writing.connection.sqlite.prepare(script, false)?;
        let Some(mut statement) = prepared.statement else {
            return Ok((prepared.tail, None));
        };
        let effects = self.writing.connection.guard.authorizer.effects_of(&statement);
        if statement.parameter_count() > 0 {
            let message = "a script takes no parameters, and SQLite would bind NULL; use execute";
            return Err(Error::Parameter(message.into()));
        }
        self.about_to_write(&effects)?;
        let stepping = profile::start_stepping();
        let ran = statement.run();
        profile::writer_sqlite(stepping);
        let sql = &script[..script.len() - prepared.tail.len()];
        self.has_run(&effects, sql, ran.map_err(Error::from))?;
        Ok((prepared.tail, Some(self.changes(&effects))))
    }
}

/// Counts an error's offset from the start of the script. An error without an offset gets `start`, where the statement begins.
fn in_script(error: Error, start: usize) -> Error {
    match error {
        Error::Sqlite(error) => {
            let offset = error.offset().map_or(start, |offset| start + offset);
            Error::Sqlite(error.at(Some(offset)))
        }
        other => other,
    }
}
