//! An MCP server that misbehaves as its caller asks, over standard input and output. The tests start it.
//!
//! It is written without an SDK, so that it can send what none would. Arguments: `--era legacy|modern|silent`,
//! `--tools FILE` (a JSON list, read for every `tools/list`), `--pages N` (tools per page; 0 repeats the first cursor for
//! ever), `--log FILE` (every line that is received, and one for the end of the input), `--exit-at-start`.
//!
//! A call does what the name of its tool says; see `call`.

use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

struct Server {
    era: String,
    tools: Option<String>,
    pages: Option<usize>,
    log: Option<String>,
    /// The call that waits for the answer to a question.
    asking: Option<Value>,
}

fn main() -> io::Result<()> {
    let mut server = Server { era: "legacy".to_owned(), tools: None, pages: None, log: None, asking: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_default();
        match argument.as_str() {
            "--era" => server.era = value(),
            "--tools" => server.tools = Some(value()),
            "--pages" => server.pages = value().parse().ok(),
            "--log" => server.log = Some(value()),
            "--exit-at-start" => {
                io::stderr().write_all(b"no disk left, token is sk-planted-secret\n")?;
                std::process::exit(3);
            }
            other => return Err(io::Error::other(format!("unknown argument {other}"))),
        }
    }
    for line in io::stdin().lock().lines() {
        let line = line?;
        if let Some(log) = &server.log {
            writeln!(OpenOptions::new().create(true).append(true).open(log)?, "{line}")?;
        }
        if let Ok(message) = serde_json::from_str::<Value>(&line) {
            server.handle(&message)?;
        }
    }
    if let Some(log) = &server.log {
        writeln!(OpenOptions::new().create(true).append(true).open(log)?, "{{\"method\":\"end\"}}")?;
    }
    Ok(())
}

impl Server {
    fn handle(&mut self, message: &Value) -> io::Result<()> {
        let (method, id) = (message["method"].as_str().unwrap_or_default(), &message["id"]);
        if id == "question"
            && let Some(call) = self.asking.take()
        {
            let text = message.get("result").unwrap_or(&message["error"]["message"]).to_string();
            return answer(&call, &json!({"content": [{"type": "text", "text": text}]}));
        }
        if id.is_null() || method.is_empty() {
            return Ok(());
        }
        let info = json!({"name": "hostile", "version": "1.2.3"});
        let capabilities = json!({"tools": {"listChanged": true}});
        match (method, self.era.as_str()) {
            (_, "silent") if method == "server/discover" => Ok(()),
            ("initialize", "legacy" | "silent") => {
                let version = &message["params"]["protocolVersion"];
                answer(id, &json!({"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}))
            }
            ("server/discover", "modern") => answer(
                id,
                &json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities,
                    "ttlMs": 0, "cacheScope": "private",
                    "_meta": {"io.modelcontextprotocol/serverInfo": info}}),
            ),
            ("subscriptions/listen", "modern") => {
                let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
                let params = json!({"notifications": message["params"]["notifications"], "_meta": meta});
                notify("notifications/subscriptions/acknowledged", &params)
            }
            // A list in one page is sent as it is written, so that it may be one that this program can't parse.
            ("tools/list", _) if self.pages.is_none() && self.tools.is_some() => {
                let tools = self.tools.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
                let rest = r#""resultType":"complete","ttlMs":0,"cacheScope":"private""#;
                let tools = tools.unwrap_or_else(|| "[]".to_owned());
                line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":{tools},{rest}}}}}"#))
            }
            ("tools/list", _) => answer(id, &self.list(&message["params"]["cursor"])),
            ("tools/call", _) => self.call(message),
            _ => fail(id, -32601, "Method not found"),
        }
    }

    fn list(&self, cursor: &Value) -> Value {
        let tools = self.tools.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let tools: Vec<Value> = match tools {
            Some(text) => serde_json::from_str(&text).unwrap_or_default(),
            None => DEFAULT.iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}})).collect(),
        };
        let result = |tools: &[Value], next: Option<String>| {
            let mut result = json!({"tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
            if let Some(next) = next {
                result["nextCursor"] = next.into();
            }
            result
        };
        match self.pages {
            None => result(&tools, None),
            Some(0) if cursor.is_null() => result(&tools, Some("again".to_owned())),
            Some(0) => result(&[], Some("again".to_owned())),
            Some(size) => {
                let start: usize = cursor.as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
                let end = (start + size).min(tools.len());
                result(&tools[start.min(end)..end], (end < tools.len()).then(|| end.to_string()))
            }
        }
    }

    fn call(&mut self, message: &Value) -> io::Result<()> {
        let (id, params) = (&message["id"], &message["params"]);
        let arguments = &params["arguments"];
        let token = &params["_meta"]["progressToken"];
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}], "resultType": "complete"});
        let progress =
            |done: &Value| notify("notifications/progress", &json!({"progressToken": token, "progress": done}));
        let count = |name: &str| usize::try_from(arguments[name].as_u64().unwrap_or(0)).unwrap_or(0);
        match params["name"].as_str().unwrap_or_default() {
            "echo" => answer(id, &text(&arguments.to_string())),
            // Answers with any JSON, as it is written.
            "raw" => line(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#,
                arguments["result"].as_str().unwrap_or("{}")
            )),
            "text-id" => answer(&id.to_string().into(), &text("a number as text")),
            "fail" => fail(id, arguments["code"].as_i64().unwrap_or(-32000), "the disk of sk-planted-secret is full"),
            "leak" => leak(id, token, &std::env::var("TOKEN").unwrap_or_default()),
            "pid" => answer(id, &text(&std::process::id().to_string())),
            "wait" => Ok(()),
            "exit" => std::process::exit(3),
            // Ends the first time, and answers afterwards.
            "exit-once" => match OpenOptions::new()
                .create_new(true)
                .write(true)
                .open(arguments["mark"].as_str().unwrap_or_default())
            {
                Ok(_) => std::process::exit(3),
                Err(_) => answer(id, &text("again")),
            },
            "big" => answer(id, &text(&"x".repeat(count("bytes")))),
            "progress" => {
                for done in arguments["values"].as_array().into_iter().flatten() {
                    progress(done)?;
                }
                answer(id, &text("done"))
            }
            "flood" => {
                for done in 0..count("count") {
                    progress(&done.into())?;
                    notify("notifications/message", &json!({"level": "error", "data": "sk-planted-secret"}))?;
                    notify("notifications/unknown", &json!({"n": done}))?;
                }
                answer(id, &text("done"))
            }
            endless @ ("junk" | "notify" | "busy") => write_for_ever(endless, token),
            "noise" => {
                line("Server ready on port 3000")?;
                line("{\"jsonrpc\":")?;
                line("")?;
                line("[1,2,3]")?;
                line("{\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":{}}")?;
                line("{\"jsonrpc\":\"2.0\",\"method\":17}")?;
                answer(id, &text("quiet"))
            }
            "ask" => self.ask(id, params),
            "ask-much" => {
                for question in 0..count("count") {
                    line(&json!({"jsonrpc": "2.0", "id": question, "method": "roots/list"}).to_string())?;
                }
                Ok(())
            }
            "change" => {
                if let Some(file) = &self.tools {
                    std::fs::write(file, arguments["tools"].to_string())?;
                }
                notify("notifications/tools/list_changed", &json!({}))?;
                answer(id, &text("changed"))
            }
            _ => fail(id, -32602, "Unknown tool"),
        }
    }

    /// Asks what the arguments say, in the way of its era, and answers with the answer.
    fn ask(&mut self, id: &Value, params: &Value) -> io::Result<()> {
        let arguments = &params["arguments"];
        if self.era != "modern" {
            self.asking = Some(id.clone());
            let (method, params) = (&arguments["method"], &arguments["params"]);
            return line(&json!({"jsonrpc": "2.0", "id": "question", "method": method, "params": params}).to_string());
        }
        let Some(responses) = params.get("inputResponses") else {
            let requests = json!({"q": arguments});
            return answer(
                id,
                &json!({"resultType": "input_required", "inputRequests": requests, "requestState": "s1"}),
            );
        };
        let text = json!([responses, params["requestState"]]).to_string();
        answer(id, &json!({"content": [{"type": "text", "text": text}], "resultType": "complete"}))
    }
}

