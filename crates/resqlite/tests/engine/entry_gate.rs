//! The entry gate: what decides before COMMIT.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use resqlite::log::{Entry, EntryGate, Position};

use crate::support::{Fixture, Held, ask, block_on, next_integers, open, tell, write};

fn fixture() -> Fixture {
    Fixture::new("CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES (1)")
}

// G303
#[test]
fn a_refusal_undoes_everything_and_reaches_all_callers() {
    let fixture = fixture();
    let is_closed = Arc::new(AtomicBool::new(true));
    let closed = Arc::clone(&is_closed);
    let feed = fixture.gate(move |_, verdict| {
        if closed.load(Ordering::SeqCst) {
            verdict.refuse("another was first");
        } else {
            verdict.pass();
        }
    });
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    let asked = [2, 3].map(|n: i64| ask(fixture.db.execute("INSERT INTO t VALUES (?)", [n.into()])));
    drop(holds_the_writer);
    for asked in asked {
        let error = asked.wait().unwrap_err();
        assert_eq!(
            (error.code(), error.to_string().as_str()),
            ("RESQLITE_ENTRY_REFUSED", "another was first")
        );
    }
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
    is_closed.store(false, Ordering::SeqCst);
    fixture.run("INSERT INTO t VALUES (4)");
    assert_eq!(feed.one().position(), Position(1));
}

// G303
#[test]
fn while_a_verdict_is_awaited_reads_and_live_queries_go_on() {
    let fixture = fixture();
    let mut live = fixture.db.stream("SELECT a FROM t", ());
    assert_eq!(next_integers(&mut live), [1]);
    let held = Held::default();
    let kept = held.clone();
    let feed = fixture.gate(move |_, verdict| kept.keep(verdict));
    let write = ask(fixture.db.execute("INSERT INTO t VALUES (2)", ()));
    let verdict = held.wait();
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
    let mut other = fixture.db.stream("SELECT max(a) FROM t", ());
    assert_eq!(next_integers(&mut other), [1]);
    assert_eq!(feed.all(), []);
    assert!(verdict.pass());
    write.wait().unwrap();
    assert_eq!(next_integers(&mut live), [1, 2]);
    assert_eq!(feed.all().len(), 1);
}

// G303
#[test]
fn a_database_that_is_closed_while_a_verdict_is_awaited_waits_for_it() {
    for passes in [true, false] {
        let fixture = fixture();
        let path = fixture.path();
        let held = Held::default();
        let kept = held.clone();
        let feed = fixture.gate(move |_, verdict| kept.keep(verdict));
        let (told, outcome) = mpsc::channel();
        let reply = tell(move |done| told.send(done).unwrap());
        let Fixture { db, folder } = fixture;
        db.engine().write(write("INSERT INTO t VALUES (2)", false), reply);
        let verdict = held.wait();
        let closing = std::thread::spawn(move || block_on(db.close()));
        assert!(!closing.is_finished());
        assert!(if passes {
            verdict.pass()
        } else {
            verdict.refuse("no")
        });
        closing.join().unwrap().unwrap();
        assert_eq!(outcome.recv().unwrap().is_ok(), passes);
        assert_eq!(feed.all().len(), usize::from(passes));
        let db = open(path.to_str().unwrap()).unwrap();
        let rows = block_on(db.select("SELECT a FROM t", ())).unwrap();
        assert_eq!(rows.len(), if passes { 2 } else { 1 });
        drop(folder);
    }
}

// G303
#[test]
fn a_database_is_closed_although_no_verdict_comes() {
    let fixture = fixture();
    let held = Held::default();
    let kept = held.clone();
    fixture.gate_with(Duration::from_millis(1), move |_, verdict| kept.keep(verdict));
    let (told, outcome) = mpsc::channel();
    let reply = tell(move |done| told.send(done).unwrap());
    fixture
        .db
        .engine()
        .write(write("INSERT INTO t VALUES (2)", false), reply);
    block_on(fixture.db.close()).unwrap();
    assert_eq!(
        outcome.recv().unwrap().unwrap_err().code(),
        "RESQLITE_ENTRY_UNANSWERED"
    );
    assert!(!held.wait().pass(), "too late");
}

// G302
#[test]
fn an_entry_that_would_be_too_large_is_refused() {
    let fixture = fixture();
    let feed = fixture.entries();
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    let half = "INSERT INTO t VALUES (zeroblob(?))";
    let largest = resqlite::limits::ENTRY_BYTES_MAX as i64;
    block_on(transaction.execute(half, [(largest / 2).into()])).unwrap();
    block_on(transaction.execute(half, [(largest / 2 + 1).into()])).unwrap();
    let error = block_on(transaction.commit()).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_ENTRY_NOT_CARRIED");
    assert!(
        error.to_string().contains("larger than 268435456 bytes"),
        "{error}"
    );
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
    fixture.run("INSERT INTO t VALUES (2)");
    assert_eq!(feed.one().position(), Position(1));
}

