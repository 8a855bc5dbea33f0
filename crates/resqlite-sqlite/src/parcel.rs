//! Moving a connection from one thread to another.

use std::ops::{Deref, DerefMut};

/// A value that shares nothing that is bound to a thread with the rest of the program.
///
/// A [`Connection`](crate::Connection) is not `Send` by itself, because its statements and callbacks refer to it without any
/// synchronisation. SQLite ties nothing to a thread that outlives a call. So a connection may move together with everything that
/// refers to it.
///
/// # Safety
/// Whatever the value refers to without being `Send` (`Rc`, connections, statements, the captures of callbacks) is reachable through
/// this value only. A copy of such a reference may live on the stack of a call that borrows the value, and nowhere else.
#[allow(unsafe_code)]
pub unsafe trait Confined {}

/// A connection and all that refers to it, on its way between threads.
///
/// Only one thread at a time reaches the content, since a parcel is not `Sync`. The content is boxed, so that handing
/// it over is cheap.
#[derive(Debug)]
pub struct Parcel<T: Confined>(Box<T>);

// SAFETY: what is not `Send` in the content is reachable through the content only, which is what `Confined` promises. So after the
// move no other thread can reach any of it. Whoever hands a parcel over synchronises the two threads, as for any `Send` value.
#[allow(unsafe_code)]
unsafe impl<T: Confined> Send for Parcel<T> {}

impl<T: Confined> Parcel<T> {
    /// Packs a value.
    pub fn new(content: T) -> Self {
        Self(Box::new(content))
    }

    /// Unpacks the value, for the thread that has it now.
    pub fn into_content(self) -> T {
        *self.0
    }
}

impl<T: Confined> Deref for Parcel<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Confined> DerefMut for Parcel<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
