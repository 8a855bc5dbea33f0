//! SQLite, compiled from the sources in `sqlite3/` (see `README.md` there) with the options in `build.rs`, and
//! declarations of what resqlite uses of it, under SQLite's names. The [C interface](https://sqlite.org/c3ref/intro.html)
//! documents them.

#![allow(missing_docs, non_camel_case_types, non_snake_case, unsafe_code)]

#[cfg(feature = "ciphers")]
mod ciphers;
mod constants;
mod functions;
mod types;
mod virtual_tables;

#[cfg(feature = "ciphers")]
pub use self::ciphers::*;
pub use self::{constants::*, functions::*, types::*, virtual_tables::*};
