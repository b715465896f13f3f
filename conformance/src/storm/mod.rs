//! A storm: frames that nobody should send, each with what must become of it. The same for the same seed.

pub mod arguments;
pub mod shots;

pub use shots::{Due, Shot};

use crate::scenario::action::{Storm, StormKind};

/// One line of a storm.
pub fn shot(storm: &Storm, number: u64, modern: bool) -> Shot {
    match storm.of {
        StormKind::Everything => shots::shot(storm.seed, number, modern),
        StormKind::Unread => shots::long(number, modern),
        StormKind::Pings => shots::ping(storm.seed, number, modern),
    }
}
