//! The reasons for which Gemini ends a response.

use haft_core::Finish;

/// The known reasons. Reasons that are missing here, and those with `None`, are kept by name; calls before them never
/// run.
const REASONS: [(&str, Option<Finish>); 20] = [
    ("STOP", Some(Finish::Stop)),
    ("MAX_TOKENS", Some(Finish::Length)),
    ("SAFETY", Some(Finish::ContentFilter)),
    ("RECITATION", Some(Finish::ContentFilter)),
    ("BLOCKLIST", Some(Finish::ContentFilter)),
    ("PROHIBITED_CONTENT", Some(Finish::ContentFilter)),
    ("SPII", Some(Finish::ContentFilter)),
    ("MODEL_ARMOR", Some(Finish::ContentFilter)),
    ("IMAGE_SAFETY", Some(Finish::ContentFilter)),
    ("IMAGE_PROHIBITED_CONTENT", Some(Finish::ContentFilter)),
    ("IMAGE_RECITATION", Some(Finish::ContentFilter)),
    ("MALFORMED_FUNCTION_CALL", Some(Finish::Error)),
    ("MALFORMED_RESPONSE", Some(Finish::Error)),
    ("UNEXPECTED_TOOL_CALL", Some(Finish::Error)),
    ("TOO_MANY_TOOL_CALLS", Some(Finish::Error)),
    ("LANGUAGE", None),
    ("NO_IMAGE", None),
    ("IMAGE_OTHER", None),
    ("OTHER", None),
    // Continued by a token that has no place in a history.
    ("CONTINUATION", None),
];

/// The reason that servers with an older API send for a turn with calls.
const CALLS: &str = "FUNCTION_CALL";

/// Converts a reason. A turn that ends with calls waits for their results.
pub(super) fn finish(reason: &str, has_calls: bool) -> Finish {
    if reason == CALLS && has_calls {
        return Finish::ToolCalls;
    }
    match REASONS.into_iter().find(|(name, _)| *name == reason) {
        Some((_, Some(Finish::Stop))) if has_calls => Finish::ToolCalls,
        Some((_, Some(finish))) => finish,
        Some((_, None)) | None => Finish::Other(reason.to_owned()),
    }
}

/// Returns the fault if a response that ended for this reason is not a turn: the model sometimes ends without a word,
/// or writes calls that can't be read. Another attempt usually succeeds.
pub(super) fn fault(reason: &str, has_answer: bool) -> Option<&'static str> {
    match reason {
        "STOP" if !has_answer => Some("the model ended its turn without an answer"),
        "MALFORMED_FUNCTION_CALL" => Some("the model wrote a call that can't be read"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_decided() {
        for (reason, without, with) in [
            ("STOP", Finish::Stop, Finish::ToolCalls),
            ("FUNCTION_CALL", Finish::Other("FUNCTION_CALL".to_owned()), Finish::ToolCalls),
            ("MAX_TOKENS", Finish::Length, Finish::Length),
            ("SAFETY", Finish::ContentFilter, Finish::ContentFilter),
            ("MALFORMED_FUNCTION_CALL", Finish::Error, Finish::Error),
        ] {
            assert_eq!((finish(reason, false), finish(reason, true)), (without, with), "{reason}");
        }
    }

    #[test]
    fn calls_run_only_after_a_complete_response() {
        for (reason, _) in REASONS {
            assert_eq!(finish(reason, true).is_cut_off(), reason != "STOP", "{reason}");
        }
        for unknown in ["", "stop", "FINISH_REASON_UNSPECIFIED", "NEW_REASON"] {
            assert_eq!(finish(unknown, true), Finish::Other(unknown.to_owned()));
            assert!(finish(unknown, true).is_cut_off());
        }
    }
}
