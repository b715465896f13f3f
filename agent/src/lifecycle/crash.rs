//! Named moments at which a test build can be made to die, to fail or to wait. A build without the feature has none of it.
//! Source: lifecycle, *Crash points*.

/// A moment. Its name is known to a test build only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    PrepareBefore,
    PrepareAfter,
    ReviewBefore,
    ReviewVerdict,
    ReviewInTx,
    ReviewAfter,
    AuthorizeAfter,
    WaitOpened,
    WaitAnswered,
    WaitConsumedInTx,
    ReserveAfterClaim,
    ReserveAfterLedger,
    ReserveAfterCursor,
    DispatchBefore,
    DispatchInTx,
    DispatchAfterIntent,
    DispatchAfterSpawn,
    KeeperBeforeClaim,
    KeeperAfterClaim,
    KeeperAfterSpawn,
    KeeperAfterExit,
    KeeperAfterFacts,
    ExecuteAfterExit,
    RecordBefore,
    RecordInTx,
    RecordAfter,
    CheckpointBefore,
    CheckpointInTx,
    CheckpointAfter,
    ProjectBeforeFile,
    ProjectAfterTmp,
    ProjectAfterRename,
    ProjectAfterLedger,
    ProjectAfterMark,
    RespondBefore,
    RecoverEach,
}

/// The fault that a test build was told to have at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a fault that was asked for")]
pub struct Injected;

impl From<Injected> for std::io::Error {
    fn from(fault: Injected) -> Self {
        Self::other(fault)
    }
}

/// Passes a point.
#[cfg(not(feature = "crash-points"))]
#[inline]
pub const fn pass(_: Point) -> Result<(), Injected> {
    Ok(())
}

#[cfg(feature = "crash-points")]
pub use told::pass;

#[cfg(feature = "crash-points")]
mod told {
    //! Reads what the environment tells, once.

    use std::path::PathBuf;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use super::{Injected, Point};

    /// One instruction: at which passing of which point.
    struct At {
        name: String,
        nth: u32,
        passed: AtomicU32,
    }

    struct Told {
        crash: Option<At>,
        fail: Option<At>,
        hold: Option<(At, PathBuf)>,
    }

    /// Dies, fails or waits here when the environment says so: `OPENADAPT_AGENT_CRASH_AT=name[:n]`, `…_FAIL_AT=name[:n]` (every
    /// passing without a number), `…_HOLD_AT=name[:n]` with `…_HOLD_FILE`: makes that file with `.reached` added to its name and
    /// waits until the file itself is there.
    pub fn pass(point: Point) -> Result<(), Injected> {
        static TOLD: OnceLock<Told> = OnceLock::new();
        let told = TOLD.get_or_init(Told::read);
        if told.crash.as_ref().is_some_and(|at| at.is_now(point)) {
            std::process::abort();
        }
        if let Some((_, file)) = told.hold.as_ref().filter(|(at, _)| at.is_now(point)) {
            let mut reached = file.clone().into_os_string();
            reached.push(".reached");
            let _ = std::fs::write(reached, b"");
            while !file.exists() {
                std::thread::park_timeout(Duration::from_millis(2));
            }
        }
        if told.fail.as_ref().is_some_and(|at| at.is_now(point)) { Err(Injected) } else { Ok(()) }
    }

    impl Told {
        fn read() -> Self {
            let at = |name| std::env::var(name).ok().and_then(|text| At::parse(&text));
            let file = std::env::var_os("OPENADAPT_AGENT_HOLD_FILE").map(PathBuf::from);
            Self {
                crash: at("OPENADAPT_AGENT_CRASH_AT"),
                fail: at("OPENADAPT_AGENT_FAIL_AT"),
                hold: at("OPENADAPT_AGENT_HOLD_AT").zip(file),
            }
        }
    }

    impl At {
        /// Without a number, every passing counts.
        fn parse(text: &str) -> Option<Self> {
            let (name, nth) = text.split_once(':').map_or((text, Some(0)), |(name, nth)| (name, nth.parse().ok()));
            Some(Self { name: name.to_owned(), nth: nth?, passed: AtomicU32::new(0) })
        }

        fn is_now(&self, point: Point) -> bool {
            if self.name != point.name() {
                return false;
            }
            let passed = self.passed.fetch_add(1, Ordering::SeqCst) + 1;
            self.nth == 0 || passed == self.nth
        }
    }

    impl Point {
        const fn name(self) -> &'static str {
            match self {
                Self::PrepareBefore => "prepare.before",
                Self::PrepareAfter => "prepare.after",
                Self::ReviewBefore => "review.before",
                Self::ReviewVerdict => "review.verdict",
                Self::ReviewInTx => "review.in_tx",
                Self::ReviewAfter => "review.after",
                Self::AuthorizeAfter => "authorize.after",
                Self::WaitOpened => "wait.opened",
                Self::WaitAnswered => "wait.answered",
                Self::WaitConsumedInTx => "wait.consumed_in_tx",
                Self::ReserveAfterClaim => "reserve.after_claim",
                Self::ReserveAfterLedger => "reserve.after_ledger",
                Self::ReserveAfterCursor => "reserve.after_cursor",
                Self::DispatchBefore => "dispatch.before",
                Self::DispatchInTx => "dispatch.in_tx",
                Self::DispatchAfterIntent => "dispatch.after_intent",
                Self::DispatchAfterSpawn => "dispatch.after_spawn",
                Self::KeeperBeforeClaim => "keeper.before_claim",
                Self::KeeperAfterClaim => "keeper.after_claim",
                Self::KeeperAfterSpawn => "keeper.after_spawn",
                Self::KeeperAfterExit => "keeper.after_exit",
                Self::KeeperAfterFacts => "keeper.after_facts",
                Self::ExecuteAfterExit => "execute.after_exit",
                Self::RecordBefore => "record.before",
                Self::RecordInTx => "record.in_tx",
                Self::RecordAfter => "record.after",
                Self::CheckpointBefore => "checkpoint.before",
                Self::CheckpointInTx => "checkpoint.in_tx",
                Self::CheckpointAfter => "checkpoint.after",
                Self::ProjectBeforeFile => "project.before_file",
                Self::ProjectAfterTmp => "project.after_tmp",
                Self::ProjectAfterRename => "project.after_rename",
                Self::ProjectAfterLedger => "project.after_ledger",
                Self::ProjectAfterMark => "project.after_mark",
                Self::RespondBefore => "respond.before",
                Self::RecoverEach => "recover.each",
            }
        }
    }
}
