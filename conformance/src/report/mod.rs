//! One run, several readers: JSON lines, JUnit, a markdown matrix, a badge, and a page for people. The terminal is in `console`.

pub mod badge;
pub mod excerpt;
pub mod html;
pub mod jsonl;
pub mod junit;
pub mod markdown;

#[cfg(test)]
pub(crate) mod sample;
pub mod timeline;

use std::io;
use std::path::{Path, PathBuf};

use crate::run::events::{Event, Reader};

/// Every report that goes into a folder.
pub struct Folder {
    jsonl: jsonl::Writer,
    junit: junit::Junit,
    page: html::Page,
    folder: PathBuf,
    /// The first thing that couldn't be written.
    pub fault: Option<io::Error>,
}

impl Folder {
    pub fn create(folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let jsonl = jsonl::Writer::create(&folder.join("report.jsonl"))?;
        let (junit, page) = (junit::Junit::default(), html::Page::default());
        Ok(Self { jsonl, junit, page, folder: folder.to_owned(), fault: None })
    }

    fn write(&mut self, event: &Event) -> io::Result<()> {
        self.jsonl.write(event)?;
        self.junit.take(event);
        self.page.take(event);
        if let Event::Finished(finished) = event {
            std::fs::write(self.folder.join("junit.xml"), self.junit.to_xml()?)?;
            std::fs::write(self.folder.join("matrix.md"), markdown::matrix(&finished.matrix))?;
            std::fs::write(self.folder.join("badge.svg"), badge::svg(&finished.summary))?;
            std::fs::write(self.folder.join("index.html"), self.page.to_html())?;
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
