//! The bounds of the engine. The bounds of a single algorithm are in the file of that algorithm.

use std::{ops::RangeInclusive, time::Duration};

use resqlite_sqlite::limit;

/// Bytes of stack of a thread that runs SQL. They are address space, and become memory only when a statement needs them. Statements
/// within SQLite's own limits were measured to take up to 5 MiB, where these limits bound the stack (a pattern of LIKE, generated
/// columns, triggers). `depth.h` beside SQLite's sources bounds the other cases.
pub const STACK_BYTES: usize = 16 << 20;
/// Calls that read at the same time, if the user gives no number: one less than the cores, at least 2, at most 4.
pub const READERS_DEFAULT: (usize, usize) = (2, 4);
/// The largest number of such calls that a user may give.
pub const READERS_MAX: usize = 64;
/// The most workers that are called for one file and have not arrived yet. So at most this many calls of one file come before those of
/// another file.
pub const CALLED_MAX: usize = 4;
/// Snapshots and cursors of a file that are open at the same time; further ones wait. Each of them has a connection.
pub const LEASES_MAX: usize = 256;
/// The time after which a waiting snapshot or cursor is refused, while [`LEASES_MAX`] are open.
pub const LEASE_REFUSED: Duration = Duration::from_secs(5);
/// While snapshots and cursors are held back: the pause between two checks whether one of them must be let through.
pub const LEASES_LOOK: Duration = Duration::from_millis(10);
/// The time after which an idle worker ends, and after which a surplus connection closes if it was not used.
pub const THREAD_IDLE: Duration = Duration::from_secs(5);
/// The time without progress after which a worker loses its place to another, while a task waits.
pub const STANDS_STILL_AFTER: Duration = Duration::from_millis(1);
/// The most workers of the process. This many workers stand still only if something is wrong: a disk that hangs under many files.
pub const WORKERS_MAX: usize = 1024;
/// The most files of the process that are opened or closed at a time, and the most that are copied at a time. Each needs a worker.
pub const ONCE_MAX: usize = 64;
/// Bytes of the SQL text by which diagnostics name the holder of the writer.
pub const HOLDER_SQL_BYTES: usize = 4096;
/// Bytes of the SQL text by which an error names the holder of the writer.
pub const NAMED_SQL_BYTES: usize = 200;
/// Bytes of commits that are kept for a consumer of a change feed that does not come to read them, unless the consumer sets another
/// amount.
pub const FEED_BYTES: u64 = 1 << 30;
/// The most commits, and about the most bytes, that a change feed reads at a time.
pub const FEED_READ_COMMITS: u64 = 64;
/// See [`FEED_READ_COMMITS`].
pub const FEED_READ_BYTES: u64 = 1 << 20;
/// The most rows that a commit event lists. If the rows of a table do not fit, none of them are listed, and the event gives the reason.
pub const EVENT_ROWS: usize = 16_384;
/// The most bytes that the values of the rows in a commit event take, approximately.
pub const EVENT_BYTES: usize = 4 << 20;
/// Requests that wait for a reader; one more is refused.
pub const QUEUED_READS_MAX: usize = 1 << 17;
/// Requests that wait for the writer; one more is refused.
pub const QUEUED_WRITES_MAX: usize = 1 << 17;
/// Requests that wait inside one transaction, snapshot or cursor.
pub const QUEUED_IN_SESSION_MAX: usize = 1 << 14;
/// The time for which a worker serves one task while others wait. It is also the time for which one job runs live queries one after the
/// other.
pub const WORK_TURN: Duration = Duration::from_millis(2);
/// Live queries that are run in one read transaction, and the most microseconds that they may have taken together the last time.
pub const SHARED_READ_RUNS: usize = 32;
/// See [`SHARED_READ_RUNS`].
pub const SHARED_READ_MICROS: u64 = 500;
/// The longest run of a live query while others wait for their turn in the same read transaction. If it takes longer, the query is run
/// again by itself.
pub const SHARED_RUN_MAX: Duration = Duration::from_millis(25);
/// The most live queries that the writer re-runs itself before it checks again whether a write waits. Together, the last time, they took
/// no longer than its writes took now, or than [`WRITER_SPARE`] allows.
pub const WRITER_RUNS: usize = 8;
/// The bounds of the time for [`WRITER_RUNS`]: the smaller is always allowed, more than the larger
/// never.
pub const WRITER_SPARE: RangeInclusive<Duration> = Duration::from_micros(15)..=Duration::from_micros(60);
/// The writer makes waiting re-runs, a few after each write, if they take no longer than this on average. A worker makes slower re-runs,
/// so that their values arrive together.
pub const WORKED_OFF_EACH: Duration = Duration::from_micros(15);
/// The time that the writer may spend on such re-runs. After that, a worker makes them.
pub const WRITER_RUNS_MAX: Duration = Duration::from_micros(500);
/// Live queries that become stale while others are being run wait this long for each other. Live queries that are ready wait this long
/// for the writer.
pub const BATCHING_WINDOW: Duration = Duration::from_millis(1);
/// The time after which the writer, if it has time, runs live queries that wait for each other. It does so before a worker is woken for
/// them.
pub const WRITER_ENDS_WINDOW: Duration = Duration::from_micros(750);
/// The time that a live query waits after a transient error before it re-runs. The time doubles after each further error.
pub const RETRY_FIRST: Duration = Duration::from_millis(10);
/// See [`RETRY_FIRST`]; a live query waits no longer than this.
pub const RETRY_MAX: Duration = Duration::from_secs(5);
/// The time between two checks for external commits while live queries are open.
pub const EXTERNAL_LOOK: Duration = Duration::from_millis(4);
/// The number of files that are checked that often for external commits. If there are twice as many files, each is checked half as often.
pub const EXTERNAL_LOOKS: usize = 100;
/// The time without use after which the connections of a file close, if many files are open.
pub const REST_AFTER: Duration = Duration::from_secs(60);
/// The time after which a file that has just copied its log tries again to rest.
pub const REST_AGAIN: Duration = Duration::from_millis(50);
/// The number of open files up to which none of them has to rest.
pub const FILES_AWAKE: usize = 100;
/// The time between two checks of the writer that the files to which it writes are still those that it opened.
pub const FILE_LOOK: Duration = Duration::from_millis(1);
/// The longest time that a thread that ran out of work spins before it leaves or parks, when more work is likely to come soon.
pub const SPIN_MAX: Duration = Duration::from_micros(100);
/// If a spinning thread could not poll for as long as this, it was preempted.
pub const PREEMPTED_AFTER: Duration = Duration::from_millis(1);
/// The time for which no thread spins after one of them was preempted.
pub const SPIN_BACKOFF: Duration = Duration::from_millis(20);
/// Bytes of the operations of one entry. A transaction with more bytes cannot commit while there is an entry gate.
pub const ENTRY_BYTES_MAX: usize = 256 << 20;
/// Columns of the tables that the operations of one entry define, counted together; a table itself counts as four. When they are read,
/// they take about as much memory as the largest entry.
pub const ENTRY_COLUMNS_MAX: usize = 1 << 22;
/// Entries of others that are applied in one commit. Live queries see at most this many at once.
pub const APPLIED_TOGETHER: usize = 256;
/// Bytes of entries that are applied in one commit, unless a single entry has more.
pub const APPLIED_BYTES: usize = 1 << 20;
/// The longest time that an entry gate may take, unless it has a deadline of its own.
pub const ENTRY_GATE: Duration = Duration::from_secs(10);
/// Writes that are committed together.
pub const GROUP_UNITS_MAX: usize = 1024;
/// Bytes that a compiled pattern of REGEXP may take. The time of a match grows with the product of this number and the length of the
/// text.
pub const REGEXP_BYTES: usize = 1 << 20;
/// Bytes that a compiled pattern of REGEXP may take in a database that was opened as untrusted.
pub const REGEXP_BYTES_UNTRUSTED: usize = 1 << 16;
/// Prepared statements kept per connection, if the user gives no number.
pub const STATEMENT_CACHE_DEFAULT: usize = 128;
/// Rows in one row batch.
pub const ROW_BATCH_ROWS_MAX: usize = 1024;
/// Cells in one row batch: rows times columns.
pub const ROW_BATCH_CELLS_MAX: usize = 16 * 1024;
/// Bytes of text (or of BLOBs) after which a row batch is cut. A string that a caller keeps also keeps about this much memory alive. V8
/// takes several times as long for strings beyond 128 KiB.
pub const ROW_BATCH_HEAP_MAX: usize = 96 * 1024;
/// Bytes of text, or of BLOBs, in the largest possible row.
pub const ROW_BATCH_BYTES_MAX: usize = 1 << 30;
/// Bytes of buffers that a connection keeps between two results.
pub const PACKER_KEPT: usize = 1 << 20;
/// Column layouts that are kept before unused ones are dropped.
pub const SHAPES_MAX: usize = 4096;
/// Virtual-machine operations between two checks of a statement's cancellation token (some tens of microseconds).
pub const PROGRESS_OPERATIONS: u32 = 1000;
/// Rows of a query that runs on its caller's thread.
pub const INLINE_ROWS: usize = 64;
/// Columns of a query that runs on its caller's thread.
pub const INLINE_COLUMNS: usize = 64;
/// Bytes of the packed result of a query that runs on its caller's thread.
pub const INLINE_BYTES: usize = 8192;
/// Bytes of a value in a query that runs on its caller's thread.
pub const INLINE_VALUE_BYTES: i32 = 4096;
/// Pages that a query on its caller's thread may read from the memory of the system.
pub const INLINE_READS: u32 = 64;
/// KiB of the page cache of the connection for queries on their callers' threads, unless the caller sets `cache_size`. A page that is not
/// in this cache costs a system call.
pub const INLINE_CACHE_KIB: u32 = 16_000;
/// The bytes of its cache that this connection may forget by itself after the state has changed. If the cache is larger, a worker forgets
/// it.
pub const INLINE_CACHE_FREED: u64 = 1 << 20;
/// The time after which a query on its caller's thread is given up.
pub const INLINE_TIME: Duration = Duration::from_micros(200);
/// Virtual-machine operations between two readings of the clock. An operation on the longest values takes some microseconds.
pub const INLINE_OPERATIONS: u32 = 100;
/// Instructions of the program of such a query. SQLite reads the clock only at backward jumps, so this bounds the work between two
/// readings.
pub const INLINE_INSTRUCTIONS: usize = 250;
/// Instructions of such a program that call a function. They take the longest.
pub const INLINE_FUNCTIONS: usize = 32;
/// Statements that wait at the same time to be prepared for their callers' threads.
pub const INLINE_WANTED: usize = 16;
/// The longest time for which a read is held for such queries.
pub const INLINE_READ: Duration = Duration::from_millis(20);
/// Writes that go on from one held read to the next, before a new read begins. Others can copy the log only up to where the read began.
pub const HELD_READ_WRITES: u32 = 64;
/// The longest wait of the writer for locks of other processes, if the user gives no time.
pub const BUSY_TIMEOUT_DEFAULT: Duration = Duration::from_secs(5);
/// The longest pause between two attempts at a lock of another process.
pub const BUSY_PAUSE_MAX: Duration = Duration::from_millis(20);
/// Pages of write-ahead log after which a checkpoint copies what it can (4 MiB at 4 KiB pages).
pub const WAL_CHECKPOINT_PAGES: u32 = 1000;
/// Pages of write-ahead log after which new reads are paused for a moment, so that the log can be reset.
pub const WAL_RESTART_PAGES: u32 = 8000;
/// The time that the writer waits for the next part of a batch before it checks whether the batch was given up.
pub const CHUNK_PATIENCE: Duration = Duration::from_millis(20);
/// Bytes of parameters that a cached statement may hold on to after it has run.
pub const BOUND_BYTES_KEPT: usize = 64 * 1024;
/// The most attempts to begin a read of several databases. The read starts over if a commit happened in between.
pub const SNAPSHOT_ATTEMPTS: usize = 50;
/// The number of these attempts that do not hold commits back.
pub const SNAPSHOT_ATTEMPTS_FREE: usize = 5;
/// The longest wait for a commit number, by a read that must know its state exactly. It waits for the number of the commit that has just
/// made that state.
pub const STATE_PATIENCE: Duration = Duration::from_millis(1);
/// The longest wait of a commit for reads of several databases, and of such reads for a script that manages transactions.
pub const COMMIT_BARRIER: Duration = Duration::from_millis(200);
/// The longest pause of new reads in which the write-ahead log can be reset, if the log has [`WAL_RESTART_PAGES`]. A longer log allows a
/// proportionally longer pause, up to [`READ_PAUSE_MAX`].
pub const READ_PAUSE: Duration = Duration::from_millis(50);
/// See [`READ_PAUSE`].
pub const READ_PAUSE_MAX: Duration = Duration::from_secs(1);
/// The longest time for which new snapshots, cursors and re-runs are held back before such a pause, if the log has [`WAL_RESTART_PAGES`].
/// A longer log allows a proportionally longer time, up to [`LOG_PAUSE_MAX`].
pub const LOG_PAUSE: Duration = Duration::from_millis(250);
/// See [`LOG_PAUSE`].
pub const LOG_PAUSE_MAX: Duration = Duration::from_secs(5);
/// The size, in bytes, to which the write-ahead log file is cut when it is reset.
pub const WAL_FILE_KEPT: u64 = 64 << 20;
/// Copies and checkpoints of a file that run at the same time; one more is refused.
pub const LONG_WORKS_MAX: usize = 16;
/// Pages that a copy takes at a time. Between two steps, the copy checks whether it was cancelled.
pub const COPY_STEP_PAGES: u32 = 256;
/// Pages of a copy that are written before they are synced. So the last sync is short and delays no other sync.
pub const COPY_SYNC_PAGES: u32 = 2048;
/// The time between two reports of the progress of a copy.
pub const COPY_PROGRESS: Duration = Duration::from_millis(200);
/// The most times that the log that has grown during a copy is copied into the database file. After that, the writer goes on copying it.
pub const CATCH_UP_ROUNDS: usize = 8;
/// Bytes of the largest database that can be returned to a caller as bytes.
pub const SERIALIZED_MAX: u64 = 2 << 30;
/// SQLite's limits in a database that was opened as untrusted. They follow the advice of <https://www.sqlite.org/security.html>, but
/// leave room for the needs of applications.
pub const UNTRUSTED: [(i32, i32); 11] = [
    // Bytes of a value or a row. This bounds single steps, too: the time of `instr` is the product of two lengths.
    (limit::LENGTH, 1_000_000),
    (limit::SQL_LENGTH, 100_000),
    (limit::COLUMN, 200),
    (limit::EXPR_DEPTH, 50),
    (limit::COMPOUND_SELECT, 20),
    (limit::VDBE_OP, 25_000),
    (limit::FUNCTION_ARG, 50),
    // One attached database, for VACUUM; ATTACH itself is refused.
    (limit::ATTACHED, 1),
    // The time that LIKE and GLOB take grows with this exponent.
    (limit::LIKE_PATTERN_LENGTH, 50),
    (limit::TRIGGER_DEPTH, 10),
    (limit::WORKER_THREADS, 0),
];

