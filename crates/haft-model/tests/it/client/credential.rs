//! Keys that change: tokens that expire, files, programs, and signatures of whole requests.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use haft_model::{
    AccessToken, ApiKey, Authorization, CommandToken, Credential, CredentialError, CredentialFuture, EntraToken,
    TokenSource, UnsignedRequest, Vertex,
};

use super::*;

/// A source of tokens `token-1`, `token-2` and so on.
#[derive(Clone, Default)]
struct Numbered {
    fetched: Arc<AtomicUsize>,
    lifetime: Option<Duration>,
}

impl TokenSource for Numbered {
    fn fetch(&self) -> CredentialFuture<'_, AccessToken> {
        Box::pin(async {
            // Others want a token meanwhile.
            tokio::task::yield_now().await;
            let number = self.fetched.fetch_add(1, Ordering::SeqCst) + 1;
            let token = AccessToken::new(Secret::new(format!("token-{number}")));
            Ok(match self.lifetime {
                Some(lifetime) => token.expires_in(lifetime),
                None => token,
            })
        })
    }
}

/// A folder that is removed at the end of a test.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("haft-model-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> std::path::PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A client with a key.
fn keyed(provider: Provider, server: &Server, key: impl Into<ApiKey>) -> Box<dyn LanguageModel> {
    let (key, url, http) = (key.into(), server.url(""), client());
    match provider {
        Provider::Responses => Box::new(OpenAi::new(key).model("gpt-4.1").base_url(url).http_client(http)),
        Provider::Chat => Box::new(OpenAi::new(key).chat().model("gpt-4.1").base_url(url).http_client(http)),
        Provider::Anthropic => Box::new(Anthropic::new(key).model("claude-sonnet-4-5").base_url(url).http_client(http)),
        Provider::Gemini => Box::new(Gemini::new(key).model("gemini-2.5-flash").base_url(url).http_client(http)),
    }
}

/// Returns the key in the header of its provider.
fn sent_key(provider: Provider, sent: &str) -> String {
    let name = match provider {
        Provider::Responses | Provider::Chat => "authorization",
        Provider::Anthropic => "x-api-key",
        Provider::Gemini => "x-goog-api-key",
    };
    let value = SentText(sent.to_owned()).header(name).unwrap().to_owned();
    value.trim_start_matches("Bearer ").to_owned()
}

/// Asks for a turn, answers these requests, and returns the keys that were sent.
async fn keys(
    model: &dyn LanguageModel,
    provider: Provider,
    server: &Server,
    replies: &[String],
) -> (Result<Turn, ModelError>, Vec<String>) {
    let mut keys = Vec::new();
    let served = async {
        for reply in replies {
            let (sent, connection) = answer(server, reply).await;
            keys.push(sent_key(provider, &sent));
            connection.end().await;
        }
        server.accept().await;
        panic!("there is one request too many");
    };
    let turn = tokio::select! {
        turn = model.stream_turn(&request()).into_turn() => turn,
        () = served => unreachable!(),
    };
    (turn, keys)
}

fn unauthorized(provider: Provider) -> String {
    response(401, JSON, &provider.error("x", "the token has expired"))
}

#[tokio::test]
async fn a_rejected_token_is_fetched_again_once_and_the_request_repeated() {
    for provider in ALL {
        let server = Server::start().await;
        let model = keyed(provider, &server, ApiKey::tokens(Numbered::default()));
        let replies = [unauthorized(provider), provider.stream()];
        let (turn, sent) = keys(&*model, provider, &server, &replies).await;
        assert_eq!((turn.unwrap().text().as_str(), sent), ("Hello", vec!["token-1".to_owned(), "token-2".to_owned()]));
        // The new one is kept.
        let (_, sent) = keys(&*model, provider, &server, &[provider.stream()]).await;
        assert_eq!(sent, ["token-2"]);
        // Once per request.
        let (turn, sent) = keys(&*model, provider, &server, &[unauthorized(provider), unauthorized(provider)]).await;
        let error = turn.unwrap_err();
        assert_eq!((error.kind(), sent), ("authentication", vec!["token-2".to_owned(), "token-3".to_owned()]));
        assert!(!error.retryable());
    }
}

