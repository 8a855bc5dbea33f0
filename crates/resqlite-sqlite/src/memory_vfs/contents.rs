//! The bytes of one file.

use std::{
    mem::MaybeUninit,
    ops::Range,
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

/// Bytes of memory that a file allocates at once.
pub(super) const CHUNK: usize = 64 * 1024;

/// The file cannot grow: no memory is left, or its size would overflow.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutOfMemory;

/// The bytes of one file, shared by everything that has it open. Each call is atomic.
#[derive(Default)]
pub(super) struct Contents(RwLock<Bytes>);

/// The bytes are in chunks, because a single vector would be copied when it grows. The chunks cover `len` bytes. Bytes
/// past `len` are zero: if a write leaves a gap, the gap reads as zeros.
#[derive(Default)]
struct Bytes {
    chunks: Vec<Box<[u8]>>,
    len: usize,
}

impl Contents {
    /// Returns the length in bytes.
    pub(super) fn len(&self) -> usize {
        self.shared().len
    }

    /// Fills `target` with the bytes from `offset` on, and with zeros past the end of the file. Returns the number of
    /// bytes that came from the file.
    pub(super) fn read(&self, offset: usize, target: &mut [MaybeUninit<u8>]) -> usize {
        let bytes = self.shared();
        let count = target.len().min(bytes.len.saturating_sub(offset));
        let (inside, past) = target.split_at_mut(count);
        for piece in pieces(offset, count) {
            fill(
                &mut inside[piece.buffer],
                &bytes.chunks[piece.chunk][piece.within],
            );
        }
        past.fill(MaybeUninit::new(0));
        count
    }

    /// Writes `source` at `offset`. The file grows if it must.
    pub(super) fn write(&self, offset: usize, source: &[u8]) -> Result<(), OutOfMemory> {
        let end = offset.checked_add(source.len()).ok_or(OutOfMemory)?;
        let mut bytes = self.exclusive();
        bytes.reserve(end)?;
        for piece in pieces(offset, source.len()) {
            bytes.chunks[piece.chunk][piece.within].copy_from_slice(&source[piece.buffer]);
        }
        bytes.len = bytes.len.max(end);
        Ok(())
    }

    /// Truncates the file to `len` bytes, or extends it with zeros. Frees memory that is no longer needed.
    pub(super) fn resize(&self, len: usize) -> Result<(), OutOfMemory> {
        let mut bytes = self.exclusive();
        bytes.reserve(len)?;
        bytes.truncate(len);
        bytes.len = len;
        Ok(())
    }

    /// Takes all bytes, which leaves an empty file. Each chunk is freed as soon as it is copied.
    pub(super) fn take(&self) -> Vec<u8> {
        let Bytes { chunks, len } = std::mem::take(&mut *self.exclusive());
        let mut bytes = Vec::with_capacity(len);
        for chunk in chunks {
            let rest = len - bytes.len();
            bytes.extend_from_slice(&chunk[..rest.min(CHUNK)]);
        }
        bytes
    }

    fn shared(&self) -> RwLockReadGuard<'_, Bytes> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn exclusive(&self) -> RwLockWriteGuard<'_, Bytes> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bytes {
    /// Allocates chunks until they cover `len` bytes.
    fn reserve(&mut self, len: usize) -> Result<(), OutOfMemory> {
        let before = self.chunks.len();
        let grown = self.grow(len.div_ceil(CHUNK));
        if grown.is_err() {
            // Frees the chunks that could be allocated: they are of no use.
            self.chunks.truncate(before);
        }
        grown
    }

    fn grow(&mut self, count: usize) -> Result<(), OutOfMemory> {
        let missing = count.saturating_sub(self.chunks.len());
        self.chunks.try_reserve(missing).map_err(|_| OutOfMemory)?;
        for _ in 0..missing {
            self.chunks.push(zeroed_chunk()?);
        }
        Ok(())
    }

    /// Frees the chunks past `len` and zeroes the rest of the last one.
    fn truncate(&mut self, len: usize) {
        self.chunks.truncate(len.div_ceil(CHUNK));
        self.chunks.shrink_to(2 * self.chunks.len());
        if let Some(last) = self.chunks.get_mut(len / CHUNK) {
            last[len % CHUNK..].fill(0);
        }
    }
}

fn zeroed_chunk() -> Result<Box<[u8]>, OutOfMemory> {
    let mut chunk = Vec::new();
    chunk.try_reserve_exact(CHUNK).map_err(|_| OutOfMemory)?;
    chunk.resize(CHUNK, 0);
    Ok(chunk.into_boxed_slice())
}

/// A part of a buffer, and its place in the file.
struct Piece {
    chunk: usize,
    within: Range<usize>,
    buffer: Range<usize>,
}

/// Splits `len` bytes from `offset` on at chunk boundaries. `offset + len` must not overflow.
fn pieces(offset: usize, len: usize) -> impl Iterator<Item = Piece> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done;
        let start = at % CHUNK;
        let size = (len - done).min(CHUNK - start);
        let piece = Piece {
            chunk: at / CHUNK,
            within: start..start + size,
            buffer: done..done + size,
        };
        done += size;
        (size > 0).then_some(piece)
    })
}

