//! Extensions of SQLite, which every connection loads.
#![cfg(unix)]

use std::{env::consts::DLL_EXTENSION, fs, path::Path, process::Command};

use resqlite::{Database, Error, Extension, Options};
use tempfile::TempDir;

use crate::support::{Fixture, block_on, integers, next_integers, open_with};

/// The extension, compiled.
struct Sample {
    folder: TempDir,
}

impl Sample {
    fn compile() -> Self {
        let sample = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-o", &sample.path()])
            .arg(format!(
                "-I{}",
                crates.join("../resqlite-sqlite-sys/sqlite3").display()
            ))
            .arg(crates.join("tests/engine/extension/sample.c"))
            .status()
            .unwrap();
        assert!(compiled.success());
        sample
    }

    fn file(&self, name: &str) -> String {
        // The folder of temporary files may lie below a link, and messages have the real path.
        let folder = self.folder.path().canonicalize().unwrap();
        folder.join(name).to_str().unwrap().to_owned()
    }

    fn path(&self) -> String {
        self.file(&format!("sample.{DLL_EXTENSION}"))
    }

    fn options(&self) -> Options {
        with(&self.path(), None)
    }
}

fn with(path: &str, entry_point: Option<&str>) -> Options {
    let extension = Extension {
        path: path.into(),
        entry_point: entry_point.map(str::to_owned),
    };
    Options {
        extensions: vec![extension],
        ..Options::default()
    }
}

fn refused(options: Options) -> Error {
    open_with(":memory:", options).err().expect("it cannot be opened")
}

/// Opening fails with this code, the path of the extension, and this reason.
fn fails(options: Options, reason: &str) {
    let path = options.extensions[0].path.clone();
    let error = refused(options);
    let text = error.to_string();
    assert_eq!(error.code(), "RESQLITE_OPEN", "{text}");
    assert!(
        text.contains(&format!("{path:?}")) && text.contains(reason),
        "{text}"
    );
}

// G227
#[test]
fn reads_writes_and_live_queries_have_what_an_extension_brings() {
    let sample = Sample::compile();
    let fixture = Fixture::with("CREATE TABLE t(a)", sample.options());
    fixture.run("INSERT INTO t VALUES (ten())");
    assert_eq!(fixture.integers("SELECT a + ten() FROM t"), [20]);
    let mut live = fixture.db.stream("SELECT count(*) * ten() FROM t", ());
    assert_eq!(next_integers(&mut live), [10]);
}

// G227
#[test]
fn an_index_of_the_file_may_use_what_an_extension_brings() {
    let sample = Sample::compile();
    let fixture = Fixture::with(
        "CREATE TABLE t(a); CREATE INDEX i ON t(a + ten())",
        sample.options(),
    );
    fixture.run("INSERT INTO t VALUES (1)");
    let path = fixture.path();
    block_on(fixture.db.close()).unwrap();
    let db = open_with(path.to_str().unwrap(), sample.options()).unwrap();
    let found = block_on(db.select("SELECT a FROM t WHERE a + ten() = 11", ())).unwrap();
    assert_eq!(integers(&found), [1]);
}

// G231
#[test]
fn a_live_query_runs_again_where_a_function_of_an_extension_can_read_anything() {
    let sample = Sample::compile();
    let fixture = Fixture::with("CREATE TABLE t(a); CREATE TABLE other(a)", sample.options());
    let mut live = fixture.db.stream("SELECT rows_of_t()", ());
    assert_eq!(next_integers(&mut live), [0]);
    fixture.run("INSERT INTO t VALUES (1), (2)");
    assert_eq!(next_integers(&mut live), [2]);
}

// G230, S4
#[test]
fn sql_cannot_load_an_extension() {
    let sample = Sample::compile();
    let sql = format!("SELECT load_extension('{}')", sample.path());
    for options in [Options::default(), sample.options()] {
        let fixture = Fixture::with("", options);
        assert_eq!(fixture.fails(&sql).to_string(), "not authorized");
        let read = block_on(fixture.db.select(sql.as_str(), ()));
        assert_eq!(read.unwrap_err().to_string(), "not authorized");
    }
}

// G228
#[test]
fn the_suffix_may_be_missing_and_an_entry_point_may_be_named() {
    let sample = Sample::compile();
    let other = sample.file(&format!("other.{DLL_EXTENSION}"));
    fs::copy(sample.path(), &other).unwrap();
    let named = with(&sample.file("other"), Some("sqlite3_sample_init"));
    let fixture = Fixture::with("", named);
    assert_eq!(fixture.integers("SELECT ten()"), [10]);
}

// G228
#[test]
fn what_cannot_be_loaded_is_named_with_the_reason() {
    let sample = Sample::compile();
    fails(with(&sample.file("missing"), None), "does not exist");
    fails(
        with(sample.folder.path().to_str().unwrap(), None),
        "does not exist",
    );
    let text = sample.file("text.so");
    fs::write(&text, "no library").unwrap();
    fails(with(&text, None), "cannot be loaded: ");
    fails(with(&sample.path(), Some("nothing")), "nothing");
    fails(with(&sample.path(), Some("refuse")), "not today");
}

// G229
#[test]
fn an_untrusted_database_takes_no_extensions() {
    let options = Options {
        untrusted: Some(true),
        ..with("any", None)
    };
    let text = refused(options).to_string();
    assert_eq!(text, "untrusted: it cannot go with extensions");
}

// G229
#[test]
fn databases_that_share_a_file_agree_on_extensions() {
    let sample = Sample::compile();
    let fixture = Fixture::with("", sample.options());
    let path = fixture.path();
    let again = |options| -> Result<Database, Error> { open_with(path.to_str().unwrap(), options) };
    assert!(again(Options::default()).is_ok());
    let other_spelling = format!("{}/./sample", sample.folder.path().display());
    assert!(again(with(&other_spelling, None)).is_ok());
    let error = again(with(&sample.path(), Some("refuse"))).err().unwrap();
    assert_eq!(error.code(), "RESQLITE_OPTION");
    assert!(error.to_string().starts_with("extensions: "), "{error}");
}
