//! Files with content, of which one founds a cluster.

use std::time::Duration;

use pollster::block_on;
use resqlite::{Database, Options, feeds::FeedOptions, log::Position};
use resqlite_cluster::{Log, Result, reseed};

use crate::support::{Node, World, assert_equal};

/// Makes a file that no cluster has seen.
fn prepare(world: &World, name: &str, script: &str) {
    let database = open_alone(world, name);
    block_on(database.exec(script)).unwrap();
    block_on(database.close()).unwrap();
}

fn open_alone(world: &World, name: &str) -> Database {
    let path = world.path(name);
    block_on(Database::open(path.to_str().unwrap(), Options::default())).unwrap()
}

fn with(value: i64) -> String {
    format!("CREATE TABLE t(a); INSERT INTO t VALUES ({value})")
}

fn hurry(options: &mut resqlite_cluster::Options) {
    options.write_timeout = Duration::from_millis(500);
    options.tail_timeout = Duration::from_millis(50);
}

/// Returns the content that the owner of a file has put there, and its head in the log of a cluster.
fn content(world: &World, name: &str) -> (Vec<String>, resqlite::log::Head) {
    let database = open_alone(world, name);
    let rows = block_on(database.select("SELECT rowid, a FROM t ORDER BY rowid", ())).unwrap();
    let rows = rows.iter().map(|row| format!("{:?}", row.values())).collect();
    let head = block_on(database.entry_position()).unwrap();
    block_on(database.close()).unwrap();
    (rows, head)
}

fn refused(opened: Result<Node>) {
    let error = opened.map(drop).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_CLUSTER_FILE", "{error}");
}

// G331
#[test]
fn a_node_that_was_opened_empty_before_the_founder_stops_and_begins_from_its_snapshot() {
    let world = World::new();
    let early = world.open("early");
    prepare(&world, "founder", &with(1));
    let founder = world.open("founder");
    founder.run("INSERT INTO t VALUES (2)");
    let stopped = block_on(early.cluster.after(Position(1))).unwrap_err();
    assert_eq!(stopped.code(), "RESQLITE_FELL_BEHIND", "{stopped}");
    assert_eq!(
        early.fails("CREATE TABLE other(a)").code(),
        "RESQLITE_FELL_BEHIND"
    );
    early.close();
    let early = world.open("early");
    assert_eq!(assert_equal(&[founder, early], "SELECT a FROM t"), [1, 2]);
}

// G331
#[test]
fn a_node_that_was_opened_empty_and_writes_while_another_founds_does_not_go_on() {
    let world = World::new();
    let early = world.open_with("early", hurry).unwrap();
    early.connection.cut(true);
    prepare(&world, "founder", &with(1));
    let founder = world.open("founder");
    std::thread::scope(|scope| {
        let writes = scope.spawn(|| early.fails("CREATE TABLE t(a)"));
        early.connection.cut(false);
        let code = writes.join().unwrap().code().to_owned();
        assert!(
            ["RESQLITE_FELL_BEHIND", "RESQLITE_NO_QUORUM"].contains(&&*code),
            "{code}"
        );
    });
    early.close();
    let early = world.open("early");
    assert_eq!(assert_equal(&[founder, early], "SELECT a FROM t"), [1]);
}

// G331
#[test]
fn of_two_files_with_content_that_found_at_once_one_is_refused_and_stays_as_it_was() {
    for _ in 0..8 {
        let world = World::new();
        let names = ["a", "b"];
        for (value, name) in (1..).zip(names) {
            prepare(&world, name, &with(value));
        }
        let opened = std::thread::scope(|scope| {
            let world = &world;
            let open = |name| scope.spawn(move || world.open_with(name, |_| ()));
            names.map(open).map(|opens| opens.join().unwrap())
        });
        let winner = opened.iter().position(Result::is_ok).expect("one founds");
        let [one, other] = opened;
        let (founder, loser) = if winner == 0 { (one, other) } else { (other, one) };
        refused(loser);
        let (rows, head) = content(&world, names[1 - winner]);
        assert_eq!(rows.len(), 1);
        assert_eq!(head, resqlite::log::Head::default(), "it has no base");
        let new = world.open("new");
        let value = winner as i64 + 1;
        assert_eq!(assert_equal(&[founder.unwrap(), new], "SELECT a FROM t"), [value]);
    }
}

// G331
#[test]
fn a_file_that_was_refused_founds_another_cluster() {
    let world = World::new();
    world.open("empty").run("CREATE TABLE t(a)");
    prepare(&world, "late", &with(7));
    refused(world.open_with("late", |_| ()));
    let other = World::new();
    std::fs::copy(world.path("late"), other.path("late")).unwrap();
    let founder = other.open("late");
    assert_eq!(
        assert_equal(&[founder, other.open("new")], "SELECT a FROM t"),
        [7]
    );
}

