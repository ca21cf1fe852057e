//! Secrets in the settings of tools and in options of providers: they reach the provider, and are seen nowhere else.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use haft_core::Secret as Hidden;
use haft_executor::{Tool, Toolkit};
use haft_model::{Cassette, LoopEnd, LoopError, LoopState, ModelTrace, RequestReport, TurnLoop};
use haft_wire::catalogue::anthropic::{self, AnthropicMcpServer};
use haft_wire::catalogue::openai::{self, DomainSecret, NetworkPolicy, ShellEnvironment};
use haft_wire::catalogue::{SecretSetting, google};
use haft_wire::{AnthropicMessages, Delivery, GeminiContent, OpenAiResponses, RenderTools, Wire};
use serde_json::json;

use super::*;
use crate::recorder::Recorder;

const PLANTED: &str = "planted/\"4f7c1a\"";

fn planted() -> SecretSetting {
    SecretSetting::new(PLANTED)
}

/// The providers that have settings with secrets, and how many of them their requests have here.
const SECRETS: [(Provider, usize); 3] = [(Provider::Responses, 4), (Provider::Anthropic, 2), (Provider::Gemini, 2)];

impl Provider {
    fn named(self) -> &'static str {
        match self {
            Self::Responses | Self::Chat => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "google",
        }
    }

    /// Tools with secrets.
    fn tools(self) -> Vec<Tool> {
        match self {
            Self::Responses | Self::Chat => {
                let docs = openai::mcp("docs")
                    .server_url("https://mcp.example.org")
                    .authorization(planted())
                    .headers([("X-Tenant", planted())])
                    .define();
                let secret = DomainSecret { domain: "a.example".into(), name: "KEY".into(), value: planted() };
                let policy = NetworkPolicy::Allowlist {
                    allowed_domains: vec!["a.example".to_owned()],
                    domain_secrets: vec![secret],
                };
                let ShellEnvironment::ContainerAuto { file_ids, memory_limit, skills, .. } =
                    ShellEnvironment::container()
                else {
                    panic!("it is a new container")
                };
                let network_policy = Some(policy);
                let container = ShellEnvironment::ContainerAuto { file_ids, memory_limit, network_policy, skills };
                vec![docs.unwrap(), openai::shell().environment(container).define().unwrap()]
            }
            Self::Anthropic => {
                let server = AnthropicMcpServer::new("https://mcp.example.org").authorization_token(planted());
                vec![anthropic::mcp_toolset("docs").server(server).define().unwrap()]
            }
            Self::Gemini => {
                let config = json!({"apiKeyConfig": {"apiKeyString": planted()}});
                vec![google::google_maps().auth_config(config).define().unwrap()]
            }
        }
    }

    /// A request with one more secret in its options.
    fn request(self) -> TurnRequest {
        request().provider_options(self.named(), json!({"future_setting": {"token": planted()}}))
    }
}

/// Checks that a text contains no form of the secret.
#[track_caller]
fn assert_clean(what: &str, text: &str) {
    assert!(!text.contains("4f7c1a") && !text.contains("planted"), "{what}: {text}");
}

/// Returns all that an error shows.
fn shown(error: &(dyn Error + 'static)) -> String {
    let mut shown = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let _ = writeln!(shown, "{error} {error:?} {error:#?}");
        next = error.source();
    }
    shown
}

