//! Events as JSON lines: the events of a run as the library writes them, each with the id of its call at the top.

use haft::run::{CallId, ToolEvent};
use haft::serde_json;
use serde::Serialize;

/// An event that has the id of its call only inside its request or result.
#[derive(Serialize)]
struct WithCallId<'e> {
    call_id: &'e CallId,
    #[serde(flatten)]
    event: &'e ToolEvent,
}

/// Returns an event as one line of JSON.
pub(crate) fn line(event: &ToolEvent) -> Result<String, serde_json::Error> {
    match event {
        ToolEvent::ApprovalRequested { .. } | ToolEvent::Suspended { .. } | ToolEvent::Output { .. } => {
            serde_json::to_string(&WithCallId { call_id: event.call_id(), event })
        }
        _ => serde_json::to_string(event),
    }
}

#[cfg(test)]
mod tests {
    use haft::approval::ApprovalRequest;
    use haft::run::{ToolCall, ToolResult};
    use haft::schema::JsonText;
    use haft::serde_json::Value;

    use super::*;

    #[test]
    fn every_line_has_the_id_once_and_is_read_as_the_event() {
        let call = ToolCall::new("c1", "pay", r#"{"cents": 5}"#);
        let request = Box::new(ApprovalRequest::new("q1", &call));
        let long = JsonText::parse("123456789012345678901234567890").unwrap();
        let events = [
            ToolEvent::Progress { index: 0, call_id: "c1".into(), tool: "pay".into(), seq: 0, data: long.clone() },
            ToolEvent::ApprovalRequested { index: 0, request: request.clone() },
            ToolEvent::ApprovalResolved {
                index: 0,
                call_id: "c1".into(),
                tool: "pay".into(),
                response: Box::new(request.approve()),
            },
            ToolEvent::Suspended { index: 0, request },
            ToolEvent::Output { index: 0, result: ToolResult::ok(&call, long) },
        ];
        for event in events {
            let line = line(&event).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["call_id"], "c1", "{line}");
            assert!(line.starts_with(r#"{"call_id":"c1","#) || line.matches("call_id").count() <= 2, "{line}");
            assert_eq!(serde_json::from_str::<ToolEvent>(&line).unwrap(), event, "{line}");
            assert!(event.result().is_none() || line.contains("123456789012345678901234567890"), "{line}");
        }
    }
}