/// Results of live queries with fewer rows are not maintained, unless a run of the whole statement takes long.
pub const KEPT_ROWS_MIN: usize = 64;
/// The number of microseconds from which a run of the whole statement takes long. No result is maintained before its whole runs have
/// taken this long in total.
pub const KEPT_MICROS_MIN: u64 = 200;
/// Reading the part of a result that is to be kept may take as long as this number of whole runs.
pub const KEEPING_RUNS: u64 = 8;
/// Reading that part may always take this long: a busy machine makes a thread wait for some milliseconds.
pub const KEEPING_LEAST: Duration = Duration::from_millis(20);
/// Rows that are kept after the window that a LIMIT shows. This many rows may leave the window before the whole statement runs again.
pub const WINDOW_SLACK: usize = 128;
/// The largest value to which [`WINDOW_SLACK`] grows if rows keep leaving: each time the kept rows are used up, twice as many are kept.
pub const WINDOW_SLACK_MAX: usize = 8192;
/// The value of [`WINDOW_SLACK`] in tests in which results are always maintained, so that few rows must leave to reach the border.
pub const WINDOW_SLACK_IN_TESTS: usize = 2;
/// The most bytes that are kept of the result of one statement.
pub const KEPT_BYTES: usize = 64 * 1024 * 1024;
/// The approximate time, in microseconds, that it takes to ask for the rows of one base row. A live query runs as a whole if that is
/// quicker.
pub const ASKED_ROW_MICROS: u64 = 5;
/// Examining changed rows may take as long as this number of whole runs. After that, the whole statement runs, and fewer rows are asked
/// for the next time.
pub const STEP_RUNS: u64 = 2;
/// Examining changed rows may always take this long: a busy machine makes a thread wait for some milliseconds.
pub const STEP_LEAST: Duration = Duration::from_millis(50);
/// Tables of given rows that a connection knows. When there are more, the least recently used table is forgotten.
pub const GIVEN_TABLES_MAX: usize = 128;
