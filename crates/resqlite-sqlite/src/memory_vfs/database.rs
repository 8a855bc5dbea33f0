//! The databases by name, with the files and locks of each.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{contents::Contents, locks::LockTable, regions::Regions, shm::SlotTable};
use crate::sync::lock;

/// The folder in the names of all databases. It is an absolute path, which SQLite leaves unchanged.
const FOLDER: &str = "/resqlite-memory/";

/// All databases. Weak: only a `MemoryFile` and connections keep a database alive.
static DATABASES: Mutex<BTreeMap<String, Weak<Database>>> = Mutex::new(BTreeMap::new());

/// A database in memory and the files beside it.
pub(super) struct Database {
    name: String,
    main: Arc<Contents>,
    /// Journal and write-ahead log, by suffix.
    beside: Mutex<BTreeMap<String, Arc<Contents>>>,
    locks: Mutex<LockTable>,
    shared: Mutex<SharedMemory>,
}

/// The state that connections in WAL mode share.
#[derive(Default)]
pub(super) struct SharedMemory {
    pub(super) slots: SlotTable,
    pub(super) regions: Regions,
    /// Number of connections that may know an address in `regions`.
    pub(super) users: usize,
}

/// The options for opening a file beside the database.
#[derive(Debug, Clone, Copy)]
pub(super) struct Creation {
    /// Create the file if it is missing.
    pub(super) allowed: bool,
    /// Fail if the file exists.
    pub(super) required: bool,
}

impl Database {
    /// Makes an empty database under a new name.
    pub(super) fn create() -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let database = Arc::new(Self {
            name: format!("{FOLDER}{}", NEXT.fetch_add(1, Ordering::Relaxed)),
            main: Arc::default(),
            beside: Mutex::default(),
            locks: Mutex::default(),
            shared: Mutex::default(),
        });
        lock(&DATABASES).insert(database.name.clone(), Arc::downgrade(&database));
        database
    }

    /// Returns the database of this name, if it is alive.
    pub(super) fn find(name: &str) -> Option<Arc<Self>> {
        lock(&DATABASES).get(name)?.upgrade()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn locks(&self) -> MutexGuard<'_, LockTable> {
        lock(&self.locks)
    }

    pub(super) fn shared(&self) -> MutexGuard<'_, SharedMemory> {
        lock(&self.shared)
    }

    /// Returns the database file.
    pub(super) fn main(&self) -> Arc<Contents> {
        Arc::clone(&self.main)
    }

    /// Returns a file beside the database, if it exists.
    pub(super) fn beside(&self, suffix: &str) -> Option<Arc<Contents>> {
        lock(&self.beside).get(suffix).cloned()
    }

    /// Opens or creates a file beside the database; `None` if `creation` forbids it.
    pub(super) fn open_beside(&self, suffix: &str, creation: Creation) -> Option<Arc<Contents>> {
        let mut beside = lock(&self.beside);
        match beside.get(suffix) {
            Some(contents) => (!creation.required).then(|| Arc::clone(contents)),
            None => creation
                .allowed
                .then(|| Arc::clone(beside.entry(suffix.to_owned()).or_default())),
        }
    }

    /// Deletes a file beside the database; it can still be used where it is open. Returns whether it existed.
    pub(super) fn delete_beside(&self, suffix: &str) -> bool {
        lock(&self.beside).remove(suffix).is_some()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        lock(&DATABASES).remove(&self.name);
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Splits a file name into the name of its database and a suffix: `""` for the database itself, `"-wal"`, `"-journal"`
/// and so on. `None` for names that do not belong to this VFS.
pub(super) fn split(name: &str) -> Option<(&str, &str)> {
    let number = name.strip_prefix(FOLDER)?;
    let suffix = number.find('-').map_or("", |at| &number[at..]);
    Some((&name[..name.len() - suffix.len()], suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: Creation = Creation {
        allowed: false,
        required: false,
    };
    const OPEN_OR_CREATE: Creation = Creation {
        allowed: true,
        required: false,
    };
    const CREATE: Creation = Creation {
        allowed: true,
        required: true,
    };

    #[test]
    fn a_file_name_is_that_of_a_database_and_a_suffix() {
        assert_eq!(split("/resqlite-memory/12"), Some(("/resqlite-memory/12", "")));
        assert_eq!(
            split("/resqlite-memory/12-wal"),
            Some(("/resqlite-memory/12", "-wal"))
        );
        assert_eq!(
            split("/resqlite-memory/12-mj0A-1"),
            Some(("/resqlite-memory/12", "-mj0A-1"))
        );
        assert_eq!(split("/home/12-wal"), None);
    }

    #[test]
    fn a_database_is_found_until_its_last_owner_is_dropped() {
        let database = Database::create();
        let name = database.name().to_owned();
        let other = Database::find(&name).unwrap();
        drop(database);
        assert!(Database::find(&name).is_some());
        drop(other);
        assert!(Database::find(&name).is_none());
        assert!(!lock(&DATABASES).contains_key(&name));
    }

    #[test]
    fn a_file_beside_the_database_is_created_only_on_request() {
        let database = Database::create();
        assert!(database.open_beside("-wal", OPEN).is_none());
        let made = database.open_beside("-wal", OPEN_OR_CREATE).unwrap();
        assert!(Arc::ptr_eq(&made, &database.open_beside("-wal", OPEN).unwrap()));
        assert!(database.open_beside("-wal", CREATE).is_none());
        assert!(database.open_beside("-journal", CREATE).is_some());
    }

    #[test]
    fn a_deleted_file_can_be_used_where_it_is_open() {
        let database = Database::create();
        let open = database.open_beside("-wal", OPEN_OR_CREATE).unwrap();
        open.write(0, b"abc").unwrap();
        assert!(database.delete_beside("-wal"));
        assert!(!database.delete_beside("-wal"));
        assert!(database.beside("-wal").is_none());
        assert_eq!(open.len(), 3);
    }
}
