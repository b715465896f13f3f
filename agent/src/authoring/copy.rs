//! Every sentence of the recording tools: fixed copy.

use super::answer::Refused;
use super::tool::RecordingTool;

pub const COACH_ONLY: &str =
    "COACH_ONLY: on this window only a person may act. Tell them what to do; set_coach keeps the hint.";
pub const LOST: &str = "The recording session is gone, so nothing was done. It isn't started again by itself: the operator starts the server \
    anew, and the recording begins anew.";
pub const UNKNOWN: &str = "It isn't known whether this was done in the app. Don't repeat it: call observe, and ask the person what is to be \
    seen.";
pub const SUPPRESSED: &str = "The session has refused exactly this twice, and nothing has changed since. Call observe, and then do something else.";
pub const NOT_RECORDED: &str =
    "This computer's store can't be written, so nothing was done. The operator finds the cause in the server's log.";
pub const CHANGED_MEANWHILE: &str =
    "Something has changed since this was asked for, so nothing was done. Look again with observe.";
pub const NEEDS_PARAM: &str = "pause_for_input needs param here: a name for what the person types. Nothing was paused.";
pub const NO_FORM: &str = "Only a person accepts a draft, and this client can't show the form that asks for it. The operator accepts it in Flow.";
pub const NOT_CONFIRMED: &str = "The form came back without a tick, so the draft isn't accepted.";
pub const DECLINED: &str = "The person declined, so the draft isn't accepted.";
pub const CANCELLED: &str = "The form was closed, so the draft isn't accepted.";
pub const UNANSWERED: &str = "Nobody answered the form, so the draft isn't accepted.";
pub const NO_HINT: &str = "That hint isn't kept: at most 80 letters, digits, spaces, dots, underscores and hyphens, and nothing that looks like \
    an identifier.";
pub const NO_PICTURE: &str = "There is no picture that could be shared, so nothing is.";

pub const QUESTION: &str = "Accept the draft that was just recorded? It becomes a workflow of this computer. Its steps are what was shown, \
    and nothing has been checked yet.";
pub const TICK: &str = "I looked at what was recorded and accept it as a draft.";

/// What is said of a session's no.
pub const fn refused(refused: Refused) -> &'static str {
    match refused {
        Refused::NotRecording => "Nothing is being recorded. Call start_record first.",
        Refused::AlreadyRecording => "A recording is under way already.",
        Refused::Paused => "The recording waits for a person to type. Call continue_input when they have.",
        Refused::NotPaused => "The recording isn't paused, so there is nothing to continue.",
        Refused::Halted => "This recording was ended with halt. The operator starts the server anew for another one.",
        Refused::StaleNode => "There is no such node in the window now. Call observe again.",
        Refused::MissingPauseTarget => "Where the person types isn't known: name a node, or click the field first.",
        Refused::MissingSecretType => {
            "A secret of the recording has no field that it is typed into, so there is no draft."
        }
        Refused::NotCompiled => "There is no draft yet. Call compile first.",
        Refused::AdmitRefused => "Flow didn't accept the draft.",
        Refused::AdmitUnavailable => "This Flow accepts no drafts here.",
        Refused::CoachOnly => COACH_ONLY,
        Refused::ScrubbingFailed => NO_PICTURE,
        Refused::Other => "The session refused this, and nothing was done.",
    }
}

/// Said where the arguments don't fit.
pub const fn usage(tool: RecordingTool) -> &'static str {
    match tool {
        RecordingTool::Click => {
            "click takes either node_id (as observe told it) or both x and y (whole pixels). Nothing was clicked."
        }
        RecordingTool::Type => {
            "type takes text (1 to 10,000 characters) and, if you like, param (a small word) and node_id. Nothing was typed."
        }
        RecordingTool::PauseForInput => {
            "pause_for_input takes param (a small word for what the person types), node_id and secret (true or false). Nothing was paused."
        }
        RecordingTool::GetCommandResult => "get_command_result takes command_id, the name of a tool, or nothing.",
        RecordingTool::SetCoach => "set_coach takes hint, a short text for the person.",
        _ => "This tool takes no arguments. Nothing was done.",
    }
}
