//! Copies of a database, into files and into bytes, while others write to it.

use std::{
    fs,
    path::Path,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
};

use resqlite::{
    BackedUp, BackupOptions, Database, Error, Options, Result, Value, Verify,
    binding::{BackupReply, Token},
};

use crate::support::{Fixture, block_on, integers, keyed, open, open_with, single};

/// Rows whose pages fill several steps of a copy.
const ROWS: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
    INSERT INTO t SELECT i, 0, zeroblob(1000) FROM n";

fn backup(db: &Database, path: &str) -> Result<BackedUp> {
    block_on(db.backup(path, BackupOptions::default()))
}

fn overwrite() -> BackupOptions {
    BackupOptions {
        overwrite: true,
        ..BackupOptions::default()
    }
}

/// The names of the files in a folder, without those of the database itself.
fn others(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| !name.starts_with("test.db")).collect();
    names.sort();
    names
}

/// Stops a backup in its first step until it is told to go on, and tells the end.
struct Held {
    reached: Option<mpsc::Sender<()>>,
    go: mpsc::Receiver<()>,
    done: mpsc::Sender<Result<BackedUp>>,
}

impl BackupReply for Held {
    fn progress(&mut self, _: u32, _: u32) {
        if let Some(reached) = self.reached.take() {
            reached.send(()).unwrap();
            // Ends with an error when the other side is dropped.
            let _ = self.go.recv();
        }
    }

    fn finish(self: Box<Self>, outcome: Result<BackedUp>) {
        let _ = self.done.send(outcome);
    }
}

/// A backup that stands still after its first step until `go` is dropped.
struct HeldBackup {
    go: mpsc::Sender<()>,
    done: mpsc::Receiver<Result<BackedUp>>,
}

impl HeldBackup {
    fn begin(db: &Database, path: &str, options: BackupOptions, token: Token) -> Self {
        let ((reached, has_reached), (go, may_go), (done, is_done)) =
            (mpsc::channel(), mpsc::channel(), mpsc::channel());
        let reply = Held {
            reached: Some(reached),
            go: may_go,
            done,
        };
        db.engine().backup(path, options, token, Box::new(reply));
        has_reached.recv().expect("the backup has begun");
        Self { go, done: is_done }
    }

    fn finish(self) -> Result<BackedUp> {
        drop(self.go);
        self.done.recv().unwrap()
    }
}

#[test]
fn a_backup_is_a_database_with_the_same_content() {
    let fixture = Fixture::new(ROWS);
    let path = fixture.file("copy.db");
    let made = backup(&fixture.db, &path).unwrap();
    assert_eq!(made.bytes, fs::metadata(&path).unwrap().len());
    assert_eq!(made.bytes, u64::from(made.pages) * 4096);
    assert_eq!(made.commit, fixture.db.diagnostics().last_commit);
    assert_eq!(others(fixture.folder.path()), ["copy.db"]);
    let copy = open(&path).unwrap();
    let sums = "SELECT count(*) FROM t UNION ALL SELECT sum(id) FROM t";
    assert_eq!(
        integers(&block_on(copy.select(sums, ())).unwrap()),
        fixture.integers(sums)
    );
}

// G235
#[test]
fn a_backup_can_be_read_where_nothing_can_be_created_beside_it() {
    let fixture = Fixture::new(ROWS);
    let path = fixture.file("copy.db");
    backup(&fixture.db, &path).unwrap();
    let read_only = Options {
        read_only: true,
        ..Options::default()
    };
    let copy = open_with(&path, read_only).unwrap();
    assert_eq!(
        integers(&block_on(copy.select("SELECT count(*) FROM t", ())).unwrap()),
        [3000]
    );
    assert_eq!(others(fixture.folder.path()), ["copy.db"]);
}

// G235
#[test]
fn a_backup_holds_the_state_at_its_beginning_whatever_is_committed_meanwhile() {
    let fixture = Fixture::new(ROWS);
    let path = fixture.file("copy.db");
    let backup = HeldBackup::begin(&fixture.db, &path, BackupOptions::default(), Token::default());
    fixture.run("UPDATE t SET a = 1");
    fixture.run("DELETE FROM t WHERE id > 10");
    backup.finish().unwrap();
    let copy = open(&path).unwrap();
    let counts = block_on(copy.select("SELECT count(*) FROM t UNION ALL SELECT sum(a) FROM t", ()));
    assert_eq!(integers(&counts.unwrap()), [3000, 0]);
}

