//! Backups, and databases as bytes.

use resqlite::{BackupOptions, Database, Key};

use crate::support::{Fixture, block_on, open, raw, refused, rows, with_key};

// G299
#[test]
fn a_backup_has_the_same_key() {
    for key in [raw(1), Key::passphrase("words").unwrap()] {
        let fixture = Fixture::new(&key);
        let path = fixture.file("backup.db");
        let made = block_on(fixture.db.backup(&path, BackupOptions::default())).unwrap();
        assert!(made.pages > 0);
        refused(open(&path, None), "no key was given");
        assert_eq!(rows(&open(&path, Some(&key)).unwrap()), Ok(1));
    }
}

#[test]
fn a_backup_needs_no_log_to_be_read() {
    let fixture = Fixture::new(&raw(1));
    let path = fixture.file("backup.db");
    block_on(fixture.db.backup(&path, BackupOptions::default())).unwrap();
    assert_eq!(std::fs::read(&path).unwrap()[18..20], [1, 1]);
    for beside in ["-wal", "-shm", "-journal"] {
        assert!(
            !std::path::Path::new(&format!("{path}{beside}")).exists(),
            "{beside}"
        );
    }
}

// G299
#[test]
fn bytes_of_an_encrypted_database_are_encrypted_and_open_with_its_key() {
    let fixture = Fixture::new(&raw(1));
    let bytes = block_on(fixture.db.serialize()).unwrap();
    let secret = b"something secret";
    assert!(!bytes.windows(secret.len()).any(|part| part == secret));
    let opened = |key: Option<&Key>| block_on(Database::open_bytes(bytes.clone(), with_key(key)));
    assert_eq!(rows(&opened(Some(&raw(1))).unwrap()), Ok(1));
    refused(opened(Some(&raw(2))), "the key is wrong");
    refused(opened(None), "no key was given");
    let plain = open(":memory:", None).unwrap();
    block_on(plain.exec("CREATE TABLE t(a)")).unwrap();
    let plain = block_on(plain.serialize()).unwrap();
    let with_a_key = block_on(Database::open_bytes(plain, with_key(Some(&raw(1)))));
    refused(with_a_key, "it is not encrypted");
}

#[test]
fn a_database_in_memory_can_be_encrypted() {
    let db = open(":memory:", Some(&raw(1))).unwrap();
    block_on(db.exec("CREATE TABLE t(a); INSERT INTO t VALUES (1)")).unwrap();
    let bytes = block_on(db.serialize()).unwrap();
    let copy = block_on(Database::open_bytes(bytes, with_key(Some(&raw(1))))).unwrap();
    assert_eq!(rows(&copy), Ok(1));
}

// G299
#[test]
fn vacuum_into_a_url_encrypts_decrypts_and_changes_the_key() {
    let fixture = Fixture::new(&raw(1));
    let into = |name: &str, key: &str| {
        let url = format!("file:{}?key={key}", fixture.file(name));
        block_on(fixture.db.execute("VACUUM INTO ?", [url.as_str().into()]))
    };
    into("plain.db", "").unwrap();
    assert_eq!(rows(&open(&fixture.file("plain.db"), None).unwrap()), Ok(1));
    into("other.db", "other%20words").unwrap();
    let key = Key::passphrase("other words").unwrap();
    assert_eq!(rows(&open(&fixture.file("other.db"), Some(&key)).unwrap()), Ok(1));
    let digits = "02".repeat(Key::RAW_BYTES);
    into("raw.db", &format!("raw:{digits}")).unwrap();
    assert_eq!(
        rows(&open(&fixture.file("raw.db"), Some(&raw(2))).unwrap()),
        Ok(1)
    );
    let failed = into("no-folder/other.db", "secret").unwrap_err();
    assert!(!failed.to_string().contains("secret"), "{failed}");
}
