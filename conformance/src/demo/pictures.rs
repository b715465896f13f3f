//! Pictures of pages: asked of the stand-in for Flow, which has the browser.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::run::subject::Subject;

/// One picture that is wanted, in the words of `flow-fake look`.
#[derive(Debug, Clone)]
pub struct Shot(Value);

impl Shot {
    pub fn of(url: &str, size: (u32, u32)) -> Self {
        Self(json!({"url": url, "size": [size.0, size.1], "deeds": []}))
    }

    pub fn to(mut self, path: &Path) -> Self {
        self.0["to"] = json!(path);
        self
    }

    pub fn dark(mut self) -> Self {
        self.0["dark"] = json!(true);
        self
    }

    pub fn click(self, selector: &str) -> Self {
        self.deed(json!({"click": selector}))
    }

    pub fn fill(self, field: &str, text: &str) -> Self {
        self.deed(json!({"fill": {"field": field, "text": text}}))
    }

    pub fn see(self, selector: &str) -> Self {
        self.deed(json!({"see": selector}))
    }

    pub fn offline(self) -> Self {
        self.deed(json!("offline"))
    }

    fn deed(mut self, deed: Value) -> Self {
        if let Some(deeds) = self.0.get_mut("deeds").and_then(Value::as_array_mut) {
            deeds.push(deed);
        }
        self
    }
}

pub fn take(subject: &Subject, shots: &[Shot]) -> io::Result<()> {
    let (program, arguments) = subject.flow.split_first().ok_or_else(|| io::Error::other("no command"))?;
    let browser = subject.browser.iter().flat_map(|browser| browser.variables());
    let mut looking = Command::new(program)
        .args(arguments)
        .arg("look")
        .envs(browser)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let asked = Value::from_iter(shots.iter().map(|shot| shot.0.clone()));
    if let Some(mut stdin) = looking.stdin.take() {
        stdin.write_all(asked.to_string().as_bytes())?;
    }
    let ended = looking.wait_with_output()?;
    match ended.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(String::from_utf8_lossy(&ended.stderr).trim().to_owned())),
    }
}
