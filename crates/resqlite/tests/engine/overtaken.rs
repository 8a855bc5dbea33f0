//! Entries of others that stand where one of this database should have.

use std::{
    num::NonZeroU64,
    sync::{Arc, mpsc},
};

use resqlite::{
    Database, EntryFault, Error, TransactionOptions,
    binding::{Engine, Token, WriteOp},
    log::{Carried, Entry, EntryGate, Head, Position, Verdict},
};

use crate::support::{Fixture, ask, block_on, tell, write};

/// The entries of a database that begins with the same content.
fn entries_of_another(sql: &[&str]) -> Vec<Entry> {
    let fixture = fixture();
    let feed = fixture.entries();
    sql.iter().for_each(|sql| drop(fixture.run(sql)));
    feed.all()
}

fn fixture() -> Fixture {
    Fixture::new("CREATE TABLE t(a UNIQUE, b)")
}

/// Overtakes the first transactions, and lets the later ones pass; tells what it was shown and said.
struct Overtaking {
    by: Vec<Vec<Entry>>,
    said: mpsc::Sender<Said>,
    /// Cancelled before a verdict.
    cancels: Option<Token>,
}

#[derive(Debug, PartialEq)]
enum Said {
    Shown(Position),
    Answered(Position, bool),
    Committed(Position),
    NotApplied(Position, &'static str),
    Carries(Vec<Carried>),
}

impl Overtaking {
    fn judge(&mut self, verdict: Verdict) {
        if self.by.is_empty() {
            verdict.pass();
        } else {
            self.cancels.take().inspect(Token::cancel);
            verdict.overtaken(self.by.remove(0));
        }
    }
}

impl EntryGate for Overtaking {
    fn carries(&mut self, writes: &[Carried]) {
        self.said.send(Said::Carries(writes.to_vec())).unwrap();
    }

    fn before_answer(&mut self, at: Head, again: bool, verdict: Verdict) {
        self.said.send(Said::Answered(at.position, again)).unwrap();
        self.judge(verdict);
    }

    fn before_commit(&mut self, entry: &Entry, verdict: Verdict) {
        self.said.send(Said::Shown(entry.position())).unwrap();
        self.judge(verdict);
    }

    fn committed(&mut self, entry: &Entry) {
        self.said.send(Said::Committed(entry.position())).unwrap();
    }

    fn not_applied(&mut self, entry: &Entry, error: &Error) {
        self.said
            .send(Said::NotApplied(entry.position(), error.code()))
            .unwrap();
    }
}

fn gate(db: &Database, by: Vec<Vec<Entry>>, cancels: Option<Token>) -> mpsc::Receiver<Said> {
    let (said, receiver) = mpsc::channel();
    let gate = Overtaking { by, said, cancels };
    block_on(db.set_entry_gate(Some(Box::new(gate)))).unwrap();
    receiver
}

// G306
#[test]
fn a_write_that_was_overtaken_runs_again_on_what_overtook_it() {
    let fixture = fixture();
    let mut by = entries_of_another(&["INSERT INTO t VALUES (1, 'x')", "INSERT INTO t VALUES (2, 'y')"]);
    let second = by.split_off(1);
    let said = gate(&fixture.db, vec![by, second], None);
    fixture.run("INSERT INTO t SELECT max(a) + 1, 'own' FROM t");
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 2, 3]);
    let expected = [
        Said::Shown(Position(1)),
        Said::Committed(Position(1)),
        Said::Shown(Position(2)),
        Said::Committed(Position(2)),
        Said::Shown(Position(3)),
        Said::Committed(Position(3)),
    ];
    assert_eq!(said.try_iter().collect::<Vec<_>>(), expected);
}

// G306
#[test]
fn a_group_that_was_overtaken_runs_again_in_its_order() {
    let fixture = fixture();
    let by = entries_of_another(&["INSERT INTO t VALUES (1, 'x')"]);
    let _said = gate(&fixture.db, vec![by], None);
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    let asked =
        [1, 2, 3].map(|n: i64| ask(fixture.db.execute("INSERT INTO t VALUES (?, 'own')", [n.into()])));
    drop(holds_the_writer);
    let [first, second, third] = asked.map(|asked| asked.wait());
    assert_eq!(first.unwrap_err().code(), "SQLITE_CONSTRAINT_UNIQUE");
    assert!(second.unwrap().last_insert_rowid < third.unwrap().last_insert_rowid);
}

