//! The error of a write that another node ran, as bytes. An error that a caller can tell from others keeps its kind.

use resqlite::{Error as OfDatabase, SqliteError};

use super::bytes::{In, Out};
use crate::core::{codes, error::Error};

mod kind {
    pub(super) const SQLITE: u8 = 0;
    pub(super) const MEMBER: u8 = 1;
    pub(super) const PARAMETER: u8 = 2;
    pub(super) const INTEGER: u8 = 3;
    pub(super) const STATEMENT: u8 = 4;
    pub(super) const OTHER: u8 = 5;
}

pub(super) fn write_error(out: &mut Out, error: &Error) {
    match error {
        Error::Database(error) => write_of_database(out, error),
        error => write_other(out, error.code(), &error.to_string()),
    }
}

fn write_of_database(out: &mut Out, error: &OfDatabase) {
    let mut text = |kind, message: &str| {
        out.byte(kind);
        out.sized(message.as_bytes());
    };
    match error {
        OfDatabase::Sqlite(error) => {
            text(kind::SQLITE, error.message());
            out.signed(error.code().into());
            // 0 stands for no offset.
            out.number(error.offset().map_or(0, |offset| offset as u64 + 1));
        }
        OfDatabase::Member { index, error } => {
            out.byte(kind::MEMBER);
            out.number(*index as u64);
            write_of_database(out, error);
        }
        OfDatabase::Parameter(message) => text(kind::PARAMETER, message),
        OfDatabase::Integer(message) => text(kind::INTEGER, message),
        OfDatabase::Statement(message) => text(kind::STATEMENT, message),
        error => write_other(out, error.code(), &error.to_string()),
    }
}

fn write_other(out: &mut Out, code: &str, message: &str) {
    out.byte(kind::OTHER);
    out.sized(code.as_bytes());
    out.sized(message.as_bytes());
}

/// Returns `None` if the bytes are no error.
pub(super) fn read_error(rest: &mut In<'_>) -> Option<Error> {
    let kind = rest.byte()?;
    if kind == kind::MEMBER {
        let index = usize::try_from(rest.number()?).ok()?;
        // The error of a batch is that of one of its statements, which is no batch.
        if rest.0.first() == Some(&kind::MEMBER) {
            return None;
        }
        return Some(match read_error(rest)? {
            Error::Database(error) => Error::Database(OfDatabase::Member {
                index,
                error: Box::new(error),
            }),
            other => other,
        });
    }
    let text = rest.text()?.to_owned();
    Some(Error::Database(match kind {
        kind::SQLITE => {
            let code = i32::try_from(rest.signed()?).ok()?;
            let offset = rest.number()?.checked_sub(1).map(|offset| offset as usize);
            OfDatabase::Sqlite(SqliteError::new(code, text).at(offset))
        }
        kind::PARAMETER => OfDatabase::Parameter(text),
        kind::INTEGER => OfDatabase::Integer(text),
        kind::STATEMENT => OfDatabase::Statement(text),
        kind::OTHER => {
            let message = rest.text()?.to_owned();
            return Some(match text.as_str() {
                codes::NO_QUORUM => Error::NoQuorum(message),
                _ => Error::Elsewhere { code: text, message },
            });
        }
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    // G323
    #[test]
    fn errors_are_the_same_behind_the_way() {
        let unique = OfDatabase::Sqlite(SqliteError::new(2067, "UNIQUE constraint failed: t.a").at(Some(0)));
        let member = OfDatabase::Member {
            index: 3,
            error: Box::new(unique.clone()),
        };
        for error in [
            unique,
            member,
            OfDatabase::Sqlite(SqliteError::new(1, "no such table: t")),
            OfDatabase::Parameter("the statement has 1 parameter".into()),
            OfDatabase::Integer("column a".into()),
            OfDatabase::Statement("more than one statement".into()),
        ] {
            assert_eq!(over(&Error::Database(error.clone())), Error::Database(error));
        }
        let no_quorum = Error::NoQuorum("the log was not reached".into());
        assert_eq!(over(&no_quorum), no_quorum);
    }

    #[test]
    fn of_other_errors_code_and_message_stay() {
        let error = Error::Database(OfDatabase::QueueFull);
        let there = over(&error);
        assert_eq!(
            (there.code(), there.to_string()),
            (error.code(), error.to_string())
        );
    }

    // G204
    #[test]
    fn an_error_of_a_batch_in_a_batch_in_a_batch_is_none() {
        let mut bytes = Vec::new();
        for _ in 0..1_000_000 {
            bytes.push(kind::MEMBER);
            bytes.extend([0; 8]);
        }
        assert_eq!(read_error(&mut In(&bytes)), None);
    }

    fn over(error: &Error) -> Error {
        let mut out = Out::default();
        write_error(&mut out, error);
        read_error(&mut In(&out.0)).unwrap()
    }
}
