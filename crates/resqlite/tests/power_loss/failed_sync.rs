//! What a sync that failed may have lost, although the next one succeeds.

use dice::Rng;
use resqlite::{Database, Durability, Options, Result};
use resqlite_sqlite::fault_vfs::{self, Call, Plan, Tap};

use crate::{
    disk::{Disk, Loss},
    key::keyed,
};

// G195
#[test]
fn a_write_of_full_durability_after_a_sync_that_failed_and_forgot_survives() {
    check(async |full| full.execute("INSERT INTO t VALUES (2)", ()).await.map(drop));
}

// G195
#[test]
fn a_write_of_full_durability_after_a_script_whose_sync_failed_and_forgot_survives() {
    check(async |full| full.exec("BEGIN; INSERT INTO t VALUES (2); COMMIT").await);
}

/// Lets the sync of this write fail, and cuts the power after the next one.
fn check(fails: impl AsyncFnOnce(&Database) -> Result<()>) {
    fault_vfs::install().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let tap = Tap::on(folder.path()).unwrap();
    tap.record();
    let path = folder.path().join("a.db");
    let path = path.to_str().unwrap();
    let events = pollster::block_on(async {
        let full = Options {
            durability: Durability::Full,
            ..Options::default()
        };
        let (normal, full) = (
            Database::open(path, keyed(Options::default())).await?,
            Database::open(path, keyed(full)).await?,
        );
        full.exec("CREATE TABLE t(a)").await?;
        // Committed, and in no sync yet.
        normal.execute("INSERT INTO t VALUES (1)", ()).await?;
        tap.inject(Plan::once(Call::Sync, 0, Call::Sync.failures()[0]));
        fails(&full).await.unwrap_err();
        full.execute("INSERT INTO t VALUES (3)", ()).await?;
        // Closing would copy the log into the file; the power fails before.
        Ok::<_, resqlite::Error>(tap.recorded())
    })
    .unwrap();
    let mut disk = Disk::new(true);
    let mut rng = Rng(1);
    for event in events {
        disk.follow(&event, &mut rng);
    }
    let after = tempfile::tempdir().unwrap();
    for (name, content) in disk.after_power_cut(Loss::All, 512, &mut rng) {
        std::fs::write(after.path().join(name), content).unwrap();
    }
    let after = after.path().join("a.db");
    let rows = pollster::block_on(async {
        let db = Database::open(after.to_str().unwrap(), keyed(Options::default())).await?;
        db.select("SELECT a FROM t WHERE a <> 2", ()).await
    });
    assert_eq!(rows.unwrap().len(), 2);
}
