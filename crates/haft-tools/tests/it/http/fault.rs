//! Mappings that can't be built, with all their faults.

use haft_registry::EntryError;
use haft_tools::http::{UrlTemplate, UrlTemplateError};
use serde_json::{Value, json};

use super::{entry, of_entry, of_kind};

#[test]
fn urls_must_be_absolute_with_a_constant_origin() {
    use UrlTemplateError as E;
    let error = |text: &str| text.parse::<UrlTemplate>().unwrap_err();
    for text in ["", "/items", "example.com/x", "http:/x", "http:///x", "https://a b/", "https://exa mple", "//a/b"] {
        assert!(matches!(error(text), E::NotAbsolute(_) | E::Character), "{text}: {}", error(text));
    }
    for text in ["http://a:99999/", "http://[::1/", "http://a..%00b/"] {
        assert!(matches!(error(text), E::NotAbsolute(_)), "{text}");
    }
    for text in ["ftp://a/", "file:///etc/passwd", "javascript://a/", "ws://a/"] {
        let error = error(text);
        assert!(matches!(error, E::Scheme | E::NotAbsolute(_)), "{text}: {error}");
    }
    for text in
        ["https://{host}/x", "https://a.{tld}/", "https://a:{port}/", "{scheme}://a/", "https://a{x}", "http://{u}@a/"]
    {
        assert_eq!(error(text), E::VariableOrigin, "{text}");
    }
    for text in ["https://user@a/", "https://user:secret@a/x", "https://@a/"] {
        assert_eq!(error(text), E::Credentials, "{text}");
    }
    for text in ["https://a/#f", "https://a/?x=1#{f}", "https://a/{x}#"] {
        assert_eq!(error(text), E::Fragment, "{text}");
    }
    for text in ["https://a/{", "https://a/}", "https://a/{}", "https://a/{x", "https://a/{{x}}", "https://a/{x}}"] {
        assert_eq!(error(text), E::Brace, "{text}");
    }
    for text in ["https://a/?{x}=1", "https://a/?a{x}", "https://a/?{x}"] {
        assert_eq!(error(text), E::VariableName, "{text}");
    }
    for text in ["https://a/.", "https://a/b/../c", "https://a/%2e%2E/c", "https://a/.%2e", "https://a/b/./"] {
        assert_eq!(error(text), E::DotSegment, "{text}");
    }
    for text in ["https://a/x{+p}", "https://a/{+p}.json", "https://a/{a}{+p}"] {
        assert_eq!(error(text), E::PartOfSegment("p".into()), "{text}");
    }
    for text in ["https://a\\@b/", "https://a/b\\c", "https://a/\n", "https://a/x y", "http://a\u{0}/"] {
        assert_eq!(error(text), E::Character, "{text}");
    }
    for text in ["https://a", "https://a/", "HTTP://a:8080?x={y}", "https://[::1]:1/{a}/{+b}", "https://a/{a}.{b}//"] {
        let template: UrlTemplate = text.parse().unwrap();
        assert_eq!(template.to_string(), text);
    }
}

fn pointers(error: &EntryError) -> Vec<&str> {
    error.faults.iter().map(|fault| fault.pointer.as_str()).collect()
}

#[tokio::test]
async fn all_faults_are_reported_at_once() {
    let settings = json!({
        "url": "https://a.example/{missing}?x=1",
        "method": "POST",
        "query": {"x": "{q}", "y": "mixed {q}", "z": "{none}"},
        "headers": {"Host": "evil", "bad name": "x", "authorization": "Bearer x", "x-a": "{q}", "X-A": "1", "x-b": "a\nb"},
        "cookies": {"bad;name": "1"},
        "body": {"argument": "doc", "content-type": "a\nb"},
        "auth": {
            "bearer": "", "basic": {"user": "a:b", "password": "key"},
            "oauth2": {"token-url": "token", "client-id": "c", "client-secret": "s"},
        },
        "result": {"pointer": "items", "json-path": "$[", "max-bytes": 1},
        "status": {"4x": "null"},
        "idempotency-key": "content-length",
    });
    let mut entry = entry(&json!({"q": {"type": "string"}, "unused": {}}), &[]);
    entry.settings = settings;
    let error = of_entry(entry).await.unwrap_err();
    let mut found = pointers(&error);
    found.sort_unstable();
    found.dedup();
    let expected = [
        "/auth/basic",
        "/auth/basic/user",
        "/auth/bearer",
        "/auth/oauth2",
        "/auth/oauth2/token-url",
        "/body/argument",
        "/body/content-type",
        "/cookies/bad;name",
        "/headers/Host",
        "/headers/authorization",
        "/headers/bad name",
        "/headers/x-a",
        "/headers/x-b",
        "/idempotency-key",
        "/parameters/properties/unused",
        "/query/x",
        "/query/y",
        "/query/z",
        "/result",
        "/result/json-path",
        "/status/4x",
        "/url",
    ];
    assert_eq!(found, expected, "{error}");
}