#[tokio::test]
async fn a_key_that_stays_the_same_is_not_sent_again() {
    let folder = Folder::new("same");
    let path = folder.file("key", "token-1\n");
    for provider in ALL {
        for key in [ApiKey::from(Secret::new("token-1")), ApiKey::file(&path), ApiKey::command(["echo", "token-1"])] {
            let server = Server::start().await;
            let model = keyed(provider, &server, key);
            let (turn, sent) = keys(&*model, provider, &server, &[unauthorized(provider)]).await;
            assert_eq!((turn.unwrap_err().kind(), sent), ("authentication", vec!["token-1".to_owned()]));
        }
        // Other errors say nothing about the token.
        let server = Server::start().await;
        let model = keyed(provider, &server, ApiKey::tokens(Numbered::default()));
        let forbidden = response(403, JSON, &provider.error("x", "no"));
        assert_eq!(keys(&*model, provider, &server, &[forbidden]).await.1, ["token-1"]);
    }
}

#[tokio::test]
async fn requests_at_once_share_one_token() {
    let (source, server) = (Numbered::default(), Server::start().await);
    let model = local(server.url("")).bearer(ApiKey::tokens(source.clone()));
    let ask = async || model.stream_turn(&request()).into_turn().await.unwrap();
    let served = async {
        for _ in 0..3 {
            let (sent, _connection) = answer(&server, Provider::Chat.stream()).await;
            assert_eq!(sent_key(Provider::Chat, &sent), "token-1");
        }
    };
    tokio::join!(ask(), ask(), ask(), served);
    assert_eq!(source.fetched.load(Ordering::SeqCst), 1);
    // One that is valid for no time is used once.
    let source = Numbered { lifetime: Some(Duration::ZERO), ..Numbered::default() };
    let model = local(server.url("")).bearer(ApiKey::tokens(source.clone()));
    for expected in ["token-1", "token-2"] {
        let (_, sent) = keys(&model, Provider::Chat, &server, &[Provider::Chat.stream()]).await;
        assert_eq!(sent, [expected]);
    }
}

#[tokio::test]
async fn a_file_that_is_replaced_is_noticed() {
    let folder = Folder::new("file");
    let path = folder.file("key", " token-1\n");
    let server = Server::start().await;
    let model = local(server.url("")).bearer(ApiKey::file(&path));
    let stream = [Provider::Chat.stream()];
    assert_eq!(keys(&model, Provider::Chat, &server, &stream).await.1, ["token-1"]);
    folder.file("key", "token-2");
    assert_eq!(keys(&model, Provider::Chat, &server, &stream).await.1, ["token-2"]);
    // Replaced between a rejection and its renewal.
    let (turn, ()) = join!(model.stream_turn(&request()).into_turn(), async {
        let mut connection = server.accept().await;
        connection.request().await;
        folder.file("key", "token-3");
        connection.write(unauthorized(Provider::Chat).replacen("\r\n", "\r\nconnection: close\r\n", 1)).await;
        connection.end().await;
        let (sent, _connection) = answer(&server, Provider::Chat.stream()).await;
        assert_eq!(sent_key(Provider::Chat, &sent), "token-3");
    });
    assert_eq!(turn.unwrap().text(), "Hello");
}

