//! SQLite's errors.

use std::{fmt, io};

use crate::code;

/// The result of a call into SQLite.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error that SQLite reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    code: i32,
    message: String,
    offset: Option<usize>,
    system: i32,
}

impl Error {
    /// Makes an error from an extended result code and a message.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            offset: None,
            system: 0,
        }
    }

    /// Sets the offset.
    pub fn at(mut self, offset: Option<usize>) -> Self {
        self.offset = offset;
        self
    }

    /// Sets the system's error number; 0 if there is none.
    pub(crate) fn because(mut self, system: i32) -> Self {
        self.system = system;
        self
    }

    /// The system's error when SQLite could not open, read or write a file.
    pub fn system(&self) -> Option<io::Error> {
        (self.system != 0).then(|| io::Error::from_raw_os_error(self.system))
    }

    /// The extended result code, such as 2067.
    pub fn code(&self) -> i32 {
        self.code
    }

    /// The primary result code, such as 19: the low byte of [`code`](Self::code).
    pub fn primary(&self) -> i32 {
        self.code & 0xff
    }

    /// The name of the extended result code, such as `SQLITE_CONSTRAINT_UNIQUE`.
    pub fn name(&self) -> &'static str {
        code::name(self.code)
    }

    /// SQLite's message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The position of the error in the SQL text, in bytes, if SQLite knows it.
    pub fn offset(&self) -> Option<usize> {
        self.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.name())
    }
}

impl std::error::Error for Error {}
