//! The descriptors through which databases are locked: one for each file.

use std::{
    collections::HashMap,
    ffi::c_int,
    sync::{LazyLock, Mutex, PoisonError},
};

use super::{FileId, identify, parked};

#[derive(Default)]
struct Keepers {
    of_file: HashMap<FileId, Keeper>,
    /// The file of each of SQLite's descriptors that a lock was asked for.
    known: HashMap<c_int, FileId>,
}

struct Keeper {
    fd: c_int,
    /// SQLite's descriptors of the file.
    users: usize,
}

static KEEPERS: LazyLock<Mutex<Keepers>> = LazyLock::new(Mutex::default);

fn keepers<R>(action: impl FnOnce(&mut Keepers) -> R) -> R {
    action(&mut KEEPERS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The keeper of the locks of the file that is open as `fd`. A descriptor that is no file keeps its own: what is tried
/// with it fails with the system's reason.
pub(super) fn of(fd: c_int) -> c_int {
    keepers(|keepers| keepers.of(fd))
}

/// SQLite closes `fd`. It does so only when it holds no lock on the file.
pub(super) fn forget(fd: c_int) {
    keepers(|keepers| keepers.forget(fd));
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

    fn forget(&mut self, fd: c_int) {
        let Some(file) = self.known.remove(&fd) else {
            return;
        };
        let Some(keeper) = self.of_file.get_mut(&file) else {
            return;
        };
        keeper.users -= 1;
        if keeper.users == 0 {
            parked::close(keeper.fd);
            self.of_file.remove(&file);
        }
    }
}

/// A description of our own of the file that is open as `fd`. Write locks need one that may write.
fn open_again(fd: c_int, file: FileId) -> Option<c_int> {
    let again = |access| parked::take(file, access).or_else(|| parked::open_again(fd, access));
    [libc::O_RDWR, libc::O_RDONLY].into_iter().find_map(again)
}