// G235
#[test]
fn a_backup_beside_a_writer_that_never_rests_is_one_state() {
    let fixture = Fixture::new(ROWS);
    let (db, stop) = (&fixture.db, &AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            // Every commit moves one from a row to another, so the sum of any state is zero.
            for n in 0_i64.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let script = "UPDATE t SET a = a + CASE id WHEN ?1 THEN 1 ELSE -1 END WHERE id IN (?1, ?2)";
                let pair = vec![Value::from(n % 3000 + 1), Value::from((n + 1500) % 3000 + 1)];
                block_on(db.execute(script, pair)).unwrap();
            }
        });
        for _ in 0..5 {
            let path = fixture.file("copy.db");
            block_on(db.backup(&path, overwrite())).unwrap();
            let copy = open(&path).unwrap();
            let sums = block_on(copy.select("SELECT sum(a) FROM t UNION ALL SELECT count(*) FROM t", ()));
            assert_eq!(integers(&sums.unwrap()), [0, 3000]);
            block_on(copy.close()).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
}

// G237
#[test]
fn an_existing_file_is_refused_or_replaced_as_asked() {
    let fixture = Fixture::new(ROWS);
    let path = fixture.file("copy.db");
    fs::write(&path, "a letter").unwrap();
    let error = backup(&fixture.db, &path).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_BACKUP");
    assert!(
        error.to_string().contains("copy.db") && error.to_string().contains("exists"),
        "{error}"
    );
    assert_eq!(fs::read(&path).unwrap(), b"a letter");
    block_on(fixture.db.backup(&path, overwrite())).unwrap();
    assert!(fs::read(&path).unwrap().starts_with(b"SQLite format 3"));
    assert_eq!(others(fixture.folder.path()), ["copy.db"]);
}

// G237
#[test]
fn a_file_that_appears_meanwhile_is_not_replaced() {
    let fixture = Fixture::new(ROWS);
    let path = fixture.file("copy.db");
    let backup = HeldBackup::begin(&fixture.db, &path, BackupOptions::default(), Token::default());
    fs::write(&path, "a letter").unwrap();
    let error = backup.finish().unwrap_err();
    assert!(error.to_string().contains("exists"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"a letter");
    assert_eq!(others(fixture.folder.path()), ["copy.db"]);
}

// G237
#[test]
fn an_open_database_is_no_target() {
    let fixture = Fixture::new(ROWS);
    let (other, attached) = (fixture.file("other.db"), fixture.file("attached.db"));
    let _other = open(&other).unwrap();
    fixture.run(&format!("ATTACH '{attached}' AS b"));
    for path in [fixture.path().to_str().unwrap(), &other, &attached] {
        let error = block_on(fixture.db.backup(path, overwrite())).unwrap_err();
        assert!(error.to_string().contains("open in this process"), "{error}");
    }
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [3000]);
}

// G237
#[test]
fn a_file_that_sqlite_keeps_beside_a_database_is_no_target() {
    let fixture = Fixture::new(ROWS);
    for suffix in ["-wal", "-shm", "-journal"] {
        let path = format!("{}{suffix}", fixture.path().to_str().unwrap());
        for options in [overwrite(), BackupOptions::default()] {
            let error = block_on(fixture.db.backup(&path, options)).unwrap_err();
            assert!(error.to_string().contains(suffix), "{error}");
        }
    }
    fixture.run("DELETE FROM t WHERE rowid = 1");
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [2999]);
}

// G237
#[test]
fn a_database_that_is_opened_meanwhile_is_no_target() {
    let fixture = Fixture::new(ROWS);
    let path = fixture.file("copy.db");
    let backup = HeldBackup::begin(&fixture.db, &path, overwrite(), Token::default());
    let other = open(&path).unwrap();
    block_on(other.exec("CREATE TABLE mine(a)")).unwrap();
    let error = backup.finish().unwrap_err();
    assert!(error.to_string().contains("open in this process"), "{error}");
    block_on(other.execute("INSERT INTO mine VALUES (1)", ())).unwrap();
}

// G237
#[test]
fn a_log_that_lies_beside_the_target_is_refused_by_name() {
    let fixture = Fixture::new(ROWS);
    for suffix in ["-wal", "-journal"] {
        let path = fixture.file("copy.db");
        let beside = fixture.file(&format!("copy.db{suffix}"));
        fs::write(&beside, "").unwrap();
        let error = block_on(fixture.db.backup(&path, overwrite())).unwrap_err();
        assert!(error.to_string().contains(&format!("copy.db{suffix}")), "{error}");
        fs::remove_file(&beside).unwrap();
    }
    assert!(others(fixture.folder.path()).is_empty());
}

