//! One run, several readers: JSON lines, JUnit, a markdown matrix. The terminal is in `console`.

pub mod excerpt;
pub mod jsonl;
pub mod junit;
pub mod markdown;

#[cfg(test)]
pub(crate) mod sample;

use std::io;
use std::path::{Path, PathBuf};

use crate::run::events::{Event, Reader};

/// Every report that goes into a folder.
pub struct Folder {
    jsonl: jsonl::Writer,
    junit: junit::Junit,
    folder: PathBuf,
    /// The first thing that couldn't be written.
    pub fault: Option<io::Error>,
}

impl Folder {
    pub fn create(folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let jsonl = jsonl::Writer::create(&folder.join("report.jsonl"))?;
        Ok(Self { jsonl, junit: junit::Junit::default(), folder: folder.to_owned(), fault: None })
    }

    fn write(&mut self, event: &Event) -> io::Result<()> {
        self.jsonl.write(event)?;
        self.junit.take(event);
        if let Event::Finished(finished) = event {
            std::fs::write(self.folder.join("junit.xml"), self.junit.to_xml()?)?;
            std::fs::write(self.folder.join("matrix.md"), markdown::matrix(&finished.matrix))?;
        }
        Ok(())
    }
}

impl Reader for Folder {
    fn event(&mut self, event: &Event) {
        if let Err(error) = self.write(event) {
            self.fault.get_or_insert(error);
        }
    }
}
