//! The API behind the tools: it answers each request when the test says so.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// A server of which the test holds each request.
#[derive(Debug)]
pub(super) struct Deployments {
    pub(super) url: String,
    requests: Receiver<Held>,
}

/// A request that has no answer yet. If it is dropped, the connection is closed without one.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) key: String,
    pub(super) body: String,
    connection: TcpStream,
}

impl Deployments {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = channel();
        thread::spawn(move || {
            for connection in listener.incoming() {
                if sender.send(Held::read(connection.unwrap())).is_err() {
                    break;
                }
            }
        });
        Self { url, requests }
    }

    /// Waits for the next request.
    pub(super) fn next(&self) -> Held {
        self.requests.recv().unwrap()
    }

    /// Asserts that no more requests have arrived.
    pub(super) fn assert_quiet(&self) {
        assert!(self.requests.try_recv().is_err(), "a request too many");
    }
}

impl Held {
    fn read(connection: TcpStream) -> Self {
        let mut reader = BufReader::new(&connection);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let header = |name: &str| {
            let mut values = lines.iter().filter_map(|line| line.split_once(": "));
            values.find(|(key, _)| key.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value).to_owned()
        };
        let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
        reader.read_exact(&mut body).unwrap();
        let mut words = lines[0].split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        Self { method, path, key: header("idempotency-key"), body: String::from_utf8(body).unwrap(), connection }
    }

    pub(super) fn answer(mut self, text: &str) {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", text.len());
        self.connection.write_all((head + text).as_bytes()).unwrap();
    }
}
