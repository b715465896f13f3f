//! `seal verify` and `seal keys`: whether a document carries a Seal, and whose signatures count on this computer.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jiff::Timestamp;

use super::console;
use crate::admission::fetch::Fetcher;
use crate::admission::source::Source;
use crate::refusal::Refusal;
use crate::runs::files::Folder;
use crate::seal::document::{self, Found};
use crate::seal::keys::{Keys, Whereabouts};
use crate::seal::pin::Plan;
use crate::seal::receipt::Refusal as SealRefusal;
use crate::workflows::files;

const NAME: &str = "seal";
const KEYS_URL: &str = "https://app.openadapt.ai/api/public/seal-keys";
const LIST_LIMIT: usize = 256 << 10;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  openadapt-agent seal verify report.json    checks the receipt in a run's report
  openadapt-agent seal keys pin              offers the issuer's keys to a person
  openadapt-agent seal keys show             lists the pinned keys")]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Checks the receipt in a document against the keys that are pinned here. Ends with 0 only for a Seal of a verified outcome.
    Verify(Verify),
    /// The keys whose signatures count on this computer.
    #[command(subcommand)]
    Keys(KeysCommand),
}

#[derive(Debug, clap::Args)]
struct Verify {
    /// A receipt, a run's report, a run's folder, or an https address of one.
    target: String,
    /// Keys to check with instead of the pinned ones.
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// One JSON object instead of a sentence.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum KeysCommand {
    /// Offers the keys of a list to a person, and pins those that the person names.
    Pin(Pin),
    /// Lists the pinned keys.
    Show(Show),
}

