//! Encrypted databases, by SQLite3 Multiple Ciphers. A build without the feature `ciphers` refuses every key.
//!
//! It encrypts in a VFS of its own, which it puts in front of another. It must be the VFS that SQLite itself uses: what
//! goes to the write-ahead log is encrypted only there.

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
