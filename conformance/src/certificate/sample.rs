//! A small certificate, and the list that it is held against, for the tests of this room.

use std::path::Path;

use super::envelope::Envelope;
use super::frozen::FrozenSet;
use super::header::{CERTIFICATE_FORMAT, Header};
use super::key::PrivateKey;
use super::places::Places;
use super::program::Program;
use super::render::{Measure, STATEMENT, render};
use super::scrub::scrub;
use super::stored::Stored;
use crate::check::sample::saved;
use crate::evidence::Evidence;
use crate::requirement::Catalogue;
use crate::scenario::Scenario;
use crate::scenario::expand::expand;
use crate::scenario::source::Files;

pub struct Sample {
    pub set: FrozenSet,
    pub bodies: Vec<Scenario>,
    pub catalogue: Catalogue,
    pub stored: Stored,
}

const BODIES: [(&str, &str); 3] = [("one", "RES-a"), ("three", "RES-b"), ("two", "RES-a")];

/// Three scenarios that passed.
pub fn sample() -> Sample {
    let bodies: Vec<Scenario> = BODIES.iter().map(|(name, row)| body(name, row)).collect();
    let set = FrozenSet::freeze("sample", &bodies);
    let evidence =
        bodies.iter().map(evidence_of).map(|evidence| scrub(&evidence, &Places::default()).unwrap()).collect();
    let program = |name: &str| Program {
        command: name.into(),
        version: "1.35.1".into(),
        sha256: super::statement::sha256(name.as_bytes()),
        of: "the program's bytes".into(),
    };
    let header = Header {
        format: CERTIFICATE_FORMAT.into(),
        conformance: env!("CARGO_PKG_VERSION").into(),
        set: set.name.clone(),
        set_sha256: set.digest(),
        flow: program("openadapt-flow"),
        agent: program("openadapt-agent"),
        browser: None,
        claims: None,
        seconds: 1.5,
    };
    Sample { set, bodies, catalogue: catalogue(), stored: Stored::new(header, evidence) }
}

impl Sample {
    pub fn measure(&self) -> Measure<'_> {
        Measure { bodies: &self.bodies, catalogue: &self.catalogue }
    }

    /// As `certify` writes it.
    pub fn write(&self, folder: &Path, key: Option<&PrivateKey>) {
        let rendered = render(&self.stored, self.measure()).unwrap();
        for (name, text) in &rendered.files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        let envelope = Envelope::around(rendered.statement.as_bytes(), key);
        std::fs::write(folder.join(STATEMENT), envelope.to_json()).unwrap();
    }
}

fn body(name: &str, row: &str) -> Scenario {
    let text = format!(
        "id = \"{name}\"\ntitle = \"A save\"\nproves = [\"{row}\"]\n[world]\nreal_flow = true\n[[do]]\ncall = \"run_workflow\"\nargs = {{}}\nexpect = {{ outcome = \"done\" }}\n"
    );
    expand("sample", &text).unwrap().remove(0)
}

fn evidence_of(body: &Scenario) -> Evidence {
    let mut evidence = saved();
    evidence.scenario = body.id.clone();
    evidence.title = body.title.clone();
    evidence.proves = body.proves.clone();
    evidence.steps[0].action = body.actions[0].clone();
    evidence.after = body.after.clone();
    evidence
}

fn catalogue() -> Catalogue {
    let row = |id: &str| {
        format!(
            "[[requirement]]\nid = \"{id}\"\nlevel = \"must\"\ntext = \"t\"\nsource = \"s\"\nsince = \"1\"\nobservable = \"wire\"\nreach = \"now\"\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("requirements")).unwrap();
    std::fs::write(folder.path().join("requirements/a.toml"), row("RES-a") + &row("RES-b")).unwrap();
    Catalogue::read(&Files::in_folder(folder.path()).unwrap()).unwrap()
}
