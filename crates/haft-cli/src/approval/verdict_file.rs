//! Verdict files: an array or lines of verdicts, as the library writes them or in short form.
//!
//! The short forms are `{"call_id": "c1", "decision": "approved"}`, `"denied"` with a `reason`, `"edited"` with
//! `arguments`, and `"answered"` with an `answer`. `by` names who decided, as `who` does, and `at` is a time as in RFC 3339 or in Unix
//! milliseconds. A verdict with a `digest` holds only for exactly what it was given
//! for.

mod time;

use std::collections::HashMap;
use std::path::Path;

use haft::approval::{
    ApprovalAnswer, ApprovalDecision, ApprovalId, ApprovalRequest, ApprovalScope, Approve, RequestSignature, Verdict,
};
use haft::conversation::{FormatVersion, Timestamp};
use haft::run::{CallId, RunId};
use haft::schema::JsonText;
use haft::tool::{BoxError, Cx};

use crate::calls::record::{self, MapQuoted, Record, nearest};
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::input::TextInput;

const KEYS: [&str; 16] = [
    "call_id",
    "decision",
    "reason",
    "arguments",
    "answer",
    "scope",
    "who",
    "by",
    "at",
    "v",
    "request_id",
    "digest",
    "expires_at",
    "run_id",
    "index",
    "signature",
];
const DECISIONS: [&str; 4] = ["approved", "denied", "edited", "answered"];
const SCOPES: [&str; 4] = ["this_call", "these_arguments", "this_tool", "this_session"];

/// A file's verdicts.
#[derive(Clone, Debug)]
pub(crate) struct VerdictFile {
    /// The path, for messages.
    pub(crate) origin: String,
    verdicts: Vec<FileVerdict>,
    /// The decision about calls that the file has no verdict for.
    others: Others,
}

/// The decision about calls without a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// They are denied.
    Denied,
    /// They are suspended.
    Suspended,
}

/// A verdict that is not bound to a request yet.
#[derive(Clone, Debug)]
struct FileVerdict {
    call_id: Option<CallId>,
    request_id: Option<ApprovalId>,
    decision: ApprovalDecision,
    reason: Option<String>,
    scope: ApprovalScope,
    who: Option<String>,
    at: Option<Timestamp>,
    digest: Option<String>,
    signature: Option<RequestSignature>,
}

impl VerdictFile {
    /// Reads a file, or standard input if the path is `-`.
    pub(crate) async fn read(path: &Path, others: Others, cx: &Context) -> Result<Self, CommandError> {
        let input = TextInput::read_or_wait(path, cx).await?;
        Ok(Self::of(&input, others)?)
    }

    fn of(input: &TextInput, others: Others) -> Result<Self, Vec<Fault>> {
        let records = record::read(input, "verdict")?;
        let (mut verdicts, mut faults) = (Vec::new(), Vec::new());
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (at, record) in records.iter().enumerate() {
            let mut found = record.unknown_members(&KEYS);
            match FileVerdict::read(record) {
                Err(fault) => found.push(fault),
                Ok(verdict) => {
                    if let Some(earlier) = seen.insert(verdict.subject(), at) {
                        let fault =
                            record.fault(format!("there is another verdict on {}, at `/{earlier}`", verdict.subject()));
                        found.push(fault.advice("keep one of them"));
                    }
                    verdicts.push(verdict);
                }
            }
            faults.extend(found);
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self { origin: input.origin.clone(), verdicts, others })
    }

