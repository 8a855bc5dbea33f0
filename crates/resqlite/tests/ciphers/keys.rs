//! Which key opens which file.

use std::fs;

use resqlite::{Database, Key, Options};

use crate::support::{Fixture, block_on, open, raw, refused, rows, with_key};

// G294
#[test]
fn keys_of_every_kind_open_what_they_made() {
    let passphrases = [
        "simple",
        "it's \"quoted\"; --",
        "with a \0 in it",
        "schlüssel 🔑",
        " ",
    ];
    let keys = passphrases.map(|text| Key::passphrase(text).unwrap());
    for key in keys.iter().chain([&raw(0), &raw(255)]) {
        let fixture = Fixture::new(key);
        let path = fixture.path();
        let Fixture { db, folder: _folder } = fixture;
        block_on(db.close()).unwrap();
        assert_eq!(rows(&open(&path, Some(key)).unwrap()), Ok(1));
    }
}

#[test]
fn passphrases_that_differ_after_a_nul_are_different_keys() {
    let fixture = Fixture::new(&Key::passphrase("same\0one").unwrap());
    let path = fixture.path();
    let Fixture { db, folder: _folder } = fixture;
    block_on(db.close()).unwrap();
    let other = Key::passphrase("same\0other").unwrap();
    refused(open(&path, Some(&other)), "the key is wrong");
}

// G294
#[test]
fn a_wrong_key_and_none_are_named_as_such() {
    let Fixture { db, folder } = Fixture::new(&raw(1));
    let path = folder.path().join("test.db").to_str().unwrap().to_owned();
    // First with a log beside the file, then without.
    let copy = folder.path().join("copy.db").to_str().unwrap().to_owned();
    fs::copy(&path, &copy).unwrap();
    fs::copy(format!("{path}-wal"), format!("{copy}-wal")).unwrap();
    block_on(db.close()).unwrap();
    for file in [&copy, &path] {
        for read_only in [false, true] {
            let options = |key: Option<&Key>| Options {
                read_only,
                ..with_key(key)
            };
            let wrong = block_on(Database::open(file, options(Some(&raw(2)))));
            refused(wrong, "the key is wrong");
            let none = block_on(Database::open(file, options(None)));
            refused(none, "it is damaged or encrypted, and no key was given");
        }
        assert_eq!(rows(&open(file, Some(&raw(1))).unwrap()), Ok(1));
    }
}

// G294
#[test]
fn a_key_for_a_file_that_is_not_encrypted_is_named_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain.db").to_str().unwrap().to_owned();
    let plain = open(&path, None).unwrap();
    block_on(plain.exec("CREATE TABLE t(a); INSERT INTO t VALUES (1)")).unwrap();
    refused(
        open(&path, Some(&raw(1))),
        "it is not encrypted, but a key was given",
    );
    block_on(plain.close()).unwrap();
    refused(
        open(&path, Some(&raw(1))),
        "it is not encrypted, but a key was given",
    );
    assert_eq!(rows(&open(&path, None).unwrap()), Ok(1));
}

// G294
#[test]
fn a_file_that_is_no_database_is_called_so_with_a_key_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter.txt").to_str().unwrap().to_owned();
    fs::write(&path, "Dear database, ".repeat(1000)).unwrap();
    for key in [None, Some(&raw(1))] {
        let error = open(&path, key).err().expect("it is no database");
        assert_eq!(error.code(), "SQLITE_NOTADB", "{error}");
    }
}

// G294
#[test]
fn sharing_an_open_database_needs_its_key_too() {
    let fixture = Fixture::new(&raw(1));
    let path = fixture.path();
    refused(open(&path, Some(&raw(2))), "the key is wrong");
    refused(open(&path, None), "no key was given");
    assert_eq!(rows(&open(&path, Some(&raw(1))).unwrap()), Ok(1));
}

#[test]
fn an_untrusted_database_is_checked_with_its_key() {
    let fixture = Fixture::new(&raw(1));
    let path = fixture.path();
    let Fixture { db, folder: _folder } = fixture;
    block_on(db.close()).unwrap();
    let untrusted = |key: Option<&Key>| Options {
        untrusted: Some(true),
        ..with_key(key)
    };
    let opened = block_on(Database::open(&path, untrusted(Some(&raw(1))))).unwrap();
    assert_eq!(rows(&opened), Ok(1));
    drop(opened);
    refused(
        block_on(Database::open(&path, untrusted(None))),
        "no key was given",
    );
}

