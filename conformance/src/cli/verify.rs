//! `verify`: the evidence of a certificate is judged again, offline.

use std::path::PathBuf;

use clap::Args;

use super::Problem;
use super::certify::List;
use crate::certificate::key::PublicKey;
use crate::certificate::program;
use crate::certificate::render::Measure;
use crate::certificate::verify::{Known, verify};
use crate::console::{Printer, text};
use crate::exit::Exit;
use crate::run::subject::split;

/// Ends with 0 when everything holds and passed, with 100 when everything holds and something had failed, and with 102 when the
/// folder isn't what was written.
#[derive(Debug, Args)]
pub struct Verify {
    /// The folder that `certify` wrote.
    folder: PathBuf,
    /// Whoever certified: an Ed25519 public key in PEM. Without it nobody vouches for the folder.
    #[arg(long, value_name = "FILE")]
    public_key: Option<PathBuf>,
    /// A Flow that must be the one that was certified.
    #[arg(long, value_name = "CMD")]
    flow: Option<String>,
    /// The Python that has it. [default: the one that the command itself names]
    #[arg(long, value_name = "PY", requires = "flow")]
    python: Option<PathBuf>,
    /// An agent that must be the one that was certified.
    #[arg(long, value_name = "CMD")]
    agent: Option<String>,
    #[command(flatten)]
    list: List,
}

impl Verify {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let (set, bodies, catalogue) = self.list.load()?;
        let known = self.known()?;
        let measure = Measure { bodies: &bodies, catalogue: &catalogue };
        let verified = verify(&self.folder, &set, measure, &known).map_err(|rejection| {
            let said = format!("{}: {}", self.folder.display(), rejection.said);
            Problem::new(Exit::BadEvidence, said, rejection.hint)
        })?;
        let (header, finished) = (&verified.stored.header, &verified.rendered.finished);
        printer.data(&format!("{}: the evidence was judged again, and everything agrees", header.title()));
        printer.data(&text::summary(&finished.summary, &finished.matrix, printer.style));
        printer.data(&match (verified.signed_by.first(), &self.public_key) {
            (Some(key), Some(_)) => format!("signed by {key}, as the key that was named"),
            (Some(key), None) => format!("signed by {key}; not checked, since no --public-key was named"),
            (None, _) => "unsigned: it proves only that it agrees with itself".to_owned(),
        });
        printer.data(crate::certificate::WHAT_IT_IS);
        let clean = finished.summary.failed + finished.summary.unrun == 0;
        Ok(if clean { Exit::Conformant } else { Exit::Failed })
    }

    fn known(&self) -> Result<Known, Problem> {
        let key = self.public_key.as_ref().map(|path| {
            PublicKey::read(path).map_err(|error| {
                let hint = "`openssl pkey -in KEY -pubout` writes the public half of a key";
                Problem::new(Exit::SetUp, format!("{}: {error}", path.display()), hint)
            })
        });
        let named = |command: &String| {
            split(command)
                .ok_or_else(|| Problem::new(Exit::Usage, format!("{command:?} is no command"), "close every quote"))
        };
        let absent = |error| Problem::new(Exit::SetUp, error, "name a program that can be started");
        let flow = self.flow.as_ref().map(|command| {
            let words = named(command)?;
            let python = self.python.clone().or_else(|| program::python_of(&words));
            program::flow(&words, python.as_deref()).map_err(absent)
        });
        let agent = self.agent.as_ref().map(|command| program::agent(&named(command)?).map_err(absent));
        Ok(Known {
            key: key.transpose()?,
            flow_sha256: flow.transpose()?.map(|program| program.sha256),
            agent_sha256: agent.transpose()?.map(|program| program.sha256),
        })
    }
}
