//! Judges a certificate again from what it stored: nothing that stands in its folder is believed because it stands there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::body;
use super::envelope::Envelope;
use super::frozen::FrozenSet;
use super::key::PublicKey;
use super::render::{EVIDENCE, Measure, REPORT, Rendered, STATEMENT, claimed, render};
use super::statement::{files_of, sha256, subject};
use super::stored::Stored;
use crate::report::jsonl;

/// Whoever verifies may know more than the folder.
#[derive(Debug, Clone, Default)]
pub struct Known {
    pub key: Option<PublicKey>,
    /// Of the programs at hand: Flow's and the agent's.
    pub flow_sha256: Option<String>,
    pub agent_sha256: Option<String>,
}

/// A folder that holds together.
#[derive(Debug)]
pub struct Verified {
    pub stored: Stored,
    pub rendered: Rendered,
    /// The ids of the keys that signed it.
    pub signed_by: Vec<String>,
}

/// Why a folder isn't what was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{said}")]
pub struct Rejection {
    pub said: String,
    pub hint: String,
}

const WRITTEN_AGAIN: &str = "have it certified again, and copy the folder whole";

pub fn verify(folder: &Path, set: &FrozenSet, measure: Measure<'_>, known: &Known) -> Result<Verified, Rejection> {
    let envelope = envelope(folder)?;
    signature(&envelope, known)?;
    let statement = stated(&envelope)?;
    footer(folder)?;
    let stored = stored(folder)?;
    same_list(&stored, set)?;
    complete(&stored, measure)?;
    programs(&stored, &statement, known)?;
    digests(folder, &statement)?;
    for evidence in &stored.evidence {
        let body = measure.bodies.iter().find(|body| body.id == evidence.scenario);
        if let Some(why) = body.and_then(|body| body::differs(evidence, body)) {
            let said = format!("the evidence of {} isn't of the scenario that was frozen: {why}", evidence.scenario);
            return Err(reject(said, "evidence can't be edited into another one; have it certified again"));
        }
    }
    let rendered = render(&stored, measure).map_err(|error| reject(error, WRITTEN_AGAIN))?;
    for (name, text) in &rendered.files {
        if fs::read(folder.join(name)).ok().as_deref() != Some(text.as_bytes()) {
            let said = format!("{name} doesn't say what the evidence says when it is judged again");
            return Err(reject(said, "the verdicts in a certificate are made of its evidence; somebody wrote others"));
        }
    }
    if envelope.payload().as_deref() != Some(rendered.statement.as_bytes()) {
        let said = "the statement doesn't say what the evidence says when it is judged again";
        return Err(reject(
            said,
            "result, tests and digests of a statement follow from the evidence; somebody wrote others",
        ));
    }
    let signed_by = envelope.signatures.iter().map(|signature| signature.keyid.clone()).collect();
    Ok(Verified { stored, rendered, signed_by })
}

fn reject(said: impl ToString, hint: &str) -> Rejection {
    Rejection { said: said.to_string(), hint: hint.to_owned() }
}

fn text_of(folder: &Path, name: &str) -> Result<String, Rejection> {
    let bytes = fs::read(folder.join(name)).map_err(|error| {
        reject(format!("{name} can't be read: {error}"), "name the folder that `conformance certify` wrote, whole")
    })?;
    String::from_utf8(bytes).map_err(|_| reject(format!("{name} isn't text any more"), WRITTEN_AGAIN))
}

fn envelope(folder: &Path) -> Result<Envelope, Rejection> {
    let text = text_of(folder, STATEMENT)?;
    let broken = || reject(format!("{STATEMENT} is no DSSE envelope in its one spelling"), WRITTEN_AGAIN);
    let envelope: Envelope = serde_json::from_str(&text).map_err(|_| broken())?;
    // Blanks and the like would be bytes that nothing vouches for.
    if envelope.to_json() == text { Ok(envelope) } else { Err(broken()) }
}

fn signature(envelope: &Envelope, known: &Known) -> Result<(), Rejection> {
    let Some(key) = &known.key else { return Ok(()) };
    if envelope.signatures.is_empty() {
        return Err(reject(
            "it is unsigned, and a key was named",
            "an unsigned certificate is verified without --public-key, and proves only that it agrees with itself",
        ));
    }
    if !envelope.signatures.iter().any(|signature| signature.keyid == key.id()) {
        let by: Vec<&str> = envelope.signatures.iter().map(|signature| signature.keyid.as_str()).collect();
        let said = format!("it is signed by another key: by {}, not by {}", by.join(", "), key.id());
        return Err(reject(said, "is this the public key of whoever certified it?"));
    }
    match envelope.is_signed_by(key) && envelope.signatures.len() == 1 {
        true => Ok(()),
        false => {
            Err(reject("its signature doesn't hold: the statement was changed after it was signed", WRITTEN_AGAIN))
        }
    }
}

