//! The text of one message.

use std::borrow::Cow;

use rmcp::model::{
    CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, GetExtensions, JsonRpcMessage, ProgressToken,
    RequestId, RequestMetaObject,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::slot::{Slot, SlotKind};

/// The members of any message, of which the large ones are not parsed.
#[derive(Deserialize)]
pub(super) struct Envelope<'a> {
    #[serde(default)]
    pub(super) id: Option<RequestId>,
    #[serde(borrow, default)]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) result: Option<&'a RawValue>,
}

/// A call, with its arguments as text: no tree of JSON values holds every number exactly.
#[derive(Serialize)]
struct CallText<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    method: &'static str,
    params: CallParams<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallParams<'a> {
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RequestMetaObject>,
    #[serde(flatten)]
    params: &'a CallToolRequestParams,
    arguments: &'a RawValue,
}

/// Returns a message as the server reads it.
pub(super) fn encode(message: &ClientJsonRpcMessage) -> serde_json::Result<Vec<u8>> {
    if let JsonRpcMessage::Request(request) = message
        && let ClientRequest::CallToolRequest(call) = &request.request
        && let Some(SlotKind::Call { arguments: Some(arguments) }) = call.extensions.get::<Slot>().map(Slot::kind)
    {
        let meta = call.extensions.get::<RequestMetaObject>();
        let mut params = call.params.clone();
        params.arguments = None;
        let params = CallParams { meta, params: &params, arguments };
        return serde_json::to_vec(&CallText { jsonrpc: "2.0", id: &request.id, method: "tools/call", params });
    }
    serde_json::to_vec(message)
}

/// Returns the answer to a request of the server as the server reads it.
pub(super) fn encode_answer(id: &RequestId, answer: &Value) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&json!({"jsonrpc": "2.0", "id": id, "result": answer}))
}

/// Returns the slot of a request, its id and its progress token.
pub(super) fn slot(message: &ClientJsonRpcMessage) -> Option<(Slot, RequestId, Option<ProgressToken>)> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let extensions = request.request.extensions();
    let slot = extensions.get::<Slot>()?.clone();
    let token = extensions.get::<RequestMetaObject>().and_then(RequestMetaObject::get_progress_token);
    Some((slot, request.id.clone(), token))
}
