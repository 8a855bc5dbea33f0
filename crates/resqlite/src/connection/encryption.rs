//! The key of a database, for all its connections.

use std::sync::Arc;

use resqlite_sqlite::{Connection, Header, Key, can_encrypt};

use crate::core::{
    error::{Error, Result},
    options::Options,
    params::Params,
    sync::{Mutex, lock},
};

const NO_ENCRYPTION: &str =
    "a key needs a build with encryption (the feature `ciphers`, or the package @resqlite/ciphers)";

/// Returns whether the text is the URL of a file with a key, or may be one. The name of a parameter may be written with `%`.
pub(crate) fn url_has_key(text: &str) -> bool {
    let (path, query) = text.split_once('?').unwrap_or_default();
    let is_key = |pair: &str| {
        let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
        name.contains('%') || name.ends_with("key") || name == "cipher"
    };
    let is_url = path
        .get(..5)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    is_url && query.split('&').any(is_key)
}

/// Refuses a URL with a key among the parameters of a statement if this build cannot encrypt. SQLite would ignore the key and write a
/// plain file.
///
/// # Errors
/// [`Error::EncryptionKey`], without the key.
pub(crate) fn refuse_urls_with_keys(params: &Params) -> Result<()> {
    match params.text_like(url_has_key).filter(|_| !can_encrypt()) {
        Some(url) => Err(failed(url.split('?').next().unwrap_or_default(), NO_ENCRYPTION)),
        None => Ok(()),
    }
}

/// The key of a database, if it has one. Clones share it.
#[derive(Clone)]
pub(crate) struct Encryption(Arc<Mutex<Option<Key>>>);

impl Encryption {
    /// # Errors
    /// [`Error::EncryptionKey`] if a key is given that this build cannot use.
    pub(crate) fn new(path: &str, options: &Options) -> Result<Self> {
        if options.key.is_some() && !can_encrypt() {
            return Err(failed(path, NO_ENCRYPTION));
        }
        Ok(Self(Arc::new(Mutex::new(options.key.clone()))))
    }

    pub(crate) fn is_on(&self) -> bool {
        lock(&self.0).is_some()
    }

    pub(crate) fn key(&self) -> Option<Key> {
        lock(&self.0).clone()
    }

    /// Replaces the key. Connections that take the key from now on get the new one.
    pub(crate) fn replace(&self, key: Key) {
        *lock(&self.0) = Some(key);
    }

    /// Sets the key on a connection, before it reads anything.
    ///
    /// # Errors
    /// SQLite's errors.
    pub(crate) fn unlock(&self, connection: &Connection) -> resqlite_sqlite::Result<()> {
        self.key().map_or(Ok(()), |key| connection.set_key(&key))
    }

    /// Refuses a key that differs from the one with which the file is already open.
    ///
    /// # Errors
    /// [`Error::EncryptionKey`]
    pub(crate) fn check_same(&self, path: &str, given: &Option<Key>) -> Result<()> {
        let key = lock(&self.0);
        if *key == *given {
            return Ok(());
        }
        Err(failed(path, reason(key.is_some(), given.is_some())))
    }

    /// Returns the error to report for a file that cannot be read, by its header. Returns `None` if the key is not to blame.
    pub(crate) fn mismatch(&self, path: &str, header: Header) -> Option<Error> {
        let given = self.is_on();
        let to_blame = match given {
            true => header.is_database(),
            false => header.is_encrypted(),
        };
        to_blame.then(|| failed(path, reason(header.is_encrypted(), given)))
    }

    /// Returns the error to report if SQLite could not read a file other than the main database.
    pub(crate) fn attached_mismatch(&self, path: &str) -> Option<Error> {
        let reason = "an attached file is no database, or has another key than the main database";
        self.is_on().then(|| failed(path, reason))
    }
}

fn reason(is_encrypted: bool, given: bool) -> &'static str {
    match (is_encrypted, given) {
        (true, true) => "the key is wrong",
        (true, false) if can_encrypt() => "it is damaged or encrypted, and no key was given",
        (true, false) => {
            "it is damaged or encrypted; an encrypted file needs its key and a build with encryption (the feature \
             `ciphers`, or the package @resqlite/ciphers)"
        }
        (false, _) => "it is not encrypted, but a key was given",
    }
}

fn failed(path: &str, reason: &str) -> Error {
    Error::EncryptionKey {
        path: path.into(),
        reason: reason.into(),
    }
}