// G331
#[test]
fn a_file_with_a_position_of_its_own_founds_no_cluster_until_it_is_reseeded() {
    let world = World::new();
    let database = open_alone(&world, "fed");
    let feed = block_on(database.feed(FeedOptions::named("index"))).unwrap();
    block_on(database.exec(&with(1))).unwrap();
    drop(feed);
    block_on(database.close()).unwrap();
    let before = content(&world, "fed");
    assert!(before.1.position > Position(0));

    refused(world.open_with("fed", hurry));
    assert_eq!(content(&world, "fed"), before);
    assert!(world.log.entries().is_empty());

    let database = open_alone(&world, "fed");
    block_on(database.drop_feed("index")).unwrap();
    block_on(database.close()).unwrap();
    refused(world.open_with("fed", hurry));
    let path = world.path("fed");
    block_on(reseed(path.to_str().unwrap(), Options::default())).unwrap();
    let founder = world.open("fed");
    assert_eq!(
        assert_equal(&[founder, world.open("new")], "SELECT a FROM t"),
        [1]
    );
}

// G331
#[test]
fn a_copy_of_the_founder_s_file_from_before_is_refused() {
    let world = World::new();
    prepare(&world, "founder", &with(1));
    std::fs::copy(world.path("founder"), world.path("copy")).unwrap();
    let _founder = world.open("founder");
    refused(world.open_with("copy", |_| ()));
}

// G332
#[test]
fn a_founder_that_ended_before_its_snapshot_puts_it_when_it_is_opened_again() {
    let world = World::new();
    prepare(&world, "founder", &with(1));
    world.open("founder").close();
    world.log.lose_snapshots();
    let waits = world.open_with("new", hurry).map(drop).unwrap_err();
    assert_eq!(waits.code(), "RESQLITE_FELL_BEHIND", "{waits}");
    std::thread::scope(|scope| {
        let new = scope.spawn(|| world.open("new"));
        let founder = world.open_with("founder", hurry).unwrap();
        assert_eq!(
            assert_equal(&[founder, new.join().unwrap()], "SELECT a FROM t"),
            [1]
        );
    });
}

// G332
#[test]
fn a_founder_that_lost_its_first_commit_goes_on_as_the_founder() {
    let world = World::new();
    prepare(&world, "founder", &with(1));
    // The base is synced; the commits that follow are not.
    let database = open_alone(&world, "founder");
    let base = block_on(database.set_entry_base(resqlite::log::EntryBase::Own)).unwrap();
    block_on(database.close()).unwrap();
    std::fs::copy(world.path("founder"), world.path("old")).unwrap();
    let founder = world.open("founder");
    founder.run("INSERT INTO t VALUES (2)");
    founder.close();
    std::fs::rename(world.path("old"), world.path("founder")).unwrap();
    let founder = world.open("founder");
    assert_ne!(base.hash, resqlite::log::Hash::default());
    assert_eq!(
        assert_equal(&[founder, world.open("new")], "SELECT a FROM t"),
        [1, 2]
    );
}

// G332
#[test]
fn a_founder_whose_answers_are_lost_has_founded_once() {
    let world = World::new();
    prepare(&world, "founder", &with(1));
    let connection = world.log.connect();
    connection.lose_answers(3);
    let founder = world.open_on(connection, "founder", |_| ()).unwrap();
    assert_eq!(world.log.entries().len(), 1);
    assert_eq!(
        assert_equal(&[founder, world.open("new")], "SELECT a FROM t"),
        [1]
    );
}

// G332
#[test]
fn a_founder_that_does_not_reach_the_log_founds_when_it_is_opened_again() {
    let world = World::new();
    prepare(&world, "founder", &with(1));
    let connection = world.log.connect();
    connection.cut(true);
    let error = world.open_on(connection, "founder", hurry).map(drop).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_NO_QUORUM");
    let founder = world.open("founder");
    assert_eq!(
        assert_equal(&[founder, world.open("new")], "SELECT a FROM t"),
        [1]
    );
}

// G331
#[test]
fn a_file_with_content_is_never_replaced_by_a_snapshot() {
    let world = World::new();
    let one = world.open("one");
    one.run("CREATE TABLE t(a)");
    let position = block_on(one.cluster.snapshot()).unwrap();
    block_on(one.connection.purge(position)).unwrap();
    prepare(&world, "late", &with(7));
    refused(world.open_with("late", |_| ()));
    assert_eq!(content(&world, "late").0.len(), 1);
}

// G331
#[test]
fn a_file_whose_header_has_numbers_of_its_owner_has_content() {
    let world = World::new();
    prepare(&world, "founder", "PRAGMA user_version = 5");
    let founder = world.open("founder");
    let new = world.open("new");
    assert_eq!(assert_equal(&[founder, new], "PRAGMA user_version"), [5]);
}

#[test]
fn a_snapshot_of_a_cluster_without_entries_is_none() {
    let world = World::new();
    let early = world.open("early");
    assert_eq!(block_on(early.cluster.snapshot()).unwrap(), Position(0));
    assert_eq!(block_on(early.connection.last_snapshot()), Ok(None));
}
