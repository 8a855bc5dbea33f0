//! SQL functions written in Rust.
//!
//! A function that fails, or panics, ends the statement with an error that names the function.

mod aggregate;
mod call;
mod function;
mod scalar;

use std::ffi::{c_int, c_void};

use resqlite_sqlite_sys as ffi;

use self::function::{Function, destroy};
pub use self::{aggregate::Aggregate, call::Call};
use crate::{c_text::c_string, connection::Connection, error::Result};

/// The name of a function and what SQLite may assume of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The name; SQLite does not distinguish upper and lower case.
    pub name: String,
    /// The number of arguments; `None` for any.
    pub arguments: Option<u8>,
    /// The same arguments always give the same result. Indexes and generated columns need this.
    pub deterministic: bool,
    /// The function can do no harm. So views, triggers, CHECKs and the like may use it, even those of a file from
    /// elsewhere.
    pub innocuous: bool,
}

impl Signature {
    /// Makes the signature of a harmless function with this many arguments.
    pub fn innocuous(name: &str, arguments: u8, deterministic: bool) -> Self {
        Self {
            name: name.into(),
            arguments: Some(arguments),
            deterministic,
            innocuous: true,
        }
    }

    fn flags(&self) -> c_int {
        let flag = |set, flag| if set { flag } else { 0 };
        ffi::SQLITE_UTF8
            | flag(self.deterministic, ffi::SQLITE_DETERMINISTIC)
            | flag(self.innocuous, ffi::SQLITE_INNOCUOUS)
    }
}

impl Connection {
    /// Registers a scalar function. The function sets its result by [`Call::set`]; if it sets none, the result is NULL.
    ///
    /// # Errors
    /// `SQLITE_MISUSE` if the name is too long, or there are too many arguments.
    pub fn create_function(
        &self,
        signature: Signature,
        function: impl Fn(&Call<'_>) -> Result<(), String> + 'static,
    ) -> Result<()> {
        let call = Some(scalar::call as ffi::sqlite3_function);
        self.register(signature, Box::new(function) as scalar::Body, (call, None, None))
    }

    /// Registers an aggregate function. `start` makes the state of one group of rows.
    ///
    /// # Errors
    /// As for [`create_function`](Self::create_function).
    pub fn create_aggregate(
        &self,
        signature: Signature,
        start: impl Fn() -> Box<dyn Aggregate> + 'static,
    ) -> Result<()> {
        let (step, last) = (
            aggregate::step as ffi::sqlite3_function,
            aggregate::last as ffi::sqlite3_final,
        );
        let body = Box::new(start) as aggregate::Body;
        self.register(signature, body, (None, Some(step), Some(last)))
    }

    #[allow(unsafe_code)]
    fn register<T>(&self, signature: Signature, body: T, (call, step, last): Callbacks) -> Result<()> {
        let name = c_string(&signature.name)?;
        let arguments = signature.arguments.map_or(-1, c_int::from);
        let flags = signature.flags();
        let function = Box::new(Function {
            name: signature.name,
            body,
        });
        // SAFETY: the handle is open and the name outlives the call. SQLite owns the function from now on, even if the
        // call fails; SQLite hands the function to the callbacks, which were chosen for `T`, and in the end to
        // `destroy::<T>`.
        let code = unsafe {
            let data = Box::into_raw(function).cast();
            let db = self.handle().db.as_ptr();
            let destroy = Some(destroy::<T> as unsafe extern "C" fn(*mut c_void));
            ffi::sqlite3_create_function_v2(
                db,
                name.as_ptr(),
                arguments,
                flags,
                data,
                call,
                step,
                last,
                destroy,
            )
        };
        self.handle().check(code)
    }
}

type Callbacks = (
    Option<ffi::sqlite3_function>,
    Option<ffi::sqlite3_function>,
    Option<ffi::sqlite3_final>,
);
