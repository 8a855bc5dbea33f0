//! The data that SQLite keeps for a registered function.
#![allow(unsafe_code)]

use std::{
    any::Any,
    ffi::c_void,
    panic::{self, AssertUnwindSafe},
};

use resqlite_sqlite_sys as ffi;

use super::call::Call;

/// A registered function with its Rust side.
pub(super) struct Function<T> {
    pub(super) name: String,
    pub(super) body: T,
}

impl<T> Function<T> {
    /// Returns the function that SQLite is calling.
    ///
    /// # Safety
    /// `context` belongs to a call of a function that was registered with a body of type `T`.
    pub(super) unsafe fn of<'a>(context: *mut ffi::sqlite3_context) -> &'a Self {
        // SAFETY: promised by the caller. SQLite destroys the function only when no call of it is under way, and it is
        // never borrowed mutably.
        unsafe { &*ffi::sqlite3_user_data(context).cast::<Self>() }
    }

    /// Runs `work`. A failure or a panic becomes the error of the statement.
    pub(super) fn run<R>(&self, call: &Call<'_>, work: impl FnOnce() -> Result<R, String>) -> Option<R> {
        let message = match panic::catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(result)) => return Some(result),
            Ok(Err(message)) => format!("{}: {message}", self.name),
            Err(payload) => format!("{} panicked: {}", self.name, text_of(&*payload)),
        };
        call.fail(&message);
        None
    }
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

pub(super) unsafe extern "C" fn destroy<T>(function: *mut c_void) {
    // SAFETY: SQLite passes what `register` gave it, once. A panic while a captured value is dropped must not unwind
    // through SQLite; nobody is left to report it to.
    let _ = panic::catch_unwind(|| unsafe { drop(Box::from_raw(function.cast::<Function<T>>())) });
}
