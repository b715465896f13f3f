//! The closed set of report shapes and where each comes from.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    Verified,
    CompletedUnverified,
    HaltedBeforeEffect,
    ReconciliationRequired,
    RejectedPolicy,
    RejectedPolicyAuthorization,
    Canceled,
    FailedPlatform,
    RolledBack,
    NoProfileSuccess,
    NoProfileHalt,
}

/// Whether a run directory of the real program stood model, or the shape follows from the measured rules alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Captured,
    Derived,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    Demo,
    Standard,
    Regulated,
}

/// A profile as a script names it: `none` is the run without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProfileChoice {
    None,
    Demo,
    Standard,
    Regulated,
}

impl Shape {
    pub const ALL: [Self; 11] = [
        Self::Verified,
        Self::CompletedUnverified,
        Self::HaltedBeforeEffect,
        Self::ReconciliationRequired,
        Self::RejectedPolicy,
        Self::RejectedPolicyAuthorization,
        Self::Canceled,
        Self::FailedPlatform,
        Self::RolledBack,
        Self::NoProfileSuccess,
        Self::NoProfileHalt,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::CompletedUnverified => "completed_unverified",
            Self::HaltedBeforeEffect => "halted_before_effect",
            Self::ReconciliationRequired => "reconciliation_required",
            Self::RejectedPolicy => "rejected_policy",
            Self::RejectedPolicyAuthorization => "rejected_policy_authorization",
            Self::Canceled => "canceled",
            Self::FailedPlatform => "failed_platform",
            Self::RolledBack => "rolled_back",
            Self::NoProfileSuccess => "no_profile_success",
            Self::NoProfileHalt => "no_profile_halt",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.name() == name)
    }

    /// The transaction outcome that the report states; none without a profile.
    pub fn transaction(self) -> Option<&'static str> {
        Some(match self {
            Self::Verified => "VERIFIED",
            Self::CompletedUnverified => "COMPLETED_UNVERIFIED",
            Self::HaltedBeforeEffect => "HALTED_BEFORE_EFFECT",
            Self::ReconciliationRequired => "RECONCILIATION_REQUIRED",
            Self::RejectedPolicy | Self::RejectedPolicyAuthorization => "REJECTED_POLICY",
            Self::Canceled => "CANCELED",
            Self::FailedPlatform => "FAILED_PLATFORM",
            Self::RolledBack => "ROLLED_BACK",
            Self::NoProfileSuccess | Self::NoProfileHalt => return None,
        })
    }

    /// The coarse outcome beside it.
    pub fn execution(self) -> Option<&'static str> {
        Some(match self {
            Self::Verified => "VERIFIED",
            Self::CompletedUnverified => "COMPLETED_UNVERIFIED",
            Self::FailedPlatform => "FAILED",
            Self::RolledBack => "ROLLED_BACK",
            Self::NoProfileSuccess | Self::NoProfileHalt => return None,
            _ => "HALTED",
        })
    }

    pub fn origin(self) -> Origin {
        match self {
            Self::Verified
            | Self::CompletedUnverified
            | Self::HaltedBeforeEffect
            | Self::ReconciliationRequired
            | Self::RejectedPolicy
            | Self::Canceled => Origin::Captured,
            _ => Origin::Derived,
        }
    }

    /// Whether Flow ever writes this shape under a profile.
    pub fn allows(self, profile: Option<Profile>) -> bool {
        match self {
            Self::Verified => matches!(profile, Some(Profile::Standard | Profile::Regulated)),
            Self::CompletedUnverified => profile == Some(Profile::Demo),
            Self::NoProfileSuccess | Self::NoProfileHalt => profile.is_none(),
            _ => profile.is_some(),
        }
    }

    /// The profile of a report whose step names none: the launch's when the shape allows it, else the shape's own.
    pub fn profile_for(self, launched: Option<Profile>) -> Option<Profile> {
        if self.allows(launched) {
            return launched;
        }
        match self {
            Self::NoProfileSuccess | Self::NoProfileHalt => None,
            Self::CompletedUnverified => Some(Profile::Demo),
            _ => Some(Profile::Standard),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl Profile {
    pub const NAMES: [&str; 3] = ["demo", "standard", "regulated"];

    pub fn name(self) -> &'static str {
        match self {
            Self::Demo => "demo",
            Self::Standard => "standard",
            Self::Regulated => "regulated",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        [Self::Demo, Self::Standard, Self::Regulated].into_iter().find(|profile| profile.name() == name)
    }

    /// The weakest evidence tier that the profile declares.
    pub fn minimum_tier(self) -> Option<u8> {
        match self {
            Self::Demo => None,
            Self::Standard => Some(3),
            Self::Regulated => Some(2),
        }
    }
}

impl ProfileChoice {
    pub fn profile(self) -> Option<Profile> {
        match self {
            Self::None => None,
            Self::Demo => Some(Profile::Demo),
            Self::Standard => Some(Profile::Standard),
            Self::Regulated => Some(Profile::Regulated),
        }
    }
}
