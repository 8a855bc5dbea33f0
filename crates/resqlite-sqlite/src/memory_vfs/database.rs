//! Databases by name: what belongs to each, and for how long.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{contents::Contents, locks::LockTable, regions::Regions, shm::SlotTable};

/// Where the names live. A path, so that SQLite takes it as it is, and nothing of the disk is called so.
const FOLDER: &str = "/resqlite-memory/";

/// Every live database. Weak, so that a database lives by its guard and its connections alone.
static DATABASES: Mutex<BTreeMap<String, Weak<Database>>> = Mutex::new(BTreeMap::new());

/// A database in memory and the files beside it.
pub(super) struct Database {
    name: String,
    main: Arc<Contents>,
    /// Journal and write-ahead log, by what their names add to that of the database.
    beside: Mutex<BTreeMap<String, Arc<Contents>>>,
    locks: Mutex<LockTable>,
    shared: Mutex<SharedMemory>,
}

/// What connections in WAL mode have in common.
#[derive(Default)]
pub(super) struct SharedMemory {
    pub(super) slots: SlotTable,
    pub(super) regions: Regions,
    /// Connections that may know an address in `regions`.
    pub(super) users: usize,
}

/// How a file beside the database is to be opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Creation {
    /// Make it if it is not there.
    pub(super) allowed: bool,
    /// Refuse it if it is there.
    pub(super) required: bool,
}

impl Database {
    /// An empty database under a name that was never used before.
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

    /// The live database of this name.
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

    /// The database file itself.
    pub(super) fn main(&self) -> Arc<Contents> {
        Arc::clone(&self.main)
    }

    /// The file beside the database, if there is one.
    pub(super) fn beside(&self, suffix: &str) -> Option<Arc<Contents>> {
        lock(&self.beside).get(suffix).cloned()
    }

    /// Opens or makes a file beside the database; `None` if that is not as asked.
    pub(super) fn open_beside(&self, suffix: &str, creation: Creation) -> Option<Arc<Contents>> {
        let mut beside = lock(&self.beside);
        match beside.get(suffix) {
            Some(contents) => (!creation.required).then(|| Arc::clone(contents)),
            None => creation
                .allowed
                .then(|| Arc::clone(beside.entry(suffix.to_owned()).or_default())),
        }
    }

    /// Forgets a file beside the database; who has it open keeps it. Returns whether it was there.
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

/// Splits a file name into that of the database and what it adds to it: `""` for the database itself, `"-wal"`,
/// `"-journal"` and so on. `None` for names that are not of this file system.
pub(super) fn split(name: &str) -> Option<(&str, &str)> {
    let number = name.strip_prefix(FOLDER)?;
    let suffix = number.find('-').map_or("", |at| &number[at..]);
    Some((&name[..name.len() - suffix.len()], suffix))
}

/// A panic cannot leave what these locks guard half changed, so a poisoned lock is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn a_file_name_says_which_database_it_belongs_to() {
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
    fn a_database_is_found_until_its_last_owner_is_gone() {
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
    fn a_file_beside_is_made_only_when_asked_for() {
        let database = Database::create();
        assert!(database.open_beside("-wal", OPEN).is_none());
        let made = database.open_beside("-wal", OPEN_OR_CREATE).unwrap();
        assert!(Arc::ptr_eq(&made, &database.open_beside("-wal", OPEN).unwrap()));
        assert!(database.open_beside("-wal", CREATE).is_none());
        assert!(database.open_beside("-journal", CREATE).is_some());
    }

    #[test]
    fn a_deleted_file_stays_with_those_who_have_it_open() {
        let database = Database::create();
        let open = database.open_beside("-wal", OPEN_OR_CREATE).unwrap();
        open.write(0, b"abc").unwrap();
        assert!(database.delete_beside("-wal"));
        assert!(!database.delete_beside("-wal"));
        assert!(database.beside("-wal").is_none());
        assert_eq!(open.len(), 3);
    }
}