#[test]
fn a_target_without_a_folder_or_that_is_one_is_refused_by_name() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let error = backup(&fixture.db, &fixture.file("nowhere/copy.db")).unwrap_err();
    assert!(error.to_string().contains("nowhere"), "{error}");
    let error = backup(&fixture.db, fixture.folder.path().to_str().unwrap()).unwrap_err();
    assert!(error.to_string().contains("folder"), "{error}");
}

// G236
#[test]
fn a_cancelled_backup_leaves_nothing_behind() {
    let fixture = Fixture::new(ROWS);
    let token = Token::default();
    let backup = HeldBackup::begin(
        &fixture.db,
        &fixture.file("copy.db"),
        BackupOptions::default(),
        token.clone(),
    );
    token.cancel();
    assert_eq!(backup.finish(), Err(Error::Aborted));
    assert!(others(fixture.folder.path()).is_empty());
}

#[test]
fn closing_waits_for_a_backup() {
    let Fixture { db, folder } = Fixture::new(ROWS);
    let path = folder.path().join("copy.db");
    let backup = HeldBackup::begin(
        &db,
        path.to_str().unwrap(),
        BackupOptions::default(),
        Token::default(),
    );
    thread::scope(|scope| {
        scope.spawn(|| block_on(db.close()).unwrap());
        backup.finish().unwrap();
    });
    assert!(path.exists());
}

// G235
#[test]
fn a_database_in_memory_and_one_that_is_read_only_can_be_backed_up() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first.db"), folder.path().join("second.db"));
    let memory = open(":memory:").unwrap();
    block_on(memory.exec(ROWS)).unwrap();
    backup(&memory, first.to_str().unwrap()).unwrap();
    let read_only = Options {
        read_only: true,
        ..Options::default()
    };
    let copy = open_with(first.to_str().unwrap(), read_only).unwrap();
    backup(&copy, second.to_str().unwrap()).unwrap();
    assert_eq!(fs::read(first).unwrap(), fs::read(second).unwrap());
}

// G236
#[test]
fn a_damaged_database_gives_no_backup_unless_nobody_looks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.db");
    let db = open(path.to_str().unwrap()).unwrap();
    block_on(db.exec(&format!("{ROWS}; CREATE INDEX by_a ON t(a)"))).unwrap();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'by_a'";
    let Value::Integer(root) = single(&block_on(db.select(root, ())).unwrap()) else {
        panic!("an index has a page");
    };
    block_on(db.close()).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[(root as usize - 1) * 4096..][..2048].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let db = open(path.to_str().unwrap()).unwrap();
    let copy = folder.path().join("copy.db");
    let error = backup(&db, copy.to_str().unwrap()).unwrap_err();
    assert_eq!(error.code(), "SQLITE_CORRUPT");
    assert!(
        error.to_string().contains("copy.db") && error.to_string().contains("damaged"),
        "{error}"
    );
    assert!(!copy.exists());
    let unchecked = BackupOptions {
        verify: Verify::Off,
        ..BackupOptions::default()
    };
    block_on(db.backup(copy.to_str().unwrap(), unchecked)).unwrap();
}

#[test]
fn full_text_indexes_and_violated_checks_are_no_damage() {
    let fixture = Fixture::new(
        "CREATE VIRTUAL TABLE words USING fts5(word); INSERT INTO words VALUES ('one'), ('two');
         CREATE TABLE c(a CHECK (a > 0)); PRAGMA ignore_check_constraints = ON; INSERT INTO c VALUES (-1)",
    );
    backup(&fixture.db, &fixture.file("copy.db")).unwrap();
}

// G245
#[cfg(unix)]
#[test]
fn a_database_that_its_owner_may_not_write_can_be_backed_up() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new(ROWS);
    let (source, copy) = (fixture.path(), fixture.file("copy.db"));
    block_on(fixture.db.close()).unwrap();
    fs::set_permissions(&source, fs::Permissions::from_mode(0o444)).unwrap();
    let read_only = Options {
        read_only: true,
        ..Options::default()
    };
    let db = open_with(source.to_str().unwrap(), read_only).unwrap();
    backup(&db, &copy).unwrap();
    assert_eq!(fs::metadata(copy).unwrap().permissions().mode() & 0o777, 0o444);
}

