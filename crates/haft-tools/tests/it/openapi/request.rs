//! The requests that imported tools send, as a server receives them.

use axum::Router;
use axum::extract::Request;
use haft_core::ToolCall;
use haft_executor::{Services, Toolkit};
use haft_http::{AddressGuard, GuardedClient, HttpClient};
use haft_registry::Secrets;
use haft_tools::openapi::{ImportOptions, SchemeCredential};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

use super::document;

/// Starts a server that answers with the request, and returns its host and port.
async fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let router = Router::new().fallback(|request: Request| async move {
        let (parts, body) = request.into_parts();
        let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        let header = |name: &str| parts.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        let names = ["content-type", "authorization", "x-list", "x-key", "cookie", "accept", "x-constant"];
        let headers: Map<String, Value> =
            names.iter().filter_map(|name| header(name).map(|value| ((*name).to_owned(), value.into()))).collect();
        let echo = json!({
            "request": format!("{} {}", parts.method, parts.uri),
            "headers": headers,
            "body": String::from_utf8_lossy(&body),
        });
        ([("content-type", "application/json")], echo.to_string())
    });
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

pub(super) fn client(host: &str) -> GuardedClient {
    let guard = AddressGuard::new().allow_host(host).unwrap();
    HttpClient::builder().no_proxy().guarded(guard).unwrap()
}

/// Imports a document of one operation, calls it, and returns the request that arrived.
async fn sent(path: &str, item: Value, components: Value, options: ImportOptions, arguments: Value) -> Value {
    let host = echo().await;
    let options = options.base_url(format!("http://{host}/v1/"));
    let imported = document("3.0.3", json!({path: item}), components).import(&options);
    assert!(imported.skipped.is_empty(), "{:?}", imported.skipped);
    let tool = imported.into_tools().remove(0);
    let call = ToolCall::new("c1", tool.name(), arguments.to_string());
    let secrets = Secrets::new().value("one", "s-1").value("two", "s-2").value("pair", "u:p");
    let kit: Toolkit =
        Toolkit::new().with(tool).unwrap().with_services(Services::new().with(client(&host)).with(secrets));
    let result = kit.run_call(&call).await;
    assert!(result.is_ok(), "{result:?}");
    result.value().unwrap().to_value()
}

#[tokio::test]
async fn every_style_is_written_as_the_specification_defines() {
    let array = json!(["a", "b c"]);
    let object = json!({"r": 100, "g": 200});
    for (place, style, explode, value, expected) in [
        ("query", None, None, &array, "GET /v1/x?p=a&p=b%20c"),
        ("query", Some("form"), Some(false), &array, "GET /v1/x?p=a,b%20c"),
        ("query", None, None, &object, "GET /v1/x?r=100&g=200"),
        ("query", Some("form"), Some(false), &object, "GET /v1/x?p=r,100,g,200"),
        ("query", Some("spaceDelimited"), Some(false), &json!(["a", "b"]), "GET /v1/x?p=a%20b"),
        ("query", Some("pipeDelimited"), Some(false), &array, "GET /v1/x?p=a%7Cb%20c"),
        ("query", Some("deepObject"), None, &array, "GET /v1/x?p%5B%5D=a&p%5B%5D=b%20c"),
        ("query", Some("deepObject"), Some(true), &object, "GET /v1/x?p%5Br%5D=100&p%5Bg%5D=200"),
        ("query", None, None, &json!(true), "GET /v1/x?p=true"),
        ("query", None, None, &Value::Null, "GET /v1/x"),
    ] {
        let mut parameter = json!({"name": "p", "in": place, "schema": {}});
        if let Some(style) = style {
            parameter["style"] = style.into();
        }
        if let Some(explode) = explode {
            parameter["explode"] = explode.into();
        }
        let item = json!({"get": {"parameters": [parameter]}});
        let request = sent("/x", item, json!({}), ImportOptions::new(), json!({"p": value})).await;
        // Whether a comma or a bar is escaped makes no difference to a server.
        let line = request["request"].as_str().unwrap().replace("%2C", ",").replace('|', "%7C");
        assert_eq!(line, expected, "{style:?} {explode:?} {value}");
    }
    for (style, explode, value, expected) in [
        ("simple", false, &array, "GET /v1/a,b%20c/x"),
        ("simple", false, &object, "GET /v1/r,100,g,200/x"),
        ("simple", true, &object, "GET /v1/r=100,g=200/x"),
        ("simple", false, &json!("ä/?#"), "GET /v1/%C3%A4%2F%3F%23/x"),
        ("label", false, &array, "GET /v1/.a,b%20c/x"),
        ("label", true, &array, "GET /v1/.a.b%20c/x"),
        ("label", true, &object, "GET /v1/.r=100.g=200/x"),
        ("matrix", false, &json!("a"), "GET /v1/;p=a/x"),
        ("matrix", false, &array, "GET /v1/;p=a,b%20c/x"),
        ("matrix", true, &array, "GET /v1/;p=a;p=b%20c/x"),
        ("matrix", true, &object, "GET /v1/;r=100;g=200/x"),
    ] {
        let mut parameter = json!({"name": "p", "in": "path", "required": true, "explode": explode, "schema": {}});
        parameter["style"] = style.into();
        let item = json!({"get": {"parameters": [parameter]}});
        let request = sent("/{p}/x", item, json!({}), ImportOptions::new(), json!({"p": value})).await;
        let line = request["request"].as_str().unwrap().replace("%2C", ",").replace("%3D", "=");
        assert_eq!(line, expected, "{style} {explode} {value}");
    }
}

