//! Arguments become the parts of a request.

use haft_core::FailureKind;
use haft_executor::RunOptions;
use haft_http::Method;
use haft_registry::{Entry, ToolSettings};
use haft_tools::http::{BodyFormat, BodyMapping, HttpTool, ParameterStyle, RequestParameter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::server::{Received, Server, json_answer};
use super::{call, call_with, http_tool, of_kind, open_entry, options, rejected};

#[tokio::test]
async fn the_rest_goes_to_the_query_of_some_methods_and_to_a_json_body_of_others() {
    let server = Server::echo().await;
    let arguments = json!({"id": "a b", "tags": ["x", "y&z"], "deep": {"k": 1}, "none": null, "n": 1.5, "yes": true});
    for method in [Method::GET, Method::HEAD, Method::DELETE, Method::OPTIONS] {
        let tool = http_tool(method.clone(), server.url("/items/{id}")).build(&open_entry()).unwrap();
        call(&tool, arguments.clone()).await.unwrap();
        let received = server.one();
        assert_eq!((received.method.as_str(), received.path.as_str()), (method.as_str(), "/items/a%20b"));
        assert_eq!(received.query, "tags=x&tags=y%26z&deep=%7B%22k%22%3A1%7D&n=1.5&yes=true");
        assert_eq!(received.body, "");
        assert_eq!(received.header("content-type"), "");
    }
    for method in [Method::POST, Method::PUT, Method::PATCH] {
        let tool = http_tool(method.clone(), server.url("/items/{id}")).build(&open_entry()).unwrap();
        call(&tool, arguments.clone()).await.unwrap();
        let received = server.one();
        assert_eq!((received.path.as_str(), received.query.as_str()), ("/items/a%20b", ""));
        let body: Value = serde_json::from_str(&received.body).unwrap();
        assert_eq!(
            body,
            json!({"tags": ["x", "y&z"], "deep": {"k": 1}, "none": null, "n": 1.5, "yes": true}),
            "null stays in JSON, where it has a meaning"
        );
        assert_eq!(received.header("content-type"), "application/json");

        call(&tool, json!({"id": "1"})).await.unwrap();
        assert_eq!(server.one().body, "", "nothing is left for a body");
    }
}

/// Arguments that only their schema is needed of: the tool sends them as they came.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "described, never read")]
struct Search {
    /// The owner's name.
    owner: String,
    #[schemars(length(min = 2))]
    text: String,
}

/// The server's answer, as far as the tool declares it.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Echoed {
    method: String,
    #[schemars(range(min = 1))]
    n: u8,
}

#[tokio::test]
async fn types_describe_the_arguments_and_the_result() {
    let server = Server::start(|_, _| json_answer(200, &json!({"method": "GET", "n": 0}))).await;
    let search =
        HttpTool::get(&server.url("/repos/{owner}/issues")).unwrap().params::<Search>().describe("Finds issues.");
    let tool = search.tool("search").unwrap();
    assert_eq!((tool.name(), tool.description()), ("search", Some("Finds issues.")));
    assert_eq!(tool.json_schema()["properties"]["owner"]["description"], "The owner's name.");
    assert_eq!(rejected(&tool, json!({"owner": "ada", "text": "x"})).await, ["/text"]);
    assert_eq!(
        call(&tool, json!({"owner": "ada", "text": "fn main"})).await.unwrap(),
        json!({"method": "GET", "n": 0})
    );
    let sent = server.one();
    assert_eq!((sent.path.as_str(), sent.query.as_str()), ("/repos/ada/issues", "text=fn%20main"));

    let checked = search.success::<Echoed>().tool("search").unwrap();
    let failure = call(&checked, json!({"owner": "ada", "text": "fn main"})).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::OutputValidationError);
    // An entry decides before the request.
    let mut settings = ToolSettings::default();
    settings.description = Some("From the entry.".to_owned());
    let of_entry = HttpTool::delete(&server.url("/x")).unwrap().describe("Own.");
    let of_entry = of_entry.build(&Entry::new("t", Value::Null).tool(settings)).unwrap();
    assert_eq!(of_entry.description(), Some("From the entry."));
    assert!(HttpTool::post("ftp://example.com").is_err());
}

