//! An action's way to its dispatch, as types: each step takes the one before it, and only the last one can start anything.
//! Source: lifecycle, *Types*, the typestate.

use super::executor::StartToken;
use super::store::Action;

/// Written down, not decided.
#[derive(Debug, PartialEq)]
pub struct Prepared(pub(super) Action);

/// A person is being asked.
#[derive(Debug, PartialEq)]
pub struct Waiting(pub(super) Action);

/// May begin, once everything has been looked at again.
#[derive(Debug, PartialEq)]
pub struct Authorized(pub(super) Action);

/// Counts as an attempt at its request.
#[derive(Debug, PartialEq)]
pub struct Reserved(pub(super) Action);

/// The intent is committed. With the token, and with nothing else, an executor may be started.
#[derive(Debug, PartialEq)]
pub struct Started {
    action: Action,
    token: StartToken,
}

/// What may become a dispatch: an attempt that is reserved, or an action of a tool that counts no attempts.
pub enum Ready {
    Attempt(Reserved),
    Once(Authorized),
}

impl Waiting {
    /// An action about which a person is being asked, as the store has it.
    pub(crate) fn of(action: Action) -> Self {
        Self(action)
    }
}

impl Started {
    pub(super) fn committed(action: Action, token: StartToken) -> Self {
        Self { action, token }
    }

    pub fn action(&self) -> &Action {
        &self.action
    }

    pub fn into_parts(self) -> (Action, StartToken) {
        (self.action, self.token)
    }
}

impl Ready {
    pub fn action(&self) -> &Action {
        match self {
            Self::Attempt(Reserved(action)) | Self::Once(Authorized(action)) => action,
        }
    }
}

macro_rules! seen {
    ($($state:ident),+) => {
        $(impl $state {
            pub fn action(&self) -> &Action {
                &self.0
            }
        })+
    };
}

seen!(Prepared, Waiting, Authorized, Reserved);
