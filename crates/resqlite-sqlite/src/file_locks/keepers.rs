//! Keepers: the descriptors that hold the locks of databases, one per file.

use std::{
    collections::HashMap,
    ffi::c_int,
    sync::{LazyLock, Mutex},
};

use super::{
    deferred,
    file::{FileId, identify},
};
use crate::sync::lock;

#[derive(Default)]
struct Keepers {
    of_file: HashMap<FileId, Keeper>,
    /// The files of SQLite's descriptors, once a lock has been requested through them.
    known: HashMap<c_int, FileId>,
}

struct Keeper {
    fd: c_int,
    /// The number of SQLite's descriptors of the file in `known`.
    users: usize,
}

static KEEPERS: LazyLock<Mutex<Keepers>> = LazyLock::new(Mutex::default);

/// Returns the keeper of the file that is open as `fd`. If there can be no keeper, returns `fd` itself. The call that
/// follows then fails with the system's reason.
pub(super) fn of(fd: c_int) -> c_int {
    lock(&KEEPERS).of(fd)
}

/// To be called before `fd` is closed, which SQLite does only when it holds no lock on the file. If `fd` was the last
/// user of its keeper, returns the keeper, which the caller must close. It is not closed here, because closing reads
/// `/proc/locks`, and every lock on every database would wait for this mutex meanwhile. If another thread opens the file
/// in between, it gets a new keeper, whose locks do not depend on the old one.
pub(super) fn forget(fd: c_int) -> Option<c_int> {
    lock(&KEEPERS).forget(fd)
}

impl Keepers {
    fn of(&mut self, fd: c_int) -> c_int {
        if let Some(file) = self.known.get(&fd) {
            return self.of_file[file].fd;
        }
        let Some(file) = identify(fd) else { return fd };
        let Some(keeper) = self.of_file.get_mut(&file) else {
            let Some(own) = open_again(fd, file) else {
                return fd;
            };
            self.known.insert(fd, file);
            self.of_file.insert(file, Keeper { fd: own, users: 1 });
            return own;
        };
        keeper.users += 1;
        self.known.insert(fd, file);
        keeper.fd
    }

    fn forget(&mut self, fd: c_int) -> Option<c_int> {
        let file = self.known.remove(&fd)?;
        let keeper = self.of_file.get_mut(&file)?;
        keeper.users -= 1;
        if keeper.users > 0 {
            return None;
        }
        self.of_file.remove(&file).map(|keeper| keeper.fd)
    }
}

/// Opens the file of `fd` again; for writing if possible, because write locks need that.
fn open_again(fd: c_int, file: FileId) -> Option<c_int> {
    let again = |access| deferred::take(file, access).or_else(|| deferred::open_again(fd, access));
    [libc::O_RDWR, libc::O_RDONLY].into_iter().find_map(again)
}
