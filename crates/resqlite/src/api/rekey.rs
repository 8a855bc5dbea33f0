//! Changing the key of an encrypted database.

use resqlite_sqlite::Key;

use crate::{
    api::{
        answers::{Done, answer},
        database::Database,
        engine::Engine,
    },
    core::error::Result,
    writer::{RekeyJob, WriteJob},
};

impl Engine {
    /// Changes the key of an encrypted database, on the writer, while nothing else reads.
    pub fn rekey(&self, key: Key, done: Done<()>) {
        self.push(WriteJob::Rekey(RekeyJob { key, done }));
    }
}

impl Database {
    /// Encrypts an encrypted database with another key. Reads and writes wait meanwhile, and then go on with the new key, as live queries
    /// do. Changing the key needs room for a write-ahead log as large as the database. When this call returns, the new key is on the
    /// disk. After a crash before that, one of the two keys opens all data.
    ///
    /// Other processes, and handles that are open for reading only, must open the database again with the new key.
    ///
    /// # Errors
    /// [`Error::EncryptionKey`](crate::Error::EncryptionKey) says why the key stays as it was: the database is not encrypted; a
    /// snapshot, a cursor, a backup or another process reads it; or databases are attached.
    pub async fn rekey(&self, key: Key) -> Result<()> {
        answer(|done| self.engine().rekey(key, done)).await
    }
}
