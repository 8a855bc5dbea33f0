//! What the files, errors and diagnostics of an encrypted database show.

use std::{fs, path::Path};

use resqlite::{BackupOptions, Key};

use crate::support::{Fixture, block_on, open, raw};

/// Searches all files of a folder for a text.
fn files_with(folder: &Path, text: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let content = fs::read(&path).unwrap();
        if content.windows(text.len()).any(|part| part == text) {
            found.push(path.display().to_string());
        }
    }
    found
}

// G295
#[test]
fn no_file_shows_what_is_in_the_database() {
    let passphrase = "the passphrase itself";
    let fixture = Fixture::new(&Key::passphrase(passphrase).unwrap());
    let path = fixture.file("backup.db");
    block_on(fixture.db.backup(&path, BackupOptions::default())).unwrap();
    block_on(fixture.db.execute("UPDATE t SET b = b || '!'", ())).unwrap();
    let log = fs::metadata(fixture.file("test.db-wal")).unwrap();
    assert!(log.len() > 0, "there is a log to look into");
    for secret in ["something secret", "CREATE TABLE", passphrase, "SQLite format 3"] {
        let found = files_with(fixture.folder.path(), secret.as_bytes());
        assert!(found.is_empty(), "{secret:?} is in {found:?}");
    }
}

#[test]
fn a_database_without_a_key_would_be_found_by_the_same_search() {
    let folder = tempfile::tempdir().unwrap();
    let db = open(folder.path().join("plain.db").to_str().unwrap(), None).unwrap();
    block_on(db.exec("CREATE TABLE t(a); INSERT INTO t VALUES ('something secret')")).unwrap();
    assert!(!files_with(folder.path(), b"something secret").is_empty());
}

// G295
#[test]
fn there_are_no_temporary_files() {
    let fixture = Fixture::new(&raw(1));
    let options = block_on(fixture.db.select("PRAGMA compile_options", ())).unwrap();
    let is_set = |row: resqlite::Row| row.values()[0] == "TEMP_STORE=3".into();
    assert!(options.iter().any(is_set));
}

/// Changes one bit of a page, 2,000 bytes before the end of a file.
fn change_last_page(path: &Path) {
    let mut content = fs::read(path).unwrap();
    let place = content.len() - 2000;
    content[place] ^= 1;
    fs::write(path, content).unwrap();
}

const FILL: &str = "INSERT INTO t(b) SELECT printf('%.*c', 3000, 'x') FROM generate_series(1, 20)";

// G296
#[test]
fn a_changed_page_is_noticed() {
    let Fixture { db, folder } = Fixture::new(&raw(1));
    let path = folder.path().join("test.db");
    block_on(db.exec(FILL)).unwrap();
    block_on(db.close()).unwrap();
    change_last_page(&path);
    let db = open(path.to_str().unwrap(), Some(&raw(1))).unwrap();
    let error = block_on(db.select("SELECT sum(length(b)) FROM t", ())).unwrap_err();
    assert_eq!(error.code(), "SQLITE_CORRUPT", "{error}");
}

// G296
#[test]
fn a_log_ends_before_a_changed_page() {
    let Fixture { db, folder } = Fixture::new(&raw(1));
    let copy = tempfile::tempdir().unwrap();
    block_on(db.exec(FILL)).unwrap();
    for name in ["test.db", "test.db-wal"] {
        fs::copy(folder.path().join(name), copy.path().join(name)).unwrap();
    }
    change_last_page(&copy.path().join("test.db-wal"));
    let path = copy.path().join("test.db");
    let db = open(path.to_str().unwrap(), Some(&raw(1)));
    let sum = db.and_then(|db| {
        block_on(db.select("SELECT coalesce(sum(length(b)), 0) FROM t WHERE b LIKE 'xx%'", ()))
    });
    // The checksum of the log does not fit, so SQLite takes nothing of the transaction.
    assert_eq!(sum.unwrap().iter().next().unwrap().values()[0], 0.into());
}

// G295
#[test]
fn errors_and_diagnostics_show_no_key() {
    let key = Key::passphrase("unmistakable").unwrap();
    let fixture = Fixture::new(&key);
    let wrong = Key::passphrase("unmistakable, but wrong").unwrap();
    let error = open(&fixture.path(), Some(&wrong)).err().unwrap();
    let texts = [
        error.to_string(),
        format!("{error:?}"),
        format!("{:?}", fixture.db.diagnostics()),
        format!("{:?}", crate::support::with_key(Some(&key))),
    ];
    assert!(
        texts.iter().all(|text| !text.contains("unmistakable")),
        "{texts:?}"
    );
}