#[test]
fn page_size_and_encoding_can_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    for size in [512, 1024, 65536] {
        let path = folder.path().join(size.to_string()).to_str().unwrap().to_owned();
        let options = || Options {
            pragmas: vec![
                ("page_size".into(), size.to_string()),
                ("encoding".into(), "UTF16".into()),
            ],
            ..with_key(Some(&raw(1)))
        };
        let made = block_on(Database::open(&path, options())).unwrap();
        block_on(made.exec("CREATE TABLE t(a); INSERT INTO t VALUES (randomblob(100000))")).unwrap();
        block_on(made.close()).unwrap();
        let db = open(&path, Some(&raw(1))).unwrap();
        let value = |sql| block_on(db.select(sql, ())).unwrap().first().unwrap().values()[0].clone();
        assert_eq!(value("PRAGMA page_size"), size.into());
        assert_eq!(value("PRAGMA encoding"), "UTF-16le".into());
        assert_eq!(value("PRAGMA integrity_check"), "ok".into());
    }
}

// G295
#[test]
fn sql_sets_no_key() {
    let fixture = Fixture::new(&raw(1));
    let pragmas = [
        "key = 'abc-secret'",
        "rekey = 'abc-secret'",
        "hexkey = 'abc5ec'",
        "hexrekey = 'abc5ec'",
        "textkey = 'abc-secret'",
        "textrekey = 'abc-secret'",
        "cipher = 'rc4'",
        "hmac_check = 0",
        "memory_security = 0",
    ];
    for pragma in pragmas {
        let sql = format!("PRAGMA {pragma}");
        for error in [
            block_on(fixture.db.execute(&sql, ())).unwrap_err(),
            block_on(fixture.db.exec(&sql)).unwrap_err(),
            block_on(fixture.db.select(&sql, ())).unwrap_err(),
            block_on(fixture.db.query(&sql, ())).unwrap_err(),
        ] {
            assert!(!error.to_string().contains("abc"), "{error}");
        }
    }
    let error = block_on(fixture.db.execute("PRAGMA key = 'abc'", ())).unwrap_err();
    assert!(error.to_string().contains("use the option for a key"), "{error}");
    for call in ["sqlite3mc_config('cipher')", "sqlite3mc_codec_data('raw:salt')"] {
        let refused = block_on(fixture.db.select(&format!("SELECT {call}"), ()));
        assert!(refused.unwrap_err().to_string().contains("no such function"));
    }
    for attach in [
        "ATTACH 'other.db' AS o KEY 'abc-secret'",
        "ATTACH 'file:other.db?key=abc-secret' AS o",
        "VACUUM INTO 'file:other.db?key=abc-secret'",
    ] {
        for error in [
            block_on(fixture.db.execute(attach, ())).unwrap_err(),
            block_on(fixture.db.exec(attach)).unwrap_err(),
        ] {
            assert!(error.to_string().contains("a key in SQL is refused"), "{error}");
            assert!(!error.to_string().contains("abc"), "{error}");
        }
    }
}

#[test]
fn what_is_attached_has_the_key_of_the_main_database() {
    let fixture = Fixture::new(&raw(1));
    let other = fixture.file("other.db");
    block_on(fixture.db.exec(&format!(
        "ATTACH '{other}' AS other; CREATE TABLE other.u(a); INSERT INTO other.u VALUES (1)"
    )))
    .unwrap();
    let joined = block_on(fixture.db.select("SELECT * FROM t, other.u", ())).unwrap();
    assert_eq!(joined.len(), 1);
    block_on(fixture.db.exec("DETACH other")).unwrap();
    let plain = fixture.file("plain.db");
    block_on(open(&plain, None).unwrap().exec("CREATE TABLE u(a)")).unwrap();
    let attached = block_on(fixture.db.execute(&format!("ATTACH '{plain}' AS plain"), ()));
    assert_eq!(attached.unwrap_err().code(), "RESQLITE_ENCRYPTION_KEY");
    refused(open(&other, None), "no key was given");
    let opened = open(&other, Some(&raw(1))).unwrap();
    assert_eq!(block_on(opened.select("SELECT * FROM u", ())).unwrap().len(), 1);
}
