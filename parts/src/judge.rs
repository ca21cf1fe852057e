//! The official SDKs as judges.

use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

use serde_json::{Value, json};

use crate::folder::folder;
use crate::program::Program;

/// A wire, by the name that the judge knows it by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WireName {
    /// OpenAI Responses.
    OpenAiResponses,
    /// OpenAI Chat Completions.
    OpenAiChat,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini generateContent.
    Gemini,
}

impl WireName {
    /// All wires.
    pub const ALL: [Self; 4] = [Self::OpenAiResponses, Self::OpenAiChat, Self::Anthropic, Self::Gemini];

    /// Returns the name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiResponses => "openai-responses",
            Self::OpenAiChat => "openai-chat",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }
}

/// A reason why a request or response is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFault {
    /// The JSON Pointer to the place.
    pub at: String,
    /// The reason, worded by pydantic or by a rule of the judge.
    pub message: String,
}

/// A response built with the types of an SDK, and the stream that carries it.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Its name, such as `parallel_calls`. The names of samples that the SDK's types reject begin with `unknown`.
    pub name: String,
    /// The response. Streams that break off have none.
    pub body: Option<Value>,
    /// The stream, as the service sends it. Responses that the service never streams have none.
    pub sse: Option<String>,
}

/// A response as an SDK read it.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The response, written by the SDK.
    pub body: Value,
    /// Everything in the original that the SDK's types do not allow.
    pub faults: Vec<RequestFault>,
}

/// A Python process with the official SDKs.
#[derive(Debug)]
pub struct Judge {
    program: Mutex<Program>,
}

impl Judge {
    /// Starts a judge.
    #[must_use]
    pub fn start() -> Self {
        let mut command = Command::new(folder("sdk").join("bin/python"));
        // Python finds the package `judge` in the current folder, and must not write compiled files there.
        command.args(["-W", "ignore", "-B", "-m", "judge"]).current_dir(env!("CARGO_MANIFEST_DIR"));
        Self { program: Mutex::new(Program::start(command)) }
    }

    /// Returns the judge of this process, started on first use.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Judge> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// Returns what is wrong with the body of a request; nothing if it is valid.
    #[must_use]
    pub fn validate(&self, wire: WireName, body: &Value) -> Vec<RequestFault> {
        self.validate_with(wire, body, json!({}))
    }

    /// Validates with options: `{"model": …}` for rules that depend on the model (Gemini), `{"beta": true}` for the types
    /// of the beta API (Anthropic), and `{"compatible": true}` for the rules of other servers (OpenAI Chat).
    #[must_use]
    pub fn validate_with(&self, wire: WireName, body: &Value, options: Value) -> Vec<RequestFault> {
        let mut request = options;
        request["op"] = json!("validate_request");
        request["body"] = body.clone();
        faults(&self.ask(wire, request).unwrap_or_else(|error| panic!("the judge failed: {error}\n{body:#}")))
    }

    /// Panics with all faults if the body of a request is invalid.
    #[track_caller]
    pub fn assert_valid(&self, wire: WireName, body: &Value) {
        let faults = self.validate(wire, body);
        assert!(faults.is_empty(), "{} rejects the request: {faults:#?}\n{body:#}", wire.as_str());
    }

    /// Returns the samples of a wire.
    #[must_use]
    pub fn samples(&self, wire: WireName) -> Vec<Sample> {
        let samples = self.ask(wire, json!({ "op": "sample_responses" })).unwrap_or_else(|error| panic!("{error}"));
        let sample = |value: &Value| Sample {
            name: text(&value["name"]),
            body: Some(value["body"].clone()).filter(|body| !body.is_null()),
            sse: value["sse"].as_str().map(str::to_owned),
        };
        samples.as_array().expect("samples are a list").iter().map(sample).collect()
    }

    /// Returns the final response that the SDK makes of a stream, in the form of a response that is not streamed.
    pub fn accumulate(&self, wire: WireName, sse: &str) -> Result<Value, String> {
        self.ask(wire, json!({ "op": "accumulate", "sse": sse }))
    }

    /// Reads a response with the SDK.
    pub fn parse(&self, wire: WireName, body: &Value) -> Result<Parsed, String> {
        let mut parsed = self.ask(wire, json!({ "op": "parse_response", "body": body }))?;
        Ok(Parsed { faults: faults(&parsed["errors"]), body: parsed["body"].take() })
    }

    fn ask(&self, wire: WireName, mut request: Value) -> Result<Value, String> {
        request["wire"] = json!(wire.as_str());
        // A failed test may have poisoned the lock; requests and answers alternate all the same.
        let mut program = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        program.send(&request);
        let mut answer = program.receive();
        match answer.get_mut("ok") {
            Some(result) => Ok(result.take()),
            None => Err(text(&answer["error"])),
        }
    }
}

fn faults(list: &Value) -> Vec<RequestFault> {
    let fault = |value: &Value| RequestFault { at: text(&value["at"]), message: text(&value["message"]) };
    list.as_array().expect("faults are a list").iter().map(fault).collect()
}

fn text(value: &Value) -> String {
    value.as_str().expect("the judge writes text here").to_owned()
}
