//! Closing a database beside another copy of SQLite in the process, whose POSIX locks any `close` of the file would drop.
#![allow(unsafe_code)]

use std::{
    ffi::c_int,
    fs::{self, File},
    mem,
    os::fd::AsRawFd,
    path::Path,
    sync::Barrier,
    thread,
};

use resqlite_sqlite::{Access, Connection, locks_survive_other_copies};

/// The bytes of a database on which a reader of SQLite has a shared lock.
const SHARED_FIRST: libc::off_t = 0x4000_0002;
const SHARED_SIZE: libc::off_t = 510;

fn open(path: &Path) -> Connection {
    let connection = Connection::open(path.to_str().unwrap(), Access::ReadWriteCreate, None).unwrap();
    connection
        .execute_script("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS t(a)")
        .unwrap();
    connection
}

/// The number of descriptors of this process that are open on files in the folder.
fn open_descriptors(folder: &Path) -> usize {
    let links = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let targets = links.filter_map(|link| fs::read_link(link.path()).ok());
    targets.filter(|target| target.starts_with(folder)).count()
}

/// Sets or asks for the POSIX lock of a reader; returns the lock structure afterwards.
fn shared_lock(file: &File, command: c_int, kind: c_int) -> libc::flock {
    // SAFETY: the structure is plain data and valid during the call; the descriptor is open.
    unsafe {
        let mut lock: libc::flock = mem::zeroed();
        (lock.l_type, lock.l_start, lock.l_len) = (kind as _, SHARED_FIRST, SHARED_SIZE);
        assert_eq!(libc::fcntl(file.as_raw_fd(), command, &mut lock), 0);
        lock
    }
}

#[test]
fn a_close_is_deferred_while_another_copy_has_a_lock_and_made_at_a_later_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.db");
    let connection = open(&path);
    if !locks_survive_other_copies() {
        return;
    }
    let other = File::open(&path).unwrap();
    shared_lock(&other, libc::F_SETLK, libc::F_RDLCK);
    drop(connection);
    assert!(open_descriptors(folder.path()) > 1);
    let asked = shared_lock(&other, libc::F_OFD_GETLK, libc::F_WRLCK);
    assert_eq!(i32::from(asked.l_type), libc::F_RDLCK, "the lock is still held");
    shared_lock(&other, libc::F_SETLK, libc::F_UNLCK);
    drop(open(&folder.path().join("another.db")));
    assert_eq!(
        open_descriptors(folder.path()),
        1,
        "only that of the other copy is open"
    );
}

#[test]
fn repeated_closes_beside_a_lock_of_another_copy_do_not_add_up_descriptors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.db");
    drop(open(&path));
    let other = File::open(&path).unwrap();
    shared_lock(&other, libc::F_SETLK, libc::F_RDLCK);
    drop(open(&path));
    let deferred = open_descriptors(folder.path());
    (0..10).for_each(|_| drop(open(&path)));
    // While other tests lock and unlock, the system's list of locks may miss one: then a shield stays open, too, and is used
    // again.
    let now = open_descriptors(folder.path());
    assert!(
        now <= deferred + 1,
        "{now} descriptors, {deferred} after the first close"
    );
}

#[test]
fn connections_that_close_at_the_same_time_leave_no_descriptor_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.db");
    for _ in 0..50 {
        let all_open = Barrier::new(8);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let connection = Connection::open(path.to_str().unwrap(), Access::ReadWriteCreate, None);
                    all_open.wait();
                    drop(connection.unwrap());
                });
            }
        });
        assert_eq!(open_descriptors(folder.path()), 0);
    }
}
