//! Who is recorded as the operator: the effective account of this process, whatever its environment says.
//! Source: *Identity and transport*.

use nix::unistd::{Uid, User, geteuid};

use crate::refusal::Refusal;

/// The name of the effective account. Never blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator(String);

impl Operator {
    pub fn of_this_process() -> Result<Self, Refusal> {
        Self::of(geteuid())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn of(account: Uid) -> Result<Self, Refusal> {
        let name = User::from_uid(account).ok().flatten().map(|user| user.name).unwrap_or_default();
        if name.trim().is_empty() {
            return Err(Refusal::new(
                "this process's account has no name, so nobody could be recorded as the operator of a decision",
                "start the server from an account that the system knows, or leave attended actions out",
            ));
        }
        Ok(Self(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operator_is_the_effective_account_and_no_variable() {
        let id = std::process::Command::new("id").arg("-un").env("USER", "mallory").env("LOGNAME", "mallory").output();
        let name = String::from_utf8(id.unwrap().stdout).unwrap();
        assert_eq!(Operator::of_this_process().unwrap().as_str(), name.trim_end());
    }

    #[test]
    fn an_account_without_a_name_takes_no_decisions() {
        assert!(Operator::of(Uid::from_raw(3_999_999_999)).is_err());
    }
}
