//! A seal that follows bytes and shows that they are what was put under their name.

use bytes::{Bytes, BytesMut};
use sha2::{Digest, Sha256};

/// Bytes of a seal.
pub(crate) const SEAL_BYTES: usize = 16;

/// Returns the bytes with their seal. The name is part of the seal, so that the bytes of one name cannot stand in place of
/// another's.
pub(crate) fn seal(name: &[u8], bytes: &[u8]) -> Bytes {
    let mut sealed = BytesMut::with_capacity(bytes.len() + SEAL_BYTES);
    sealed.extend_from_slice(bytes);
    sealed.extend_from_slice(&seal_of(name, bytes));
    sealed.freeze()
}

/// Returns the bytes without their seal, or `None` if they are damaged, or were put under another name.
pub(crate) fn open_seal(name: &[u8], mut sealed: Bytes) -> Option<Bytes> {
    let end = sealed.len().checked_sub(SEAL_BYTES)?;
    let found = sealed.split_off(end);
    (seal_of(name, &sealed)[..] == found).then_some(sealed)
}

fn seal_of(name: &[u8], bytes: &[u8]) -> [u8; SEAL_BYTES] {
    let mut hash = Sha256::new();
    hash.update((name.len() as u64).to_le_bytes());
    hash.update(name);
    hash.update(bytes);
    let mut seal = [0; SEAL_BYTES];
    seal.copy_from_slice(&hash.finalize()[..SEAL_BYTES]);
    seal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_opens_under_its_name_only() {
        for bytes in [&b""[..], b"a", &[7; 100]] {
            let sealed = seal(b"name", bytes);
            assert_eq!(open_seal(b"name", sealed.clone()).as_deref(), Some(bytes));
            assert_eq!(open_seal(b"nam", sealed), None);
        }
    }

    // G351
    #[test]
    fn every_bit_counts_and_so_does_the_length() {
        let sealed = seal(b"name", b"some bytes");
        for bit in 0..sealed.len() * 8 {
            let mut damaged = sealed.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open_seal(b"name", damaged.into()), None, "bit {bit}");
        }
        for length in 0..sealed.len() {
            assert_eq!(open_seal(b"name", sealed.slice(..length)), None, "{length} bytes");
        }
    }
}
