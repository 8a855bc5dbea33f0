//! What a power cut may leave of what was written.

use std::{
    collections::{BTreeMap, HashMap},
    mem,
};

use dice::Rng;
use resqlite_sqlite::fault_vfs::{Event, FileId};

/// The files of a folder, by name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A disk at some point of a record.
#[derive(Default)]
pub struct Disk {
    files: HashMap<FileId, File>,
    /// Names that outlive a power cut.
    names: BTreeMap<String, FileId>,
    /// What was done to names since the folder was last synced.
    renamed: Vec<(String, Option<FileId>)>,
    /// A sync that fails loses some of what it was to make last, for good. Linux does so on many file systems.
    forgets: bool,
}

#[derive(Default)]
struct File {
    /// What outlives a power cut.
    lasting: Vec<u8>,
    /// What was done since the file was last synced.
    since: Vec<Change>,
}

enum Change {
    Write { offset: usize, data: Vec<u8> },
    Truncate(usize),
}

/// Which of the changes that may be lost are lost.
#[derive(Debug, Clone, Copy)]
pub enum Loss {
    All,
    Nothing,
    /// Each sector, length and name, in so many of a hundred cases.
    Some(usize),
    /// All after some change, which is torn.
    Tail,
    /// One change, and nothing else.
    One,
}

const LOSSES: [Loss; 7] = [
    Loss::All,
    Loss::Nothing,
    Loss::Some(10),
    Loss::Some(50),
    Loss::Some(90),
    Loss::Tail,
    Loss::One,
];

impl Loss {
    pub fn draw(rng: &mut Rng) -> Self {
        *rng.pick(&LOSSES)
    }
}

impl Disk {
    pub fn new(forgets: bool) -> Self {
        Self {
            forgets,
            ..Self::default()
        }
    }

    /// Goes on by one event.
    pub fn follow(&mut self, event: &Event, rng: &mut Rng) {
        match event {
            Event::Create { name, file } => {
                self.files.insert(*file, File::default());
                self.renamed.push((name.clone(), Some(*file)));
            }
            Event::Delete { name } => self.renamed.push((name.clone(), None)),
            Event::Write { file, offset, data } => self.file(*file).since.push(Change::Write {
                offset: *offset as usize,
                data: data.clone(),
            }),
            Event::Truncate { file, len } => self.file(*file).since.push(Change::Truncate(*len as usize)),
            Event::Sync { full: false, .. } if cfg!(target_vendor = "apple") => {}
            Event::Sync { file, .. } => self.file(*file).sync(),
            Event::SyncFailed { file } if self.forgets => {
                let file = self.file(*file);
                file.lasting = file.after_power_cut(Loss::Some(50), 512, rng);
                file.since.clear();
            }
            Event::SyncFailed { .. } => {}
            Event::SyncFolder => {
                for (name, file) in mem::take(&mut self.renamed) {
                    rename(&mut self.names, name, file);
                }
            }
        }
    }

    fn file(&mut self, file: FileId) -> &mut File {
        self.files.get_mut(&file).expect("files are created first")
    }

    /// The files after a power cut.
    pub fn after_power_cut(&self, loss: Loss, sector: usize, rng: &mut Rng) -> Files {
        let mut kept = Keeper::new(loss, self.renamed.len(), rng);
        let mut names = self.names.clone();
        for (at, (name, file)) in self.renamed.iter().enumerate() {
            if kept.keeps(at, rng) {
                rename(&mut names, name.clone(), *file);
            }
        }
        let content = |file: FileId, rng: &mut Rng| self.files[&file].after_power_cut(loss, sector, rng);
        names
            .into_iter()
            .map(|(name, file)| (name, content(file, rng)))
            .collect()
    }
}

fn rename(names: &mut BTreeMap<String, FileId>, name: String, file: Option<FileId>) {
    match file {
        Some(file) => names.insert(name, file),
        None => names.remove(&name),
    };
}

impl File {
    fn sync(&mut self) {
        for change in mem::take(&mut self.since) {
            change.apply(&mut self.lasting);
        }
    }

