//! The launch journal: one JSON object a line, appended in one write and synced before the next thing happens.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use nix::unistd::{getpgrp, getppid, getsid};
use rustix::fs::{FlockOperation, flock};
use serde_json::{Map, Value, json};

use crate::clock;

/// Appends to the journal file; without one it counts every launch as the first and writes nothing.
#[derive(Debug)]
pub struct Journal {
    file: Option<File>,
    path: Option<PathBuf>,
    common: Map<String, Value>,
}

impl Journal {
    pub fn open(path: Option<&Path>) -> io::Result<Self> {
        let file = path.map(|path| OpenOptions::new().read(true).append(true).create(true).open(path)).transpose()?;
        Ok(Self { file, path: path.map(Path::to_owned), common: Map::new() })
    }

    /// Writes the launch line and returns its number: 1 for the first launch of this bundle in the file.
    /// The number is right with concurrent launches because counting and appending happen under one lock.
    pub fn launch(&mut self, bundle: &str, facts: Value) -> io::Result<u64> {
        self.common.insert("bundle".into(), json!(bundle));
        let Some(file) = &mut self.file else {
            self.common.insert("launch".into(), json!(1));
            return Ok(1);
        };
        flock(&*file, FlockOperation::LockExclusive)?;
        let number = 1 + count_launches(file, bundle)?;
        self.common.insert("launch".into(), json!(number));
        let written = self.write("launch", facts);
        if let Some(file) = &self.file {
            flock(file, FlockOperation::Unlock)?;
        }
        written.map(|()| number)
    }

    /// Goes on about an earlier launch: the last one into this run folder.
    pub fn resume(&mut self, run_dir: &Path) -> io::Result<()> {
        let run_dir = json!(std::path::absolute(run_dir)?);
        let launch = match &mut self.file {
            Some(file) => launches(file)?.rfind(|line| line["run_dir"] == run_dir),
            None => None,
        }
        .unwrap_or_else(|| json!({"bundle": "", "launch": 1}));
        self.carry("run_dir", run_dir);
        self.carry("bundle", launch["bundle"].clone());
        self.carry("launch", launch["launch"].clone());
        Ok(())
    }

    /// A line that belongs to no run.
    pub fn about_nothing(&mut self, event: &str, facts: Value) -> io::Result<()> {
        self.carry("bundle", json!(""));
        self.carry("launch", json!(1));
        self.carry("run_dir", Value::Null);
        self.write(event, facts)
    }

    /// How many lines of an event with these facts the file holds.
    pub fn count(&mut self, event: &str, facts: &Value) -> io::Result<u64> {
        let Some(file) = &mut self.file else { return Ok(0) };
        let facts: Vec<_> = facts.as_object().into_iter().flatten().collect();
        Ok(lines_of(file, event)?.filter(|line| facts.iter().all(|(key, fact)| line[*key] == **fact)).count() as u64)
    }

    /// Facts that every later line carries.
    pub fn carry(&mut self, key: &str, value: Value) {
        self.common.insert(key.into(), value);
    }

    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The carried facts, for a child that goes on writing about the same launch.
    pub fn carried(&self) -> Value {
        Value::Object(self.common.clone())
    }

    pub fn write(&mut self, event: &str, facts: Value) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut line = Map::new();
        line.insert("at".into(), json!(clock::iso(clock::now())));
        line.insert("event".into(), json!(event));
        line.insert("pid".into(), json!(std::process::id()));
        line.insert("ppid".into(), json!(getppid().as_raw()));
        line.insert("pgid".into(), json!(getpgrp().as_raw()));
        // 0 where the session's leader is outside this pid namespace, as in a container: rustix's Pid can't say that.
        line.insert("sid".into(), json!(getsid(None).ok().map(|pid| pid.as_raw())));
        line.extend(self.common.clone());
        if let Value::Object(facts) = facts {
            line.extend(facts);
        }
        let mut text = Value::Object(line).to_string();
        text.push('\n');
        file.write_all(text.as_bytes())?;
        file.sync_data()
    }
}

fn count_launches(file: &mut File, bundle: &str) -> io::Result<u64> {
    Ok(launches(file)?.filter(|line| line["bundle"] == bundle).count() as u64)
}

/// The launch lines of the file.
fn launches(file: &mut File) -> io::Result<impl DoubleEndedIterator<Item = Value>> {
    lines_of(file, "launch")
}

/// The lines of one event. A line is parsed only when it can be one: a journal grows long.
fn lines_of(file: &mut File, event: &str) -> io::Result<impl DoubleEndedIterator<Item = Value>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let member = format!(r#""event":"{event}""#);
    let lines: Vec<String> = text.lines().filter(|line| line.contains(&member)).map(str::to_owned).collect();
    Ok(lines.into_iter().filter_map(|line| serde_json::from_str::<Value>(&line).ok()))
}
