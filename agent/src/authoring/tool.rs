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
    /// As the one entry knows it: what acts on the session. The others only look, or change nothing but a word in this process.
    pub const fn entered(self) -> Option<Entered> {
        Some(match self {
            Self::StartRecord => Entered::StartRecord,
            Self::Click => Entered::Click,
            Self::Halt => Entered::Halt,
            Self::Type => Entered::Type,
            Self::PauseForInput => Entered::PauseForInput,
            Self::ContinueInput => Entered::ContinueInput,
            Self::StopRecord => Entered::StopRecord,
            Self::Compile => Entered::Compile,
            Self::Admit => Entered::Admit,
            _ => return None,
        })
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
    fn the_one_entry_knows_each_acting_tool_by_its_own_name() {
        let entered: Vec<_> =
            RecordingTool::ALL.iter().filter_map(|tool| Some((tool.as_str(), tool.entered()?.as_str()))).collect();
        assert_eq!(entered.len(), 9);
        assert!(entered.iter().all(|(own, entered)| own == entered), "{entered:?}");
    }
}
