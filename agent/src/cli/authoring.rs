//! `authoring connect`: lets a hosted chat app look and click in one window, as far as the person at this terminal allows it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Subcommand;

use super::console;
use super::serve_options::{MailboxFlags, Surroundings, for_a_mailbox};
use crate::authoring::opening::{Opened, Screens};
use crate::authoring::room::Room;
use crate::lifecycle::types::Origin;
use crate::mailbox::connect;
use crate::mailbox::desk::Desk;
use crate::mailbox::person::Terminal;
use crate::mailbox::target::Target;
use crate::mcp;
use crate::refusal::Refusal;
use crate::service::Service;

const NAME: &str = "authoring connect";

const EXAMPLES: &str = "Examples:
  openadapt-agent authoring connect 'openadapt://runner?pack=…&bind=…&origin=https://openadapt.ai' --url http://localhost:8080 --headed
  openadapt-agent authoring connect 'https://openadapt.ai/j/PACK?bind=…' --url http://localhost:8080 --headed

Ctrl-C ends it. Nothing listens: this program asks the mailbox, and nobody can ask it.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Binds this computer to a chat app's mailbox, and records what it asks for in one window.
    Connect(Connect),
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
struct Connect {
    /// The link that the chat app shows: openadapt://runner?… or https://openadapt.ai/j/…
    target: String,
    /// The page that is recorded, in a new browser.
    #[arg(long)]
    url: Option<String>,
    /// The browser's window is shown. A page is recorded in no other.
    #[arg(long)]
    headed: bool,
    /// Where the recording and its records are kept [default: $OPENADAPT_AGENT_RUNS_DIR, else ~/.openadapt/runs].
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<PathBuf>,
    /// The command that starts Flow, as words [default: openadapt-flow].
    #[arg(long, value_name = "WORDS")]
    flow_cli: Option<String>,
    /// Flow's bridge, as words [default: the one that goes with --flow-cli].
    #[arg(long, value_name = "WORDS")]
    flow_bridge: Option<String>,
}

pub fn run(arguments: Arguments) -> ExitCode {
    let What::Connect(connect) = arguments.what;
    match connect.served() {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => console::refused(NAME, &refusal),
    }
}

impl Connect {
    /// Everything that can be known on this computer is known before the link's word is spent.
    fn served(self) -> Result<(), Refusal> {
        let target = Target::parse(&self.target).map_err(|why| {
            Refusal::new(why.to_string(), "copy the whole link that the chat app shows, and put it in quotes")
        })?;
        let Self { url, headed, runs_dir, flow_cli, flow_bridge, .. } = self;
        let flags = MailboxFlags { url, headed, runs_dir, flow_cli, flow_bridge };
        let options = for_a_mailbox(flags, &Surroundings::of_this_process())?;
        mcp::log::install(tracing::level_filters::LevelFilter::WARN);
        let service = Service::open(&options)?;
        let recording =
            options.recording.as_ref().ok_or_else(|| Refusal::new("nothing is pinned", "add --url URL --headed"))?;
        let core = service.decisions();
        let opened = Opened::open(recording, core.store_folder(), service.runs_dir())?;
        let room = Arc::new(Room::new(core, Origin::Mailbox, Screens::Off, opened));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|_| Refusal::new("this computer is out of resources", "try again in a moment"))?;
        let ended = runtime.block_on(async {
            tokio::select! {
                fault = connect::serve(&target, Desk::new(room, Terminal::new(console::to_stderr)), console::to_stderr) => Err(fault),
                // Where the interrupt can't be heard, it ends the program by itself.
                Ok(()) = tokio::signal::ctrl_c() => Ok(()),
            }
        });
        // A person may still be typing at a question that nobody waits for any more.
        runtime.shutdown_background();
        ended.map_err(|fault| {
            Refusal::new(fault.to_string(), "what was recorded stays; for another try ask the chat app for a new link")
        })
    }
}
