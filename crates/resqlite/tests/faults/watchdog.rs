//! Tells who waits for what when a run hangs.

use std::{
    collections::BTreeMap,
    process,
    sync::{LazyLock, Mutex, PoisonError, Weak},
    thread,
    time::{Duration, Instant},
};

use resqlite::binding::Engine;

use crate::resources;

/// After this long for one answer something hangs. Not a limit that a slow machine comes near.
const PATIENCE: Duration = Duration::from_secs(60);

struct Watched {
    run: String,
    waits_for: Option<(String, Instant)>,
    engine: Weak<Engine>,
}

static WATCHED: Mutex<BTreeMap<u64, Watched>> = Mutex::new(BTreeMap::new());

/// The thread that looks.
static WATCHDOG: LazyLock<()> = LazyLock::new(|| {
    thread::spawn(|| {
        loop {
            thread::sleep(Duration::from_secs(1));
            look();
        }
    });
});

fn watched() -> std::sync::MutexGuard<'static, BTreeMap<u64, Watched>> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn look() {
    let watched = watched();
    let hangs = |run: &&Watched| {
        run.waits_for
            .as_ref()
            .is_some_and(|(_, since)| since.elapsed() > PATIENCE)
    };
    let Some(run) = watched.values().find(hangs) else {
        return;
    };
    let (what, _) = run.waits_for.as_ref().expect("it hangs");
    println!("{} hangs: it waits for {what}", run.run);
    println!("threads: {:?}", resources::threads());
    if let Some(engine) = run.engine.upgrade() {
        println!("{:#?}", engine.diagnostics());
    }
    process::abort();
}

/// A run that is watched.
pub struct Watch(u64);

impl Watch {
    pub fn on(run: &str) -> Self {
        LazyLock::force(&WATCHDOG);
        let mut watched = watched();
        let id = watched.last_key_value().map_or(0, |(id, _)| id + 1);
        watched.insert(
            id,
            Watched {
                run: run.to_owned(),
                waits_for: None,
                engine: Weak::new(),
            },
        );
        Self(id)
    }

    pub fn engine(&self, engine: Weak<Engine>) {
        self.change(|watched| watched.engine = engine);
    }

    /// Waits for something that must come.
    pub fn wait<T>(&self, what: &str, wait: impl FnOnce() -> T) -> T {
        self.change(|watched| watched.waits_for = Some((what.to_owned(), Instant::now())));
        let value = wait();
        self.change(|watched| watched.waits_for = None);
        value
    }

    /// Waits until something holds that must come to hold.
    pub fn until(&self, what: &str, holds: impl Fn() -> bool) {
        self.wait(what, || {
            while !holds() {
                thread::sleep(Duration::from_micros(200));
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut Watched)) {
        if let Some(watched) = watched().get_mut(&self.0) {
            change(watched);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        watched().remove(&self.0);
    }
}
