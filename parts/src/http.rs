//! The least HTTP/1.1 client that reads a whole answer. It is independent of the product's own on purpose.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// A whole answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The body, with the chunks of a chunked one joined.
    pub body: String,
}

impl Answer {
    /// Returns the body as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("not JSON: {error}\n{}", self.body))
    }
}

/// Sends a GET request.
#[must_use]
pub fn get(base: &str, path: &str) -> Answer {
    request(base, "GET", path, &[], "")
}

/// Sends a POST request with a JSON body.
#[must_use]
pub fn post(base: &str, path: &str, body: &Value) -> Answer {
    request(base, "POST", path, &[], &body.to_string())
}

/// Sends a request with these headers and a JSON body, and reads the whole answer.
#[must_use]
pub fn request(base: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    begin(base, method, path, headers, body).finish()
}

/// An answer that is being read. If it is dropped, the connection is closed.
#[derive(Debug)]
pub struct Exchange {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Exchange {
    /// Waits until the answer has begun.
    pub fn wait(&mut self) {
        let mut piece = [0; 4096];
        let length = self.stream.read(&mut piece).unwrap();
        self.received.extend_from_slice(&piece[..length]);
    }

    /// Reads the whole answer.
    #[must_use]
    pub fn finish(mut self) -> Answer {
        self.stream.read_to_end(&mut self.received).unwrap();
        parse(&self.received)
    }
}

/// Sends a request, of whose answer nothing is read yet.
#[must_use]
pub fn begin(base: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Exchange {
    let host = base.strip_prefix("http://").expect("parts listen on plain HTTP");
    let mut stream = TcpStream::connect(host).unwrap_or_else(|error| panic!("cannot connect to {base}: {error}"));
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let length = body.len();
    let request = format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).unwrap();
    Exchange { stream, received: Vec::new() }
}

fn parse(received: &[u8]) -> Answer {
    let end = received.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8_lossy(&received[..end]).to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    let rest = &received[end + 4..];
    let body = if head.contains("transfer-encoding: chunked") { joined(rest) } else { rest.to_vec() };
    Answer { status, body: String::from_utf8(body).expect("the body is UTF-8") }
}

fn joined(mut chunked: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = chunked.windows(2).position(|window| window == b"\r\n") {
        let size = String::from_utf8_lossy(&chunked[..end]);
        let size = usize::from_str_radix(size.trim(), 16).expect("the size of a chunk");
        if size == 0 {
            break;
        }
        body.extend_from_slice(&chunked[end + 2..end + 2 + size]);
        chunked = &chunked[end + 2 + size + 2..];
    }
    body
}
