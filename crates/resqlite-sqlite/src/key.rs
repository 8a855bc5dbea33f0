//! The key of an encrypted database.

use std::{
    fmt, ptr,
    sync::atomic::{Ordering, compiler_fence},
};

/// The key of an encrypted database. Nothing prints it, and its memory is overwritten when it is dropped.
///
/// ```
/// use resqlite_sqlite::Key;
///
/// let key = Key::passphrase("correct horse battery staple")?;
/// assert_eq!(format!("{key:?}"), "Key(..)");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Box<[u8]>);

impl Key {
    /// The number of bytes of a raw key.
    pub const RAW_BYTES: usize = 32;

    /// Makes a key from a passphrase. The key is derived from the passphrase with a salt of the file, which takes a
    /// noticeable part of a second for each connection.
    ///
    /// # Errors
    /// Says why the text cannot be a passphrase, and does not repeat the text.
    pub fn passphrase(text: &str) -> Result<Self, String> {
        // To SQLite3 Multiple Ciphers, these prefixes begin a key that is used without a derivation.
        let is_raw = text.starts_with("raw:") || text.starts_with("x'") || text.starts_with("X'");
        match text.len() {
            0 => Err("a passphrase must not be empty".into()),
            _ if is_raw => {
                Err("a passphrase must not begin with raw: or x', which stand for raw keys; pass such a key as bytes".into())
            }
            _ => Ok(Self(text.as_bytes().into())),
        }
    }

    /// A key of [`RAW_BYTES`](Self::RAW_BYTES) bytes, used as it is.
    ///
    /// # Errors
    /// Says that the length is wrong.
    pub fn raw(bytes: &[u8]) -> Result<Self, String> {
        match bytes.len() {
            Self::RAW_BYTES => Ok(Self([b"raw:", bytes].concat().into())),
            other => Err(format!("a raw key has {} bytes, not {other}", Self::RAW_BYTES)),
        }
    }

    /// The key as SQLite3 Multiple Ciphers takes it.
    #[cfg(feature = "ciphers")]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Drop for Key {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        for byte in &mut self.0 {
            // SAFETY: the reference is valid. The compiler does not leave out a volatile write, although nobody reads
            // what it wrote.
            unsafe { ptr::write_volatile(byte, 0) };
        }
        compiler_fence(Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn a_key_is_not_printed() {
        let key = Key::passphrase("secret").unwrap();
        assert_eq!(format!("{key:?} {:?}", Some(&key)), "Key(..) Some(Key(..))");
    }

    #[test]
    fn what_cannot_be_a_key_is_refused_without_its_text() {
        let raw = format!("raw:{}", "5".repeat(64));
        let refusals = [
            Key::passphrase("").unwrap_err(),
            Key::passphrase(&raw).unwrap_err(),
            Key::passphrase("x'55'").unwrap_err(),
            Key::raw(&[5; 31]).unwrap_err(),
        ];
        assert!(
            refusals.iter().all(|refusal| !refusal.contains("55")),
            "{refusals:?}"
        );
    }
}
