//! Handles, and the engines that they share: one for each open file.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Weak},
};

use crate::{
    api::engine::Engine,
    connection::location::Location,
    core::{
        error::Result,
        options::{Options, Settings},
        sync::{Mutex, lock},
    },
    guard::pragmas,
};

/// The engines by file. Read-only engines have entries of their own, because they have no writer.
type Key = (String, bool);

static ENGINES: LazyLock<Mutex<HashMap<Key, Weak<Engine>>>> = LazyLock::new(Mutex::default);

/// One use of an engine. Dropping the last one closes the engine.
pub struct Handle {
    engine: Arc<Engine>,
    read_only: bool,
}

impl Handle {
    /// Opens a database, or joins the engine that has the file open in this process already. Blocks while the file
    /// is opened.
    ///
    /// # Errors
    /// [`Error::Open`](crate::Error::Open) says which file and why; [`Error::Option`](crate::Error::Option) which option.
    pub fn open(path: &str, options: &Options) -> Result<Self> {
        Self::at(Location::find(path, options)?, options)
    }

    /// Makes a database in memory with the content of a database file. Blocks while it is opened.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_bytes(bytes: Vec<u8>, options: &Options) -> Result<Self> {
        Self::at(Location::of_bytes(bytes, options)?, options)
    }

    fn at(location: Location, options: &Options) -> Result<Self> {
        let settings = Settings::decide(options)?;
        pragmas::check_options(&settings.pragmas)?;
        let key = location
            .identity()
            .map(|file| (file.to_owned(), options.read_only));
        // Held while opening, so that two callers never make two engines for one file.
        let mut engines = lock(&ENGINES);
        while let Some(engine) = key
            .as_ref()
            .and_then(|key| engines.get(key))
            .and_then(Weak::upgrade)
        {
            let known = &engine.parts.location;
            known
                .encryption
                .check_same(location.display_path(), &options.key)?;
            engine.parts.settings.check_same(options, &settings)?;
            if engine.enter() {
                let read_only = options.read_only;
                return Ok(Self { engine, read_only });
            }
            // The last handle is being closed: wait, because two engines on one file would conflict.
            engines.retain(|_, known| !std::ptr::eq(known.as_ptr(), Arc::as_ptr(&engine)));
            drop(engines);
            engine.wait_until_closed();
            engines = lock(&ENGINES);
        }
        location.refuse_link_to(&files_of(&engines))?;
        let engine = Arc::new(Engine::start(location, settings)?);
        if let Some(key) = key {
            engines.retain(|_, engine| engine.strong_count() > 0);
            engines.insert(key, Arc::downgrade(&engine));
        }
        Ok(Self {
            engine,
            read_only: options.read_only,
        })
    }

    /// The engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Whether this handle refuses writes.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Gives the handle back. If it was the last one, what is queued is still done, sessions end, and this blocks
    /// until all threads have ended.
    pub fn close(self) {
        // Dropping does it; see `Drop`.
    }
}

/// Runs `work` while no database can be opened. It gets the canonical paths of all files that are open in this process.
pub(super) fn among_open_files<R>(work: impl FnOnce(&[String]) -> R) -> R {
    let engines = lock(&ENGINES);
    work(&files_of(&engines))
}

/// The canonical paths of all files that these engines have open.
fn files_of(engines: &HashMap<Key, Weak<Engine>>) -> Vec<String> {
    let open: Vec<_> = engines.values().filter_map(Weak::upgrade).collect();
    let files = open.iter().flat_map(|engine| {
        let parts = &engine.parts;
        let main = parts.location.identity().map(str::to_owned);
        main.into_iter().chain(parts.epoch.attached_files())
    });
    files.collect()
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.engine.leave() {
            self.engine.shut_down();
        }
    }
}