fn stated(envelope: &Envelope) -> Result<Value, Rejection> {
    let payload = envelope.payload().unwrap_or_default();
    serde_json::from_slice(&payload).map_err(|_| reject(format!("{STATEMENT} carries no statement"), WRITTEN_AGAIN))
}

fn footer(folder: &Path) -> Result<(), Rejection> {
    let hint = "a report is whole only with its last line; the copy or the run was cut off";
    jsonl::read(&folder.join(REPORT)).map(drop).map_err(|error| reject(format!("{REPORT}: {error}"), hint))
}

fn stored(folder: &Path) -> Result<Stored, Rejection> {
    let hint = "evidence is whole only with its header and its last line; the copy or the run was cut off";
    Stored::parse(&text_of(folder, EVIDENCE)?).map_err(|error| reject(format!("{EVIDENCE}: {error}"), hint))
}

fn same_list(stored: &Stored, set: &FrozenSet) -> Result<(), Rejection> {
    let header = &stored.header;
    let (own, version) = (set.digest(), env!("CARGO_PKG_VERSION"));
    if header.conformance != version {
        let said = format!("it was made by conformance {}, and this is {version}", header.conformance);
        return Err(reject(said, "verify with the version that certified: verdicts are compared to the byte"));
    }
    match header.set == set.name && header.set_sha256 == own {
        true => Ok(()),
        false => {
            let said = format!(
                "it was judged with the list {} {}, and this judge has {} {own}",
                header.set, header.set_sha256, set.name
            );
            Err(reject(said, "verify with the build that certified, or have it certified with this one"))
        }
    }
}

fn complete(stored: &Stored, measure: Measure<'_>) -> Result<(), Rejection> {
    let claimed: BTreeSet<_> = claimed(&stored.header, measure.bodies).into_iter().map(|body| &body.id).collect();
    let held: BTreeSet<_> = stored.evidence.iter().map(|evidence| &evidence.scenario).collect();
    if let Some(extra) = held.difference(&claimed).next() {
        return Err(reject(format!("it holds evidence of {extra}, which isn't on the frozen list"), WRITTEN_AGAIN));
    }
    match claimed.difference(&held).next() {
        None => Ok(()),
        Some(absent) => {
            let said = format!(
                "{} of {} scenarios of the frozen list have no evidence, among them {absent}",
                claimed.len() - held.len(),
                claimed.len()
            );
            Err(reject(said, "absent is failed: a certificate holds every scenario that its set names"))
        }
    }
}

fn programs(stored: &Stored, statement: &Value, known: &Known) -> Result<(), Rejection> {
    let header = &stored.header;
    for (name, judged, at_hand) in
        [("openadapt-flow", &header.flow, &known.flow_sha256), ("openadapt-agent", &header.agent, &known.agent_sha256)]
    {
        let stated = subject(statement, name);
        if stated.as_ref() != Some(&judged.sha256) {
            let said = format!(
                "the statement is about {name} {}, and the evidence about {}",
                stated.unwrap_or_else(|| "nowhere".to_owned()),
                judged.sha256
            );
            return Err(reject(said, "a certificate of one program was put to another"));
        }
        if let Some(other) = at_hand.as_ref().filter(|other| **other != judged.sha256) {
            let said =
                format!("{name} was judged with sha256 {}, and the one that was named has {other}", judged.sha256);
            return Err(reject(
                said,
                "this program isn't the one that was certified; certify it, or name the other one",
            ));
        }
    }
    Ok(())
}

fn digests(folder: &Path, statement: &Value) -> Result<(), Rejection> {
    let stated = files_of(statement);
    for (name, digest) in &stated {
        let found = fs::read(folder.join(name))
            .map_err(|error| reject(format!("{name} can't be read: {error}"), WRITTEN_AGAIN))?;
        if sha256(&found) != *digest {
            let said = format!("{name} was changed: its sha256 isn't the one that was stated");
            return Err(reject(said, "not one byte of a certificate may be edited; have it certified again"));
        }
    }
    let listed = fs::read_dir(folder).map_err(|error| reject(error, WRITTEN_AGAIN))?;
    let known = |name: &str| name == STATEMENT || stated.iter().any(|(stated, _)| stated == name);
    let stranger =
        listed.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).find(|name| !known(name));
    match stranger {
        None => Ok(()),
        Some(name) => {
            Err(reject(format!("{name} was put into the folder"), "take out what the statement doesn't name"))
        }
    }
}

#[cfg(test)]
mod tests;
