//! Snapshots in pieces, for logs that keep values of limited size. Parts of entries are kept beside the pieces.

use std::{
    future::Future,
    hash::{BuildHasher, Hasher, RandomState},
    path::{Path, PathBuf},
};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures_util::{
    StreamExt, TryStreamExt,
    stream::{self, FuturesUnordered},
};
use resqlite::log::Position;
use sha2::{Digest, Sha256};
use tokio::{
    fs::{self, File},
    io::{AsyncReadExt, AsyncWriteExt},
};

use super::positions::digits;
#[cfg(any(feature = "nats", feature = "etcd"))]
use crate::core::log::Part;
use crate::core::{
    copies::Copies,
    limits::{PIECE_BYTES, PIECES_AT_ONCE},
    log::LogError,
};

/// The number of tries to read a snapshot, since the log may let go of it while it is read.
const TRIES: usize = 3;

/// The store that keeps the pieces, each sealed under its name. Names have parts between `/`; the first part is the position with
/// 20 digits.
pub(super) trait Shelf: Sync {
    fn put(&self, name: String, value: Bytes) -> impl Future<Output = Result<(), LogError>> + Send;
    /// Returns the bytes that were put under `name`, from whichever server has them, or `None` if no server has anything. Fails
    /// with [`LogError::Damaged`] if no server has the bytes as they were put. `what` names the bytes for people.
    fn get(&self, name: String, what: String)
    -> impl Future<Output = Result<Option<Bytes>, LogError>> + Send;
    /// The servers that are asked.
    fn copies(&self) -> &Copies;
    /// Returns the highest position that has this name below it.
    fn newest(&self, name: &'static str) -> impl Future<Output = Result<Option<Position>, LogError>> + Send;
    /// Deletes everything that belongs to a position below this position.
    fn delete_below(&self, position: Position) -> impl Future<Output = Result<(), LogError>> + Send;
}

pub(super) const MANIFEST: &str = "manifest";
/// The beginning of a manifest.
const MAGIC: &[u8; 4] = b"rqs\x01";

/// The manifest of a snapshot. It is written last, and only with it are the pieces a snapshot.
struct Manifest {
    /// A number that distinguishes the pieces from those of another node that puts a snapshot of the same position.
    put: u64,
    pieces: u64,
    /// The hash of the whole file.
    hash: [u8; 32],
}

impl Manifest {
    fn write(&self) -> Bytes {
        let mut bytes = BytesMut::from(&MAGIC[..]);
        bytes.put_u64(self.put);
        bytes.put_u64(self.pieces);
        bytes.extend_from_slice(&self.hash);
        bytes.freeze()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let (put, pieces) = (rest.try_get_u64().ok()?, rest.try_get_u64().ok()?);
        let hash = rest.try_into().ok()?;
        Some(Self { put, pieces, hash })
    }
}

pub(super) async fn put(shelf: &impl Shelf, position: Position, path: PathBuf) -> Result<(), LogError> {
    let mut file = File::open(&path).await.map_err(|error| unusable(&path, &error))?;
    let put = RandomState::new().build_hasher().finish();
    let (mut pieces, mut hash, mut under_way) = (0, Sha256::new(), FuturesUnordered::new());
    while let Some(piece) = next_piece(&mut file)
        .await
        .map_err(|error| unusable(&path, &error))?
    {
        if under_way.len() == PIECES_AT_ONCE {
            under_way.try_next().await?;
        }
        hash.update(&piece);
        under_way.push(shelf.put(piece_name(position, put, pieces), piece));
        pieces += 1;
    }
    while under_way.try_next().await?.is_some() {}
    let hash = hash.finalize().into();
    let manifest = Manifest { put, pieces, hash };
    shelf.put(manifest_name(position), manifest.write()).await
}

pub(super) async fn last(shelf: &impl Shelf) -> Result<Option<Position>, LogError> {
    shelf.newest(MANIFEST).await
}

pub(super) async fn get(shelf: &impl Shelf, into: PathBuf) -> Result<Option<Position>, LogError> {
    for _ in 0..TRIES {
        let Some(position) = last(shelf).await? else {
            return Ok(None);
        };
        let Some(missing) = write_file(shelf, position, &into).await? else {
            return Ok(Some(position));
        };
        if last(shelf).await? == Some(position) {
            return Err(shelf.copies().lost(&missing));
        }
    }
    Err(LogError::Unknown(
        "snapshots were let go of while they were read".to_owned(),
    ))
}

fn unreadable(position: Position, why: &str) -> LogError {
    LogError::Damaged(format!(
        "the snapshot at position {position} cannot be read: {why}"
    ))
}

#[cfg(any(feature = "nats", feature = "etcd"))]
pub(super) async fn put_part(shelf: &impl Shelf, part: Part, bytes: Bytes) -> Result<(), LogError> {
    shelf.put(part_name(part), bytes).await
}

#[cfg(any(feature = "nats", feature = "etcd"))]
pub(super) async fn get_part(shelf: &impl Shelf, part: Part) -> Result<Option<Bytes>, LogError> {
    let what = format!("part {} of the entry at position {}", part.index, part.position);
    shelf.get(part_name(part), what).await
}

/// Returns the name of a part. It has the position before the entry, because a purge deletes what stands below its position: so
/// it also deletes the parts of the entries up to that position.
#[cfg(any(feature = "nats", feature = "etcd"))]
fn part_name(Part { position, of, index }: Part) -> String {
    piece_name(position.before(), of, index)
}

/// Writes the snapshot into a new file. If a piece is not there any more, returns the name of that piece and leaves no file.
async fn write_file(shelf: &impl Shelf, position: Position, path: &Path) -> Result<Option<String>, LogError> {
    let mut file = File::create_new(path)
        .await
        .map_err(|error| unusable(path, &error))?;
    let missing = copy(shelf, position, &mut file, path).await;
    if !matches!(missing, Ok(None)) {
        fs::remove_file(path)
            .await
            .map_err(|error| unusable(path, &error))?;
    }
    missing
}

async fn copy(
    shelf: &impl Shelf,
    position: Position,
    file: &mut File,
    path: &Path,
) -> Result<Option<String>, LogError> {
    let of = format!("of the snapshot at position {position}");
    let what = format!("the manifest {of}");
    let piece_at = |index: u64| format!("piece {index} {of}");
    let Some(manifest) = shelf.get(manifest_name(position), what.clone()).await? else {
        return Ok(Some(what));
    };
    let Some(manifest) = Manifest::read(&manifest) else {
        return Err(unreadable(position, "another version of resqlite has put it"));
    };
    let get = |index| shelf.get(piece_name(position, manifest.put, index), piece_at(index));
    let mut pieces = stream::iter(0..manifest.pieces)
        .map(get)
        .buffered(PIECES_AT_ONCE)
        .enumerate();
    let mut hash = Sha256::new();
    while let Some((index, piece)) = pieces.next().await {
        let Some(piece) = piece? else {
            return Ok(Some(piece_at(index as u64)));
        };
        hash.update(&piece);
        file.write_all(&piece)
            .await
            .map_err(|error| unusable(path, &error))?;
    }
    if hash.finalize()[..] != manifest.hash {
        return Err(unreadable(
            position,
            "its pieces do not make the file that was put",
        ));
    }
    file.sync_all().await.map_err(|error| unusable(path, &error))?;
    Ok(None)
}

async fn next_piece(file: &mut File) -> std::io::Result<Option<Bytes>> {
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    file.take(PIECE_BYTES as u64).read_to_end(&mut piece).await?;
    Ok((!piece.is_empty()).then(|| piece.into()))
}

fn manifest_name(position: Position) -> String {
    format!("{}/{MANIFEST}", digits(position))
}

fn piece_name(position: Position, put: u64, index: u64) -> String {
    format!("{}/{put:016x}/{index:08}", digits(position))
}

fn unusable(path: &Path, error: &std::io::Error) -> LogError {
    LogError::Unfit(format!("{}: {error}", path.display()))
}
