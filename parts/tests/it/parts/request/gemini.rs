use haft_parts::WireName;
use serde_json::{Value, json};

use super::{Cases, list, remove, set};

fn right() -> Value {
    json!({
        "systemInstruction": { "parts": [{ "text": "Be brief." }] },
        "contents": [
            { "role": "user", "parts": [
                { "text": "Weather?" },
                { "inlineData": { "mimeType": "image/png", "data": "AAAA" } },
            ] },
            { "role": "model", "parts": [
                { "functionCall": { "name": "get_weather", "args": { "city": "Paris" } }, "thoughtSignature": "Ctw=" },
                { "functionCall": { "name": "now", "args": {} } },
            ] },
            { "role": "user", "parts": [
                { "functionResponse": { "name": "get_weather", "response": { "output": 18 } } },
                { "functionResponse": { "name": "now", "response": { "error": "no clock" } } },
            ] },
        ],
        "tools": [{ "functionDeclarations": [
            { "name": "get_weather", "description": "d", "parameters": { "type": "OBJECT", "properties":
                { "city": { "type": "STRING", "nullable": true } }, "required": ["city"], "propertyOrdering": ["city"] } },
            { "name": "now", "parametersJsonSchema": { "type": "object", "additionalProperties": false } },
        ] }],
        "toolConfig": { "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": ["now"] } },
        "generationConfig": {
            "maxOutputTokens": 100,
            "temperature": 0.5,
            "thinkingConfig": { "includeThoughts": true },
            "responseMimeType": "application/json",
            "responseJsonSchema": { "type": "object" },
        },
    })
}

#[test]
fn shapes() {
    let cases = Cases::of(WireName::Gemini, right());
    cases.accepts("tools of the provider", |body| list(body, "/tools").push(json!({ "googleSearch": {} })));
    cases.rejects("an unknown key", "/stream", |body| body["stream"] = json!(true));
    cases.rejects("an unknown key of a part", "/contents/0/parts/0/type", |body| {
        set(body, "/contents/0/parts/0", "type", json!("text"));
    });
    cases.rejects("an unknown key deep inside", "/contents/2/parts/0/functionResponse/isError", |body| {
        set(body, "/contents/2/parts/0/functionResponse", "isError", json!(true));
    });
    cases.rejects(
        "a keyword that is not of OpenAPI",
        "/tools/0/functionDeclarations/0/parameters/properties/city",
        |body| {
            set(body, "/tools/0/functionDeclarations/0/parameters/properties/city", "const", json!("Paris"));
        },
    );
    cases.rejects("snake case", "/generationConfig/max_output_tokens", |body| {
        set(body, "/generationConfig", "max_output_tokens", json!(5));
    });
    cases.rejects("a setting at the root", "/temperature", |body| body["temperature"] = json!(0.5));
    cases.rejects("a field of the root among the settings", "/generationConfig/tools", |body| {
        set(body, "/generationConfig", "tools", json!([]));
    });
    cases.rejects("a setting of the SDK alone", "/generationConfig/httpOptions", |body| {
        set(body, "/generationConfig", "httpOptions", json!({ "timeout": 5 }));
    });
    cases.rejects("a field of another service", "", |body| {
        set(body, "/generationConfig", "audioTimestamp", json!(true));
    });
    cases.rejects("an unknown mode", "/toolConfig", |body| {
        set(body, "/toolConfig/functionCallingConfig", "mode", json!("FORCED"));
    });
    cases.rejects("no contents", "/contents", |body| remove(body, "", "contents"));
    cases.rejects("a wrong role", "/contents/0/role", |body| set(body, "/contents/0", "role", json!("assistant")));
    cases.rejects("arguments as text", "/contents/1/parts/0/functionCall/args", |body| {
        set(body, "/contents/1/parts/0/functionCall", "args", json!("{}"));
    });
    cases.rejects("a signature that is not Base64", "/contents/1/parts/0/thoughtSignature", |body| {
        set(body, "/contents/1/parts/0", "thoughtSignature", json!("?"));
    });
}

