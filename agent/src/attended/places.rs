//! Where run folders are: the runs folder and two levels below it, never through a link, never inside a run folder. What was
//! read of a folder is kept for as long as the folder hasn't changed.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, FileType, statat};
use rustix::io::Errno;

use super::id::AttentionId;
use super::item::AttentionItem;
use super::page::Position;
use super::reading;
use crate::flow::run_dir::RunDir;
use crate::flow::{pause, report};
use crate::runs::files::Folder;
use crate::runs::root::STORE;

const DEEPEST: usize = 2;
/// A folder that changed less than this before it was read may change again without its times telling.
const CLOCK_TICK: Duration = Duration::from_millis(100);
/// What an item rests on. A change of their content alone doesn't touch the folder.
const RESTS_ON: [&str; 4] = [report::NAME, pause::PENDING, pause::CAPABILITY, pause::KEY];

/// What was read of the folders, by their path below the runs folder.
#[derive(Debug, Default)]
pub struct Places {
    known: HashMap<String, Place>,
    /// How often a folder was read so far.
    pub folders_read: usize,
}

/// One folder as it was when it was read.
#[derive(Debug)]
pub struct Place {
    stamp: Stamp,
    files: [Option<Stamp>; RESTS_ON.len()],
    /// The folder hadn't changed for long enough before it was read.
    settled: bool,
    holds: Holds,
}

#[derive(Debug)]
enum Holds {
    Run(Option<Box<Listed>>),
    Folders(Vec<String>),
}

#[derive(Debug)]
pub struct Listed {
    pub position: Position,
    pub item: AttentionItem,
}

/// Which state of a file or folder was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    mode: u32,
    size: i64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Places {
    /// Looks at every folder, and reads those that have changed.
    ///
    /// # Errors
    /// When the runs folder itself can't be listed.
    pub fn look(&mut self, runs: &Folder) -> io::Result<()> {
        let mut before = std::mem::take(&mut self.known);
        if is_run(runs) {
            let whole = Stamp::of(runs, ".").ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            self.known.insert(".".to_owned(), Place::read(runs, ".", whole));
            return Ok(());
        }
        let mut open = folders_in(runs)?;
        open.retain(|name| name != STORE);
        while let Some(place) = open.pop() {
            let Some(stamp) = Stamp::of_folder(runs, &place) else { continue };
            let read = match before.remove(&place).filter(|known| known.settled && known.stamp == stamp) {
                Some(known) => known,
                None => {
                    self.folders_read += 1;
                    Place::read(runs, &place, stamp)
                }
            };
            if let Holds::Folders(names) = &read.holds
                && depth(&place) < DEEPEST
            {
                open.extend(names.iter().map(|name| format!("{place}/{name}")));
            }
            self.known.insert(place, read);
        }
        Ok(())
    }

    pub fn listed(&self) -> impl Iterator<Item = (&str, &Listed)> {
        self.known.iter().filter_map(|(place, read)| Some((place.as_str(), read.listed()?)))
    }

    /// Reads a known folder again unless it and the files that its item rests on are still the same. True when it was read.
    pub fn renew(&mut self, runs: &Folder, place: &str) -> bool {
        let now = Stamp::of_folder(runs, place);
        let same = |known: &Place| known.settled && Some(known.stamp) == now && known.files == stamps(runs, place);
        if self.known.get(place).is_some_and(same) {
            return false;
        }
        self.folders_read += 1;
        match now {
            Some(stamp) => self.known.insert(place.to_owned(), Place::read(runs, place, stamp)),
            None => self.known.remove(place),
        };
        true
    }

    pub fn at(&self, place: &str) -> Option<&Listed> {
        self.known.get(place)?.listed()
    }
}

impl Place {
    fn read(runs: &Folder, place: &str, stamp: Stamp) -> Self {
        let files = stamps(runs, place);
        let settled = [Some(stamp)].into_iter().chain(files).flatten().all(Stamp::is_settled);
        let Ok(folder) = Folder::open_below(runs, place) else {
            return Self { stamp, files, settled: false, holds: Holds::Run(None) };
        };
        let holds = if is_run(&folder) {
            let item = reading::item(AttentionId::of_place(place), &RunDir::Open(folder));
            Holds::Run(item.map(|item| Box::new(Listed { position: Position::of(&item), item })))
        } else {
            Holds::Folders(folders_in(&folder).unwrap_or_default())
        };
        Self { stamp, files, settled, holds }
    }

    fn listed(&self) -> Option<&Listed> {
        if let Holds::Run(Some(listed)) = &self.holds { Some(listed) } else { None }
    }
}

impl Stamp {
    fn of(folder: &Folder, name: impl AsRef<Path>) -> Option<Self> {
        let stat = statat(folder, name.as_ref(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(Self {
            file: (stat.st_dev, stat.st_ino),
            mode: stat.st_mode,
            size: stat.st_size,
            modified: (stat.st_mtime, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime, stat.st_ctime_nsec as i64),
        })
    }

    fn of_folder(runs: &Folder, place: &str) -> Option<Self> {
        Self::of(runs, place).filter(|stamp| FileType::from_raw_mode(stamp.mode).is_dir())
    }

    fn is_settled(self) -> bool {
        let (seconds, nanoseconds) = self.changed;
        let (Ok(seconds), Ok(nanoseconds)) = (u64::try_from(seconds), u64::try_from(nanoseconds)) else { return false };
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds);
        SystemTime::now().duration_since(changed).is_ok_and(|since| since > CLOCK_TICK)
    }
}

fn stamps(runs: &Folder, place: &str) -> [Option<Stamp>; RESTS_ON.len()] {
    RESTS_ON.map(|name| Stamp::of(runs, Path::new(place).join(name)))
}

/// Flow's sign of a run folder: a regular file of that name.
fn is_run(folder: &Folder) -> bool {
    Stamp::of(folder, report::NAME).is_some_and(|stamp| FileType::from_raw_mode(stamp.mode).is_file())
}

fn depth(place: &str) -> usize {
    place.split('/').count()
}

/// The sub-folders, links aside. A name that isn't UTF-8 is nobody's run.
fn folders_in(folder: &Folder) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => kind_of(folder, name),
            kind => kind,
        };
        if kind.is_dir() {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

fn kind_of(folder: &Folder, name: &str) -> FileType {
    let stat: Result<_, Errno> = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    stat.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
}
