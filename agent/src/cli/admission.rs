//! `admission status`: whether this release, and the workflows on the public list, are actively admitted now.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;

use jiff::Timestamp;

use super::console;
use super::exit;
use super::serve_options::Surroundings;
use crate::admission::fetch::Fetcher;
use crate::admission::release::Installed;
use crate::admission::source::{LIFECYCLE, Source, WORKFLOWS};
use crate::admission::status::{self, Ask, Place};
use crate::admission::trust::TrustRoot;
use crate::admission::watermark::Keeping;
use crate::admission::{TargetId, report};
use crate::flow::canonical::hex;
use crate::refusal::Refusal;

const NAME: &str = "admission";

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  openadapt-agent admission status                                             looks at the public ledgers
  openadapt-agent admission status --ledger ledger.json --evidence pack.json   needs no network
  openadapt-agent admission status --target flow --check --json                for a script")]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Tells for each target whether its latest release is admitted. Verifies, remembers what was seen, keeps no verdict.
    Status(Flags),
}

#[derive(Debug, clap::Args)]
struct Flags {
    /// The release ledger: a file, or an https address.
    #[arg(long, value_name = "FILE|URL", default_value = LIFECYCLE)]
    ledger: String,
    /// The list of workflow admissions: a file, or an https address. Read when it is named, with --bundle, and with the default ledger.
    #[arg(long, value_name = "FILE|URL")]
    workflows: Option<String>,
    /// The evidence pack: one file, or a folder of registered objects. Without it nothing is ever admitted.
    #[arg(long, value_name = "FILE|DIR")]
    evidence: Option<PathBuf>,
    /// The target that the state is about.
    #[arg(long, value_name = "ID", default_value = "agent")]
    target: String,
    /// A workflow's bundle that must be exactly the admitted one.
    #[arg(long, value_name = "PATH")]
    bundle: Option<PathBuf>,
    /// Where runs are kept; what was seen is remembered beside it [default: $OPENADAPT_AGENT_RUNS_DIR, else ~/.openadapt/runs].
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<PathBuf>,
    /// One JSON object instead of lines.
    #[arg(long)]
    json: bool,
    /// Ends with 1 unless the target is admitted.
    #[arg(long)]
    check: bool,
}

pub fn run(arguments: Arguments) -> ExitCode {
    let Command::Status(flags) = arguments.command;
    let Some(target) = TargetId::parse(&flags.target) else {
        let names: Vec<_> = TargetId::all().map(TargetId::as_str).collect();
        let hint = format!("the targets are {}", names.join(", "));
        return console::refused(NAME, &Refusal::new("--target doesn't name a target", hint));
    };
    let Some(keeping) = keeping(flags.runs_dir.as_deref(), &Surroundings::of_this_process()) else {
        let hint = "add --runs-dir DIR or set OPENADAPT_AGENT_RUNS_DIR";
        return console::refused(NAME, &Refusal::new("there is no home folder to remember anything beside", hint));
    };
    let ask = Ask {
        workflows: workflows(&flags),
        ledger: Source::parse(&flags.ledger),
        evidence: flags.evidence,
        target,
        bundle: flags.bundle,
    };
    let place = place(keeping);
    let Ok(status) = catch_unwind(AssertUnwindSafe(|| status::look(&ask, &place))) else {
        return console::bug(
            NAME,
            &anyhow::anyhow!("the admissions couldn't be looked at, so nothing is actively admitted"),
        );
    };
    console::to_stdout(&if flags.json { format!("{:#}\n", report::json(&status)) } else { report::text(&status) });
    match status.verdict {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) if reason.is_of_the_ledger() => ExitCode::from(exit::USAGE),
        Err(_) if flags.check => ExitCode::FAILURE,
        Err(_) => ExitCode::SUCCESS,
    }
}

/// What a look is judged with on this computer, now.
pub fn place(keeping: Keeping) -> Place {
    Place {
        root: TrustRoot::published(),
        now: Timestamp::now(),
        installed: Installed { version: env!("CARGO_PKG_VERSION").to_owned(), artifact_sha256: own_file() },
        keeping,
        fetcher: Fetcher::default(),
    }
}

/// A ledger from a file is a look without the network, unless a list is named.
fn workflows(flags: &Flags) -> Option<Source> {
    let wanted = flags.bundle.is_some() || flags.ledger == LIFECYCLE;
    let default = wanted.then_some(WORKFLOWS);
    flags.workflows.as_deref().or(default).map(Source::parse)
}

fn keeping(flag: Option<&std::path::Path>, around: &Surroundings) -> Option<Keeping> {
    let named = flag.or(around.runs_dir_variable.as_deref());
    let runs_dir = match (named, &around.home) {
        (Some(named), _) => around.current_dir.join(named),
        (None, Some(home)) => home.join(".openadapt/runs"),
        (None, None) => return None,
    };
    Some(Keeping::beside(&runs_dir))
}

fn own_file() -> Option<String> {
    use sha2::Digest;
    let mut hasher = sha2::Sha256::new();
    std::io::copy(&mut std::fs::File::open(std::env::current_exe().ok()?).ok()?, &mut hasher).ok()?;
    Some(format!("sha256:{}", hex(&hasher.finalize())))
}
