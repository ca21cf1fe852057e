//! Generators for the values of a conversation, for the round trips.

use std::time::Duration;

use haft_core::{
    ApprovalDecision, ApprovalRequest, CallOutputBody, Citation, ContentPart, FailureKind, Finish, Item, MediaData,
    MediaPart, Message, OutputFormat, ProviderCall, Reasoning, ResourceContents, ResourceLinkPart, ResourcePart, Role,
    TextPart, Timestamp, ToolCall, ToolCallOutput, ToolChoice, ToolDescriptor, ToolFailure, ToolOutput, ToolResult,
    Turn, TurnRequest, Usage, Verdict,
};
use haft_schema::{Issue, Schema};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};

/// Generates any text, including awkward ones.
pub(super) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z_]{0,8}",
        "\\PC{0,12}",
        select(vec!["", "null", "\"", "\\", "\u{0}", "{}", "[1"]).prop_map(str::to_owned)
    ]
}

/// Generates any JSON. Floats are eighths: printing and parsing preserves them, whatever the parser's precision.
pub(super) fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text(), inner), 0..4).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

pub(super) fn map() -> impl Strategy<Value = Map<String, Value>> {
    vec((text(), json()), 0..2).prop_map(|fields| fields.into_iter().collect())
}

pub(super) fn call() -> impl Strategy<Value = ToolCall> {
    (text(), text(), text(), any::<bool>(), map(), map()).prop_map(|(id, name, arguments, provider, notes, data)| {
        let mut call = ToolCall::new(id, name, arguments);
        call.provider_executed = provider;
        call.metadata = notes;
        call.provider_data = data;
        call
    })
}

fn citation() -> impl Strategy<Value = Citation> {
    (option::of(text()), option::of(text()), option::of(any::<u64>()), map()).prop_map(|(url, quote, start, data)| {
        let mut citation = Citation::file("f");
        (citation.url, citation.quote, citation.start, citation.provider_data) = (url, quote, start, data);
        citation
    })
}

fn media() -> impl Strategy<Value = MediaPart> {
    let data = prop_oneof![
        text().prop_map(MediaData::Base64),
        text().prop_map(MediaData::Url),
        text().prop_map(MediaData::FileId)
    ];
    (data, option::of(text()), option::of(text()), map()).prop_map(|(data, media_type, name, provider_data)| {
        let mut part = MediaPart::new(data);
        (part.media_type, part.name, part.provider_data) = (media_type, name, provider_data);
        part
    })
}

/// Generates an object of an unknown type.
fn unknown() -> impl Strategy<Value = Value> {
    (map(), "future_[a-z]{1,6}").prop_map(|(mut fields, kind)| {
        fields.insert("type".to_owned(), kind.into());
        Value::Object(fields)
    })
}