    /// Rejects verdicts on calls that are not among these.
    pub(crate) fn ensure_known<'c>(&self, ids: impl Iterator<Item = &'c CallId>) -> Result<(), Vec<Fault>> {
        let known: Vec<&str> = ids.map(CallId::as_str).collect();
        let named = self.verdicts.iter().filter_map(|verdict| verdict.call_id.as_ref());
        let unknown = named.filter(|id| !known.contains(&id.as_str()));
        let faults: Vec<Fault> = unknown.map(|id| self.unknown(id.as_str(), &known)).collect();
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// Takes out the verdicts for some calls.
    pub(crate) fn take(&mut self, ids: &[CallId]) -> Self {
        let is_taken = |verdict: &FileVerdict| verdict.call_id.as_ref().is_some_and(|id| ids.contains(id));
        let (taken, kept) = std::mem::take(&mut self.verdicts).into_iter().partition(is_taken);
        self.verdicts = kept;
        Self { origin: self.origin.clone(), verdicts: taken, others: self.others }
    }

    /// Reports whether there is a verdict on a call.
    pub(crate) fn decides(&self, id: &CallId) -> bool {
        self.verdicts.iter().any(|verdict| verdict.call_id.as_ref() == Some(id))
    }

    /// Returns the verdicts for the requests, and the faults of those for anything else.
    pub(crate) fn bind_all(&self, requests: &[&ApprovalRequest]) -> Result<Vec<Verdict>, Vec<Fault>> {
        let (mut bound, mut faults) = (Vec::new(), Vec::new());
        for verdict in &self.verdicts {
            match requests.iter().find(|request| verdict.names(request)) {
                Some(request) => bound.push(verdict.bind(request)),
                None => {
                    let known: Vec<&str> = requests.iter().map(|request| request.call_id.as_str()).collect();
                    faults.push(self.unknown(verdict.id(), &known));
                }
            }
        }
        if faults.is_empty() { Ok(bound) } else { Err(faults) }
    }

    fn unknown(&self, id: &str, known: &[&str]) -> Fault {
        let origin = record::quoted(&self.origin);
        let fault = Fault::new(format!("{origin} has a verdict on `{id}`, but no such call waits for one"));
        match nearest(id, known) {
            Some(near) => fault.advice(format!("did you mean `{near}`?")),
            None if known.is_empty() => fault.advice("no call waits for a verdict"),
            None => fault.advice(format!("the calls are {}", known.map_quoted())),
        }
    }
}

impl Approve for VerdictFile {
    async fn approve(&self, request: ApprovalRequest, cx: Cx) -> Result<ApprovalAnswer, BoxError> {
        // A rejected verdict stays rejected: the file has no other one.
        if cx.rejected_verdict().is_some() {
            return Err("the file has no other verdict on the call".into());
        }
        let verdict = self.verdicts.iter().find(|verdict| verdict.call_id.as_ref() == Some(&request.call_id));
        Ok(match (verdict, self.others) {
            (Some(verdict), _) => verdict.bind_anew(&request).into(),
            (None, Others::Denied) => request.deny("no verdict was given on this call").into(),
            (None, Others::Suspended) => ApprovalAnswer::Later,
        })
    }
}

impl FileVerdict {
    fn read(record: &Record<'_>) -> Result<Self, Fault> {
        let call_id: Option<CallId> = record.read("call_id", "a string")?;
        let request_id: Option<ApprovalId> = record.read("request_id", "a string")?;
        if call_id.is_none() && request_id.is_none() {
            return Err(record.fault("the verdict names no call").advice("add the `call_id` of the call"));
        }
        record.read::<FormatVersion>("v", "the version of the format")?;
        // Bound again to the request that it belongs to, which has the same ones: the signature covers them.
        record.read::<Timestamp>("expires_at", "a time in Unix milliseconds")?;
        record.read::<RunId>("run_id", "a string")?;
        record.read::<usize>("index", "a number")?;
        Ok(Self {
            call_id,
            request_id,
            decision: decision(record)?,
            reason: record.read("reason", "a string")?,
            scope: scope(record)?,
            who: who(record)?,
            at: at(record)?,
            digest: record.read::<String>("digest", "a string")?.filter(|digest| !digest.is_empty()),
            signature: record.read("signature", "a signature")?,
        })
    }

    fn id(&self) -> &str {
        let request_id = || self.request_id.as_ref().map(ApprovalId::as_str);
        self.call_id.as_ref().map(CallId::as_str).or_else(request_id).unwrap_or_default()
    }

    fn subject(&self) -> String {
        format!("`{}`", self.id())
    }

    /// Reports whether the verdict is on this request.
    fn names(&self, request: &ApprovalRequest) -> bool {
        self.call_id.as_ref().is_none_or(|id| *id == request.call_id)
            && (self.call_id.is_some() || self.request_id.as_ref() == Some(&request.request_id))
    }

    /// Binds the verdict to a request. What the verdict itself says about the request is kept, so that it is rejected
    /// if it was given for another one.
    fn bind(&self, request: &ApprovalRequest) -> Verdict {
        let mut response = self.bind_anew(request);
        if let Some(request_id) = &self.request_id {
            response.request_id = request_id.clone();
        }
        response
    }