#[tokio::test]
async fn a_query_in_the_url_may_have_variables() {
    let server = Server::echo().await;
    let url = server.url("/s?fixed=1&flag&q={q}&range=from:{from}");
    let tool = http_tool(Method::GET, url).build(&open_entry()).unwrap();
    for (arguments, query) in [
        (json!({"q": ["a", "b"], "from": "x&y"}), "fixed=1&flag&q=a&q=b&range=from:x%26y"),
        (json!({"q": null}), "fixed=1&flag"),
        (json!({"q": "#?&=", "more": 1}), "fixed=1&flag&q=%23%3F%26%3D&more=1"),
    ] {
        call(&tool, arguments).await.unwrap();
        assert_eq!(server.one().query, query);
    }
}

#[tokio::test]
async fn every_place_can_have_names_and_styles_of_its_own() {
    let server = Server::echo().await;
    let tool = http_tool(Method::POST, server.url("/u/{user-id}/{list}"))
        .parameter(RequestParameter::path("user").named("user-id"))
        .parameter(RequestParameter::query("filter").style(ParameterStyle::DeepObject))
        .parameter(RequestParameter::query("ids").named("id").style(ParameterStyle::Comma))
        .parameter(RequestParameter::header("trace").named("X-Trace"))
        .parameter(RequestParameter::cookie("session").named("sid"))
        .query("version", "2 0")
        .header("accept", "text/plain")
        .cookie("theme", "dark;x")
        .build(&open_entry())
        .unwrap();
    let arguments = json!({
        "user": 7, "list": ["a", "b/c"], "filter": {"name": "x", "age": {"gt": 3}}, "ids": [1, 2],
        "trace": ["t1", "t2"], "session": "a=b; c", "rest": true,
    });
    call(&tool, arguments).await.unwrap();
    let received = server.one();
    assert_eq!(received.path, "/u/7/a,b%2Fc");
    assert_eq!(received.query, "version=2%200&filter%5Bname%5D=x&filter%5Bage%5D%5Bgt%5D=3&id=1,2");
    assert_eq!(received.header("x-trace"), "t1,t2");
    assert_eq!(received.header("accept"), "text/plain");
    assert_eq!(received.header("cookie"), "theme=dark%3Bx; sid=a%3Db%3B%20c");
    assert_eq!(received.body, r#"{"rest":true}"#);

    call(&tool, json!({"user": 1, "list": 2, "trace": null})).await.unwrap();
    let received = server.one();
    assert_eq!((received.query.as_str(), received.header("x-trace")), ("version=2%200", ""));
}

#[tokio::test]
async fn bodies_have_four_formats() {
    let server = Server::echo().await;
    let send = async |body: BodyMapping, arguments: Value| -> Received {
        let tool = http_tool(Method::POST, server.url("/")).body(body).build(&open_entry()).unwrap();
        call(&tool, arguments).await.unwrap();
        server.one()
    };
    let form = send(BodyMapping::rest(BodyFormat::Form), json!({"a": "x y&", "l": [1, 2], "n": null})).await;
    assert_eq!(form.header("content-type"), "application/x-www-form-urlencoded");
    assert_eq!(form.body, "a=x%20y%26&l=1&l=2");

    let multipart = send(BodyMapping::rest(BodyFormat::Multipart), json!({"a": "x"})).await;
    let boundary = multipart.header("content-type").strip_prefix("multipart/form-data; boundary=").unwrap();
    let part = format!("--{boundary}\r\ncontent-disposition: form-data; name=\"a\"\r\n\r\nx\r\n--{boundary}--\r\n");
    assert_eq!(multipart.body, part);

    let text = send(BodyMapping::argument("t", BodyFormat::Text), json!({"t": "line\n\"2\""})).await;
    assert_eq!(text.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(text.body, "line\n\"2\"");

    let json_body = BodyMapping::argument("doc", BodyFormat::Json).content_type("application/merge-patch+json");
    let patch = send(json_body.clone(), json!({"doc": [1, null]})).await;
    assert_eq!((patch.header("content-type"), patch.body.as_str()), ("application/merge-patch+json", "[1,null]"));
    let absent = send(json_body, json!({})).await;
    assert_eq!((absent.header("content-type"), absent.body.as_str()), ("", ""));
    let empty = send(BodyMapping::rest(BodyFormat::Json), json!({})).await;
    assert_eq!((empty.header("content-type"), empty.body.as_str()), ("application/json", "{}"));

    let form = BodyMapping::argument("f", BodyFormat::Form);
    let tool = http_tool(Method::POST, server.url("/")).body(form).build(&open_entry()).unwrap();
    assert_eq!(rejected(&tool, json!({"f": "no object"})).await, ["/f"]);
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn arguments_can_not_replace_constants_credentials_or_each_other() {
    let server = Server::echo().await;
    let tool = http_tool(Method::GET, server.url("/?mode=safe"))
        .query("limit", "10")
        .parameter(RequestParameter::query("text").named("q"))
        .parameter(RequestParameter::query("more").style(ParameterStyle::Spread))
        .auth(haft_tools::http::HttpAuth::query("api_key", "key"))
        .build(&open_entry())
        .unwrap();
    let arguments = json!({"mode": "x", "limit": 9, "q": "x", "api_key": "x"});
    assert_eq!(rejected(&tool, arguments).await, ["/mode", "/limit", "/q", "/api_key"]);
    for member in ["mode", "limit", "q", "api_key"] {
        assert_eq!(rejected(&tool, json!({"more": {member: 1}})).await, ["/more"], "{member}");
    }
    assert_eq!(server.count(), 0);
    call(&tool, json!({"more": {"a": [1, 2]}, "free": 1})).await.unwrap();
    assert_eq!(server.one().query, "mode=safe&limit=10&a=1&a=2&free=1&api_key=s3cr3t%2Ftoken%2B1");

    let tool = http_tool(Method::GET, server.url("/?filter[tenant]=1"))
        .query("filter[admin]", "no")
        .cookie("lang", "en")
        .parameter(RequestParameter::query("filter").style(ParameterStyle::DeepObject))
        .parameter(RequestParameter::cookie("prefs").style(ParameterStyle::Spread))
        .auth(haft_tools::http::HttpAuth::cookie("session", "key"))
        .build(&open_entry())
        .unwrap();
    for member in ["admin", "tenant"] {
        assert_eq!(rejected(&tool, json!({"filter": {member: "yes"}})).await, ["/filter"], "{member}");
    }
    for member in ["lang", "session"] {
        assert_eq!(rejected(&tool, json!({"prefs": {member: "x"}})).await, ["/prefs"], "{member}");
    }
    assert_eq!(server.count(), 0);
    call(&tool, json!({"filter": {"a": {"admin": 1}}, "prefs": {"prefs": 1, "size": 2}})).await.unwrap();
    let received = server.one();
    assert_eq!(received.query, "filter[tenant]=1&filter%5Badmin%5D=no&filter%5Ba%5D%5Badmin%5D=1");
    assert_eq!(received.header("cookie"), "lang=en; prefs=1; size=2; session=s3cr3t%2Ftoken%2B1");

    let body = BodyMapping::argument("doc", BodyFormat::Json);
    let tool = http_tool(Method::POST, server.url("/")).body(body).build(&open_entry()).unwrap();
    assert_eq!(rejected(&tool, json!({"doc": 1, "stray": 2})).await, ["/stray"]);
}

#[tokio::test]
async fn header_values_can_not_end_their_line() {
    let server = Server::echo().await;
    let tool = http_tool(Method::GET, server.url("/")).parameter(RequestParameter::header("h"));
    let tool = tool.build(&open_entry()).unwrap();
    for value in [json!("a\r\nx: y"), json!("a\nb"), json!("\0"), json!("é"), json!(["ok", "a\rb"])] {
        assert_eq!(rejected(&tool, json!({"h": value})).await, ["/h"], "{value}");
    }
    assert_eq!(server.count(), 0);
    call(&tool, json!({"h": "a b\tc"})).await.unwrap();
    assert_eq!(server.one().header("h"), "a b\tc");
}

#[tokio::test]
async fn every_attempt_of_a_call_has_the_same_idempotency_key_and_every_call_another() {
    let server =
        Server::start(|_, number| super::server::answer(if number % 2 == 1 { 503 } else { 200 }, "", "")).await;
    let settings = json!({
        "url": server.url("/pay"), "method": "POST", "idempotency-key": "Idempotency-Key",
        "retry": {"attempts": 2, "first-wait-seconds": 0},
    });
    let tool = of_kind(settings).await.unwrap();
    let keys = async |options: RunOptions| -> Vec<String> {
        call_with(&tool, json!({}), options).await.unwrap();
        server.take().iter().map(|received| received.header("idempotency-key").to_owned()).collect()
    };
    let (first, second) = (keys(options().run_id("r1")).await, keys(options().run_id("r2")).await);
    // Request numbers keep counting only within one list, so both calls have two attempts.
    assert_eq!((first.len(), second.len()), (2, 2));
    assert_eq!(first[0].len(), 64);
    assert_eq!(first[0], first[1]);
    assert_eq!(second[0], second[1]);
    assert_ne!(first[0], second[0]);
}
