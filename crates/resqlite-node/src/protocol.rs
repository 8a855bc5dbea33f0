//! The protocol between JavaScript and the engine: operations, flags, kinds of replies, and sizes, each written once.
//!
//! The TypeScript side, `packages/resqlite/src/wire/protocol.ts`, is generated from this file and from the other files
//! that `tests/protocol/main.rs` lists. After a change:
//!
//! ```sh
//! WRITE_PROTOCOL=1 cargo test -p resqlite-node --test protocol
//! ```

/// Declares an enum that is sent as a byte, with `from_byte` to read the byte.
macro_rules! byte_enum {
    ($(#[$doc:meta])* pub(crate) enum $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $byte:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum $name { $($(#[$variant_doc])* $variant = $byte,)* }

        impl $name {
            pub(crate) fn from_byte(byte: u8) -> Option<Self> {
                match byte {
                    $($byte => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

byte_enum! {
    /// The operations of request frames, each with its payload. The target is a database handle, or a session where
    /// `SESSION` is set, unless another target is named. `sql` is the number of a text that `DEFINE` gave it; `text`
    /// is a `u32` length and UTF-8; `limits` is there where `LIMITS` is set: `f64` milliseconds, `f64` steps, `f64`
    /// bytes, each 0 for none.
    pub(crate) enum Op {
        /// `text`. Gives an SQL text the number `target`. No reply.
        Define = 1,
        /// Forgets all SQL texts. No reply.
        Forget = 2,
        /// `text`: the path and the options as JSON. Replies with JSON: `handle` and `engine`.
        Open = 3,
        /// Closes a database handle.
        Close = 4,
        /// `u32 sql · limits · params`
        Select = 5,
        /// `u32 sql · params`
        Execute = 6,
        /// `u32 sql · u32 sets · u32 texts · u32 0 · params × sets · texts`, where `texts` is the number of bytes before the
        /// texts. With `MORE`, further sets follow in `CHUNK` frames.
        Batch = 7,
        /// `u32 0 · u32 sets · u32 texts · u32 0 · params × sets · texts`, for the batch that request `target` began. No reply.
        Chunk = 8,
        /// The caller of the batch that request `target` began has given up. No reply.
        BatchAbort = 9,
        /// `text`: a script.
        Exec = 10,
        /// `u32 session · u32 flags · f64 milliseconds`. Begins a transaction, which ends after that time; 0 for never. The
        /// flags are `BeginFlags`.
        Begin = 11,
        /// `u32 level`
        Savepoint = 12,
        /// `u32 level`
        Release = 13,
        /// `u32 level`
        RollbackTo = 14,
        /// Commits the transaction and ends the session.
        Commit = 15,
        /// Ends the session; a transaction is rolled back.
        End = 16,
        /// Replies when the session ends: with the reason if the engine ended it.
        Ended = 17,
        /// `u32 session`
        Snapshot = 18,
        /// `u32 session · u32 rows per batch · u32 sql · limits · params`. In a session: `u32 cursor` in place of the new
        /// session.
        Cursor = 19,
        /// The next batch of the cursor `target`.
        Fetch = 20,
        /// Cancels the request `target`. No reply of its own.
        Cancel = 21,
        /// Replies with JSON.
        Diagnostics = 22,
        /// `f64 verify · u32 queries · u32 flags` (bit 0: results are not maintained), then per query `u32 sql · u32 length · params`, padded to 4. Opens a live
        /// query.
        Stream = 23,
        /// Ends the live query or the listener that request `target` opened. No reply of its own.
        Unsubscribe = 24,
        /// `u32 sql · params`. Replies with JSON.
        ExplainStream = 25,
        /// `u32 sql · limits · params`: one statement of any kind. Replies with `RESULTS`.
        Query = 26,
        /// `u32 sql`. Replies with JSON.
        Describe = 27,
        /// `u32 texts · u32 statements`, then `u32 sql` per text, then per statement `u32 text · params`: several
        /// statements of any kind, as one write. Replies with `RESULTS`.
        Statements = 28,
        /// `text`: the path and the options as JSON. Replies with JSON several times: the progress, and at last the result.
        Backup = 29,
        /// Replies with the bytes of a database file.
        Serialize = 30,
        /// `u32`: 0 passive, 1 full, 2 restart, 3 truncate. Replies with JSON.
        Checkpoint = 31,
        /// `u32 length · bytes`. Appends to the bytes that an `OPEN` names by the number `target`. No reply.
        Upload = 32,
        /// `u32`: 0 for no rows, 1 for their keys, 2 for rows. Listens to commits, until `UNSUBSCRIBE`. `OK` is the first
        /// reply, and `JSON` each event.
        Commits = 33,
        /// Asks for the next event of the listener that request `target` opened. No reply of its own.
        NextCommits = 34,
        /// `u32 cursor`. The next batch of a cursor in a session.
        FetchFrom = 35,
        /// `u32 cursor`. Closes a cursor in a session.
        CloseCursor = 36,
        /// Asks for a `QUEUED` frame for the next request that gets a reply. No reply of its own.
        TimeNext = 37,
        /// `text`: the new key as JSON.
        Rekey = 38,
        /// `text`: as JSON, `do` (`open`, `acknowledge`, `drop`), the name of the change feed, and what else that needs.
        /// Replies with JSON: a position.
        Feed = 39,
        /// `text`: as JSON, the name of the change feed, the position after which to read, and the tables. Replies with
        /// JSON: the next commits, as far as there are any now.
        ReadFeed = 40,
        /// `f64`: a position of the log of a cluster; -1 for the last one. Replies with JSON, the position, when the database
        /// has it.
        Reach = 41,
        /// Puts a snapshot into the store of the log of a cluster. Replies with JSON: its position.
        PutSnapshot = 42,
        /// Replies when the live query that request `target` opened has sent a result, or an error, that shows all that is
        /// committed now, or has ended.
        CatchUp = 43,
    }
}

impl Op {
    /// Returns whether the target of a request that is answered is a database handle, unless `SESSION` is set.
    pub(crate) fn targets_handle(self) -> bool {
        self != Self::CatchUp
    }

    /// Returns whether the request itself is answered.
    pub(crate) fn has_reply(self) -> bool {
        use Op::*;
        !matches!(
            self,
            Define | Forget | Chunk | BatchAbort | Cancel | Unsubscribe | Upload | NextCommits | TimeNext
        )
    }
}

/// Flags of request frames. The lowest bits hold the integer mode.
#[derive(Clone, Copy)]
pub(crate) struct RequestFlags(pub(crate) u8);

impl RequestFlags {
    /// Only the first row is wanted.
    pub(crate) const FIRST: Self = Self(1 << 2);
    /// The rows are wanted as JSON text.
    pub(crate) const JSON: Self = Self(1 << 3);
    /// The target is a session, not a database handle.
    pub(crate) const SESSION: Self = Self(1 << 4);
    /// The commit must be on disk before it is acknowledged.
    pub(crate) const FULL: Self = Self(1 << 5);
    /// More frames of this batch follow.
    pub(crate) const MORE: Self = Self(1 << 6);
    /// Of a `SELECT` or `QUERY`: the reply says whether it was [`QUICK`](ReplyFlags::QUICK).
    pub(crate) const TELL_QUICK: Self = Self(1 << 6);
    /// The limits of the query stand before its parameters.
    pub(crate) const LIMITS: Self = Self(1 << 7);

    pub(crate) fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }
}

/// Flags of `BEGIN`.
pub(crate) mod begin_flags {
    /// Foreign keys are off in the transaction.
    pub(crate) const FOREIGN_KEYS_OFF: u32 = 1;
    /// No body ends the transaction.
    pub(crate) const WITHOUT_BODY: u32 = 1 << 1;
    /// It was overtaken just before, and runs again.
    pub(crate) const AGAIN: u32 = 1 << 2;
}

/// Flag bits that hold the integer mode.
pub(crate) const INTEGERS_MASK: u8 = 0b11;

byte_enum! {
    /// The kinds of reply frames, each with its argument and payload.
    pub(crate) enum ReplyKind {
        /// A column layout, sent before its first use. Argument: its number. `u32 length · names as JSON`. With `END`,
        /// the layouts sent before are void.
        Layout = 1,
        /// A row batch. Argument: the number of its column layout.
        Rows = 2,
        /// A write is done. `f64 changes · i64 last rowid · f64 commit`
        Written = 3,
        /// JSON text that a caller gets as it is. Argument: its length.
        Bytes = 4,
        /// An error as JSON. Argument: its length.
        Error = 5,
        /// An answer as JSON. Argument: its length.
        Json = 6,
        /// Done.
        Ok = 7,
        /// The patch that makes a result of new rows and old ones. Argument: the number of the column layout. `u32 part · u32
        /// segments`, then per segment `u32 start · u32 count`.
        Patch = 8,
        /// The patches since the last emission are complete. `f64 commit · f64 microseconds · u32 reason · u32 0`
        Emit = 9,
        /// The columns of statements, sent before their first use. Argument: their number. `u32 length · JSON`. With
        /// `END`, the columns sent before are void.
        Columns = 10,
        /// The results of statements of any kind. Argument: the number of statements. `f64 commit`, then per statement
        /// `f64 changes · i64 last rowid · u32 columns · u32 rows`; the rows of all of them were sent before, back
        /// to back. A single statement that reads says 0 rows.
        Results = 11,
        /// A thread has taken the request up. Argument: the microseconds that it waited.
        Queued = 12,
        /// Rows and patches since the last emission are void: the run has no result.
        Discard = 13,
        /// A run of a live query took long. `f64 microseconds · u32 reason · u32 0`
        RanLong = 14,
    }
}

/// Flags of reply frames.
#[derive(Clone, Copy)]
pub(crate) struct ReplyFlags(pub(crate) u8);

impl ReplyFlags {
    /// The last frame of the request.
    pub(crate) const LAST: Self = Self(1);
    /// The cursor has no further rows.
    pub(crate) const END: Self = Self(1 << 1);
    /// The payload is in a slab: `u32 slab · u32 length` stand in its place.
    pub(crate) const SLAB: Self = Self(1 << 2);
    /// The payload is to be taken by `take`: `u32 number · u32 length` stand in its place.
    pub(crate) const OWNED: Self = Self(1 << 3);
    /// The query was so quick that it may run on the realm's own thread.
    pub(crate) const QUICK: Self = Self(1 << 4);

    pub(crate) const NONE: Self = Self(0);

    pub(crate) fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }

    pub(crate) fn with(self, flag: Self) -> Self {
        Self(self.0 | flag.0)
    }

    pub(crate) fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::NONE }
    }
}

/// Bytes of the header of every frame, request and reply.
pub(crate) const FRAME_HEADER: usize = 16;

/// The start of a segment of new rows in a patch.
pub(crate) const NEW_ROWS: i32 = -1;

/// Added to what `submit` returns: a query did not run on the realm's own thread, because of what it is.
pub(crate) const NOT_QUICK: u32 = 0x4000_0000;
