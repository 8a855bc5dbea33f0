//! Commits beside a change feed while the file system fails.

use resqlite::{Database, Options, feeds::FeedOptions, log::Position};
use resqlite_sqlite::fault_vfs::{self, Call, Failure, Plan, Tap};

use crate::{key::keyed, resources};

// G320
#[test]
fn a_commit_that_fails_beside_a_feed_alone_has_an_error_of_its_own_and_is_undone() {
    fault_vfs::install().expect("SQLite works");
    let _using = resources::using_engines();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.db");
    let tap = Tap::on(folder.path()).unwrap();
    pollster::block_on(async {
        let db = Database::open(path.to_str().unwrap(), keyed(Options::default())).await?;
        db.exec("CREATE TABLE t(a)").await?;
        let mut feed = db.feed(FeedOptions::named("one")).await?;
        let io_error = Call::Write.failures()[0];
        for (failure, code) in [
            (Failure::DISK_FULL, "SQLITE_FULL"),
            (io_error, "SQLITE_IOERR_WRITE"),
        ] {
            tap.inject(Plan::once(Call::Write, 0, failure));
            let error = db.execute("INSERT INTO t VALUES (1)", ()).await.unwrap_err();
            assert_eq!(error.code(), code);
            tap.heal();
        }
        assert_eq!(db.execute("INSERT INTO t VALUES (2)", ()).await?.changes, 1);
        assert_eq!(feed.next().await?.entry.position(), Position(1));
        assert_eq!(db.select("SELECT * FROM t", ()).await?.len(), 1);
        drop(feed);
        db.close().await
    })
    .unwrap();
}