/// Says a secret in every way that a server has.
fn leak(id: &Value, token: &Value, secret: &str) -> io::Result<()> {
    writeln!(io::stderr(), "standard error has {secret}")?;
    let log = |level: &str, data: Value| notify("notifications/message", &json!({"level": level, "data": data}));
    log("error", format!("the log has {secret}").into())?;
    log("debug", json!({"nested": [secret], secret: 1}))?;
    let message = format!("progress has {secret}");
    notify("notifications/progress", &json!({"progressToken": token, "progress": 1, "message": message}))?;
    let resource = json!({"uri": format!("file:///{secret}"), "mimeType": "text/plain", "text": secret});
    let content = json!([{"type": "text", "text": format!("the text has {secret}")},
        {"type": "resource", "resource": resource}]);
    let structured = json!({"value": secret, secret: 1});
    answer(
        id,
        &json!({"content": content, "structuredContent": structured, "_meta": {"vendor/secret": secret, secret: 1}}),
    )
}

fn write_for_ever(what: &str, token: &Value) -> io::Result<()> {
    for done in 0_u64.. {
        match what {
            "junk" => line("Server ready on port 3000")?,
            "notify" => notify("notifications/unknown", &json!({"text": "x".repeat(100)}))?,
            _ => notify("notifications/progress", &json!({"progressToken": token, "progress": done}))?,
        }
    }
    Ok(())
}

const DEFAULT: [&str; 18] = [
    "junk",
    "notify",
    "busy",
    "echo",
    "raw",
    "text-id",
    "fail",
    "wait",
    "exit",
    "exit-once",
    "big",
    "progress",
    "flood",
    "noise",
    "ask-much",
    "ask",
    "leak",
    "pid",
];

fn line(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.write_all(b"\n")?;
    output.flush()
}

fn answer(id: &Value, result: &Value) -> io::Result<()> {
    line(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
}

fn fail(id: &Value, code: i64, message: &str) -> io::Result<()> {
    line(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).to_string())
}

fn notify(method: &str, params: &Value) -> io::Result<()> {
    line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string())
}