// G303
#[test]
fn without_a_verdict_the_transaction_is_rolled_back_in_time() {
    let fixture = fixture();
    let held = Held::default();
    let kept = held.clone();
    let feed = fixture.gate_with(Duration::from_millis(1), move |_, verdict| kept.keep(verdict));
    assert_eq!(
        fixture.fails("INSERT INTO t VALUES (2)").code(),
        "RESQLITE_ENTRY_UNANSWERED"
    );
    assert!(!held.wait().pass(), "too late");
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
    assert_eq!(feed.all(), []);
}

// G303
#[test]
fn a_verdict_that_is_dropped_refuses() {
    let fixture = fixture();
    fixture.gate(|_, verdict| drop(verdict));
    assert_eq!(
        fixture.fails("INSERT INTO t VALUES (2)").code(),
        "RESQLITE_ENTRY_REFUSED"
    );
}

// G303
#[test]
fn a_transaction_of_a_caller_is_refused_at_its_commit() {
    let fixture = fixture();
    fixture.gate(|_, verdict| {
        verdict.refuse("no");
    });
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    block_on(transaction.execute("INSERT INTO t VALUES (2)", ())).unwrap();
    assert_eq!(
        block_on(transaction.commit()).unwrap_err().code(),
        "RESQLITE_ENTRY_REFUSED"
    );
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
}

// G303
#[test]
fn a_commit_that_a_foreign_key_prevents_does_not_reach_the_gate() {
    let fixture = Fixture::new(
        "CREATE TABLE p(id INTEGER PRIMARY KEY);
         CREATE TABLE c(p REFERENCES p DEFERRABLE INITIALLY DEFERRED)",
    );
    fixture.gate(|entry, _| panic!("{entry:?}"));
    assert_eq!(
        fixture.fails("INSERT INTO c VALUES (1)").code(),
        "SQLITE_CONSTRAINT_FOREIGNKEY"
    );
}

// G302
#[test]
fn what_no_entry_carries_is_refused_and_leaves_nothing() {
    let fixture = fixture();
    fixture.exec("CREATE TABLE hidden(rowid, _rowid_, oid)");
    let feed = fixture.entries();
    let attach = format!("ATTACH '{}' AS other", fixture.file("other.db"));
    for sql in [
        attach.as_str(),
        "VACUUM",
        "INSERT INTO hidden VALUES (1, 2, 3)",
        "UPDATE _resqlite_position SET position = 7",
        "DROP TABLE _resqlite_position",
        "CREATE TRIGGER g AFTER UPDATE ON _resqlite_position BEGIN INSERT INTO t VALUES (9); END",
    ] {
        let failed = block_on(
            fixture
                .db
                .batch([("INSERT INTO t VALUES (2)", ().into()), (sql, ().into())]),
        );
        let alone = block_on(fixture.db.execute(sql, ()));
        assert!(failed.is_err(), "{sql}");
        assert_eq!(alone.unwrap_err().code(), "RESQLITE_ENTRY_NOT_CARRIED", "{sql}");
        assert_eq!(feed.all(), [], "{sql}");
    }
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
}

// G302
#[test]
fn scripts_with_pragmas_or_transactions_of_their_own_are_refused() {
    let fixture = fixture();
    let feed = fixture.entries();
    for script in [
        "SAVEPOINT s",
        "BEGIN; INSERT INTO t VALUES (2); COMMIT",
        "PRAGMA foreign_keys = OFF; DELETE FROM t",
    ] {
        let error = block_on(fixture.db.exec(script)).unwrap_err();
        assert_eq!(error.code(), "RESQLITE_ENTRY_NOT_CARRIED", "{script}");
    }
    block_on(fixture.db.query("PRAGMA user_version", ())).unwrap();
    block_on(fixture.db.query("PRAGMA wal_checkpoint", ())).unwrap();
    let copy = fixture.file("copy.db");
    block_on(fixture.db.execute("VACUUM INTO ?", [copy.into()])).unwrap();
    assert_eq!(feed.all(), []);
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
}

// G302
#[test]
fn of_a_group_only_the_write_fails_that_no_entry_carries() {
    let fixture = fixture();
    fixture.exec("CREATE TABLE hidden(rowid, _rowid_, oid)");
    let feed = fixture.entries();
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    let asked = ["INSERT INTO t VALUES (2)", "INSERT INTO hidden VALUES (1, 2, 3)"]
        .map(|sql| ask(fixture.db.execute(sql, ())));
    drop(holds_the_writer);
    let done = asked.map(|asked| asked.wait().is_ok());
    assert_eq!(done, [true, false]);
    assert_eq!(feed.told(), ["+ t 2 (2)"]);
}