// G238
#[cfg(unix)]
#[test]
fn a_backup_has_the_permissions_of_its_database() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new(ROWS);
    fs::set_permissions(fixture.path(), fs::Permissions::from_mode(0o600)).unwrap();
    let path = fixture.file("copy.db");
    backup(&fixture.db, &path).unwrap();
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
}

// G243
#[cfg(unix)]
#[test]
fn a_backup_shows_nobody_more_than_the_file_that_it_replaces() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new(ROWS);
    let path = fixture.file("copy.db");
    backup(&fixture.db, &path).unwrap();
    for (database, replaced, expected) in [
        (0o644, 0o600, 0o600),
        (0o600, 0o644, 0o600),
        (0o640, 0o604, 0o600),
    ] {
        for (file, mode) in [(fixture.path(), database), (path.clone().into(), replaced)] {
            fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
        }
        block_on(fixture.db.backup(&path, overwrite())).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            expected
        );
    }
}

// G239
#[test]
fn the_log_is_small_again_after_a_backup_beside_writes() {
    let fixture = Fixture::new(ROWS);
    let backup = HeldBackup::begin(
        &fixture.db,
        &fixture.file("copy.db"),
        BackupOptions::default(),
        Token::default(),
    );
    for _ in 0..100 {
        fixture.run("UPDATE t SET a = a + 1 WHERE id % 2 = 0");
    }
    let during = fixture.db.diagnostics();
    assert!(
        during.wal_pages > resqlite::limits::WAL_RESTART_PAGES,
        "{during:?}"
    );
    backup.finish().unwrap();
    for _ in 0..2 {
        fixture.run("UPDATE t SET a = a + 1 WHERE id = 1");
    }
    let after = fixture.db.diagnostics();
    assert!(
        after.wal_pages < resqlite::limits::WAL_CHECKPOINT_PAGES,
        "{after:?}"
    );
}

// G234
#[test]
fn bytes_of_a_database_open_as_a_database_of_their_own() {
    let fixture = Fixture::new(ROWS);
    let bytes = block_on(fixture.db.serialize()).unwrap();
    for read_only in [false, true] {
        let options = Options {
            read_only,
            ..Options::default()
        };
        let copy = block_on(Database::open_bytes(bytes.clone(), keyed(options))).unwrap();
        assert_eq!(
            integers(&block_on(copy.select("SELECT count(*) FROM t", ())).unwrap()),
            [3000]
        );
        let written = block_on(copy.execute("DELETE FROM t", ()));
        assert_eq!(written.is_ok(), !read_only);
    }
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [3000]);
}

// G234
#[test]
fn bytes_with_the_mark_of_a_write_ahead_log_open_too() {
    let Fixture { db, folder } = Fixture::new(ROWS);
    block_on(db.close()).unwrap();
    let bytes = fs::read(folder.path().join("test.db")).unwrap();
    assert_eq!(bytes[18..20], [2, 2], "the file says that it has a log");
    for read_only in [false, true] {
        let options = Options {
            read_only,
            ..Options::default()
        };
        let copy = block_on(Database::open_bytes(bytes.clone(), keyed(options))).unwrap();
        assert_eq!(
            integers(&block_on(copy.select("SELECT count(*) FROM t", ())).unwrap()),
            [3000]
        );
    }
}

// G234
#[test]
fn bytes_that_are_no_database_are_refused() {
    let refused = |bytes: &[u8]| {
        let opened = block_on(Database::open_bytes(bytes.to_vec(), keyed(Options::default())));
        opened.err().expect("it is no database").to_string()
    };
    for bytes in [
        &b""[..],
        b"a letter",
        &b"Dear database, ".repeat(1000),
        b"SQLite format 3\0",
    ] {
        assert!(
            refused(bytes).contains("not those of a SQLite database"),
            "{}",
            refused(bytes)
        );
    }
    let whole = block_on(Fixture::new(ROWS).db.serialize()).unwrap();
    assert!(
        refused(&whole[..whole.len() / 2]).contains("damaged"),
        "{}",
        refused(&whole[..whole.len() / 2])
    );
}

// G234
#[test]
fn an_empty_database_has_bytes_too() {
    let memory = open(":memory:").unwrap();
    let bytes = block_on(memory.serialize()).unwrap();
    let copy = block_on(Database::open_bytes(bytes, keyed(Options::default()))).unwrap();
    assert!(
        block_on(copy.select("SELECT * FROM sqlite_schema", ()))
            .unwrap()
            .is_empty()
    );
}
