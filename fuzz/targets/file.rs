//! Files of strangers: opened with the bounds for them, and read.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use pollster::block_on;
use resqlite::{Database, Error, Options, QueryLimits};

fuzz_target!(|bytes: &[u8]| {
    let options = Options {
        untrusted: Some(true),
        readers: Some(1),
        ..Options::default()
    };
    let Ok(db) = block_on(Database::open_bytes(bytes.to_vec(), options)) else {
        return;
    };
    let limits = || QueryLimits {
        time: Some(Duration::from_millis(100)),
        ..QueryLimits::default()
    };
    let listed = block_on(db.select_within(limits(), "SELECT name FROM sqlite_schema LIMIT 20", ()));
    for row in listed.iter().flat_map(|rows| rows.iter().collect::<Vec<_>>()) {
        let Some(resqlite::Value::Text(name)) = row.get("name") else {
            continue;
        };
        let sql = format!("SELECT * FROM \"{}\" LIMIT 20", name.replace('"', "\"\""));
        let read = block_on(db.select_within(limits(), &sql, ()));
        assert!(!matches!(read, Err(Error::WorkerDied)));
        let explained = block_on(db.explain_stream(&sql, ()));
        assert!(!matches!(explained, Err(Error::WorkerDied)));
    }
    block_on(db.close()).expect("it closes");
});
