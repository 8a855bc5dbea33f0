//! `text REGEXP pattern`, which SQLite turns into `regexp(pattern, text)`.

use std::{cell::RefCell, num::NonZero, str};

use lru::LruCache;
use regex::bytes::{Regex, RegexBuilder};
use resqlite_sqlite::{Call, Connection, Result, Signature, ValueRef};

use crate::core::limits;

/// The compiled patterns of a connection. A pattern serves all runs of all statements, whether it is a constant, a parameter or
/// a column.
struct Patterns {
    compiled: RefCell<LruCache<Box<[u8]>, Regex>>,
    /// The most bytes that a compiled pattern may take.
    size: usize,
}

pub(super) fn register(connection: &Connection, untrusted: bool) -> Result<()> {
    let patterns = Patterns {
        compiled: RefCell::new(LruCache::new(CACHED)),
        size: if untrusted {
            limits::REGEXP_BYTES_UNTRUSTED
        } else {
            limits::REGEXP_BYTES
        },
    };
    connection.create_function(Signature::innocuous("regexp", 2, true), move |call| {
        patterns.answer(call)
    })
}

const CACHED: NonZero<usize> = NonZero::new(16).unwrap();

impl Patterns {
    fn answer(&self, call: &Call<'_>) -> Result<(), String> {
        let (Some(pattern), Some(text)) = (call.text(0), call.text(1)) else {
            return Ok(());
        };
        let mut compiled = self.compiled.borrow_mut();
        if let Some(known) = compiled.get(pattern) {
            call.set(ValueRef::Integer(known.is_match(text).into()));
            return Ok(());
        }
        let new = self.compile(pattern)?;
        call.set(ValueRef::Integer(new.is_match(text).into()));
        compiled.put(pattern.into(), new);
        Ok(())
    }

    fn compile(&self, pattern: &[u8]) -> Result<Regex, String> {
        let pattern = str::from_utf8(pattern).map_err(|_| "the pattern is not valid UTF-8")?;
        let built = RegexBuilder::new(pattern)
            .size_limit(self.size)
            .dfa_size_limit(self.size)
            .build();
        built.map_err(|error| match error {
            regex::Error::CompiledTooBig(most) => {
                format!("the pattern is too complex: compiled, it takes more than {most} bytes")
            }
            // The error shows the pattern over several lines, and gives the reason in the last line.
            other => {
                let text = other.to_string();
                let reason = text.lines().last().unwrap_or(&text);
                format!(
                    "{pattern:?} is no pattern: {}",
                    reason.trim_start_matches("error: ")
                )
            }
        })
    }
}