// G341
#[test]
fn writes_behind_others_who_are_always_first_fail_in_the_end_and_nothing_of_them_has_happened() {
    let fixture = fixture();
    let others: Vec<_> = (0..6)
        .map(|n| format!("INSERT INTO t VALUES ({n}, 'x')"))
        .collect();
    let others: Vec<_> = others.iter().map(String::as_str).collect();
    let by = entries_of_another(&others)
        .into_iter()
        .map(|entry| vec![entry])
        .collect();
    let said = gate(&fixture.db, by, None);
    let error = fixture.fails("INSERT INTO t VALUES (-1, 'own')");
    assert_eq!(error.code(), "RESQLITE_ENTRY_OVERTAKEN");
    let shown = |said: &Said| matches!(said, Said::Shown(_));
    assert_eq!(said.try_iter().filter(shown).count(), 4);
    assert_eq!(fixture.integers("SELECT a FROM t"), (0..4).collect::<Vec<_>>());
    // The rest of the others is first twice, then nobody is.
    fixture.run("INSERT INTO t VALUES (-1, 'own')");
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [7]);
}

// G306
#[test]
fn a_transaction_that_was_overtaken_fails_and_finds_the_entries_when_it_runs_again() {
    let fixture = fixture();
    let by = entries_of_another(&["INSERT INTO t VALUES (1, 'x')"]);
    let _said = gate(&fixture.db, vec![by], None);
    let insert = |transaction: &resqlite::Transaction| {
        block_on(transaction.execute("INSERT INTO t SELECT count(*) + 1, 'own' FROM t", ())).unwrap();
    };
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    insert(&transaction);
    let error = block_on(transaction.commit()).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_ENTRY_OVERTAKEN");
    let again = block_on(fixture.db.begin(None)).unwrap();
    insert(&again);
    block_on(again.commit()).unwrap();
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 2]);
}

// G306
#[test]
fn entries_that_do_not_fit_fail_the_write_and_the_gate_knows() {
    let fixture = fixture();
    let mut by = entries_of_another(&["INSERT INTO t VALUES (1, 'x')", "INSERT INTO t VALUES (2, 'y')"]);
    let said = gate(&fixture.db, vec![by.split_off(1)], None);
    assert_eq!(
        fixture.fails("INSERT INTO t VALUES (7, 'own')").code(),
        "RESQLITE_ENTRY_POSITION"
    );
    let expected = [
        Said::Shown(Position(1)),
        Said::NotApplied(Position(2), "RESQLITE_ENTRY_POSITION"),
    ];
    assert_eq!(said.try_iter().collect::<Vec<_>>(), expected);
    assert!(fixture.integers("SELECT a FROM t").is_empty());
}

// G306
#[test]
fn a_write_that_was_cancelled_by_then_does_not_run_again() {
    let fixture = fixture();
    let by = entries_of_another(&["INSERT INTO t VALUES (1, 'x')"]);
    let given_up = write("INSERT INTO t VALUES (7, 'own')", false);
    let _said = gate(&fixture.db, vec![by], Some(given_up.token.clone()));
    let error = outcome(fixture.db.engine(), given_up).unwrap_err();
    assert_eq!(error, Error::Aborted);
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
}

// G307
#[test]
fn a_refusal_may_have_a_code_of_its_own() {
    let fixture = fixture();
    fixture.gate(|_, verdict| {
        verdict.refuse_as("MY_CODE", "because");
    });
    let error = fixture.fails("INSERT INTO t VALUES (7, 'own')");
    assert_eq!((error.code(), error.to_string().as_str()), ("MY_CODE", "because"));
    let is_refused = |fault: &EntryFault| matches!(fault, EntryFault::RefusedAs("MY_CODE"));
    assert!(matches!(&error, Error::Entry { fault, .. } if is_refused(fault)));
}