#[test]
fn calls_and_responses() {
    let cases = Cases::of(WireName::Gemini, right());
    cases.rejects("a call without a response", "/contents/2", |body| drop(list(body, "/contents/2/parts").pop()));
    cases.rejects("calls at the end", "/contents/1/parts/0", |body| drop(list(body, "/contents").pop()));
    cases.rejects("an orphan response", "/contents/1", |body| drop(list(body, "/contents").remove(1)));
    cases.rejects("responses in another order", "/contents/2/parts/0/functionResponse/name", |body| {
        list(body, "/contents/2/parts").swap(0, 1);
    });
    cases.rejects("a response without a value", "/contents/2/parts/1/functionResponse/response", |body| {
        remove(body, "/contents/2/parts/1/functionResponse", "response");
    });
    cases.rejects("a reference in a response", "/contents/2/parts/0/functionResponse/response", |body| {
        set(body, "/contents/2/parts/0/functionResponse", "response", json!({ "list": [{ "$ref": "x" }] }));
    });
    cases.rejects("an id that the call lacks", "/contents/2/parts/1/functionResponse/id", |body| {
        set(body, "/contents/2/parts/1/functionResponse", "id", json!("x"));
    });
    cases.rejects("calls after the model's own text", "/contents/2", |body| {
        list(body, "/contents").insert(1, json!({ "role": "model", "parts": [{ "text": "Let me look." }] }));
    });
    cases.rejects("a part with two fields", "/contents/0/parts/0", |body| {
        set(body, "/contents/0/parts/0", "fileData", json!({ "fileUri": "x" }));
    });
    cases.rejects("a content without parts", "/contents/0/parts", |body| set(body, "/contents/0", "parts", json!([])));
}

#[test]
fn signatures_and_tools() {
    let mut cases = Cases::of(WireName::Gemini, right());
    let forget = |body: &mut Value| remove(body, "/contents/1/parts/0", "thoughtSignature");
    cases.accepts("no signature before Gemini 3", forget);
    cases.options = json!({ "model": "gemini-3-pro" });
    cases.accepts("the signature of the first call", |_| ());
    cases.rejects("no signature", "/contents/1/parts/0", forget);
    cases.accepts("no signature in an earlier turn", |body| {
        forget(body);
        list(body, "/contents").push(json!({ "role": "model", "parts": [{ "text": "18" }] }));
        list(body, "/contents").push(json!({ "role": "user", "parts": [{ "text": "Thanks" }] }));
    });
    cases.rejects("two carriers of a schema", "/tools/0/functionDeclarations/0", |body| {
        set(body, "/tools/0/functionDeclarations/0", "parametersJsonSchema", json!({ "type": "object" }));
    });
    cases.rejects("an object without properties", "/tools/0/functionDeclarations/0/parameters", |body| {
        set(body, "/tools/0/functionDeclarations/0", "parameters", json!({ "type": "OBJECT" }));
    });
    cases.rejects("a name with a slash", "/tools/0/functionDeclarations/0/name", |body| {
        set(body, "/tools/0/functionDeclarations/0", "name", json!("a/b"));
    });
    cases.rejects("an allowed name that is not offered", "/toolConfig", |body| {
        set(body, "/toolConfig/functionCallingConfig", "allowedFunctionNames", json!(["other"]));
    });
    cases.rejects("allowed names with the mode AUTO", "/toolConfig", |body| {
        set(body, "/toolConfig/functionCallingConfig", "mode", json!("AUTO"));
    });
}

#[test]
fn combinations_before_gemini_3() {
    let mut cases = Cases::of(WireName::Gemini, plain());
    cases.options = json!({ "model": "gemini-2.5-pro" });
    cases.accepts("functions alone", |_| ());
    cases.accepts("a tool of the provider alone", |body| {
        body["tools"] = json!([{ "googleSearch": {} }]);
        remove(body, "", "toolConfig");
    });
    cases.rejects("functions and a tool of the provider", "/tools", |body| {
        list(body, "/tools").push(json!({ "googleSearch": {} }));
    });
    cases.rejects("functions and a format", "/generationConfig/responseMimeType", |body| {
        set(body, "/generationConfig", "responseMimeType", json!("application/json"));
    });
}

/// The right request without a format.
fn plain() -> Value {
    let mut body = right();
    remove(&mut body, "/generationConfig", "responseMimeType");
    remove(&mut body, "/generationConfig", "responseJsonSchema");
    body
}

#[test]
fn files_of_results() {
    let mut cases = Cases::of(WireName::Gemini, plain());
    let image = || json!({ "inlineData": { "mimeType": "image/png", "data": "AAAA" } });
    let inside = |body: &mut Value| set(body, "/contents/2/parts/0/functionResponse", "parts", json!([image()]));
    cases.accepts("inside of a model that is not named", inside);
    cases.options = json!({ "model": "gemini-2.5-computer-use-preview-10-2025" });
    cases.accepts("inside of a model that uses a computer", inside);
    cases.options = json!({ "model": "gemini-2.5-flash" });
    cases.rejects("inside", "/contents/2/parts/0/functionResponse/parts", inside);
    cases.accepts("behind all responses", |body| list(body, "/contents/2/parts").push(image()));
    cases
        .rejects("between responses", "/contents/2/parts/1", |body| list(body, "/contents/2/parts").insert(1, image()));
}
