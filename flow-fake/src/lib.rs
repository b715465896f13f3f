//! A scriptable stand-in for `openadapt-flow` 1.35.1. It takes the same command line, prints the same lines and leaves the
//! same files, and does what its script says: it holds no policy of its own.

pub mod attended;
pub mod attention;
pub mod bridge;
pub mod canonical;
pub mod cli;
pub mod clock;
pub mod drive;
pub mod files;
pub mod journal;
pub mod launch;
pub mod output;
pub mod pause;
pub mod play;
pub mod report;
pub mod rundir;
pub mod script;

/// What `--version` prints, and the version whose command line and files are imitated.
pub const FLOW_VERSION: &str = "openadapt-flow 1.35.1";

/// Stands in every place where the real program would keep text read from a screen, so that a leak can be searched for.
pub const SCREEN_CANARY: &str = "screen-canary Ada Example record 0001";