// G307
#[test]
fn the_gate_is_told_which_writes_with_tags_an_entry_carries() {
    let fixture = fixture();
    let said = gate(&fixture.db, Vec::new(), None);
    let tagged = |tag: u64, sql: &str| {
        let mut tagged = write(sql, false);
        tagged.tag = NonZeroU64::new(tag);
        tagged
    };
    let mut batch = tagged(4, "");
    let statement = ("INSERT INTO t VALUES (30, 0)", ().into());
    batch.op = WriteOp::Statements([statement].into_iter().collect());
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    let asked = [
        tagged(1, "INSERT INTO t VALUES (10, 0), (11, 0)"),
        tagged(2, "INSERT INTO t VALUES (10, 0)"),
        write("INSERT INTO t VALUES (20, 0)", false),
        tagged(3, "UPDATE t SET b = 1 WHERE a = 10 RETURNING a"),
        batch,
    ]
    .map(|write| asked(fixture.db.engine(), write));
    drop(holds_the_writer);
    let done = asked.map(|asked| asked.recv().unwrap().is_ok());
    assert_eq!(done, [true, false, true, true, true]);
    let carried = |tag, changes, last_insert_rowid, has_more| Carried {
        tag: NonZeroU64::new(tag).unwrap(),
        changes,
        last_insert_rowid,
        has_more,
    };
    let expected = [
        Said::Carries(vec![
            carried(1, 2, 2, false),
            carried(3, 1, 0, true),
            carried(4, 0, 0, true),
        ]),
        Said::Shown(Position(1)),
        Said::Committed(Position(1)),
    ];
    assert_eq!(said.try_iter().collect::<Vec<_>>(), expected);
}

// G307
#[test]
fn the_gate_is_not_told_of_a_write_that_an_earlier_transaction_had() {
    let fixture = Fixture::new(
        "CREATE TABLE t(a UNIQUE, b);
         CREATE TABLE child(a REFERENCES t(a) DEFERRABLE INITIALLY DEFERRED)",
    );
    let said = gate(&fixture.db, Vec::new(), None);
    let statements = [
        ("INSERT INTO child VALUES (7)", false),
        ("UPDATE t SET b = 1", true),
    ];
    for (sql, works) in statements {
        let mut tagged = write(sql, false);
        tagged.tag = NonZeroU64::new(1);
        assert_eq!(outcome(fixture.db.engine(), tagged).is_ok(), works, "{sql}");
        let body = async |tx: &resqlite::Transaction| tx.execute("DELETE FROM t", ()).await;
        block_on(fixture.db.transaction(body)).unwrap();
        let body = async |tx: &resqlite::Transaction| tx.execute("INSERT INTO t VALUES (1, 0)", ()).await;
        block_on(fixture.db.transaction(body)).unwrap();
        block_on(fixture.db.execute("DELETE FROM t", ())).unwrap();
    }
    let carries = said.try_iter().filter(|said| matches!(said, Said::Carries(_)));
    assert_eq!(carries.collect::<Vec<_>>(), []);
}

fn outcome(engine: &Arc<Engine>, write: resqlite::binding::Write) -> Result<(), Error> {
    asked(engine, write).recv().unwrap()
}

fn asked(engine: &Arc<Engine>, write: resqlite::binding::Write) -> mpsc::Receiver<Result<(), Error>> {
    let (sender, receiver) = mpsc::channel();
    engine.write(write, tell(move |outcome| sender.send(outcome).unwrap()));
    receiver
}

