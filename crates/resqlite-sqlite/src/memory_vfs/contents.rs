//! The bytes of one file.

use std::{
    mem::MaybeUninit,
    ops::Range,
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

/// How much memory a file takes at a time, in bytes.
pub(super) const CHUNK: usize = 64 * 1024;

/// The process has no memory left for the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutOfMemory;

/// The bytes of one file, shared by all who have it open. Each call is atomic towards the others.
#[derive(Default)]
pub(super) struct Contents(RwLock<Bytes>);

/// Chunks rather than one vector, so that growing never copies. They cover `len`; what they hold past `len` is
/// zero, so that a file that grows over a gap reads as zero there.
#[derive(Default)]
struct Bytes {
    chunks: Vec<Box<[u8]>>,
    len: usize,
}

impl Contents {
    /// The length in bytes.
    pub(super) fn len(&self) -> usize {
        self.shared().len
    }

    /// Fills `target` from `offset` on, with zeros past the end of the file. Returns how many bytes the file had.
    pub(super) fn read(&self, offset: usize, target: &mut [MaybeUninit<u8>]) -> usize {
        let bytes = self.shared();
        let had = target.len().min(bytes.len.saturating_sub(offset));
        let (inside, past) = target.split_at_mut(had);
        for piece in pieces(offset, had) {
            fill(
                &mut inside[piece.buffer],
                &bytes.chunks[piece.chunk][piece.within],
            );
        }
        past.fill(MaybeUninit::new(0));
        had
    }

    /// Writes `source` at `offset`; the file grows as needed.
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

    /// Cuts or zero-extends the file to `len` bytes and frees the memory it no longer needs.
    pub(super) fn resize(&self, len: usize) -> Result<(), OutOfMemory> {
        let mut bytes = self.exclusive();
        bytes.reserve(len)?;
        bytes.cut(len);
        bytes.len = len;
        Ok(())
    }

    fn shared(&self) -> RwLockReadGuard<'_, Bytes> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn exclusive(&self) -> RwLockWriteGuard<'_, Bytes> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bytes {
    /// Makes the chunks cover `len` bytes.
    fn reserve(&mut self, len: usize) -> Result<(), OutOfMemory> {
        let had = self.chunks.len();
        let grown = self.grow(len.div_ceil(CHUNK));
        if grown.is_err() {
            // What could be had is of no use, and others need it.
            self.chunks.truncate(had);
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

    /// Frees the chunks past `len` and clears the rest of the last one.
    fn cut(&mut self, len: usize) {
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

/// A part of a buffer and where the file has it.
struct Piece {
    chunk: usize,
    within: Range<usize>,
    buffer: Range<usize>,
}

/// Splits `len` bytes at `offset` at the borders of chunks. `offset + len` must not overflow.
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

    /// What a read of `len` bytes gives, and how many of them the file had.
    fn read(contents: &Contents, offset: usize, len: usize) -> (Vec<u8>, usize) {
        let mut target = vec![MaybeUninit::new(0xEE); len];
        let had = contents.read(offset, &mut target);
        // Every byte was initialised above, whatever `read` did.
        (target.iter().map(|byte| read_byte(*byte)).collect(), had)
    }

    #[allow(unsafe_code)]
    fn read_byte(byte: MaybeUninit<u8>) -> u8 {
        // SAFETY: the caller's buffer was initialised before it was lent out.
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
    fn a_write_may_cross_the_border_of_chunks() {
        let contents = Contents::default();
        contents.write(CHUNK - 2, b"abcd").unwrap();
        assert_eq!(contents.len(), CHUNK + 2);
        assert_eq!(read(&contents, CHUNK - 3, 6), (b"\0abcd\0".to_vec(), 5));
    }

    #[test]
    fn a_write_replaces_what_was_there_and_keeps_the_length() {
        let contents = Contents::default();
        contents.write(0, b"abcdef").unwrap();
        contents.write(2, b"XY").unwrap();
        assert_eq!(read(&contents, 0, 6), (b"abXYef".to_vec(), 6));
    }

    #[test]
    fn what_was_cut_off_reads_as_zero_when_the_file_grows_again() {
        let contents = Contents::default();
        contents.write(0, &[7; 10]).unwrap();
        contents.resize(4).unwrap();
        contents.write(8, &[9]).unwrap();
        assert_eq!(read(&contents, 0, 9), (vec![7, 7, 7, 7, 0, 0, 0, 0, 9], 9));
    }

    #[test]
    fn resizing_frees_and_extends_whole_chunks() {
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
