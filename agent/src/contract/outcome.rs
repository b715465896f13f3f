//! The closed words of a result besides the reason.

macro_rules! closed_words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, ::serde::Serialize, ::serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+
        }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text),+
                }
            }

            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|word| word.as_str() == text)
            }
        }
    };
}

pub(crate) use closed_words;

closed_words! {
    /// The contract's four terminal outcomes, and `running`. Source: *The result contract*, first table.
    Outcome {
        /// Saved, and checked by reading the record back.
        Done = "done",
        /// Stopped before saving; nothing written; a person decides.
        NeedsReview = "needs_review",
        /// A save may have gone through; a person checks the record.
        NotSureIfSaved = "not_sure_if_saved",
        /// This call wrote nothing.
        DidNotRun = "did_not_run",
        /// The one non-terminal value.
        Running = "running",
    }
}

closed_words! {
    /// What is known of the record in the app.
    RecordChanged {
        Yes = "yes",
        No = "no",
        Unknown = "unknown",
    }
}

closed_words! {
    /// What the calling agent does next.
    NextStep {
        None = "none",
        WaitForPerson = "wait_for_person",
        CheckRecord = "check_record",
        FixInputs = "fix_inputs",
        FixSetup = "fix_setup",
        Retry = "retry",
        CallGetRun = "call_get_run",
    }
}

closed_words! {
    /// How a save was proven. Anything but `none` only with `done`.
    Proof {
        Sealed = "sealed",
        Local = "local",
        Simulated = "simulated",
        None = "none",
    }
}

closed_words! {
    /// How the server was started.
    Mode {
        Sandbox = "sandbox",
        Attended = "attended",
        Production = "production",
    }
}