    /// Binds the verdict to a request in a new run, whose id nobody could know. A digest still has to match.
    fn bind_anew(&self, request: &ApprovalRequest) -> Verdict {
        let mut response = request.respond(self.decision.clone()).scope(self.scope.clone());
        response.reason.clone_from(&self.reason);
        response.who.clone_from(&self.who);
        response.at = self.at;
        if let Some(digest) = &self.digest {
            response.digest.clone_from(digest);
        }
        if self.signature.is_some() {
            response.signature.clone_from(&self.signature);
        }
        response
    }
}

fn decision(record: &Record<'_>) -> Result<ApprovalDecision, Fault> {
    let (arguments, answer) = (record.get("arguments"), record.get("answer"));
    let Some(word) = record.read::<String>("decision", "a string")? else {
        let advice = format!("add a `decision`: {}", DECISIONS.map_quoted());
        return Err(record.fault("the verdict has no `decision`").advice(advice));
    };
    for (member, owner) in [(arguments, "edited"), (answer, "answered")] {
        if let Some(member) = member.filter(|_| DECISIONS.contains(&word.as_str()) && word != owner) {
            let message = format!("a verdict that is `{word}` has no `{}`", member.key);
            return Err(record
                .fault_at(member, message)
                .advice(format!("write `\"decision\": \"{owner}\"`, or remove it")));
        }
    }
    let json = |key: &str, effect: &str| match record.get(key) {
        Some(member) => JsonText::parse(member.json).map_err(|error| record.fault_at(member, error)),
        None => Err(record.fault(format!("a verdict that is `{word}` has no `{key}`")).advice(format!("add {effect}"))),
    };
    Ok(match word.as_str() {
        "approved" => ApprovalDecision::Approved,
        "denied" => ApprovalDecision::Denied,
        "edited" => ApprovalDecision::Edited(json("arguments", "the arguments that the call is to run with")?),
        "answered" => ApprovalDecision::Answered(json("answer", "the result in place of the tool's")?),
        other => return Err(unknown_word(record, "decision", other, &DECISIONS)),
    })
}

/// Reads who decided, under either name.
fn who(record: &Record<'_>) -> Result<Option<String>, Fault> {
    match (record.read("who", "a string")?, record.get("by")) {
        (Some(_), Some(by)) => Err(record.fault_at(by, "`by` and `who` are the same key").advice("keep one of them")),
        (None, Some(_)) => record.read("by", "a string"),
        (who, None) => Ok(who),
    }
}

/// Reads when somebody decided.
fn at(record: &Record<'_>) -> Result<Option<Timestamp>, Fault> {
    let Some(member) = record.get("at").filter(|member| member.json.starts_with('"')) else {
        return record.read("at", "a time such as `2026-05-01T10:00:00Z`, or in Unix milliseconds");
    };
    let text: String = record.read("at", "a string")?.unwrap_or_default();
    let invalid = || record.fault_at(member, format!("`{text}` is not a time with a date and a zone"));
    time::read(&text).map(Some).ok_or_else(|| invalid().advice("write one such as `2026-05-01T10:00:00Z`"))
}

fn scope(record: &Record<'_>) -> Result<ApprovalScope, Fault> {
    let Some(word) = record.read::<String>("scope", "a string")? else { return Ok(ApprovalScope::ThisCall) };
    match ApprovalScope::from(word.as_str()) {
        ApprovalScope::Other(word) => Err(unknown_word(record, "scope", &word, &SCOPES)),
        scope => Ok(scope),
    }
}

fn unknown_word(record: &Record<'_>, key: &str, word: &str, known: &[&str]) -> Fault {
    let message = format!("there is no {key} `{word}`");
    let fault = record.get(key).map_or_else(|| record.fault(&message), |member| record.fault_at(member, &message));
    match nearest(word, known) {
        Some(near) => fault.advice(format!("did you mean `{near}`?")),
        None => fault.advice(format!("it is one of {}", known.map_quoted())),
    }
}

#[cfg(test)]
mod tests {
    use haft::run::ToolCall;

    use super::*;

    fn file(text: &str) -> Result<VerdictFile, Vec<Fault>> {
        let input = TextInput { origin: "verdicts.json".to_owned(), text: text.to_owned() };
        VerdictFile::of(&input, Others::Denied)
    }

    fn messages(faults: Vec<Fault>) -> Vec<String> {
        faults.into_iter().map(|fault| fault.message).collect()
    }

