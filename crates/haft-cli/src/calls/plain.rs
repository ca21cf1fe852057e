//! Plain calls: `{"name": …, "arguments": …}`, with or without an id, and the calls that haft itself writes.

use std::collections::HashSet;

use haft::conversation::FormatVersion;
use haft::run::ToolCall;
use haft::schema::Issue;
use haft::serde_json::{Map, Value};

use super::record::{self, MAX_FAULTS, Record, kind_of, nearest};
use crate::error::Fault;
use crate::input::TextInput;

/// A call's keys. The later ones occur in calls that haft writes.
const KEYS: [&str; 9] =
    ["id", "call_id", "name", "arguments", "v", "argument_issue", "provider_executed", "metadata", "provider_data"];

/// A key in calls inside a provider's response.
const FUNCTION: &str = "function";

/// Reads a text's calls.
pub(super) fn read(input: &TextInput) -> Result<Vec<ToolCall>, Vec<Fault>> {
    let records = record::read(input, "call")?;
    let (mut calls, mut faults) = (Vec::new(), Vec::new());
    for record in &records {
        if faults.len() >= MAX_FAULTS {
            break;
        }
        match read_call(record) {
            Ok(call) => calls.push(call),
            Err(found) => faults.extend(found),
        }
    }
    if faults.is_empty() { Ok(number(calls)) } else { Err(faults) }
}

/// A call that may lack an id.
struct PlainCall {
    id: Option<String>,
    call: ToolCall,
}

fn read_call(record: &Record<'_>) -> Result<PlainCall, Vec<Fault>> {
    if record.get(FUNCTION).is_some() {
        let fault = record.fault("this is a part of a provider's response");
        return Err(vec![fault.advice("pass the whole response, as the provider sent it")]);
    }
    if record.keys().all(|key| nearest(key, &["name"]).is_none()) {
        let fault = record.fault("this is no call: it has no `name`");
        return Err(vec![fault.advice(
            "a call has a `name` and `arguments`, see `haft run --help`; other forms are named with `--from`",
        )]);
    }
    let mut faults = record.unknown_members(&KEYS);
    let call = read_members(record, &mut faults);
    if faults.is_empty() { Ok(call) } else { Err(faults) }
}

fn read_members(record: &Record<'_>, faults: &mut Vec<Fault>) -> PlainCall {
    let mut note = |fault: Fault| faults.push(fault);
    let text = |key: &str, note: &mut dyn FnMut(Fault)| {
        record.read::<String>(key, "a string").unwrap_or_else(|fault| {
            note(fault);
            None
        })
    };
    let (call_id, id) = (text("call_id", &mut note), text("id", &mut note));
    if let (Some(_), Some(member)) = (record.get("call_id"), record.get("id")) {
        note(record.fault_at(member, "the call has an `id` and a `call_id`").advice("keep one of them"));
    }
    let name = text("name", &mut note);
    if record.get("name").is_none() {
        note(record.fault("the call has no `name`").advice("add the name of a tool: `haft tools` lists them"));
    }
    let arguments = arguments(record).unwrap_or_else(|fault| {
        note(fault);
        String::new()
    });
    if let Err(fault) = record.read::<FormatVersion>("v", "the version of the format") {
        note(fault);
    }
    let mut call = ToolCall::new("", name.unwrap_or_default(), arguments);
    if let Err(fault) = read_rest(record, &mut call) {
        note(fault);
    }
    PlainCall { id: call_id.or(id), call }
}

/// Returns the arguments as text: the object's, or the string.
fn arguments(record: &Record<'_>) -> Result<String, Fault> {
    let Some(member) = record.get("arguments") else { return Ok("{}".to_owned()) };
    match member.json.as_bytes().first() {
        Some(b'{') => Ok(member.json.to_owned()),
        Some(b'"') => Ok(record.read("arguments", "text")?.unwrap_or_default()),
        _ => {
            let found = kind_of(member.json);
            let message = format!("`arguments` must be an object, or the text that a model wrote, not {found}");
            Err(record.fault_at(member, message))
        }
    }
}