#[tokio::test]
async fn forms_are_written_as_their_encoding_says() {
    let deep = json!({"style": "deepObject", "explode": true});
    let media = json!({
        "schema": {"type": "object", "properties": {
            "items": {"type": "array", "items": {"type": "object"}},
            "tags": {"type": "array", "items": {"type": "string"}},
        }},
        "encoding": {"items": deep, "metadata": deep, "expand": deep, "tags": {"explode": false}, "config": {"contentType": "application/json"}, "url": {"allowReserved": true}},
    });
    let item = json!({"post": {"requestBody": {"content": {"application/x-www-form-urlencoded": media}}}});
    let body = json!({
        "items": [{"price": "p1", "quantity": 2}, {"price": "p2"}],
        "metadata": {"k": "v"},
        "expand": ["a", "b.c"],
        "tags": ["x", "y"],
        "config": [{"a": 1}],
        "url": "http://x/?a=b&c",
        "plain": {"a": 1},
    });
    let request = sent("/x", item, json!({}), ImportOptions::new(), json!({"body": body})).await;
    let expected = "items[0][price]=p1&items[0][quantity]=2&items[1][price]=p2&metadata[k]=v&expand[]=a&expand[]=b.c\
        &tags=x,y&config=%5B%7B%22a%22%3A1%7D%5D&url=http://x/?a=b%26c&plain=%7B%22a%22%3A1%7D";
    assert_eq!(
        request["body"]
            .as_str()
            .unwrap()
            .replace("%5B0%5D%5B", "[0][")
            .replace("%5B1%5D%5B", "[1][")
            .replace("price%5D", "price]")
            .replace("quantity%5D", "quantity]")
            .replace("%5Bk%5D", "[k]")
            .replace("expand%5B%5D", "expand[]"),
        expected
    );

    let media = json!({"schema": {"type": "object"}, "encoding": {"doc": {"contentType": "application/json"}, "csv": {"contentType": "text/csv"}}});
    let item = json!({"post": {"requestBody": {"content": {"multipart/form-data": media}}}});
    let body = json!({"doc": ["a"], "csv": "a,b", "other": {"k": 1}});
    let request = sent("/x", item, json!({}), ImportOptions::new(), json!({"body": body})).await;
    let body = request["body"].as_str().unwrap();
    for part in [
        "name=\"doc\"\r\ncontent-type: application/json\r\n\r\n[\"a\"]\r\n",
        "name=\"csv\"\r\ncontent-type: text/csv\r\n\r\na,b\r\n",
        "name=\"other\"\r\ncontent-type: application/json\r\n\r\n{\"k\":1}\r\n",
    ] {
        assert!(body.contains(part), "{body}");
    }
}

#[tokio::test]
async fn flags_and_content_of_parameters_are_read() {
    let item = json!({"get": {"parameters": [
        {"name": "url", "in": "query", "allowReserved": true, "schema": {"type": "string"}},
        {"name": "flag", "in": "query", "allowEmptyValue": true, "schema": {"type": "boolean"}},
        {"name": "list", "in": "query", "allowEmptyValue": true, "schema": {"type": "array", "items": {}}},
        {"name": "xml", "in": "query", "content": {"application/xml": {"schema": {"type": "object"}}}},
    ]}});
    let arguments = json!({"url": "http://x/?a&b", "flag": "", "list": [], "xml": "<a/>"});
    let request = sent("/x", item, json!({}), ImportOptions::new(), arguments).await;
    assert_eq!(request["request"], "GET /v1/x?url=http://x/?a%26b&flag=&list=&xml=%3Ca%2F%3E");
}

