//! The options for opening a database.

use std::{ops::RangeInclusive, time::Duration};

use resqlite_sqlite::Key;

use crate::core::{
    error::{Error, Result},
    extension::Extension,
    function::Function,
    limits, spin,
};

/// The options for opening a database. All have sensible defaults.
///
/// ```
/// use resqlite::{Durability, Options};
///
/// let options = Options { durability: Durability::Full, readers: Some(3), ..Options::default() };
/// # let _ = options;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Refuse every write. The file must exist.
    pub read_only: bool,
    /// States that nobody changes the file while it is open here. So the file is read without locks and without files beside it. This
    /// lets a database with a write-ahead log be read in a place where nothing can be written. The option needs `read_only`, and is
    /// refused while a journal beside the file may have commits that the file lacks. The same process cannot open the file in another way
    /// meanwhile. If others change the file nevertheless, it may be read wrongly; default false.
    pub immutable: bool,
    /// Fail if the file does not exist, instead of creating it.
    pub file_must_exist: bool,
    /// Calls that read at the same time; default: one less than the cores, at least 2, at most 4.
    pub readers: Option<usize>,
    /// The moment when a write is acknowledged.
    pub durability: Durability,
    /// The longest time to wait for a lock of another process; default 5 s.
    pub busy_timeout: Option<Duration>,
    /// Foreign keys are enforced; default true.
    pub foreign_keys: Option<bool>,
    /// Prepared statements kept per connection; default 128.
    pub statement_cache_size: Option<usize>,
    /// PRAGMAs set on every connection after it is opened, in order: name and value.
    pub pragmas: Vec<(String, String)>,
    /// Live queries see the commits that other processes, or other libraries in this process, make to the file; default true.
    pub watch_external: Option<bool>,
    /// A binding may run quick queries on the threads of their callers, see
    /// [`Engine::select_inline`](crate::binding::Engine::select_inline); default true.
    pub inline: Option<bool>,
    /// The time when the connections of an unused file close; default [`Resting::UnderPressure`]. The next use opens them again. This
    /// works only on Linux. The connections never close while there are temporary tables, attached databases, change feeds or an entry
    /// gate, or if `untrusted` is set or `checkpoints` is [`Checkpoints::Manual`].
    pub rest: Option<Resting>,
    /// Views, triggers, CHECKs and the like may use functions and virtual tables that can do harm; default false.
    pub trusted_schema: Option<bool>,
    /// SQL cannot do things that can damage the file: write to shadow tables, or change the schema by hand; default true.
    pub defensive: Option<bool>,
    /// A name in double quotes is a text if no table or column has this name, as in `WHERE name = "Ada"`; default false: such a name is
    /// an error.
    pub double_quoted_strings: Option<bool>,
    /// The file or the SQL is untrusted: the file is checked before it is used, SQL has bounds (see
    /// [`limits::UNTRUSTED`]), and nothing can be attached; default false.
    pub untrusted: Option<bool>,
    /// Extensions in shared libraries, which every connection loads in this order. They run as part of the program and
    /// must be trusted like it. SQL cannot load any.
    pub extensions: Vec<Extension>,
    /// Functions that SQL can call on every connection; see [`register_function`](Self::register_function).
    pub functions: Vec<Function>,
    /// The way in which the write-ahead log is copied into the database file; default [`Checkpoints::Auto`].
    pub checkpoints: Option<Checkpoints>,
    /// The key of an encrypted database; a new file is encrypted with it. This needs the feature `ciphers`.
    pub key: Option<Key>,
}

impl Options {
    /// Adds a function that SQL can call, on every connection.
    pub fn register_function(mut self, function: Function) -> Self {
        self.functions.push(function);
        self
    }
}

/// The ways in which the write-ahead log is copied into the database file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Checkpoints {
    /// The engine copies the log, and also keeps it from growing without end: at some size, new reads are held back for a moment, so that
    /// the log can be reset.
    #[default]
    Auto,
    /// The engine copies the log, but it never waits for readers and never truncates the log. Readers that overlap can let the log grow.
    Passive,
    /// Nobody copies the log until [`Database::checkpoint`](crate::Database::checkpoint) is called or another program copies it. Closing
    /// the database leaves the log beside its file.
    Manual,
}

/// The moment when a write is acknowledged. The stronger durability is the greater value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// When the write is committed. It then survives a crash of the process; a power cut may undo the last commits, but never part of a
    /// commit.
    #[default]
    Normal,
    /// When the write is on disk. It then survives a power cut.
    Full,
}

/// The time when the connections of an unused file close.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Resting {
    /// They stay open.
    Never,
    /// After [`limits::REST_AFTER`], while more than [`limits::FILES_AWAKE`] files are open.
    #[default]
    UnderPressure,
    /// After this time, however many files are open.
    After(Duration),
}

