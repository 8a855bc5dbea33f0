//! Files that cannot be opened as they are to rest.

use std::time::Duration;

use resqlite::{Database, Options, Resting, Result};
use resqlite_sqlite::fault_vfs::{self, Call, Plan, Tap, What};

use crate::{key::keyed, resources, watchdog::Watch};

// G386
#[test]
fn a_file_closes_its_readers_if_the_writer_that_is_to_rest_cannot_be_opened() {
    fault_vfs::install().expect("SQLite works");
    let _using = resources::using_engines();
    let watch = Watch::on("a writer that cannot be opened");
    let folder = tempfile::tempdir().expect("a folder");
    let tap = Tap::on(folder.path()).expect("a folder");
    let path = folder.path().join("test.db");
    let options = keyed(Options {
        rest: Some(Resting::After(Duration::from_millis(30))),
        ..Options::default()
    });
    let none_is_open = || resources::open_files(folder.path()) == 0;
    let used: Result<()> = pollster::block_on(async {
        let db = Database::open(path.to_str().expect("UTF-8"), options).await?;
        db.exec("CREATE TABLE t(a)").await?;
        watch.until("the file to rest", none_is_open);
        db.select("SELECT * FROM t", ()).await?;
        let (call, after, times) = (Call::Open, 0, u64::MAX);
        let what = What::One(call, call.failures()[0]);
        tap.inject(Plan { what, after, times });
        watch.until("the readers to close", none_is_open);
        tap.heal();
        db.execute("INSERT INTO t VALUES (1)", ()).await?;
        db.close().await
    });
    used.expect("the disk works again");
}