#[test]
fn what_a_notation_does_not_define_is_reported() {
    let nested = json!({"type": "object", "properties": {"a": {"type": "array", "items": {}}}});
    let parameter = |place: &str, style: Option<&str>, schema: &Value| {
        let mut parameter = json!({"name": "p", "in": place, "schema": schema});
        parameter["style"] = style.map_or(Value::Null, Value::from);
        json!({"get": {"parameters": [parameter]}})
    };
    let form = |media_type: &str, encoding: Value| {
        let schema = json!({"type": "object", "properties": {"p": nested}});
        json!({"post": {"requestBody": {"content": {media_type: {"schema": schema, "encoding": {"p": encoding}}}}}})
    };
    let lossy = |item: &Value| -> Vec<String> {
        let item = item.clone();
        let imported = document("3.1.0", json!({"/x": item}), json!({})).import(&ImportOptions::new());
        assert_eq!(imported.operations.len(), 1, "{:?}", imported.skipped);
        imported.lossy.iter().map(ToString::to_string).collect()
    };
    for item in [
        parameter("query", Some("deepObject"), &nested),
        parameter("query", None, &json!({"type": "array", "items": {"type": "string"}})),
        parameter("query", None, &json!({"type": "object", "additionalProperties": {"type": "string"}})),
        form("application/x-www-form-urlencoded", json!({"style": "deepObject"})),
        form("application/x-www-form-urlencoded", json!({"contentType": "application/json"})),
        form("multipart/form-data", json!({})),
        form("application/json", json!({"style": "form"})),
    ] {
        assert_eq!(lossy(&item), [""; 0], "{item}");
    }
    let undefined = "its notation has no arrays or objects inside others; they are sent as JSON";
    for item in [
        parameter("query", None, &nested),
        parameter("header", None, &json!({"type": "array", "items": nested})),
        parameter("query", Some("pipeDelimited"), &json!({"anyOf": [{"type": "string"}, nested]})),
    ] {
        assert_eq!(lossy(&item), [format!("GET /x: the parameter `p` may not arrive as described: {undefined}")]);
    }
    for (item, loss) in [
        (form("application/x-www-form-urlencoded", json!({"style": "form"})), undefined),
        (
            form("application/x-www-form-urlencoded", json!({"style": "matrix"})),
            "the style `matrix` is unknown; it is sent as if it had none",
        ),
        (
            form("multipart/form-data", json!({"contentType": "application/xml"})),
            "it can't be written as `application/xml`; its arrays and objects are sent as JSON",
        ),
        (form("multipart/form-data", json!({"headers": {"x-a": {}}})), "the headers of its part are not sent"),
    ] {
        assert_eq!(lossy(&item), [format!("POST /x: the field `p` of the body may not arrive as described: {loss}")]);
    }
}

#[tokio::test]
async fn headers_cookies_and_json_parameters_are_sent() {
    let item = json!({"get": {
        "parameters": [
            {"name": "X-List", "in": "header", "schema": {"type": "array"}},
            {"name": "session", "in": "cookie", "schema": {"type": "string"}},
            {"name": "filter", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}},
        ],
        "responses": {"200": {"description": "ok", "content": {"application/json": {}}}},
    }});
    let arguments = json!({"X-List": [1, 2], "session": "s", "filter": {"a": [1]}});
    let options = ImportOptions::new().header("x-constant", "c");
    let request = sent("/x#Action=Get", item, json!({}), options, arguments).await;
    assert_eq!(request["request"], "GET /v1/x?filter=%7B%22a%22%3A%5B1%5D%7D");
    assert_eq!(request["headers"]["x-list"], "1,2");
    assert_eq!(request["headers"]["cookie"], "session=s");
    assert_eq!(request["headers"]["x-constant"], "c");
    assert_eq!(request["headers"]["accept"], "application/json, */*;q=0.5");
}

