//! Handles, and the engines that they share: one for each open file.

use std::sync::Arc;

use crate::{
    api::{
        engine::Engine,
        engines::{Engines, FileUse, Found, Key},
    },
    connection::location::Location,
    core::{
        error::Result,
        options::{Options, Settings},
        sync::OfProcess,
        workers::{Class, Workers},
    },
    guard::pragmas,
};

static ENGINES: OfProcess<Engines> = OfProcess::new(Engines::new);

/// One use of an engine. Dropping the last one closes the engine.
pub struct Handle {
    engine: Arc<Engine>,
}

impl Handle {
    /// Opens a database, or joins the engine that has the file open in this process already. Blocks while the file
    /// is opened.
    ///
    /// # Errors
    /// [`Error::Open`](crate::Error::Open) names the file and the reason; [`Error::Option`](crate::Error::Option) names the option.
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
        Self::with(location, Settings::decide(options)?, options)
    }

    /// Opens a database with the settings that were decided from `options`.
    pub(crate) fn with(location: Location, settings: Settings, options: &Options) -> Result<Self> {
        pragmas::check_options(&settings.pragmas)?;
        let file_use = match (options.immutable, options.read_only) {
            (true, _) => FileUse::Immutable,
            (false, true) => FileUse::Read,
            (false, false) => FileUse::Write,
        };
        let key = location.identity().map(|file| (file.to_owned(), file_use));
        let engine = match key {
            Some(key) => Self::find_or_start(&key, location, settings, options)?,
            None => Arc::new(Engine::start(location, settings)?),
        };
        Ok(Self { engine })
    }

    fn find_or_start(
        key: &Key,
        location: Location,
        settings: Settings,
        options: &Options,
    ) -> Result<Arc<Engine>> {
        loop {
            let may_open = |open: &[String]| location.refuse_link_to(open);
            let in_the_way = || {
                location.refused(
                    "it is open in this process already; a file that is open as immutable can be open in no other way, \
                     so close it first",
                )
            };
            match ENGINES.get().find(key, may_open, in_the_way)? {
                Found::Opening(opening) => {
                    location.refuse_journal()?;
                    let engine = Arc::new(Engine::start(location, settings)?);
                    opening.has_opened(&engine);
                    return Ok(engine);
                }
                Found::Engine(engine) => {
                    let known = &engine.parts.location;
                    let path = location.display_path();
                    known.encryption.check_same(path, &options.key)?;
                    engine.parts.settings.check_same(path, options, &settings)?;
                    if engine.enter() {
                        return Ok(engine);
                    }
                    // The last handle is being closed. This waits, because two engines on one file would conflict.
                    engine.wait_until_closed();
                    ENGINES.get().forget(&engine);
                }
            }
        }
    }

    /// Returns the engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Returns whether this handle refuses writes.
    pub fn is_read_only(&self) -> bool {
        self.engine.parts.settings.read_only
    }

    /// Gives the handle back. If it was the last one, queued requests are still done, sessions end, and this call blocks until the file
    /// is closed.
    pub fn close(self) {
        // Dropping does it; see `Drop`.
    }
}

/// Runs `work` while nobody can begin to open a database. `work` gets the canonical paths of all files that are open or being opened in
/// this process.
pub(super) fn among_open_files<R>(work: impl FnOnce(&[String]) -> R) -> R {
    ENGINES.get().among_files(work)
}

/// Runs `work` on a worker. `work` may block for a moment, as opening and closing do. `work` is dropped if it panics, and if there is no
/// worker; so a value that it owns must reply when it is dropped.
///
/// ```
/// let (done, is_done) = std::sync::mpsc::channel();
/// resqlite::binding::run(move || done.send(1).unwrap());
/// assert_eq!(is_done.recv(), Ok(1));
/// ```
pub fn run(work: impl FnOnce() + Send + 'static) {
    Workers::of_process().run(Class::Calls, work);
}

/// Waits until the threads of the engine have ended. Returns at once if a file is open or something is under way. Call this before the
/// code is unloaded, from a thread that does not belong to the engine.
pub fn wait_for_threads() {
    Workers::of_process().wait_for_end();
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.engine.leave() {
            self.engine.shut_down();
        }
    }
}