#[test]
fn a_write_that_failed_on_an_old_state_runs_again_on_the_newest() {
    let fixture = fixture();
    let by = entries_of_another(&["CREATE TABLE later(a)"]);
    let said = gate(&fixture.db, vec![by], None);
    fixture.run("INSERT INTO later VALUES (1)");
    assert_eq!(fixture.integers("SELECT a FROM later"), [1]);
    let expected = [
        Said::Answered(Position(0), false),
        Said::Committed(Position(1)),
        Said::Shown(Position(2)),
        Said::Committed(Position(2)),
    ];
    assert_eq!(said.try_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn a_write_that_fails_on_the_newest_state_fails() {
    let fixture = fixture();
    fixture.run("INSERT INTO t VALUES (1, 'x')");
    let said = gate(&fixture.db, Vec::new(), None);
    let error = fixture.fails("INSERT INTO t VALUES (1, 'y')");
    assert_eq!(error.code(), "SQLITE_CONSTRAINT_UNIQUE");
    assert_eq!(
        said.try_iter().collect::<Vec<_>>(),
        [Said::Answered(Position(0), false)]
    );
}

#[test]
fn a_write_that_changed_nothing_on_an_old_state_runs_again_on_the_newest() {
    let fixture = fixture();
    let by = entries_of_another(&["INSERT INTO t VALUES (1, 'x')"]);
    let _said = gate(&fixture.db, vec![by], None);
    let written = block_on(fixture.db.execute("UPDATE t SET b = 'own' WHERE a = 1", ())).unwrap();
    assert_eq!(written.changes, 1);
}

#[test]
fn a_foreign_key_that_the_newest_state_satisfies_holds() {
    let schema = "CREATE TABLE parent(a PRIMARY KEY);
                  CREATE TABLE child(a REFERENCES parent DEFERRABLE INITIALLY DEFERRED)";
    let [fixture, another] = [(); 2].map(|()| Fixture::new(schema));
    let feed = another.entries();
    another.run("INSERT INTO parent VALUES (1)");
    let _said = gate(&fixture.db, vec![feed.all()], None);
    fixture.run("INSERT INTO child VALUES (1)");
    assert_eq!(fixture.integers("SELECT a FROM child"), [1]);
}

#[test]
fn writes_of_a_group_that_all_change_nothing_ask_once() {
    let fixture = fixture();
    let said = gate(&fixture.db, Vec::new(), None);
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    let asked = [1, 2, 3].map(|n: i64| ask(fixture.db.execute("DELETE FROM t WHERE a = ?", [n.into()])));
    drop(holds_the_writer);
    for asked in asked {
        asked.wait().unwrap();
    }
    assert_eq!(
        said.try_iter().collect::<Vec<_>>(),
        [Said::Answered(Position(0), false)]
    );
}

#[test]
fn a_transaction_that_changed_nothing_on_an_old_state_is_overtaken() {
    let fixture = fixture();
    let by = entries_of_another(&["INSERT INTO t VALUES (1, 'x')"]);
    let _said = gate(&fixture.db, vec![by], None);
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    block_on(transaction.execute("UPDATE t SET b = 'own' WHERE a = 1", ())).unwrap();
    let error = block_on(transaction.commit()).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_ENTRY_OVERTAKEN");
    // The entries are applied before the next one begins.
    drop(block_on(fixture.db.begin(None)).unwrap());
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
}

#[test]
fn writes_of_a_group_that_all_fail_ask_once_and_run_again_together() {
    let fixture = fixture();
    let by = entries_of_another(&["CREATE TABLE later(a)"]);
    let said = gate(&fixture.db, vec![by], None);
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    let asked = [1, 2].map(|n: i64| ask(fixture.db.execute("INSERT INTO later VALUES (?)", [n.into()])));
    drop(holds_the_writer);
    for asked in asked {
        asked.wait().unwrap();
    }
    let answered = |said: &Said| matches!(said, Said::Answered(..));
    assert_eq!(said.try_iter().filter(answered).count(), 1);
}

#[test]
fn writes_that_were_overtaken_say_so_when_they_ask_again() {
    let fixture = fixture();
    let by = entries_of_another(&["INSERT INTO t VALUES (1, 'x')"]);
    let said = gate(&fixture.db, vec![by], None);
    fixture.run("DELETE FROM t WHERE a = 2");
    let expected = [
        Said::Answered(Position(0), false),
        Said::Committed(Position(1)),
        Said::Answered(Position(1), true),
    ];
    assert_eq!(said.try_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn a_transaction_that_only_reads_asks_nobody() {
    let fixture = fixture();
    let said = gate(&fixture.db, Vec::new(), None);
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    block_on(transaction.select("SELECT a FROM t", ())).unwrap();
    block_on(transaction.commit()).unwrap();
    assert!(said.try_iter().next().is_none());
}

#[test]
fn a_transaction_that_was_overtaken_says_so_when_its_caller_runs_it_again() {
    let fixture = fixture();
    let said = gate(&fixture.db, Vec::new(), None);
    let options = TransactionOptions {
        again: true,
        ..TransactionOptions::default()
    };
    let transaction = block_on(fixture.db.begin(options)).unwrap();
    block_on(transaction.execute("DELETE FROM t", ())).unwrap();
    block_on(transaction.commit()).unwrap();
    assert_eq!(
        said.try_iter().collect::<Vec<_>>(),
        [Said::Answered(Position(0), true)]
    );
}