fn fill(target: &mut [MaybeUninit<u8>], source: &[u8]) {
    for (to, from) in target.iter_mut().zip(source) {
        to.write(*from);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Reads `len` bytes; also returns how many of them came from the file.
    fn read(contents: &Contents, offset: usize, len: usize) -> (Vec<u8>, usize) {
        let mut target = vec![MaybeUninit::new(0xEE); len];
        let count = contents.read(offset, &mut target);
        (target.iter().map(|byte| initialised(*byte)).collect(), count)
    }

    #[allow(unsafe_code)]
    fn initialised(byte: MaybeUninit<u8>) -> u8 {
        // SAFETY: the only caller initialises its buffer.
        unsafe { byte.assume_init() }
    }

    #[test]
    fn a_read_past_the_end_is_short_and_zero_filled() {
        let contents = Contents::default();
        contents.write(0, b"abc").unwrap();
        assert_eq!(read(&contents, 1, 4), (b"bc\0\0".to_vec(), 2));
        assert_eq!(read(&contents, 9, 2), (vec![0, 0], 0));
        assert_eq!(read(&contents, usize::MAX, 1), (vec![0], 0));
    }

    #[test]
    fn a_write_may_cross_a_chunk_boundary() {
        let contents = Contents::default();
        contents.write(CHUNK - 2, b"abcd").unwrap();
        assert_eq!(contents.len(), CHUNK + 2);
        assert_eq!(read(&contents, CHUNK - 3, 6), (b"\0abcd\0".to_vec(), 5));
    }

    #[test]
    fn overwriting_keeps_the_length() {
        let contents = Contents::default();
        contents.write(0, b"abcdef").unwrap();
        contents.write(2, b"XY").unwrap();
        assert_eq!(read(&contents, 0, 6), (b"abXYef".to_vec(), 6));
    }

    #[test]
    fn truncated_bytes_read_as_zero_when_the_file_grows_again() {
        let contents = Contents::default();
        contents.write(0, &[7; 10]).unwrap();
        contents.resize(4).unwrap();
        contents.write(8, &[9]).unwrap();
        assert_eq!(read(&contents, 0, 9), (vec![7, 7, 7, 7, 0, 0, 0, 0, 9], 9));
    }

    #[test]
    fn taking_the_bytes_leaves_an_empty_file() {
        let contents = Contents::default();
        let bytes: Vec<_> = (0..2 * CHUNK + 5).map(|at| (at % 251) as u8).collect();
        contents.write(0, &bytes).unwrap();
        assert_eq!(contents.take(), bytes);
        assert_eq!((contents.len(), contents.take().len()), (0, 0));
    }

    #[test]
    fn resizing_frees_and_allocates_whole_chunks() {
        let contents = Contents::default();
        contents.write(0, &[1; 3 * CHUNK]).unwrap();
        contents.resize(CHUNK).unwrap();
        assert_eq!(contents.shared().chunks.len(), 1);
        contents.resize(2 * CHUNK + 1).unwrap();
        assert_eq!(contents.shared().chunks.len(), 3);
        assert_eq!(read(&contents, CHUNK - 1, 3), (vec![1, 0, 0], 3));
        contents.resize(0).unwrap();
        assert_eq!(contents.shared().chunks.len(), 0);
        assert_eq!(contents.len(), 0);
    }

    #[test]
    fn a_write_past_the_end_of_the_address_space_is_refused() {
        let contents = Contents::default();
        assert_eq!(contents.write(usize::MAX, b"ab"), Err(OutOfMemory));
        assert_eq!(contents.len(), 0);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri stops where an allocation fails")]
    fn a_file_larger_than_memory_is_refused_and_leaves_no_chunks() {
        let contents = Contents::default();
        assert_eq!(contents.resize(usize::MAX), Err(OutOfMemory));
        assert_eq!(contents.len(), 0);
        assert_eq!(contents.shared().chunks.len(), 0);
    }

    #[test]
    fn a_reader_never_sees_half_a_write() {
        let contents = Contents::default();
        contents.write(0, &[0; 64]).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| (1..=50).for_each(|turn| contents.write(0, &[turn; 64]).unwrap()));
            for _ in 0..50 {
                let (bytes, _) = read(&contents, 0, 64);
                assert!(bytes.iter().all(|byte| *byte == bytes[0]), "{bytes:?}");
            }
        });
    }
}