    fn after_power_cut(&self, loss: Loss, sector: usize, rng: &mut Rng) -> Vec<u8> {
        let mut content = self.lasting.clone();
        let mut kept = Keeper::new(loss, self.since.len(), rng);
        for (at, change) in self.since.iter().enumerate() {
            match change {
                Change::Write { offset, data } if kept.tears(at) => {
                    for (offset, data) in sectors(*offset, data, sector) {
                        if kept.keeps(at, rng) {
                            write(&mut content, offset, data);
                        }
                    }
                }
                change if kept.keeps(at, rng) => change.apply(&mut content),
                _ => {}
            }
        }
        content
    }
}

/// The parts of a write that a disk never tears.
fn sectors(offset: usize, data: &[u8], sector: usize) -> impl Iterator<Item = (usize, &[u8])> {
    let first = (sector - offset % sector).min(data.len());
    let (head, rest) = data.split_at(first);
    let rest = rest.chunks(sector).enumerate();
    std::iter::once((offset, head)).chain(rest.map(move |(at, part)| (offset + first + at * sector, part)))
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write { offset, data } => write(content, *offset, data),
            Self::Truncate(len) => content.resize(*len, 0),
        }
    }
}

/// What lies between the end of a file and a write behind it reads as zero.
fn write(content: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[offset..end].copy_from_slice(data);
}

/// Decides for one file, or for the names.
struct Keeper {
    loss: Loss,
    /// Of `Tail` and `One`.
    at: usize,
}

impl Keeper {
    fn new(loss: Loss, changes: usize, rng: &mut Rng) -> Self {
        let at = rng.below(changes + 1);
        Self { loss, at }
    }

    /// Whether sectors of this change have fates of their own.
    fn tears(&self, change: usize) -> bool {
        match self.loss {
            Loss::All | Loss::Nothing => false,
            Loss::Some(_) => true,
            Loss::Tail | Loss::One => change == self.at,
        }
    }

    fn keeps(&mut self, change: usize, rng: &mut Rng) -> bool {
        match self.loss {
            Loss::All => false,
            Loss::Nothing => true,
            Loss::Some(percent) => !rng.chance(percent),
            Loss::Tail => change < self.at || (change == self.at && rng.chance(50)),
            Loss::One => change != self.at || rng.chance(50),
        }
    }
}

// G198
#[test]
fn what_was_not_synced_may_be_lost_in_sectors_and_what_was_synced_never() {
    let (mut disk, mut rng) = (Disk::default(), Rng(0));
    let file = FileId(1);
    let write = |offset, byte, len| Event::Write {
        file,
        offset,
        data: vec![byte; len],
    };
    disk.follow(
        &Event::Create {
            name: "a".into(),
            file,
        },
        &mut rng,
    );
    disk.follow(&write(0, 1, 1024), &mut rng);
    disk.follow(&Event::Sync { file, full: true }, &mut rng);
    disk.follow(&Event::SyncFolder, &mut rng);
    disk.follow(&write(256, 2, 1024), &mut rng);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..200 {
        let files = disk.after_power_cut(Loss::Some(50), 512, &mut rng);
        let content = &files["a"];
        assert!(content[..256].iter().all(|byte| *byte == 1));
        let part = |at: usize| content.get(at).copied().unwrap_or(0);
        seen.insert([
            part(256),
            part(511),
            part(512),
            part(1023),
            part(1024),
            part(1279),
        ]);
    }
    // Three sectors, each old or new; within one, all bytes are of one kind.
    assert_eq!(seen.len(), 8, "{seen:?}");
    assert!(seen.contains(&[1, 1, 2, 2, 0, 0]) && seen.contains(&[2, 2, 1, 1, 2, 2]));
}

// G198
#[test]
fn a_name_may_be_lost_until_its_folder_is_synced() {
    let (mut disk, mut rng) = (Disk::default(), Rng(0));
    disk.follow(
        &Event::Create {
            name: "a".into(),
            file: FileId(1),
        },
        &mut rng,
    );
    assert!(disk.after_power_cut(Loss::All, 512, &mut rng).is_empty());
    disk.follow(&Event::SyncFolder, &mut rng);
    assert_eq!(disk.after_power_cut(Loss::All, 512, &mut rng).len(), 1);
    disk.follow(&Event::Delete { name: "a".into() }, &mut rng);
    assert_eq!(disk.after_power_cut(Loss::All, 512, &mut rng).len(), 1);
    assert!(disk.after_power_cut(Loss::Nothing, 512, &mut rng).is_empty());
}