#[tokio::test]
async fn a_key_that_does_not_exist_is_an_error_that_says_what_to_do() {
    let folder = Folder::new("missing");
    let (empty, binary) = (folder.file("empty", " \n"), folder.file("binary", [0xff, 0xfe]));
    let large = folder.file("large", "x".repeat(70_000));
    let nowhere = Path::new("/nowhere/key");
    let command = |argv: &[&str]| ApiKey::command(argv.iter().copied());
    let table = [
        (ApiKey::env("HAFT_NO_SUCH_VARIABLE"), "`HAFT_NO_SUCH_VARIABLE` is not set"),
        (ApiKey::file(nowhere), "/nowhere/key with the API key can't be read"),
        (ApiKey::file(empty), "holds no API key"),
        (ApiKey::file(binary), "holds no API key"),
        (ApiKey::file(large), "larger than 65536 bytes"),
        (command(&["haft-no-such-program"]), "haft-no-such-program for the API key can't be started"),
        (command(&["true"]), "printed no API key"),
        (command(&["sh", "-c", "echo half-a-secret; exit 3"]), "failed with exit status: 3"),
        (command(&["yes"]), "more than 65536 bytes"),
        (command(&[]), "the command for the API key is empty"),
    ];
    for (key, expected) in table {
        // Nothing is sent.
        let error = local("http://127.0.0.1:1").bearer(key).stream_turn(&request()).into_turn().await.unwrap_err();
        assert_eq!((error.kind(), error.retryable()), ("authentication", false), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!format!("{error:?}").contains("half-a-secret"), "{error:?}");
    }
}

#[tokio::test]
async fn a_command_gets_its_arguments_as_they_are() {
    let server = Server::start().await;
    let model = local(server.url("")).bearer(ApiKey::command(["printf", "%s", "$HOME;`id`"]));
    let (_, sent) = keys(&model, Provider::Chat, &server, &[Provider::Chat.stream()]).await;
    assert_eq!(sent, ["$HOME;`id`"]);
}

/// Time is paused, so that the timeout passes as soon as nothing but the program is waited for.
#[tokio::test(start_paused = true)]
async fn a_command_that_does_not_end_is_killed_and_may_be_tried_again() {
    let command = CommandToken::new(["sleep", "600"]).timeout(Duration::from_secs(5));
    let model = local("http://127.0.0.1:1").bearer(ApiKey::tokens(command));
    let error = model.stream_turn(&request()).into_turn().await.unwrap_err();
    assert_eq!((error.kind(), error.retryable()), ("unavailable", true), "{error}");
    assert!(error.to_string().contains("did not end within 5s"), "{error}");
}

/// A signature of the URL, a header and the body.
struct Signs;

impl Credential for Signs {
    fn authorize<'a>(&'a self, request: UnsignedRequest<'a>) -> CredentialFuture<'a, Authorization> {
        let body: Value = serde_json::from_slice(request.body).unwrap();
        let header = request.headers.iter().find(|(name, _)| name == "x-region").unwrap();
        let path = request.url.rsplit_once('/').unwrap().1;
        let signature = format!("{} {path} {} {}", request.method, header.1, body["model"].as_str().unwrap());
        assert!(!format!("{request:?}").contains("eu-1"));
        Box::pin(async {
            Ok(Authorization::header("x-signature", Secret::new(signature)).and_header("x-date", Secret::new("today")))
        })
    }
}

#[tokio::test]
async fn a_credential_may_sign_the_whole_request() {
    let server = Server::start().await;
    let model = local(server.url("")).header("x-region", "eu-1").bearer(ApiKey::credential(Signs));
    let (turn, sent) = asked(&model, &server, &Provider::Chat.stream()).await;
    assert_eq!(turn.unwrap().text(), "Hello");
    assert_eq!(sent.header("x-signature"), Some("POST completions eu-1 m"));
    assert_eq!((sent.header("x-date"), sent.header("authorization")), (Some("today"), None));
}

/// A source that fails.
struct Failing(CredentialError);

impl TokenSource for Failing {
    fn fetch(&self) -> CredentialFuture<'_, AccessToken> {
        Box::pin(async { Err(self.0.clone()) })
    }
}

#[tokio::test]
async fn errors_of_a_source_have_the_cause_that_a_loop_acts_on() {
    let message = || "no".to_owned();
    for (error, expected) in [
        (CredentialError::Missing { message: message() }, ("authentication", false)),
        (CredentialError::Rejected { message: message() }, ("authentication", false)),
        (CredentialError::Unavailable { message: message() }, ("unavailable", true)),
    ] {
        let model = local("http://127.0.0.1:1").bearer(ApiKey::tokens(Failing(error)));
        let error = model.stream_turn(&request()).into_turn().await.unwrap_err();
        assert_eq!((error.kind(), error.retryable()), expected, "{error}");
    }
}

