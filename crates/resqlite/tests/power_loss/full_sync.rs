//! How SQLite is asked to sync. Apple's systems empty the drive's cache only if they are asked to.

use resqlite::{Database, Durability, Options};
use resqlite_sqlite::fault_vfs::{self, Event, Tap};

use crate::key::keyed;

/// For each sync of a new database's life, with writes of both durabilities and a checkpoint, whether it was a full one.
fn syncs(pragmas: &[(&str, &str)]) -> Vec<bool> {
    fault_vfs::install().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let tap = Tap::on(folder.path()).unwrap();
    tap.record();
    let path = folder.path().join("a.db");
    pollster::block_on(async {
        for durability in [Durability::Full, Durability::Normal] {
            let pragmas = pragmas
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()));
            let options = Options {
                durability,
                pragmas: pragmas.collect(),
                ..Options::default()
            };
            let db = Database::open(path.to_str().unwrap(), keyed(options)).await?;
            db.exec("CREATE TABLE IF NOT EXISTS t(a)").await?;
            db.execute("INSERT INTO t VALUES (1)", ()).await?;
            db.exec("PRAGMA wal_checkpoint(TRUNCATE)").await?;
            db.execute("INSERT INTO t VALUES (2)", ()).await?;
            db.close().await?;
        }
        Ok::<_, resqlite::Error>(())
    })
    .unwrap();
    let full = |event| match event {
        Event::Sync { full, .. } => Some(full),
        _ => None,
    };
    let syncs: Vec<_> = tap.recorded().into_iter().filter_map(full).collect();
    assert!(syncs.len() > 5, "{syncs:?}");
    syncs
}

// G90
#[test]
fn every_sync_empties_the_drives_cache_where_an_fsync_does_not() {
    let syncs = syncs(&[]);
    let expected = cfg!(target_vendor = "apple");
    assert!(syncs.iter().all(|full| *full == expected), "{syncs:?}");
}

// G90
#[test]
fn the_pragma_for_it_reaches_commits_and_checkpoints() {
    let syncs = syncs(&[("fullfsync", "ON")]);
    // The first syncs make the file, before the caller's PRAGMAs are set.
    let later: Vec<_> = syncs.iter().skip_while(|full| !**full).collect();
    assert!(
        later.len() > 5 && later.into_iter().all(|full| *full),
        "{syncs:?}"
    );
}