// G303
#[test]
fn without_the_gate_everything_goes_on_as_before() {
    let fixture = fixture();
    let feed = fixture.entries();
    block_on(fixture.db.set_entry_gate(None)).unwrap();
    fixture.run("INSERT INTO t VALUES (2)");
    fixture.run("VACUUM");
    assert_eq!(feed.all(), []);
}

// G302
#[test]
fn a_gate_is_refused_where_databases_are_attached() {
    let fixture = fixture();
    fixture.run(&format!("ATTACH '{}' AS other", fixture.file("other.db")));
    struct All;
    impl EntryGate for All {}
    let refused = block_on(fixture.db.set_entry_gate(Some(Box::new(All))));
    assert_eq!(refused.unwrap_err().code(), "RESQLITE_ENTRY_NOT_CARRIED");
}

// G303
#[test]
fn a_gate_that_panics_fails_the_write_and_stays() {
    let fixture = fixture();
    let mut calls = 0;
    let feed = fixture.gate(move |_, verdict| {
        calls += 1;
        assert!(calls > 1, "the first time");
        verdict.pass();
    });
    assert_eq!(
        fixture.fails("INSERT INTO t VALUES (2)").code(),
        "RESQLITE_WORKER"
    );
    fixture.run("INSERT INTO t VALUES (3)");
    assert_eq!(feed.told(), ["+ t 2 (3)"]);
}

// G302
#[test]
fn when_somebody_else_has_written_nothing_more_is_written_until_the_gate_is_installed_again() {
    let fixture = fixture();
    let feed = fixture.entries();
    fixture.run("INSERT INTO t VALUES (2)");
    fixture
        .stranger()
        .execute_script("INSERT INTO t VALUES (3)")
        .unwrap();
    for _ in 0..2 {
        assert_eq!(
            fixture.fails("INSERT INTO t VALUES (4)").code(),
            "RESQLITE_ENTRY_NOT_CARRIED"
        );
    }
    assert_eq!(feed.one().position(), Position(1));
    let feed = fixture.entries();
    fixture.run("INSERT INTO t VALUES (5)");
    assert_eq!(feed.one().position(), Position(2));
}

#[test]
fn beside_a_gate_nothing_is_applied_to_what_somebody_else_has_written() {
    let [fixture, other] = [fixture(), fixture()];
    let feed = other.entries();
    other.run("INSERT INTO t VALUES (2)");
    let entry = feed.one();
    let _feed = fixture.entries();
    fixture
        .stranger()
        .execute_script("INSERT INTO t VALUES (3)")
        .unwrap();
    let error = block_on(fixture.db.apply(entry)).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_ENTRY_NOT_CARRIED");
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 3]);
}

#[test]
fn a_gate_may_have_the_file_keep_that_somebody_else_has_written_to_it() {
    struct Keeping;
    impl EntryGate for Keeping {
        fn wrote_external(&mut self) -> bool {
            true
        }
    }
    let fixture = fixture();
    block_on(fixture.db.set_entry_gate(Some(Box::new(Keeping)))).unwrap();
    fixture.run("INSERT INTO t VALUES (2)");
    let before = block_on(fixture.db.entry_position()).unwrap();
    fixture
        .stranger()
        .execute_script("INSERT INTO t VALUES (3)")
        .unwrap();
    fixture.fails("INSERT INTO t VALUES (4)");
    let spoiled = block_on(fixture.db.entry_position()).unwrap();
    assert_eq!(spoiled.position, before.position);
    assert_ne!(spoiled.hash, before.hash);
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 2, 3]);
}

// G302, G308
#[test]
fn a_table_that_writes_at_commit_is_refused_there() {
    let fixture =
        Fixture::new("CREATE VIRTUAL TABLE f USING fts4(a); INSERT INTO f(f) VALUES ('automerge=2')");
    let (told, failures) = mpsc::channel();
    struct Failures(mpsc::Sender<Position>);
    impl EntryGate for Failures {
        fn failed(&mut self, entry: &Entry) {
            self.0.send(entry.position()).unwrap();
        }
    }
    block_on(fixture.db.set_entry_gate(Some(Box::new(Failures(told))))).unwrap();
    let words = |from: usize| {
        (from..from + 3000)
            .map(|word| format!("w{word} "))
            .collect::<String>()
    };
    let insert = |turn: usize| {
        block_on(
            fixture
                .db
                .execute("INSERT INTO f VALUES (?)", [words(turn).into()]),
        )
    };
    let failed = (0..40).find_map(|turn| insert(turn).err().map(|error| (turn, error)));
    let (turn, error) = failed.expect("FTS4 merges its index at last");
    assert_eq!(error.code(), "RESQLITE_ENTRY_NOT_COMMITTED", "{error}");
    assert_eq!(
        failures.try_iter().collect::<Vec<_>>(),
        [Position(turn as u64 + 1)]
    );
    assert_eq!(fixture.integers("SELECT count(*) FROM f"), [turn as i64]);
}
