//! The fourteen recording tools, and one more that an operator can add.

use crate::contract::outcome::closed_words;
use crate::lifecycle::contracts::Tool as Entered;

closed_words! {
    /// In the order of the design's table.
    RecordingTool {
        Observe = "observe",
        StartRecord = "start_record",
        Click = "click",
        Halt = "halt",
        Type = "type",
        PauseForInput = "pause_for_input",
        ContinueInput = "continue_input",
        StopRecord = "stop_record",
        Compile = "compile",
        Admit = "admit",
        GetCommandResult = "get_command_result",
        SetCoach = "set_coach",
        GetCoach = "get_coach",
        BindStatus = "bind_status",
        Screen = "screen",
    }
}

impl RecordingTool {
    /// As the one entry knows it, by the same name: what acts on the session. The others only look, or change nothing but a word in this
    /// process.
    pub fn entered(self) -> Option<Entered> {
        Entered::parse(self.as_str())
    }

    /// Acts in the app, or stands for an act in it: only a person may where nothing is pinned.
    pub const fn drives(self) -> bool {
        matches!(self, Self::StartRecord | Self::Click | Self::Type | Self::PauseForInput | Self::ContinueInput)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_entry_knows_what_acts_and_nothing_that_only_looks() {
        let aside = RecordingTool::ALL.iter().filter(|tool| tool.entered().is_none()).map(|tool| tool.as_str());
        let looks = ["observe", "get_command_result", "set_coach", "get_coach", "bind_status", "screen"];
        assert_eq!(aside.collect::<Vec<_>>(), looks);
    }
}