/// Counts the secrets in a body.
fn count(value: &Value) -> usize {
    match value {
        Value::String(text) => usize::from(text == PLANTED),
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

/// Changes what this process has sealed into what another one would have.
fn of_another_process(text: &str) -> String {
    let mut pieces = text.split(Hidden::SEALED);
    let mut changed = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (first, rest) = piece.split_at(1);
        changed += &format!("{}{}{rest}", Hidden::SEALED, if first == "0" { "1" } else { "0" });
    }
    assert_ne!(changed, text, "there is a secret to change");
    changed
}

#[test]
fn nothing_that_is_printed_or_stored_contains_a_secret() {
    for (provider, _) in SECRETS {
        let tools = provider.tools();
        for tool in &tools {
            let descriptor = tool.descriptor();
            assert_clean("a tool", &format!("{tool:?} {tool:#?} {:?}", tool.kind()));
            assert_clean("a descriptor", &format!("{descriptor:?} {}", serde_json::to_string(&descriptor).unwrap()));
            assert_clean("settings", &tool.provider_definition().unwrap().args().to_string());
        }
        let kit = Toolkit::<()>::from_iter(tools);
        let request = provider.request().tools(&kit);
        assert_clean("a toolkit", &format!("{kit:?}"));
        assert_clean("a request", &format!("{request:?} {request:#?} {}", serde_json::to_string(&request).unwrap()));
        assert_clean("options", &format!("{:?}", request.provider_options));
        let state = LoopState::new(request.clone());
        assert_clean("a state", &format!("{state:?} {state:#?} {}", serde_json::to_string(&state).unwrap()));

        let wire: Box<dyn Wire> = match provider {
            Provider::Anthropic => Box::new(AnthropicMessages::new()),
            Provider::Gemini => Box::new(GeminiContent::new()),
            Provider::Responses | Provider::Chat => Box::new(OpenAiResponses::new()),
        };
        let mut named = request;
        named.model = "m".to_owned();
        let rendered = named.render_tools(wire.profile());
        assert_clean("rendered tools", &format!("{rendered:?} {} {:?}", rendered.list(), rendered.findings()));
        let sent = wire.request(&named, Delivery::Whole).unwrap();
        assert!(count(&serde_json::from_str(&sent.body).unwrap()) > 0, "{provider:?}");
        assert_clean("a request of a wire", &format!("{sent:?} {:?}", sent.context));
    }
}

#[tokio::test]
async fn the_provider_is_sent_every_secret_and_errors_that_quote_it_hide_it() {
    for (provider, secrets) in SECRETS {
        let server = Server::start().await;
        let request = provider.request().tools(&Toolkit::<()>::from_iter(provider.tools()));
        let escaped = serde_json::to_string(PLANTED).unwrap().replace('/', "\\/");
        let quoted = format!("the token {PLANTED} is wrong; {escaped}");
        let rejection = response(400, JSON, &provider.error("invalid_request_error", &quoted));
        for model in [provider.model(&server), provider.whole(&server)] {
            let (turn, (sent, _connection)) =
                join!(model.stream_turn(&request).into_turn(), answer(&server, &rejection));
            assert_eq!(count(&SentText(sent).body()), secrets, "{provider:?}");
            let error = turn.unwrap_err();
            assert!(error.to_string().contains("[key]"), "{error}");
            assert_clean("an error", &shown(&error));
        }
        let broken = response(200, EVENTS, &format!("data: {{\"planted\": {escaped}\n\n"));
        let model = provider.model(&server);
        let (turn, _) = join!(model.stream_turn(&request).into_turn(), answer(&server, &broken));
        assert_clean("an error of a stream", &shown(&turn.unwrap_err()).replace("\\\"planted\\\":", ""));
    }
}

/// A loop that ended, with the request that it sent and everything that it showed.
struct LoopSeen {
    end: LoopEnd,
    sent: Option<Value>,
    shown: String,
    cassette: Scratch,
}

/// The file of a recording, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("planted-{}-{}.jsonl", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Runs a loop against one reply, with reports, spans that have content, and a recording.
async fn run(provider: Provider, state: LoopState, reply: &str) -> LoopSeen {
    let server = Server::start().await;
    let reports = Arc::new(Mutex::new(String::new()));
    let log = Arc::clone(&reports);
    let add = move |report: &RequestReport<'_>| log.lock().unwrap().push_str(&format!("{report} {report:?}"));
    let (key, url) = (Secret::new(KEY), server.url(""));
    let model: Box<dyn LanguageModel> = match provider {
        Provider::Anthropic => {
            let model = Anthropic::new(key).model("claude-opus-4-8").base_url(url).http_client(client());
            Box::new(model.whole().on_report(add))
        }
        Provider::Gemini => {
            let model = Gemini::new(key).model("gemini-3.8-flash").base_url(url).http_client(client());
            Box::new(model.whole().on_report(add))
        }
        Provider::Responses | Provider::Chat => {
            let model = OpenAi::new(key).model("gpt-5.4").base_url(url).http_client(client());
            Box::new(model.whole().on_report(add))
        }
    };
    let file = Scratch::new();
    let cassette = Cassette::record(&file.0, model).unwrap();
    let agent = agent(provider, cassette.clone()).trace(ModelTrace::new().with_content());
    let (mut shown, mut sent, mut ended) = (format!("{agent:?}"), None, None);
    let seen = Recorder::watch(async {
        let looped = async {
            let mut run = agent.start(state);
            while let Some(event) = run.next().await {
                let _ = write!(shown, "{event:?}");
            }
            run.finish().await
        };
        let served = async {
            let (text, connection) = answer(&server, reply).await;
            sent = Some(SentText(text).body());
            connection.end().await;
            std::future::pending::<()>().await;
        };
        ended = Some(tokio::select! {
            outcome = looped => outcome,
            () = served => unreachable!(),
        });
    })
    .await;
    let outcome = ended.unwrap();
    let _ = write!(shown, "{seen:?} {outcome:?} {:?}", reports.lock().unwrap());
    let _ = write!(shown, "{}", serde_json::to_string(&outcome.state).unwrap());
    cassette.finish().unwrap();
    shown += &std::fs::read_to_string(&file.0).unwrap();
    LoopSeen { end: outcome.end, sent, shown, cassette: file }
}

fn agent(provider: Provider, model: impl LanguageModel + 'static) -> TurnLoop {
    TurnLoop::new(model, Toolkit::from_iter(provider.tools())).retries(0)
}

#[tokio::test]
async fn a_loop_shows_no_secret_in_events_spans_reports_recordings_and_its_state() {
    for (provider, secrets) in SECRETS {
        let rejection = response(500, JSON, &provider.error("x", &format!("{PLANTED} is wrong")));
        for reply in [response(200, JSON, provider.body()), rejection] {
            let seen = run(provider, LoopState::new(provider.request()), &reply).await;
            assert_eq!(count(&seen.sent.unwrap()), secrets, "{provider:?}: {:?}", seen.end);
            assert_clean("a loop", &seen.shown);
        }
    }
}

#[tokio::test]
async fn a_state_that_was_stored_is_sent_with_its_secrets_by_the_same_process_alone() {
    for (provider, secrets) in SECRETS {
        let stored = serde_json::to_string(&LoopState::new(provider.request())).unwrap();
        let reply = response(200, JSON, provider.body());
        let seen = run(provider, serde_json::from_str(&stored).unwrap(), &reply).await;
        assert_eq!((&seen.end, count(&seen.sent.unwrap())), (&LoopEnd::Stopped, secrets), "{provider:?}");

        let elsewhere: LoopState = serde_json::from_str(&of_another_process(&stored)).unwrap();
        let seen = run(provider, elsewhere.clone(), &reply).await;
        let LoopEnd::Failed(LoopError::Model { source, .. }) = &seen.end else { panic!("{:?}", seen.end) };
        assert!(seen.sent.is_none() && source.kind() == "invalid_request", "{source}");
        let text = source.to_string();
        assert!(text.contains("set the options again") && text.contains("provider_options"), "{text}");
        // The options are set again, and the tools are those of this process.
        let mut again = elsewhere;
        again.request_mut().provider_options = provider.request().provider_options;
        let seen = run(provider, again, &reply).await;
        assert_eq!((&seen.end, count(&seen.sent.unwrap())), (&LoopEnd::Stopped, secrets), "{provider:?}");
    }
}

#[tokio::test]
async fn a_tool_whose_secret_another_process_sealed_fails_the_request_by_name() {
    for (provider, _) in SECRETS {
        let tools = Toolkit::<()>::from_iter(provider.tools());
        let stored = serde_json::to_string(&request().tools(&tools)).unwrap();
        let elsewhere: TurnRequest = serde_json::from_str(&of_another_process(&stored)).unwrap();
        let server = Server::start().await;
        let error = provider.model(&server).stream_turn(&elsewhere).into_turn().await.unwrap_err().to_string();
        let name = &elsewhere.tools[0].name;
        assert!(error.contains(name) && error.contains("sealed by another process"), "{provider:?}: {error}");
    }
}

#[tokio::test]
async fn a_recording_of_another_process_is_replayed() {
    for (provider, _) in SECRETS {
        let reply = response(200, JSON, provider.body());
        let seen = run(provider, LoopState::new(provider.request()), &reply).await;
        let recorded = std::fs::read_to_string(&seen.cassette.0).unwrap();
        std::fs::write(&seen.cassette.0, of_another_process(&recorded)).unwrap();
        let cassette = Cassette::replay(&seen.cassette.0).unwrap();
        let outcome = agent(provider, cassette.clone()).start(provider.request()).finish().await;
        assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "Hello"), "{provider:?}");
        cassette.finish().unwrap();
    }
}
