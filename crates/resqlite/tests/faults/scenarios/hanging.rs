//! A disk that hangs under one file.

use std::path::Path;

use resqlite::{BackupOptions, CheckpointMode, Database, Options, Result};
use resqlite_sqlite::fault_vfs::{self, Tap};
use tempfile::TempDir;

use crate::{
    asked::{Asked, ask},
    key::keyed,
    resources,
    watchdog::Watch,
};

/// Of each kind: more than workers have places, and fewer than copies may run.
const CALLS: usize = 12;

async fn open(folder: &TempDir, name: &str) -> Result<Database> {
    let path = folder.path().join(name);
    let db = Database::open(path.to_str().expect("UTF-8"), keyed(Options::default())).await?;
    db.exec("CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES (1)")
        .await?;
    Ok(db)
}

/// Calls of each kind.
async fn use_it(db: &Database, copy: &Path) -> Result<()> {
    db.execute("INSERT INTO t VALUES (2)", ()).await?;
    db.select("SELECT * FROM t", ()).await?;
    db.transaction(async |own| own.exec("INSERT INTO t VALUES (3)").await)
        .await?;
    db.snapshot().await?.select("SELECT * FROM t", ()).await?;
    db.iterate("SELECT * FROM t", (), 1).await?.next_batch().await?;
    db.stream("SELECT * FROM t", ()).next().await.expect("a value")?;
    db.checkpoint(CheckpointMode::Passive).await?;
    let copy = copy.to_str().expect("UTF-8");
    db.backup(copy, BackupOptions::default()).await.map(drop)
}

// G9
#[test]
fn a_disk_that_hangs_holds_up_no_other_file() {
    fault_vfs::install().expect("SQLite works");
    let _using = resources::using_engines();
    let watch = Watch::on("a disk that hangs");
    let [hanging, working] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let tap = Tap::on(hanging.path()).expect("a folder");
    pollster::block_on(async {
        let (slow, quick) = (
            open(&hanging, "slow.db").await?,
            open(&working, "quick.db").await?,
        );
        let hang = tap.hang();
        let mut calls: Vec<Asked<'_, Result<()>>> = Vec::new();
        for i in 0..CALLS {
            let (slow, hanging) = (&slow, &hanging);
            let copy = hanging.path().join(format!("copy-{i}.db"));
            calls.extend([
                ask(async move { slow.select("SELECT * FROM t", ()).await.map(drop) }),
                ask(async move { slow.execute("INSERT INTO t VALUES (1)", ()).await.map(drop) }),
                ask(async move { slow.snapshot().await.map(drop) }),
                ask(async move { open(hanging, &format!("{i}.db")).await?.close().await }),
            ]);
            calls.push(ask(async move { use_it(slow, &copy).await }));
        }
        watch.until("calls that hang", || hang.calls() > CALLS);
        watch.wait("the file beside it", || {
            pollster::block_on(async {
                use_it(&quick, &working.path().join("copy.db")).await?;
                open(&working, "another.db").await?.close().await
            })
        })?;
        drop(hang);
        for call in calls {
            watch.wait("calls that hung", || call.wait())?;
        }
        quick.close().await?;
        slow.close().await
    })
    .unwrap();
}
