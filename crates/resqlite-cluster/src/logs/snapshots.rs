//! Snapshots in pieces, for logs that keep values of limited size; and parts of entries, which are kept beside them.

use std::{
    future::Future,
    hash::{BuildHasher, Hasher, RandomState},
    path::Path,
};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures_util::{
    StreamExt, TryStreamExt,
    stream::{self, FuturesUnordered},
};
use tokio::{
    fs::{self, File},
    io::{AsyncReadExt, AsyncWriteExt},
};

use super::positions::digits;
use crate::core::{
    limits::{PIECE_BYTES, PIECES_AT_ONCE},
    log::{LogError, Part},
};

/// How often a snapshot is begun anew that was let go of while it was read.
const TRIES: usize = 3;

/// Where the pieces are kept. Names have parts between `/`; the first one is the position with 20 digits.
pub(super) trait Shelf: Sync {
    fn put(&self, name: String, value: Bytes) -> impl Future<Output = Result<(), LogError>> + Send;
    fn get(&self, name: String) -> impl Future<Output = Result<Option<Bytes>, LogError>> + Send;
    /// The highest position with this name below it.
    fn newest(&self, name: &'static str) -> impl Future<Output = Result<Option<u64>, LogError>> + Send;
    /// Deletes everything of the positions below this one.
    fn delete_below(&self, position: u64) -> impl Future<Output = Result<(), LogError>> + Send;
}

const MANIFEST: &str = "manifest";

/// What is written last, and makes the pieces a snapshot.
struct Manifest {
    /// Tells the pieces from those of another node that puts a snapshot of the same position.
    put: u64,
    pieces: u64,
}

impl Manifest {
    fn write(&self) -> Bytes {
        let mut bytes = BytesMut::with_capacity(16);
        bytes.put_u64(self.put);
        bytes.put_u64(self.pieces);
        bytes.freeze()
    }

    fn read(mut bytes: Bytes) -> Result<Self, LogError> {
        if bytes.len() != 16 {
            return Err(LogError::Unfit(
                "the manifest of a snapshot is damaged".to_owned(),
            ));
        }
        Ok(Self {
            put: bytes.get_u64(),
            pieces: bytes.get_u64(),
        })
    }
}

pub(super) async fn put(shelf: &impl Shelf, position: u64, path: &Path) -> Result<(), LogError> {
    let mut file = File::open(path).await.map_err(|error| unusable(path, &error))?;
    let put = RandomState::new().build_hasher().finish();
    let (mut pieces, mut under_way) = (0, FuturesUnordered::new());
    while let Some(piece) = next_piece(&mut file)
        .await
        .map_err(|error| unusable(path, &error))?
    {
        if under_way.len() == PIECES_AT_ONCE {
            under_way.try_next().await?;
        }
        under_way.push(shelf.put(piece_name(position, put, pieces), piece));
        pieces += 1;
    }
    while under_way.try_next().await?.is_some() {}
    shelf
        .put(manifest_name(position), Manifest { put, pieces }.write())
        .await
}

pub(super) async fn last(shelf: &impl Shelf) -> Result<Option<u64>, LogError> {
    shelf.newest(MANIFEST).await
}

pub(super) async fn get(shelf: &impl Shelf, into: &Path) -> Result<Option<u64>, LogError> {
    for _ in 0..TRIES {
        let Some(position) = last(shelf).await? else {
            return Ok(None);
        };
        if write_file(shelf, position, into).await? {
            return Ok(Some(position));
        }
    }
    Err(LogError::Unknown(
        "snapshots were let go of while they were read".to_owned(),
    ))
}

pub(super) async fn put_part(shelf: &impl Shelf, part: Part, bytes: Bytes) -> Result<(), LogError> {
    shelf.put(part_name(part), bytes).await
}

pub(super) async fn get_part(shelf: &impl Shelf, part: Part) -> Result<Option<Bytes>, LogError> {
    shelf.get(part_name(part)).await
}

/// A purge lets go of what stands below its position: of parts, too, whose entries stand up to there.
fn part_name(Part { position, of, index }: Part) -> String {
    piece_name(position.saturating_sub(1), of, index)
}

/// False, without a file, if the snapshot is not there any more.
async fn write_file(shelf: &impl Shelf, position: u64, path: &Path) -> Result<bool, LogError> {
    let mut file = File::create_new(path)
        .await
        .map_err(|error| unusable(path, &error))?;
    let is_whole = copy(shelf, position, &mut file, path).await;
    if !matches!(is_whole, Ok(true)) {
        fs::remove_file(path)
            .await
            .map_err(|error| unusable(path, &error))?;
    }
    is_whole
}

async fn copy(shelf: &impl Shelf, position: u64, file: &mut File, path: &Path) -> Result<bool, LogError> {
    let Some(manifest) = shelf.get(manifest_name(position)).await? else {
        return Ok(false);
    };
    let manifest = Manifest::read(manifest)?;
    let get = |index| shelf.get(piece_name(position, manifest.put, index));
    let mut pieces = stream::iter(0..manifest.pieces).map(get).buffered(PIECES_AT_ONCE);
    while let Some(piece) = pieces.try_next().await? {
        let Some(piece) = piece else { return Ok(false) };
        file.write_all(&piece)
            .await
            .map_err(|error| unusable(path, &error))?;
    }
    file.sync_all().await.map_err(|error| unusable(path, &error))?;
    Ok(true)
}

async fn next_piece(file: &mut File) -> std::io::Result<Option<Bytes>> {
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    file.take(PIECE_BYTES as u64).read_to_end(&mut piece).await?;
    Ok((!piece.is_empty()).then(|| piece.into()))
}

fn manifest_name(position: u64) -> String {
    format!("{}/{MANIFEST}", digits(position))
}

fn piece_name(position: u64, put: u64, index: u64) -> String {
    format!("{}/{put:016x}/{index:08}", digits(position))
}

fn unusable(path: &Path, error: &std::io::Error) -> LogError {
    LogError::Unfit(format!("{}: {error}", path.display()))
}