#[tokio::test]
async fn tokens_are_never_shown() {
    let entra = EntraToken::new("t", "c", Secret::new("opensesame"));
    let command = CommandToken::new(["op", "--password", "opensesame"]);
    let token = AccessToken::new(Secret::new("opensesame"));
    let authorization = Authorization::bearer(Secret::new("opensesame"));
    let key = ApiKey::from(Secret::new("opensesame"));
    let shown = format!("{entra:?} {command:?} {token:?} {authorization:?} {key:?}");
    assert!(!shown.contains("opensesame"), "{shown}");
    // A provider that quotes the token.
    for provider in ALL {
        let server = Server::start().await;
        let model = keyed(provider, &server, ApiKey::tokens(Numbered::default()));
        let quoted = |token: &str| response(401, JSON, &provider.error("x", &format!("{token} is wrong")));
        let (turn, _) = keys(&*model, provider, &server, &[quoted("token-1"), quoted("token-2")]).await;
        let error = turn.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("token-2"), "{error}");
        assert!(error.to_string().contains("[key] is wrong"), "{error}");
    }
}

#[tokio::test]
async fn azure_takes_a_key_or_tokens_of_entra() {
    let (azure, entra) = (Server::start().await, Server::start().await);
    let body = Provider::Responses.stream();
    let model = OpenAi::azure(azure.url(""), Secret::new("k-1")).model("my-gpt").http_client(client());
    let (turn, sent) = asked(&model, &azure, &body).await;
    assert_eq!(turn.unwrap().text(), "Hello");
    assert_eq!(sent.first_line(), "POST /openai/v1/responses HTTP/1.1");
    assert_eq!((sent.header("api-key"), sent.header("authorization")), (Some("k-1"), None));

    let token = EntraToken::new("my-tenant", "my client", Secret::new("s&cret")).authority(entra.url(""));
    let token = token.http_client(client());
    let endpoint = format!("{}?api-version=preview", azure.url(""));
    let model = OpenAi::azure(endpoint, ApiKey::tokens(token.clone())).model("my-gpt").http_client(client());
    let granted = response(200, JSON, r#"{"token_type":"Bearer","expires_in":3599,"access_token":"token-1"}"#);
    let (turn, (asked_for, sent)) = join!(model.stream_turn(&request()).into_turn(), async {
        let (asked_for, connection) = answer(&entra, &granted).await;
        connection.end().await;
        let (sent, connection) = answer(&azure, &body).await;
        connection.end().await;
        (asked_for, SentText(sent))
    });
    assert_eq!(turn.unwrap().text(), "Hello");
    assert!(asked_for.starts_with("POST /my-tenant/oauth2/v2.0/token HTTP/1.1"), "{asked_for}");
    let form = asked_for.split_once("\r\n\r\n").unwrap().1;
    assert_eq!(
        form,
        "grant_type=client_credentials&client_id=my%20client&client_secret=s%26cret&scope=https%3A%2F%2F\
         cognitiveservices.azure.com%2F.default"
    );
    assert_eq!(sent.first_line(), "POST /openai/v1/responses?api-version=preview HTTP/1.1");
    assert_eq!((sent.header("authorization"), sent.header("api-key")), (Some("Bearer token-1"), None));

    // The token is kept.
    assert_eq!(asked(&model, &azure, &body).await.1.header("authorization"), Some("Bearer token-1"));
}

#[tokio::test]
async fn errors_of_entra_name_the_code_alone() {
    let described = |code: &str| format!(r#"{{"error":"{code}","error_description":"AADSTS7000215: s3cret"}}"#);
    for (status, body, kind, text) in [
        (401, described("invalid_client"), "authentication", "status 401 (invalid_client)"),
        (400, described("s3cret"), "authentication", "status 400;"),
        (429, described("x"), "unavailable", "status 429"),
        (503, "<html>".to_owned(), "unavailable", "status 503"),
        (200, "{}".to_owned(), "unavailable", "without a token"),
        (302, String::new(), "authentication", "status 302"),
    ] {
        let entra = Server::start().await;
        let token = EntraToken::new("t", "c", Secret::new("s3cret")).authority(entra.url("")).http_client(client());
        let model = local("http://127.0.0.1:1").bearer(ApiKey::tokens(token));
        let error = rejected(&model, &entra, &response(status, JSON, &body)).await;
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(text) && !format!("{error:?}").contains("s3cret"), "{error:?}");
    }
}

#[tokio::test]
async fn vertex_has_its_own_paths() {
    let server = Server::start().await;
    for (vertex, root) in [
        (Vertex::new("my-project", "europe-west4"), "/v1/projects/my-project/locations/europe-west4"),
        (Vertex::new("my-project", "global").version("v1beta1"), "/v1beta1/projects/my-project/locations/global"),
    ] {
        let model = Gemini::vertex(&vertex, ApiKey::tokens(Numbered::default())).model("gemini-2.5-flash");
        let model = model.base_url(server.url("")).http_client(client());
        let (turn, sent) = asked(&model, &server, &Provider::Gemini.stream()).await;
        assert_eq!(turn.unwrap().text(), "Hello");
        let path = format!("{root}/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
        assert_eq!(sent.first_line(), format!("POST {path} HTTP/1.1"));
        assert_eq!((sent.header("authorization"), sent.header("x-goog-api-key")), (Some("Bearer token-1"), None));
    }
}

#[cfg(feature = "google-adc")]
#[tokio::test]
async fn a_service_account_of_google_signs_for_its_token() {
    let (google, vertex, folder) = (Server::start().await, Server::start().await, Folder::new("google"));
    let account = serde_json::json!({
        "type": "service_account", "project_id": "my-project", "private_key_id": "k1",
        "private_key": include_str!("credential.pem"), "client_email": "agent@my-project.iam.gserviceaccount.com",
        "client_id": "1", "auth_uri": google.url("/auth"), "token_uri": google.url("/token"),
    });
    let path = folder.file("account.json", account.to_string());
    let key = ApiKey::tokens(haft_model::GoogleToken::service_account(path));
    let model = Gemini::vertex(&Vertex::new("my-project", "global"), key).model("gemini-2.5-flash");
    let model = model.base_url(vertex.url("")).http_client(client());
    let granted = |token: &str| {
        response(200, JSON, &format!(r#"{{"token_type":"Bearer","expires_in":3599,"access_token":"{token}"}}"#))
    };
    let (turn, (asked_for, sent)) = join!(model.stream_turn(&request()).into_turn(), async {
        let (asked_for, connection) = answer(&google, granted("token-1")).await;
        connection.end().await;
        let (_, connection) = answer(&vertex, unauthorized(Provider::Gemini)).await;
        connection.end().await;
        let (_, connection) = answer(&google, granted("token-2")).await;
        connection.end().await;
        let (sent, connection) = answer(&vertex, Provider::Gemini.stream()).await;
        connection.end().await;
        (asked_for, SentText(sent))
    });
    assert_eq!(turn.unwrap().text(), "Hello");
    assert!(
        asked_for.contains("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="),
        "{asked_for}"
    );
    assert_eq!(sent.header("authorization"), Some("Bearer token-2"), "a rejected token is not taken from a cache");

    let broken = folder.file("broken.json", r#"{"private_key":"s3cret"}"#);
    let key = ApiKey::tokens(haft_model::GoogleToken::service_account(broken));
    let model = Gemini::vertex(&Vertex::new("my-project", "global"), key).model("gemini-2.5-flash");
    let error = model.stream_turn(&request()).into_turn().await.unwrap_err();
    assert_eq!(error.kind(), "authentication");
    assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
}