pub(super) fn part() -> impl Strategy<Value = ContentPart> {
    prop_oneof![
        (text(), vec(citation(), 0..2), map()).prop_map(|(text, citations, data)| {
            let mut part = TextPart::new(text);
            (part.citations, part.provider_data) = (citations, data);
            ContentPart::Text(part)
        }),
        text().prop_map(ContentPart::refusal),
        media().prop_map(ContentPart::Image),
        media().prop_map(ContentPart::Audio),
        media().prop_map(ContentPart::File),
        (text(), text(), any::<bool>(), map()).prop_map(|(uri, body, is_text, data)| {
            let contents = if is_text { ResourceContents::Text(body) } else { ResourceContents::Blob(body) };
            let mut part = ResourcePart::new(uri, contents);
            part.provider_data = data;
            ContentPart::Resource(part)
        }),
        (text(), text(), option::of(text()), option::of(any::<u64>())).prop_map(|(uri, name, title, size)| {
            let mut link = ResourceLinkPart::new(uri, name);
            (link.title, link.size) = (title, size);
            ContentPart::ResourceLink(link)
        }),
        unknown().prop_map(ContentPart::Unknown),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    let role = select(vec![Role::User, Role::Assistant, Role::System, Role::Developer]);
    (role, vec(part(), 0..3), map()).prop_map(|(role, content, data)| {
        let mut message = Message::new(role, content);
        message.provider_data = data;
        message
    })
}

fn reasoning() -> impl Strategy<Value = Reasoning> {
    let parts =
        (option::of(text()), vec(text(), 0..3), option::of(text()), option::of(text()), option::of(text()), map());
    parts.prop_map(|(id, summary, text, signature, encrypted, data)| {
        let mut reasoning = Reasoning::default();
        (reasoning.id, reasoning.summary, reasoning.text) = (id, summary, text);
        (reasoning.signature, reasoning.encrypted, reasoning.provider_data) = (signature, encrypted, data);
        reasoning
    })
}

fn output() -> impl Strategy<Value = ToolCallOutput> {
    let body = prop_oneof![text().prop_map(CallOutputBody::Text), vec(part(), 0..3).prop_map(CallOutputBody::Parts)];
    let maps = (option::of(map().prop_map(Box::new)), map());
    (text(), body, option::of(text()), any::<bool>(), maps).prop_map(|(id, body, tool, is_error, maps)| {
        let mut output = ToolCallOutput::new(id, body);
        (output.tool, output.is_error) = (tool, is_error);
        (output.metadata, output.provider_data) = maps;
        output
    })
}

pub(super) fn item() -> impl Strategy<Value = Item> {
    let request = (text(), call(), text(), option::of(any::<u64>())).prop_map(|(id, call, digest, expiry)| {
        let mut request = ApprovalRequest::new(id, &call).digest(digest);
        request.expires_at = expiry.map(Timestamp::from_unix_millis);
        Item::from(request)
    });
    let response = (text(), text(), option::of(text()), any::<u64>()).prop_map(|(id, decision, reason, at)| {
        let mut response = Verdict::new(id, ApprovalDecision::from(decision.as_str()));
        response.reason = reason;
        Item::from(response.decided("who", Timestamp::from_unix_millis(at)))
    });
    prop_oneof![
        message().prop_map(Item::from),
        reasoning().prop_map(Item::from),
        call().prop_map(Item::from),
        output().prop_map(Item::from),
        request,
        response,
        (text(), text(), json())
            .prop_map(|(provider, name, payload)| ProviderCall::new(provider, name, payload).into()),
        unknown().prop_map(Item::Unknown),
    ]
}

fn failure() -> impl Strategy<Value = ToolFailure> {
    let kind = prop_oneof![select(FailureKind::ALL.to_vec()), text().prop_map(FailureKind::from)];
    let issues = vec((text(), text(), text(), text()), 0..3);
    let wait = option::of((0_u64..5_000_000, 0_u32..1_000_000_000));
    let extra = (vec(part(), 0..3), map());
    (kind, text(), issues, any::<(bool, bool)>(), wait, option::of(json()), extra).prop_map(
        |(kind, message, issues, (retryable, started), wait, details, (model, metadata))| {
            let mut failure = ToolFailure::new(kind, message);
            failure.issues =
                issues.into_iter().map(|(at, rule, found, say)| Issue::new(at, rule, say).found(found)).collect();
            (failure.retryable, failure.started) = (retryable, started);
            failure.retry_after = wait.map(|(seconds, nanos)| Duration::new(seconds, nanos));
            failure.details = details.map(|details| Box::new(details.into()));
            metadata
                .into_iter()
                .fold(failure.for_model(model), |failure, (key, value)| failure.with_metadata(key, value))
        },
    )
}

pub(super) fn result() -> impl Strategy<Value = ToolResult> {
    let value = (option::of(json()), option::of(vec(part(), 0..3))).prop_map(|(value, model)| match (value, model) {
        (None, model) => ToolOutput::content_only(model.unwrap_or_default()),
        (Some(value), None) => ToolOutput::from(value),
        (Some(value), Some(model)) => ToolOutput::from(value).for_model(model),
    });
    let value = (value, map()).prop_map(|(output, metadata)| {
        metadata.into_iter().fold(output, |output, (key, value)| output.with_metadata(key, value))
    });
    prop_oneof![
        (call(), value).prop_map(|(call, output)| ToolResult::ok(&call, output)),
        (call(), failure()).prop_map(|(call, failure)| ToolResult::from_failure(&call, failure)),
    ]
}

pub(super) fn turn() -> impl Strategy<Value = Turn> {
    let usage = any::<[u64; 6]>().prop_map(|[input, output, total, read, write, thought]| {
        Usage::new(input, output).total(total).cache_read(read).cache_write(write).reasoning(thought)
    });
    let finish = prop_oneof![select(Finish::ALL.to_vec()), text().prop_map(|name| Finish::from(name.as_str()))];
    (vec(item(), 0..4), usage, finish, option::of(text()), map()).prop_map(|(items, usage, finish, id, data)| {
        let mut turn = Turn::new(items, finish).usage(usage);
        (turn.response_id, turn.provider_data) = (id, data);
        turn
    })
}

fn choice() -> impl Strategy<Value = ToolChoice> {
    prop_oneof![
        select(vec![ToolChoice::Auto, ToolChoice::None, ToolChoice::Required]),
        text().prop_map(ToolChoice::Tool),
        vec(text(), 0..3).prop_map(ToolChoice::may_call),
        vec(text(), 0..3).prop_map(ToolChoice::must_call_one_of),
    ]
}

pub(super) fn request() -> impl Strategy<Value = TurnRequest> {
    let said = (text(), option::of(text()), vec(item(), 0..3), vec(text(), 0..3), choice());
    let dials = (option::of(any::<bool>()), option::of(0_u8..32), option::of(any::<u64>()), vec(text(), 0..2));
    (said, dials, option::of((text(), json())), map(), map()).prop_map(|(said, dials, format, metadata, options)| {
        let (model, instructions, history, names, choice) = said;
        let tools: Vec<_> = names.into_iter().map(|name| ToolDescriptor::new(name, Schema::empty())).collect();
        let mut request = TurnRequest::new(model, history).tools(&tools).tool_choice(choice);
        (request.instructions, request.metadata, request.provider_options) = (instructions, metadata, options);
        (request.parallel_tool_calls, request.max_output_tokens, request.stop) = (dials.0, dials.2, dials.3);
        request.temperature = dials.1.map(|eighths| f64::from(eighths) / 8.0);
        request.top_p = request.temperature;
        request.output_format = format.map(|(name, schema)| OutputFormat::new(name, schema).strict());
        request
    })
}