/// Reads what only calls that haft wrote have.
fn read_rest(record: &Record<'_>, call: &mut ToolCall) -> Result<(), Fault> {
    call.argument_issue = record.read::<Option<Issue>>("argument_issue", "an issue")?.flatten().map(Box::new);
    call.provider_executed = record.read("provider_executed", "a boolean")?.unwrap_or_default();
    call.metadata = record.read::<Map<String, Value>>("metadata", "an object")?.unwrap_or_default();
    call.provider_data = record.read::<Map<String, Value>>("provider_data", "an object")?.unwrap_or_default();
    Ok(())
}

/// Gives every call without an id a unique one: `call_1` for the first call of all, and so on.
fn number(calls: Vec<PlainCall>) -> Vec<ToolCall> {
    let mut taken: HashSet<String> = calls.iter().filter_map(|call| call.id.clone()).collect();
    let numbered = calls.into_iter().enumerate().map(|(at, PlainCall { id, mut call })| {
        let id = id.unwrap_or_else(|| {
            let mut number = at + 1;
            while !taken.insert(format!("call_{number}")) {
                number += 1;
            }
            format!("call_{number}")
        });
        call.call_id = id.into();
        call
    });
    numbered.collect()
}

/// Returns the text of calls, one per line, for tests.
#[cfg(test)]
fn shown(calls: &[ToolCall]) -> Vec<String> {
    calls.iter().map(|call| format!("{} {} {}", call.call_id, call.name, call.arguments)).collect()
}

#[cfg(test)]
mod tests {
    use haft::serde_json;

    use super::*;

    fn input(text: &str) -> TextInput {
        TextInput { origin: "calls.json".to_owned(), text: text.to_owned() }
    }

    fn faults(text: &str) -> Vec<String> {
        read(&input(text)).unwrap_err().into_iter().map(|fault| fault.message).collect()
    }

    #[test]
    fn arguments_are_passed_on_as_they_were_written() {
        let calls = read(&input(
            r#"[{"id": "a", "name": "t", "arguments": {"x":  1e400}}, {"call_id": "b", "name": "t", "arguments": "{oops"}]"#,
        ));
        assert_eq!(shown(&calls.unwrap()), [r#"a t {"x":  1e400}"#, "b t {oops"]);
    }

    #[test]
    fn calls_without_an_id_are_numbered_around_those_that_have_one() {
        let calls = read(&input(r#"[{"name": "t"}, {"id": "call_3", "name": "t"}, {"name": "t"}, {"name": "t"}]"#));
        assert_eq!(shown(&calls.unwrap()), ["call_1 t {}", "call_3 t {}", "call_4 t {}", "call_5 t {}"]);
    }

    #[test]
    fn a_call_that_haft_wrote_is_read_whole() {
        let call =
            ToolCall::new("c1", "t", "{}").metadata("a", 1).provider_data("google", "sig").executed_by_provider();
        let text = serde_json::to_string(&call).unwrap();
        assert_eq!(read(&input(&text)).unwrap(), [call]);
    }

    #[test]
    fn all_faults_of_all_calls_are_found() {
        let found = faults(
            r#"[{"nmae": "t"}, {"id": 7, "name": "t", "arguments": [1]}, {"id": "a", "call_id": "b", "name": "t"}, {"v": 9, "name": "t"}]"#,
        );
        assert_eq!(
            found,
            [
                "`/0/nmae`: there is no key `nmae`",
                "`/0`: the call has no `name`",
                "`/1/id`: `id` must be a string: not a number",
                "`/1/arguments`: `arguments` must be an object, or the text that a model wrote, not an array",
                "`/2/id`: the call has an `id` and a `call_id`",
                "`/3/v`: `v` must be the version of the format: written by a newer version (9); this one reads up to 1",
            ]
        );
    }

    #[test]
    fn an_object_that_is_no_call_has_one_fault() {
        let found = faults(r#"{"id": "msg_1", "type": "message", "role": "assistant", "content": []}"#);
        assert_eq!(found, ["this is no call: it has no `name`"]);
    }

    #[test]
    fn a_part_of_a_response_is_answered_with_what_to_pass() {
        let found = faults(r#"[{"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}]"#);
        assert_eq!(found, ["`/0`: this is a part of a provider's response"]);
    }
}
