//! Encrypted databases, by SQLite3 Multiple Ciphers. A build without the feature `ciphers` refuses every key.
//!
//! SQLite3 Multiple Ciphers encrypts in a VFS of its own, which it puts in front of another VFS. SQLite itself must use
//! the VFS that encrypts, because only this VFS encrypts what is written to the write-ahead log.

#[cfg(not(feature = "ciphers"))]
mod off;
#[cfg(feature = "ciphers")]
mod on;

#[cfg(not(feature = "ciphers"))]
pub(crate) use off::*;
#[cfg(feature = "ciphers")]
pub(crate) use on::*;

/// Returns whether this build can encrypt databases.
pub fn can_encrypt() -> bool {
    cfg!(feature = "ciphers")
}
