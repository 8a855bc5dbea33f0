//! Files of long ago.

use std::{fs::File, time::Duration};

/// Has a file be one that was written an hour ago.
pub fn age(path: &str) {
    let file = File::options().write(true).open(path).unwrap();
    let written = file.metadata().unwrap().modified().unwrap();
    file.set_modified(written - Duration::from_secs(3600)).unwrap();
}
