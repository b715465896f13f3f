//! The five cases: what each is there to show, and the note that is typed in it.

/// One case of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// As the agent calls it.
    pub name: &'static str,
    pub title: &'static str,
    /// What goes wrong in it, for a person.
    pub what: &'static str,
    pub note: &'static str,
    /// What it is documented to end in. Source: docs/sandbox.md.
    pub outcome: &'static str,
}

/// In the order in which they are played. The notes differ, so that none can be taken for another's.
pub const CASES: [Case; 5] = [
    Case {
        name: "normal",
        title: "All goes well",
        what: "The app saves the note, and says so.",
        note: "Knee swollen since Friday, no fever.",
        outcome: "done",
    },
    Case {
        name: "duplicate_record",
        title: "Two patients of the same name",
        what: "The list shows the same referral twice, and nothing tells which one is meant.",
        note: "Wants a second opinion on the left knee.",
        outcome: "needs_review",
    },
    Case {
        name: "false_saved_banner",
        title: "“Saved”, and it isn’t",
        what: "The app paints its banner first and asks the server afterwards. The server refuses.",
        note: "Allergic to penicillin: do not prescribe.",
        outcome: "not_sure_if_saved",
    },
    Case {
        name: "timeout_after_save",
        title: "“Timed out”, and it is saved",
        what: "The server stores the note, but answers later than the page will wait.",
        note: "Gave 5 mg of morphine at 14:00.",
        outcome: "not_sure_if_saved",
    },
    Case {
        name: "app_offline",
        title: "The app is switched off",
        what: "Nothing answers where the app should be, so nothing is begun.",
        note: "Call back on Monday about the referral.",
        outcome: "did_not_run",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_case_has_the_note_of_another() {
        for (at, case) in CASES.iter().enumerate() {
            assert!(CASES.iter().skip(at + 1).all(|other| other.note != case.note && other.name != case.name));
        }
    }
}
