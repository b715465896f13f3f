//! Draws cases, runs each on the real program, and makes the first one that fails as small as it can be.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::LocalSet;

use super::case::{Case, cases};
use super::held::{Fault, held};
use super::write::{in_toml, write};
use crate::run::perform;
use crate::run::subject::Subject;

/// What came of it.
#[derive(Debug)]
pub enum Explored {
    Held {
        cases: u32,
    },
    /// The smallest case that was found, what is wrong with it, and where it was written to.
    Failed {
        case: Box<Case>,
        said: String,
        file: Option<PathBuf>,
    },
}

/// A failing case is tried again so often, smaller each time.
const SHRINKS: u32 = 120;

pub fn explore(
    subject: &Subject,
    runtime: &Runtime,
    seed: u64,
    count: u32,
    out: Option<&Path>,
    say: impl Fn(&str),
) -> io::Result<Explored> {
    let config = Config { cases: count, max_shrink_iters: SHRINKS, failure_persistence: None, ..Config::default() };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let latest: RefCell<Option<(Case, Fault)>> = RefCell::new(None);
    let done = runner.run(&cases(), |case| match played(&case, subject, runtime) {
        Ok(()) => Ok(()),
        Err(fault) => {
            say(&format!("{} operations: {}", case.ops.len(), fault.said));
            *latest.borrow_mut() = Some((case, fault.clone()));
            Err(TestCaseError::fail(fault.said))
        }
    });
    let case = match done {
        Ok(()) => return Ok(Explored::Held { cases: count }),
        Err(TestError::Fail(_, case)) => case,
        Err(TestError::Abort(why)) => return Err(io::Error::other(why.to_string())),
    };
    let found = latest.into_inner();
    let fault = found.filter(|(latest, _)| *latest == case).map(|(_, fault)| fault);
    // A fault that depends on the moment may have been seen last in a larger case.
    let fault = fault.unwrap_or_else(|| Fault {
        step: None,
        said: "seen once, and not each time".to_owned(),
        allowed: Vec::new(),
    });
    let file = out.map(|folder| kept(folder, seed, &case, &fault)).transpose()?;
    Ok(Explored::Failed { case: Box::new(case), said: fault.said, file })
}

fn played(case: &Case, subject: &Subject, runtime: &Runtime) -> Result<(), Fault> {
    let harness = |said: String| Fault { step: None, said, allowed: Vec::new() };
    let written = write(case, "explored", "What was drawn at random").map_err(harness)?;
    let local = LocalSet::new();
    let evidence = runtime.block_on(local.run_until(perform(&written.scenario, subject)));
    held(case, &written, &evidence)
}

/// As a scenario that says at the failing action what would have been right.
fn kept(folder: &Path, seed: u64, case: &Case, fault: &Fault) -> io::Result<PathBuf> {
    let id = format!("regressions/explored-{seed}");
    let written = write(case, &id, "What was drawn at random, and once went wrong").map_err(io::Error::other)?;
    let mut document = written.document;
    if let Some(after) = document.get_mut("after").and_then(Value::as_object_mut) {
        after.remove("launches");
    }
    if let Some(action) = fault.step.and_then(|step| document.pointer_mut(&format!("/do/{step}")))
        && !fault.allowed.is_empty()
    {
        action["expect"] = json!({"reason": {"one_of": fault.allowed}});
    }
    fs::create_dir_all(folder)?;
    let path = folder.join(format!("explored-{seed}.toml"));
    fs::write(&path, in_toml(&document))?;
    Ok(path)
}