async fn fault(settings: Value) -> String {
    of_kind(settings).await.unwrap_err().to_string()
}

#[tokio::test]
async fn faults_say_what_to_do() {
    let url = "https://a.example/";
    for (settings, text) in [
        (
            json!({"url": "a"}),
            "/url: the URL must be absolute, such as `https://api.example.com/items`: it has no scheme",
        ),
        (
            json!({"url": url, "result": {"pointer": "a"}}),
            "/result/pointer: a JSON Pointer is empty or begins with `/`",
        ),
        (json!({"url": url, "result": {"pointer": "/~2"}}), "/result/pointer"),
        (json!({"url": url, "result": {"json-path": "a"}}), "/result/json-path: the JSONPath is invalid"),
        (json!({"url": url, "result": {"json-path": "$..a..b"}}), "/result/json-path: only one `..` is supported"),
        (json!({"url": url, "result": {"pointer": "/a", "format": "text"}}), "/result/format: a value can be selected"),
        (json!({"url": url, "body": {"format": "text"}}), "/body/argument: a body of text is one argument; name it"),
        (json!({"url": url, "query": {"a": "{b"}}), "/query/a: write `\"{x}\"` for the argument `x`"),
        (json!({"url": url, "headers": {"accept-encoding": "gzip"}}), "is set by the HTTP client"),
        (json!({"url": url, "headers": {"content-type": "text/plain"}}), "is set by `content-type` of `body`"),
        (json!({"url": url, "headers": {"cookie": "{c}"}}), "can't be set by an argument"),
        (json!({"url": url, "timeout-seconds": 1e300}), "/timeout-seconds: is not a valid number of seconds"),
        (json!({"url": url, "unknown": 1}), "unknown"),
        (json!({"url": url, "method": "TRACE"}), "/method"),
        (json!({}), "url"),
    ] {
        let fault = fault(settings.clone()).await;
        assert!(fault.contains(text), "{settings}: {fault}");
    }
}

#[tokio::test]
async fn the_schema_must_fit_the_mapping() {
    let with = async |parameters: Value, settings: Value| {
        let mut built = entry(&json!({}), &[]);
        built.tool.parameters = Some(parameters);
        built.settings = settings;
        of_entry(built).await
    };
    let get = json!({"url": "https://a.example/{id}"});
    let text = json!({"type": "string"});
    let error = with(json!({"type": "object", "properties": {"id": text}}), get.clone()).await.unwrap_err();
    assert_eq!(pointers(&error), ["/parameters/required"]);
    let error = with(json!({"type": "object", "properties": {"other": text}}), get.clone()).await.unwrap_err();
    assert_eq!(pointers(&error), ["/url"]);
    let both = json!({"type": "object", "properties": {"id": text, "other": text}, "required": ["id"]});
    with(both.clone(), get).await.unwrap();

    // The query would have two parameters of one name.
    let taken = json!({"url": "https://a.example/{id}", "query": {"other": 1}});
    let error = with(both.clone(), taken).await.unwrap_err();
    assert_eq!(pointers(&error), ["/parameters/properties/other"]);

    // A schema that is composed of others declares nothing for certain.
    let composed = json!({"$ref": "#/$defs/a", "$defs": {"a": both}});
    with(composed, json!({"url": "https://a.example/{id}", "query": {"x": "{other}"}})).await.unwrap();
}
