//! The attention queue of one runs folder, kept from one look to the next.

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::id::AttentionId;
use super::item::AttentionItem;
use super::page::{Cursor, LONGEST, Page};
use super::places::{Listed, Places};
use crate::runs::files::{Folder, FolderFault};

/// Everything that waits for a person under one runs folder.
#[derive(Debug)]
pub struct AttentionQueue {
    runs: Folder,
    places: Mutex<Places>,
}

/// An item and where its run folder is, below the runs folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    pub item: AttentionItem,
    pub place: String,
}

impl AttentionQueue {
    /// The path must be canonical.
    pub fn open(runs: &Path) -> Result<Self, FolderFault> {
        Ok(Self { runs: Folder::open_without_symlinks(runs)?, places: Mutex::default() })
    }

    /// One page, newest first. Folders that haven't changed aren't read again.
    ///
    /// # Errors
    /// When the runs folder can't be listed.
    pub fn page(&self, after: Option<&Cursor>) -> io::Result<Page> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.look(&self.runs)?;
        let mut shown = shown(&places, after);
        // Bounded: each turn reads what was found changed, and a folder that changes all the time is shown as last read.
        for _ in 0..2 {
            let renewed = shown.iter().filter(|place| places.renew(&self.runs, place)).count();
            if renewed == 0 {
                break;
            }
            shown = self::shown(&places, after);
        }
        let items: Vec<_> = shown.iter().filter_map(|place| places.at(place)).collect();
        let open = places.listed().count();
        let last = items.last().map(|listed| listed.position.clone());
        let more = last.filter(|last| places.listed().any(|(_, listed)| listed.position > *last));
        Ok(Page {
            open,
            items: items.into_iter().map(|listed| listed.item.clone()).collect(),
            next: more.map(Cursor::after),
        })
    }

    /// The item as it is now, read anew.
    ///
    /// # Errors
    /// When the runs folder can't be listed.
    pub fn resolve(&self, id: &AttentionId) -> io::Result<Option<Resolved>> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let mut place = place_of(&places, id).filter(|place| !place.contains('/') && place != ".");
        if place.is_none() {
            places.look(&self.runs)?;
            place = place_of(&places, id);
        }
        let Some(place) = place else { return Ok(None) };
        places.renew(&self.runs, &place);
        let item = places.at(&place).map(|listed| listed.item.clone());
        Ok(item.map(|item| Resolved { item, place }))
    }
}

#[cfg(test)]
impl AttentionQueue {
    /// How many times a folder was read.
    fn read_folders(&self) -> usize {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).folders_read
    }
}

fn place_of(places: &Places, id: &AttentionId) -> Option<String> {
    places.listed().find(|(_, listed)| listed.item.id == *id).map(|(place, _)| place.to_owned())
}

/// The places of the items on a page, in order.
fn shown(places: &Places, after: Option<&Cursor>) -> Vec<String> {
    let beyond = |listed: &Listed| after.is_none_or(|cursor| listed.position > *cursor.position());
    let mut rows: Vec<_> = places.listed().filter(|(_, listed)| beyond(listed)).collect();
    if rows.len() > LONGEST {
        rows.select_nth_unstable_by(LONGEST, |(_, one), (_, other)| one.position.cmp(&other.position));
        rows.truncate(LONGEST);
    }
    rows.sort_unstable_by(|(_, one), (_, other)| one.position.cmp(&other.position));
    rows.into_iter().map(|(place, _)| place.to_owned()).collect()
}

#[cfg(test)]
mod tests;
