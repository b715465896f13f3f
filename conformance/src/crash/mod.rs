//! Crash campaigns: named moments at which server and keeper die, and what must be found afterwards. Data and plans; nothing here runs.

pub mod case;
pub mod ending;
pub mod furnish;
pub mod kill;
pub mod matrix;
pub mod plan;
pub mod point;
pub mod tally;
pub mod window;

pub use case::{Again, Case, How, LedgerKind, Victim};
pub use ending::Ending;
pub use kill::Kill;
pub use point::Point;
