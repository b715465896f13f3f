//! The last sixteen equal failures of an account: how often the same work has failed under the same conditions. Only storage is
//! bounded by it; nothing that counts attempts or refusals is kept here. Source: lifecycle, C06 and C09 to C15.

use rusqlite::{OptionalExtension, Transaction, params};

use super::store::{Store, StoreFault};

/// As many as are kept. The store's own trigger says the same.
pub const CAPACITY: i64 = 16;

/// One more failure of the same work, or its success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeat {
    /// The account.
    pub scope: String,
    /// Contract, work and conditions, as a keyed digest.
    pub key: String,
    pub failed: bool,
}

impl Store {
    /// How often the same has failed in a row, as far as it is remembered.
    pub fn failed_before(&self, scope: &str, key: &str) -> Result<u32, StoreFault> {
        self.read_one("SELECT count FROM failures WHERE scope = ?1 AND key = ?2", [scope, key])
            .map(Option::unwrap_or_default)
    }
}

/// A success forgets the key; a failure counts it on, and the oldest one makes room.
pub(super) fn note(transaction: &Transaction<'_>, repeat: &Repeat) -> Result<(), StoreFault> {
    let Repeat { scope, key, failed } = repeat;
    if !failed {
        transaction.execute("DELETE FROM failures WHERE scope = ?1 AND key = ?2", params![scope, key])?;
        return Ok(());
    }
    let known: Option<i64> = transaction
        .query_row("SELECT count FROM failures WHERE scope = ?1 AND key = ?2", params![scope, key], |row| row.get(0))
        .optional()?;
    if known.is_none() {
        transaction.execute(
            "DELETE FROM failures WHERE scope = ?1 AND seq IN \
             (SELECT seq FROM failures WHERE scope = ?1 ORDER BY seq DESC LIMIT -1 OFFSET ?2)",
            params![scope, CAPACITY - 1],
        )?;
    }
    transaction.execute(
        "INSERT INTO failures VALUES (?1, ?2, ?3, (SELECT coalesce(max(seq), 0) + 1 FROM failures WHERE scope = ?1)) \
         ON CONFLICT (scope, key) DO UPDATE SET count = count + 1, seq = excluded.seq",
        params![scope, key, known.unwrap_or(0) + 1],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::testing::World;

    fn fail(world: &World, key: &str) {
        change(world, key, true);
    }

    fn change(world: &World, key: &str, failed: bool) {
        let repeat = Repeat { scope: "me".to_owned(), key: key.to_owned(), failed };
        world.store.actions().write(|transaction| note(transaction, &repeat)).unwrap();
    }

    fn count(world: &World, key: &str) -> u32 {
        world.store.actions().failed_before("me", key).unwrap()
    }

    #[test]
    fn equal_failures_are_counted_and_a_success_forgets_them() {
        let world = World::new();
        fail(&world, "a");
        fail(&world, "a");
        assert_eq!((count(&world, "a"), count(&world, "b")), (2, 0));
        change(&world, "a", false);
        assert_eq!(count(&world, "a"), 0);
        fail(&world, "a");
        assert_eq!(count(&world, "a"), 1);
    }

    /// C09, C10.
    #[test]
    fn of_forty_distinct_failures_the_sixteen_newest_are_kept() {
        let world = World::new();
        for number in 0..40 {
            fail(&world, &number.to_string());
        }
        let kept: Vec<usize> = (0..40).filter(|number| count(&world, &number.to_string()) == 1).collect();
        assert_eq!(kept, (24..40).collect::<Vec<_>>());
    }

    /// C10.
    #[test]
    fn making_room_in_the_map_touches_nothing_that_counts() {
        let world = World::new();
        let counts = "SELECT (SELECT count(*) FROM requests), (SELECT count(*) FROM review_counters), (SELECT count(*) FROM events), \
            (SELECT count(*) FROM actions)";
        let look = || {
            let read = |row: &rusqlite::Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]);
            world.store.actions().write(|transaction| Ok(transaction.query_row(counts, [], read)?)).unwrap()
        };
        world.dispatched(&world.new_action("request-one", 1));
        let before: [i64; 4] = look();
        for number in 0..40 {
            fail(&world, &number.to_string());
        }
        assert!(before.iter().sum::<i64>() > 0);
        assert_eq!(look(), before);
    }

    /// C15.
    #[test]
    fn what_failed_before_a_restart_is_still_known_after_it() {
        let world = World::new();
        fail(&world, "a");
        fail(&world, "a");
        let another = world.another();
        assert_eq!(another.actions().failed_before("me", "a").unwrap(), 2);
    }
}