#[derive(Debug, clap::Args)]
struct Pin {
    /// The list: an https address, or a file.
    #[arg(long, value_name = "URL|FILE", default_value = KEYS_URL)]
    url: String,
    /// The file to pin in [default: $OPENADAPT_SEAL_KEYS_PATH, else ~/.openadapt/seal-keys.json].
    #[arg(long, value_name = "FILE")]
    path: Option<PathBuf>,
    /// A key id that a person has compared and trusts; may be repeated.
    #[arg(long, value_name = "KEY_ID")]
    confirm: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct Show {
    /// The file to show [default: as for pin].
    #[arg(long, value_name = "FILE")]
    path: Option<PathBuf>,
}

pub fn run(arguments: Arguments) -> ExitCode {
    match arguments.command {
        Command::Verify(flags) => verify(&flags),
        Command::Keys(KeysCommand::Pin(flags)) => pin(flags),
        Command::Keys(KeysCommand::Show(flags)) => show(flags),
    }
}

fn verify(flags: &Verify) -> ExitCode {
    let keys = match &flags.keys {
        Some(file) => Keys::of_file(file).unwrap_or_default(),
        None => Whereabouts::of_this_process().keys(),
    };
    let bytes = read(&flags.target, document::LIMIT);
    let found = bytes.map_or_else(|| Found::nothing(SealRefusal::Unreadable), |bytes| document::look(&bytes, &keys));
    console::to_stdout(&if flags.json { format!("{:#}\n", found.json()) } else { format!("{}\n", found.sentence()) });
    if found.is_seal() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn pin(flags: Pin) -> ExitCode {
    let Some(path) = flags.path.or_else(|| Whereabouts::of_this_process().file()) else {
        return no_place();
    };
    let Some(listed) = read(&flags.url, LIST_LIMIT).and_then(|bytes| Keys::read(&bytes)) else {
        return failed("The list of keys can't be read, or one of its entries isn't a key. Nothing was changed.");
    };
    let pinned = match path.symlink_metadata() {
        Err(_) => Keys::default(),
        Ok(_) => match Keys::of_file(&path) {
            Some(keys) => keys,
            None => return failed("The file of pinned keys can't be believed. Move it away; nothing was changed."),
        },
    };
    let plan = Plan::of(&pinned, &listed);
    let named = confirmed(&plan, &flags.confirm);
    let keys = plan.applied(&pinned, &named);
    if keys == pinned {
        console::to_stdout(if pinned.is_empty() { "Nothing was pinned.\n" } else { "Nothing was changed.\n" });
        return if pinned.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    }
    let source = Source::parse(&flags.url).told();
    if write(&path, &keys.to_file(&source, Timestamp::now())).is_none() {
        return failed("The file of pinned keys can't be written. Nothing was changed.");
    }
    console::to_stdout(&format!("Pinned: {}.\n", keys.iter().len()));
    ExitCode::SUCCESS
}

/// Tells what would change, and hears from a person which of the offered keys are trusted.
fn confirmed(plan: &Plan, confirmed: &[String]) -> Vec<String> {
    for key in &plan.revoked {
        console::to_stdout(&format!("{} was revoked; what it signed since then doesn't count.\n", key.id()));
    }
    for id in &plan.unrevoked {
        console::to_stdout(&format!("{id} is pinned as revoked and stays so, whatever the list says.\n"));
    }
    for id in &plan.missing {
        console::to_stdout(&format!("{id} isn't on the list; it stays as it was pinned.\n"));
    }
    if !plan.offered.is_empty() {
        console::to_stdout("Compare each fingerprint with one that was published somewhere else than this list.\n");
    }
    let mut named = Vec::new();
    for key in &plan.offered {
        console::to_stdout(&format!("{}\n  {}\n", key.id(), key.fingerprint()));
        if confirmed.iter().any(|id| id == key.id()) || typed(key.id()) {
            named.push(key.id().to_owned());
        } else {
            console::to_stdout("  not trusted: a person at a terminal types its id, or passes --confirm with it\n");
        }
    }
    named
}

fn typed(id: &str) -> bool {
    if !std::io::stdin().is_terminal() {
        return false;
    }
    console::to_stdout("  type its id to trust it: ");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).is_ok() && line.trim() == id
}

fn show(flags: Show) -> ExitCode {
    let Some(path) = flags.path.or_else(|| Whereabouts::of_this_process().file()) else {
        return no_place();
    };
    let keys = match path.symlink_metadata() {
        Err(_) => Keys::default(),
        Ok(_) => match Keys::of_file(&path) {
            Some(keys) => keys,
            None => return failed("The file of pinned keys can't be believed, so no key counts."),
        },
    };
    if keys.is_empty() {
        return failed("No key is pinned.");
    }
    for key in keys.iter() {
        let revoked = key.revoked_at().map(|at| format!("  revoked {at}")).unwrap_or_default();
        console::to_stdout(&format!("{}  {}{revoked}\n", key.id(), key.fingerprint()));
    }
    ExitCode::SUCCESS
}

fn read(place: &str, limit: usize) -> Option<Vec<u8>> {
    match Source::parse(place) {
        Source::Address(address) => Fetcher::default().get(&address, limit.min(LIST_LIMIT)).ok(),
        Source::File(path) => {
            let path = path.canonicalize().ok()?;
            let file = if path.is_dir() { path.join(crate::flow::report::NAME) } else { path };
            files::read(&file, limit).ok()
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> Option<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::os::unix::fs::DirBuilderExt::mode(std::fs::DirBuilder::new().recursive(true), 0o700).create(parent).ok()?;
    let folder = Folder::open(&parent.canonicalize().ok()?).ok()?;
    folder.write_durable(path.file_name()?.to_str()?, bytes).ok()
}

fn failed(sentence: &str) -> ExitCode {
    console::to_stdout(&format!("{sentence}\n"));
    ExitCode::FAILURE
}

fn no_place() -> ExitCode {
    let hint = "name the file with --path FILE or OPENADAPT_SEAL_KEYS_PATH";
    console::refused(NAME, &Refusal::new("there is no home folder to pin keys in", hint))
}
