//! Which keys a person may pin: what a list offers, held against what is pinned. A new key needs that person's word; a revocation
//! only takes trust away and needs none; nothing that was pinned is trusted more afterwards.

use super::keys::{Key, Keys};

/// What a list of keys would change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Active, and not pinned yet.
    pub offered: Vec<Key>,
    /// Pinned, and revoked now.
    pub revoked: Vec<Key>,
    /// Pinned as revoked; the list calls them active, and isn't heard.
    pub unrevoked: Vec<String>,
    /// Pinned, and not on the list. They stay.
    pub missing: Vec<String>,
}

impl Plan {
    pub fn of(pinned: &Keys, listed: &Keys) -> Self {
        let mut plan = Self::default();
        for key in listed.iter() {
            match (pinned.get(key.id()), key.revoked_at()) {
                (None, None) => plan.offered.push(key.clone()),
                // A key that was never trusted has nothing to lose.
                (None, Some(_)) => {}
                (Some(known), Some(at)) if known.revoked_at().is_none_or(|known| at < known) => {
                    plan.revoked.push(key.clone())
                }
                (Some(known), None) if known.revoked_at().is_some() => plan.unrevoked.push(key.id().to_owned()),
                (Some(_), _) => {}
            }
        }
        plan.missing =
            pinned.iter().filter(|key| listed.get(key.id()).is_none()).map(|key| key.id().to_owned()).collect();
        plan
    }

    /// The keys afterwards, with those of the offered ones that a person named.
    pub fn applied(&self, pinned: &Keys, named: &[String]) -> Keys {
        let mut keys = pinned.clone();
        let accepted = self.offered.iter().filter(|key| named.iter().any(|name| name == key.id()));
        for key in self.revoked.iter().chain(accepted) {
            keys.put(key.clone());
        }
        keys
    }
}
