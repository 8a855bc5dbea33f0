//! Row batches that another node has packed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resqlite::{Rows, binding::ColumnLayout};

fuzz_target!(|bytes: &[u8]| {
    let Some((columns, batch)) = bytes.split_first() else {
        return;
    };
    let names = (0..columns % 8).map(|name| name.to_string()).collect();
    let mut rows = Rows::default();
    let read = rows.try_extend(&ColumnLayout::named(names), batch);
    assert_eq!(read.is_none() || rows.is_empty(), rows.len() == 0);
    rows.iter()
        .for_each(|row| assert_eq!(row.values().len(), usize::from(columns % 8)));
});