    fn request(call_id: &str) -> ApprovalRequest {
        ApprovalRequest::new(format!("q-{call_id}"), &ToolCall::new(call_id, "pay", "5")).digest("d1")
    }

    #[test]
    fn verdicts_in_short_are_bound_to_their_requests() {
        let file = file(
            "{\"call_id\": \"a\", \"decision\": \"approved\", \"who\": \"ana\"}\n\
             {\"call_id\": \"b\", \"decision\": \"denied\", \"reason\": \"no\"}\n\
             {\"call_id\": \"c\", \"decision\": \"edited\", \"arguments\": {\"cents\": 4}}\n\
             {\"request_id\": \"q-d\", \"decision\": \"answered\", \"answer\": null}\n",
        )
        .unwrap();
        let requests = ["a", "b", "c", "d"].map(request);
        let bound = file.bind_all(&requests.iter().collect::<Vec<_>>()).unwrap();
        let words: Vec<&str> = bound.iter().map(|response| response.decision.as_str()).collect();
        assert_eq!(words, ["approved", "denied", "edited", "answered"]);
        assert!(bound.iter().zip(&requests).all(|(response, request)| response.request_id == request.request_id));
        assert!(bound.iter().all(|response| response.digest == "d1"));
        assert_eq!((bound[0].who.as_deref(), bound[1].reason.as_deref()), (Some("ana"), Some("no")));
    }

    #[test]
    fn who_decided_and_when_is_kept() {
        let bound = |text: &str| file(text).unwrap().bind_all(&[&request("a")]).unwrap().remove(0);
        for at in ["\"2026-05-01T12:00:00+02:00\"", "1777629600000"] {
            let verdict = bound(&format!(r#"{{"call_id": "a", "decision": "approved", "by": "ana", "at": {at}}}"#));
            assert_eq!((verdict.who.as_deref(), verdict.at.unwrap().unix_millis()), (Some("ana"), 1_777_629_600_000));
        }
        for (member, message) in [
            (r#""at": "tomorrow""#, "`/at`: `tomorrow` is not a time with a date and a zone"),
            (r#""who": "ana", "by": "bob""#, "`/by`: `by` and `who` are the same key"),
        ] {
            let faults = file(&format!(r#"{{"call_id": "a", "decision": "approved", {member}}}"#)).unwrap_err();
            assert!(messages(faults)[0].ends_with(message.rsplit("`: ").next().unwrap()), "{member}");
        }
    }

    #[test]
    fn a_verdict_of_the_library_keeps_what_it_was_given_for() {
        let written = serde_json::to_string(&request("a").approve().digest("other")).unwrap();
        let bound = file(&written).unwrap().bind_all(&[&request("a")]).unwrap();
        assert_eq!(bound[0].digest, "other");
    }

    #[test]
    fn a_verdict_on_another_call_is_rejected() {
        let file = file(r#"{"call_id": "call_one", "decision": "approved"}"#).unwrap();
        let faults = file.bind_all(&[&request("call_1")]).unwrap_err();
        assert_eq!(faults[0].advice, ["did you mean `call_1`?"]);
        assert_eq!(messages(faults), ["`verdicts.json` has a verdict on `call_one`, but no such call waits for one"]);
    }

    #[test]
    fn all_faults_are_found() {
        let faults = file(
            r#"[{"decision": "approved"}, {"call_id": "a"}, {"call_id": "a", "decision": "aproved"},
                {"call_id": "b", "decision": "edited"}, {"call_id": "c", "decision": "approved", "arguments": {}},
                {"call_id": "d", "decision": "denied", "reson": "x"}, {"call_id": "d", "decision": "approved", "scope": "all"},
                {"call_id": "e", "decision": "approved"}, {"call_id": "e", "decision": "denied"}]"#,
        );
        assert_eq!(
            messages(faults.unwrap_err()),
            [
                "`/0`: the verdict names no call",
                "`/1`: the verdict has no `decision`",
                "`/2/decision`: there is no decision `aproved`",
                "`/3`: a verdict that is `edited` has no `arguments`",
                "`/4/arguments`: a verdict that is `approved` has no `arguments`",
                "`/5/reson`: there is no key `reson`",
                "`/6/scope`: there is no scope `all`",
                "`/8`: there is another verdict on `e`, at `/7`",
            ]
        );
    }
}
