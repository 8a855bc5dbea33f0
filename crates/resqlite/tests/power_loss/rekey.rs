//! Power cuts while the key of a database changes.

use std::fs;

use dice::Rng;
use resqlite::{Database, Key, Options, Result};
use resqlite_sqlite::fault_vfs::{self, Tap};
use tempfile::TempDir;

use crate::disk::{Disk, Loss};

/// States that are made at each moment.
const STATES: u32 = 3;

// G297
#[test]
fn after_a_power_cut_while_the_key_changes_one_of_both_opens_everything() {
    let (old, new) = (raw(1), raw(2));
    fault_vfs::install().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let tap = Tap::on(folder.path()).unwrap();
    tap.record();
    let path = folder.path().join("a.db");
    let (events, begun, done) = pollster::block_on(async {
        let db = open(path.to_str().unwrap(), &old).await?;
        db.exec(
            "CREATE TABLE t(a INTEGER PRIMARY KEY, pad);
             WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 60)
             INSERT INTO t SELECT i, printf('%.*c', 700, 'x') FROM n",
        )
        .await?;
        db.checkpoint(resqlite::CheckpointMode::Truncate).await?;
        db.execute("UPDATE t SET pad = 'changed' WHERE a = 1", ()).await?;
        let begun = tap.position();
        db.rekey(new.clone()).await?;
        let done = tap.position();
        Ok::<_, resqlite::Error>((tap.recorded(), begun, done))
    })
    .unwrap();
    let (mut disk, mut rng) = (Disk::new(false), Rng(7));
    let mut opened_by = [0, 0];
    for (at, event) in events.iter().enumerate() {
        disk.follow(event, &mut rng);
        if at < begun {
            continue;
        }
        for _ in 0..STATES {
            let after = tempfile::tempdir().unwrap();
            for (name, content) in disk.after_power_cut(Loss::draw(&mut rng), 512, &mut rng) {
                fs::write(after.path().join(name), content).unwrap();
            }
            let rows = [&old, &new].map(|key| pollster::block_on(rows(&after, key)));
            let fitting: Vec<_> = (0..2).filter(|key| rows[*key].is_ok()).collect();
            assert_eq!(fitting.len(), 1, "after event {at}: {rows:?}");
            assert_eq!(rows[fitting[0]], Ok(60), "after event {at}");
            opened_by[fitting[0]] += 1;
            if at + 1 >= done {
                assert_eq!(fitting, [1], "the call has returned");
            }
        }
    }
    assert!(opened_by.iter().all(|states| *states > 10), "{opened_by:?}");
}

fn raw(byte: u8) -> Key {
    Key::raw(&[byte; Key::RAW_BYTES]).unwrap()
}

async fn open(path: &str, key: &Key) -> Result<Database> {
    let options = Options {
        key: Some(key.clone()),
        ..Options::default()
    };
    Database::open(path, options).await
}

/// How many rows there are, if all is right.
async fn rows(folder: &TempDir, key: &Key) -> Result<usize> {
    let db = open(folder.path().join("a.db").to_str().unwrap(), key).await?;
    let check = db.select("PRAGMA integrity_check", ()).await?;
    assert_eq!(check.first().unwrap().values()[0], "ok".into());
    Ok(db.select("SELECT a FROM t WHERE pad <> ''", ()).await?.len())
}
