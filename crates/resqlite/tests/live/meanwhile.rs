//! Commits that come while a query is being run: after it has read, before the run has ended.

use std::sync::Arc;

use pollster::block_on;
use resqlite::{
    Database, Error, Options,
    binding::{ColumnLayout, Integers, RowBatch},
    live::{Delivery, Emission, Listener, LiveQueryRequest, Maintenance, Segment, Subscription},
};

use crate::{
    key::keyed,
    listening::{Fold, Notes},
    streams::wait_until_quiet,
};

const QUERY: &str = "SELECT a FROM t ORDER BY a";

/// Does something when it is handed rows, in the middle of the run that has read them.
struct Meanwhile {
    listener: Box<dyn Listener>,
    /// What to do, the last first.
    actions: Vec<Box<dyn FnOnce() + Send>>,
}

impl Listener for Meanwhile {
    fn rows(&mut self, layout: &Arc<ColumnLayout>, slice: &RowBatch<'_>) -> bool {
        if let Some(act) = self.actions.pop() {
            act();
        }
        self.listener.rows(layout, slice)
    }

    fn patch(&mut self, part: usize, layout: &Arc<ColumnLayout>, runs: &[Segment]) {
        self.listener.patch(part, layout, runs);
    }

    fn emit(&mut self, emission: Emission) -> Delivery {
        self.listener.emit(emission)
    }

    fn discard(&mut self) {
        self.listener.discard();
    }

    fn fail(&mut self, error: &Error, ended: bool) -> Delivery {
        self.listener.fail(error, ended)
    }
}

struct World {
    db: Arc<Database>,
    notes: Notes,
    _subscription: Subscription,
}

fn insert(db: &Database, value: i64) {
    block_on(db.execute("INSERT INTO t VALUES (?)", [value.into()])).expect("a row can be written");
}

/// A stream over the rows 1; the n-th time that it is handed rows, the n-th of `values` is inserted.
fn watch(values: &[Option<i64>]) -> World {
    let db = Arc::new(
        block_on(Database::open(":memory:", keyed(Options::default()))).expect("the database opens"),
    );
    block_on(db.exec("CREATE TABLE t(a); INSERT INTO t VALUES (1)")).expect("the schema is right");
    let action = |value: &Option<i64>| -> Box<dyn FnOnce() + Send> {
        let (db, value) = (Arc::clone(&db), *value);
        Box::new(move || value.into_iter().for_each(|value| insert(&db, value)))
    };
    let notes = Notes::default();
    let listener = Meanwhile {
        listener: notes.listener(1),
        actions: values.iter().rev().map(action).collect(),
    };
    let request = LiveQueryRequest {
        queries: vec![(QUERY.into(), ().into())],
        integers: Integers::BigInt,
        verify: 0.0,
        maintenance: Maintenance::Always,
    };
    let subscription = db.engine().subscribe(request, Box::new(listener));
    World {
        db,
        notes,
        _subscription: subscription,
    }
}

impl World {
    fn check(&self) {
        wait_until_quiet(self.db.engine()).expect("streams come to rest");
        let fresh = block_on(self.db.select(QUERY, ())).expect("the query works");
        let told = self.notes.lock();
        assert!(told.problems.is_empty(), "{:?}", told.problems);
        assert!(
            told.parts[0].equals(&Fold::of(&fresh)),
            "{:?} is not {fresh:?}",
            told.parts[0].rows
        );
    }
}

#[test]
fn a_commit_during_the_first_run_is_not_lost() {
    let world = watch(&[Some(2)]);
    world.check();
    assert_eq!(world.notes.lock().parts[0].rows.len(), 2);
}

#[test]
fn a_commit_during_a_later_run_is_not_lost() {
    let world = watch(&[None, Some(3)]);
    world.check();
    insert(&world.db, 2);
    world.check();
    assert_eq!(world.notes.lock().parts[0].rows.len(), 3);
}

#[test]
fn commits_during_several_runs_are_not_lost() {
    let world = watch(&[Some(2), Some(3), Some(4), Some(5)]);
    world.check();
    assert_eq!(world.notes.lock().parts[0].rows.len(), 5);
}
