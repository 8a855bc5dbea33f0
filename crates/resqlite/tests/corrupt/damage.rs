//! What is done to a database.

use dice::Rng;

use crate::specimen::Specimen;

const PAGE: usize = 1024;
/// Before the frames of a log, and before the page of each frame.
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

type Harm = fn(&mut Rng, &mut Specimen);

const HARMS: [Harm; 12] = [
    bytes_of_file,
    bytes_of_a_page_header,
    pages_swapped,
    page_zeroed,
    page_copied,
    file_cut,
    header,
    free_list,
    schema_text,
    bytes_of_log,
    log_header,
    log_cut,
];

/// Damages a database in one to three ways. In half of the cases the log is lost.
pub fn damage(rng: &mut Rng, specimen: &mut Specimen) {
    for _ in 0..1 + rng.below(3) {
        HARMS[rng.below(HARMS.len())](rng, specimen);
    }
    if rng.below(2) == 0 {
        specimen.log.clear();
    }
}

/// A byte that is likely to matter.
fn byte(rng: &mut Rng) -> u8 {
    match rng.below(4) {
        0 => 0,
        1 => 0xff,
        2 => 0x7f + rng.below(3) as u8,
        _ => rng.below(256) as u8,
    }
}

fn set(bytes: &mut [u8], at: usize, value: u8) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte = value;
    }
}

fn some_page(rng: &mut Rng, specimen: &Specimen) -> usize {
    rng.below(specimen.file.len() / PAGE) * PAGE
}

fn bytes_of_file(rng: &mut Rng, specimen: &mut Specimen) {
    for _ in 0..1 + rng.below(20) {
        let (at, value) = (rng.below(specimen.file.len()), byte(rng));
        set(&mut specimen.file, at, value);
    }
}

/// Its kind, its number of cells, and where they are.
fn bytes_of_a_page_header(rng: &mut Rng, specimen: &mut Specimen) {
    let page = some_page(rng, specimen);
    let start = if page == 0 { 100 } else { page };
    for _ in 0..1 + rng.below(4) {
        let (at, value) = (start + rng.below(24), byte(rng));
        set(&mut specimen.file, at, value);
    }
}

fn pages_swapped(rng: &mut Rng, specimen: &mut Specimen) {
    let (left, right) = (some_page(rng, specimen), some_page(rng, specimen));
    for at in 0..PAGE {
        if right + at < specimen.file.len() && left + at < specimen.file.len() {
            specimen.file.swap(left + at, right + at);
        }
    }
}

fn page_zeroed(rng: &mut Rng, specimen: &mut Specimen) {
    let page = some_page(rng, specimen);
    specimen
        .file
        .iter_mut()
        .skip(page)
        .take(PAGE)
        .for_each(|byte| *byte = 0);
}

fn page_copied(rng: &mut Rng, specimen: &mut Specimen) {
    let (from, to) = (some_page(rng, specimen), some_page(rng, specimen));
    let page: Vec<u8> = specimen.file.iter().skip(from).take(PAGE).copied().collect();
    let room = specimen.file.iter_mut().skip(to);
    room.zip(page).for_each(|(byte, copied)| *byte = copied);
}

fn file_cut(rng: &mut Rng, specimen: &mut Specimen) {
    let pages = some_page(rng, specimen);
    let length = if rng.below(2) == 0 {
        pages
    } else {
        rng.below(specimen.file.len())
    };
    specimen.file.truncate(length);
}

fn header(rng: &mut Rng, specimen: &mut Specimen) {
    let (at, value) = (rng.below(100), byte(rng));
    set(&mut specimen.file, at, value);
}

/// The first trunk page, the number of free pages, and what a trunk page says.
fn free_list(rng: &mut Rng, specimen: &mut Specimen) {
    let place = if rng.below(2) == 0 {
        32
    } else {
        some_page(rng, specimen)
    };
    for _ in 0..1 + rng.below(3) {
        let (at, value) = (place + rng.below(8), byte(rng));
        set(&mut specimen.file, at, value);
    }
}

/// Letters in the text of definitions, which are on the first pages.
fn schema_text(rng: &mut Rng, specimen: &mut Specimen) {
    let near = 3 * PAGE.min(specimen.file.len());
    let text = specimen.file.windows(6).take(near);
    let found: Vec<usize> = text
        .enumerate()
        .filter(|(_, word)| word.starts_with(b"CREATE"))
        .map(|(at, _)| at)
        .collect();
    if found.is_empty() {
        return;
    }
    let start = found[rng.below(found.len())];
    for _ in 0..1 + rng.below(3) {
        let letter = b"(),;'x1 NULL\0"[rng.below(13)];
        let at = start + rng.below(80);
        set(&mut specimen.file, at, letter);
    }
}

fn bytes_of_log(rng: &mut Rng, specimen: &mut Specimen) {
    for _ in 0..1 + rng.below(10) {
        let (at, value) = (rng.below(specimen.log.len()), byte(rng));
        set(&mut specimen.log, at, value);
    }
}

/// Of the log, or of a frame.
fn log_header(rng: &mut Rng, specimen: &mut Specimen) {
    let frames = specimen.log.len().saturating_sub(LOG_HEADER) / (FRAME_HEADER + PAGE);
    let frame = LOG_HEADER + rng.below(frames) * (FRAME_HEADER + PAGE);
    let (start, length) = if rng.below(2) == 0 {
        (0, LOG_HEADER)
    } else {
        (frame, FRAME_HEADER)
    };
    let (at, value) = (start + rng.below(length), byte(rng));
    set(&mut specimen.log, at, value);
}

fn log_cut(rng: &mut Rng, specimen: &mut Specimen) {
    let length = rng.below(specimen.log.len());
    specimen.log.truncate(length);
}
