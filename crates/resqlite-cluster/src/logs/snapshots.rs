//! Snapshots in pieces, for logs that keep values of limited size.

use std::{
    future::Future,
    hash::{BuildHasher, Hasher, RandomState},
    path::Path,
};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::{
    fs::{self, File},
    io::{AsyncReadExt, AsyncWriteExt},
};

use crate::core::log::LogError;

/// Small enough for the messages of NATS (1 MiB) and the requests of etcd (1.5 MiB) as they are installed.
const PIECE: usize = 512 * 1024;
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
    let mut pieces = 0;
    while let Some(piece) = next_piece(&mut file)
        .await
        .map_err(|error| unusable(path, &error))?
    {
        shelf.put(piece_name(position, put, pieces), piece).await?;
        pieces += 1;
    }
    shelf
        .put(manifest_name(position), Manifest { put, pieces }.write())
        .await
}

pub(super) async fn get(shelf: &impl Shelf, into: &Path) -> Result<Option<u64>, LogError> {
    for _ in 0..TRIES {
        let Some(position) = shelf.newest(MANIFEST).await? else {
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
    for index in 0..manifest.pieces {
        let Some(piece) = shelf.get(piece_name(position, manifest.put, index)).await? else {
            return Ok(false);
        };
        file.write_all(&piece)
            .await
            .map_err(|error| unusable(path, &error))?;
    }
    file.sync_all().await.map_err(|error| unusable(path, &error))?;
    Ok(true)
}

async fn next_piece(file: &mut File) -> std::io::Result<Option<Bytes>> {
    let mut piece = Vec::with_capacity(PIECE);
    file.take(PIECE as u64).read_to_end(&mut piece).await?;
    Ok((!piece.is_empty()).then(|| piece.into()))
}

fn manifest_name(position: u64) -> String {
    format!("{position:020}/{MANIFEST}")
}

fn piece_name(position: u64, put: u64, index: u64) -> String {
    format!("{position:020}/{put:016x}/{index:08}")
}

fn unusable(path: &Path, error: &std::io::Error) -> LogError {
    LogError::Unfit(format!("{}: {error}", path.display()))
}