#[tokio::test]
async fn bodies_are_sent_in_the_media_type_of_the_document() {
    for (media_type, body, content_type, expected) in [
        ("application/json", json!({"a": [1]}), "application/json", r#"{"a":[1]}"#),
        ("application/vnd.pets+json", json!([1]), "application/vnd.pets+json", "[1]"),
        (
            "application/x-www-form-urlencoded",
            json!({"a": "b c", "n": 1}),
            "application/x-www-form-urlencoded",
            "a=b+c&n=1",
        ),
        ("text/xml", json!("<a/>"), "text/xml", "<a/>"),
    ] {
        let item = json!({"post": {"requestBody": {"content": {media_type: {"schema": {}}}}}});
        let request = sent("/x", item, json!({}), ImportOptions::new(), json!({"body": body})).await;
        let received = request["headers"]["content-type"].as_str().unwrap();
        assert!(received.starts_with(content_type), "{received}");
        assert_eq!(request["body"].as_str().unwrap().replace("%20", "+"), expected);
    }
    let item = json!({"post": {"requestBody": {"content": {"multipart/form-data": {"schema": {"type": "object"}}}}}});
    let request = sent("/x", item.clone(), json!({}), ImportOptions::new(), json!({"body": {"a": "1"}})).await;
    assert!(request["body"].as_str().unwrap().contains("name=\"a\""), "{request}");
    let request = sent("/x", item, json!({}), ImportOptions::new(), json!({})).await;
    assert_eq!(request["body"], "");
}

#[tokio::test]
async fn secrets_are_sent_where_their_schemes_are_and_only_with_credentials() {
    let components = json!({"securitySchemes": {
        "bearer": {"type": "http", "scheme": "Bearer"},
        "basic": {"type": "http", "scheme": "basic"},
        "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "query": {"type": "apiKey", "in": "query", "name": "key"},
        "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
        "oauth": {"type": "oauth2", "flows": {"implicit": {}}},
        "oidc": {"type": "openIdConnect", "openIdConnectUrl": "https://id.example"},
    }});
    let with = |schemes: &[(&str, &str)]| {
        let add = |options: ImportOptions, (scheme, secret): &(&str, &str)| {
            options.credential(*scheme, SchemeCredential::new(*secret))
        };
        schemes.iter().fold(ImportOptions::new(), add)
    };
    for (security, options, request, headers) in [
        (json!([{"bearer": []}]), with(&[("bearer", "one")]), "GET /v1/x", json!({"authorization": "Bearer s-1"})),
        (json!([{"basic": []}]), with(&[("basic", "pair")]), "GET /v1/x", json!({"authorization": "Basic dTpw"})),
        (
            json!([{"basic": []}]),
            ImportOptions::new().credential("basic", SchemeCredential::new("one").user("u")),
            "GET /v1/x",
            json!({"authorization": "Basic [removed]"}),
        ),
        (json!([{"header": []}]), with(&[("header", "one")]), "GET /v1/x", json!({"x-key": "s-1"})),
        (json!([{"cookie": []}]), with(&[("cookie", "one")]), "GET /v1/x", json!({"cookie": "sid=s-1"})),
        (json!([{"oauth": ["read"]}]), with(&[("oauth", "one")]), "GET /v1/x", json!({"authorization": "Bearer s-1"})),
        (json!([{"oidc": []}]), with(&[("oidc", "one")]), "GET /v1/x", json!({"authorization": "Bearer s-1"})),
        // All schemes of an alternative are required, and one alternative is enough.
        (
            json!([{"header": [], "query": []}]),
            with(&[("header", "one"), ("query", "two")]),
            "GET /v1/x?key=s-2",
            json!({"x-key": "s-1"}),
        ),
        (json!([{"header": [], "query": []}]), with(&[("header", "one")]), "GET /v1/x", json!({})),
        (json!([{"header": []}, {"query": []}]), with(&[("query", "two")]), "GET /v1/x?key=s-2", json!({})),
        (json!([{}, {"query": []}]), with(&[("query", "two")]), "GET /v1/x?key=s-2", json!({})),
        // No secret is sent that the options or the document do not ask for.
        (json!([{"header": []}]), ImportOptions::new(), "GET /v1/x", json!({})),
        (json!([]), with(&[("header", "one")]), "GET /v1/x", json!({})),
    ] {
        let item = json!({"get": {"security": security}});
        let sent = sent("/x", item, components.clone(), options, json!({})).await;
        assert_eq!(sent["request"], request, "{security}");
        let mut received = sent["headers"].clone();
        received.as_object_mut().unwrap().remove("accept");
        assert_eq!(received, headers, "{security}");
    }
}
