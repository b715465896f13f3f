//! The stripes: 256 advisory locks under which requests begin and runs finish, across threads and processes.

use std::fs::File;
use std::io;

use super::files::Folder;

/// The stripe that a request or a run belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stripe(u8);

/// Holds one stripe until it is dropped. A second guard of the same stripe waits, also within one process.
#[derive(Debug)]
pub struct StripeGuard {
    stripe: Stripe,
    held: File,
}

/// Whether somebody holds a lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    Held,
    Free,
    Absent,
}

impl Stripe {
    pub fn new(first_hash_byte: u8) -> Self {
        Self(first_hash_byte)
    }

    /// Waits until nobody else holds the stripe. Blocks the thread.
    pub fn lock(self, locks: &Folder) -> io::Result<StripeGuard> {
        let file = locks.lock_file(&format!("{:02x}.lock", self.0))?;
        file.lock()?;
        Ok(StripeGuard { stripe: self, held: file })
    }
}

impl StripeGuard {
    pub fn stripe(&self) -> Stripe {
        self.stripe
    }
}

/// Let go by name: a child that is just being started holds a copy of the descriptor for a moment.
impl Drop for StripeGuard {
    fn drop(&mut self) {
        let _ = self.held.unlock();
    }
}

/// Looks at a lock without disturbing other onlookers.
pub fn look(folder: &Folder, name: &str) -> io::Result<Held> {
    let Some(file) = folder.existing_lock_file(name)? else { return Ok(Held::Absent) };
    match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| Held::Free),
        Err(std::fs::TryLockError::WouldBlock) => Ok(Held::Held),
        Err(std::fs::TryLockError::Error(fault)) => Err(fault),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn one_stripe_admits_one_holder_at_a_time() {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::open(temp.path()).unwrap();
        let (inside, most) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let guard = Stripe::new(7).lock(&folder).unwrap();
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(guard);
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
    }

    #[test]
    fn two_stripes_are_held_side_by_side() {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::open(temp.path()).unwrap();
        let _one = Stripe::new(0).lock(&folder).unwrap();
        let other = Stripe::new(255).lock(&folder).unwrap();
        assert_eq!(other.stripe(), Stripe::new(255));
    }

    #[test]
    fn onlookers_see_held_free_and_absent_and_do_not_disturb_each_other() {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::open(temp.path()).unwrap();
        assert_eq!(look(&folder, "x").unwrap(), Held::Absent);
        let file = folder.lock_file("x").unwrap();
        file.lock().unwrap();
        assert_eq!(look(&folder, "x").unwrap(), Held::Held);
        file.unlock().unwrap();
        let onlooker = folder.existing_lock_file("x").unwrap().unwrap();
        onlooker.try_lock_shared().unwrap();
        assert_eq!(look(&folder, "x").unwrap(), Held::Free);
    }
}