/// The options of an open engine, with all defaults filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) read_only: bool,
    pub(crate) readers: usize,
    pub(crate) busy_timeout: Duration,
    pub(crate) foreign_keys: bool,
    pub(crate) statement_cache_size: usize,
    pub(crate) pragmas: Vec<(String, String)>,
    pub(crate) watch_external: bool,
    pub(crate) inline: bool,
    pub(crate) rest: Resting,
    pub(crate) trusted_schema: bool,
    pub(crate) defensive: bool,
    pub(crate) double_quoted_strings: bool,
    pub(crate) untrusted: bool,
    pub(crate) extensions: Vec<Extension>,
    pub(crate) functions: Vec<Function>,
    pub(crate) checkpoints: Checkpoints,
    /// The least and the most time for which the writer makes re-runs of live queries between two writes.
    pub(crate) writer_spare: RangeInclusive<Duration>,
}

impl Settings {
    pub(crate) fn decide(options: &Options) -> Result<Self> {
        let (least, most) = limits::READERS_DEFAULT;
        let readers = options
            .readers
            .unwrap_or(spin::cores().saturating_sub(1).clamp(least, most));
        if !(1..=limits::READERS_MAX).contains(&readers) {
            let most = limits::READERS_MAX;
            return Err(Error::Option(format!(
                "readers must be between 1 and {most}, not {readers}"
            )));
        }
        let statement_cache_size = options
            .statement_cache_size
            .unwrap_or(limits::STATEMENT_CACHE_DEFAULT);
        if statement_cache_size == 0 {
            return Err(Error::Option(
                "the statement cache size must be at least 1".into(),
            ));
        }
        if let Some(problem) = options.functions.iter().find_map(Function::problem) {
            return Err(Error::Option(format!("functions: {problem}")));
        }
        if options.immutable && !options.read_only {
            return Err(Error::Option(
                "immutable: it needs read-only, because nothing may change the file".into(),
            ));
        }
        let untrusted = options.untrusted.unwrap_or(false);
        if untrusted {
            check_untrusted(options)?;
        }
        Ok(Self {
            read_only: options.read_only,
            readers,
            busy_timeout: options.busy_timeout.unwrap_or(limits::BUSY_TIMEOUT_DEFAULT),
            foreign_keys: options.foreign_keys.unwrap_or(true),
            statement_cache_size,
            pragmas: options.pragmas.clone(),
            watch_external: options.watch_external.unwrap_or(true),
            inline: options.inline.unwrap_or(true),
            rest: options.rest.unwrap_or_default(),
            trusted_schema: options.trusted_schema.unwrap_or(false),
            defensive: options.defensive.unwrap_or(true),
            double_quoted_strings: options.double_quoted_strings.unwrap_or(false),
            untrusted,
            extensions: options.extensions.iter().map(Extension::resolved).collect(),
            functions: options.functions.clone(),
            checkpoints: options.checkpoints.unwrap_or_default(),
            writer_spare: limits::WRITER_SPARE,
        })
    }

    /// Returns whether the caller sets this PRAGMA.
    pub(crate) fn sets(&self, pragma: &str) -> bool {
        self.pragmas
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(pragma))
    }

    /// Refuses options that contradict those with which the engine was opened, because another `Database` shares it. `wanted` holds the
    /// settings decided from `options`. The error names the option as JavaScript does, and both values.
    pub(crate) fn check_same(&self, path: &str, options: &Options, wanted: &Self) -> Result<()> {
        let not_given = Options::default();
        macro_rules! check {
            ($($name:literal: $field:ident,)*) => {$(
                if options.$field != not_given.$field && wanted.$field != self.$field {
                    return Err(Error::Option(format!(
                        "{}: \"{path}\" is open in this process already with {:?}, not with {:?}; they must agree",
                        $name, self.$field, wanted.$field
                    )));
                }
            )*};
        }
        check! {
            "readers": readers,
            "busyTimeout": busy_timeout,
            "foreignKeys": foreign_keys,
            "statementCacheSize": statement_cache_size,
            "pragmas": pragmas,
            "watchExternal": watch_external,
            "inline": inline,
            "rest": rest,
            "trustedSchema": trusted_schema,
            "defensive": defensive,
            "doubleQuotedStrings": double_quoted_strings,
            "untrusted": untrusted,
            "extensions": extensions,
            "functions": functions,
            "checkpoints": checkpoints,
        }
        Ok(())
    }
}

/// Refuses options that contradict `untrusted`.
fn check_untrusted(options: &Options) -> Result<()> {
    let own = |name: &str| {
        UNTRUSTED_PRAGMAS
            .iter()
            .any(|(own, _)| own.eq_ignore_ascii_case(name))
    };
    let contradiction = if options.trusted_schema == Some(true) {
        "a trusted schema"
    } else if options.defensive == Some(false) {
        "defensive off"
    } else if !options.extensions.is_empty() {
        "extensions"
    } else if let Some((name, _)) = options.pragmas.iter().find(|(name, _)| own(name)) {
        name
    } else {
        return Ok(());
    };
    Err(Error::Option(format!(
        "untrusted: it cannot go with {contradiction}"
    )))
}

/// The PRAGMAs that `untrusted` sets on every connection.
pub(crate) const UNTRUSTED_PRAGMAS: [(&str, &str); 2] = [("cell_size_check", "ON"), ("mmap_size", "0")];
