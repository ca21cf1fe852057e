//! A server whose test writes every byte.

use std::time::Duration;

use haft_http::{HttpClient, HttpClientBuilder, Timeouts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A timeout that no passing test waits for.
pub(crate) const LONG: Duration = Duration::from_secs(600);

/// A listener on a free port.
pub(crate) struct Server {
    listener: TcpListener,
}

/// One accepted connection.
pub(crate) struct Connection {
    socket: TcpStream,
    read: Vec<u8>,
}

/// Returns a builder that ignores the proxies of the environment, with long timeouts.
pub(crate) fn builder() -> HttpClientBuilder {
    let timeouts = Timeouts::none().first_byte(LONG).idle(LONG);
    HttpClient::builder().no_proxy().connect_timeout(LONG).timeouts(timeouts)
}

pub(crate) fn client() -> HttpClient {
    builder().build().unwrap()
}

/// Formats a response with a body of a declared length.
pub(crate) fn response(status: u16, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status} Status\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len())
}

/// Formats a chunk of a chunked body.
pub(crate) fn chunk(data: &str) -> String {
    format!("{:x}\r\n{data}\r\n", data.len())
}

pub(crate) const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
pub(crate) const LAST_CHUNK: &str = "0\r\n\r\n";

impl Server {
    pub(crate) async fn start() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap() }
    }

    pub(crate) fn address(&self) -> String {
        self.listener.local_addr().unwrap().to_string()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address())
    }

    pub(crate) async fn accept(&self) -> Connection {
        let (socket, _) = self.listener.accept().await.unwrap();
        Connection { socket, read: Vec::new() }
    }

    /// Answers one request on a new connection and returns it. The connection stays open while the server answers.
    pub(crate) async fn answer(&self, response: impl AsRef<[u8]>) -> (String, Connection) {
        let mut connection = self.accept().await;
        let request = connection.request().await;
        connection.write(response).await;
        (request, connection)
    }
}

impl Connection {
    /// Reads one request with its body.
    pub(crate) async fn request(&mut self) -> String {
        loop {
            let text = String::from_utf8(self.read.clone()).unwrap();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                let length = length.map_or(0, |length| length.parse().unwrap());
                if body.len() >= length {
                    let end = head.len() + 4 + length;
                    self.read.drain(..end);
                    return text[..end].to_owned();
                }
            }
            assert!(self.read_some().await > 0, "the client closed the connection within a request");
        }
    }

    /// Reads whatever arrives next and returns its length.
    pub(crate) async fn read_some(&mut self) -> usize {
        self.read.reserve(64 * 1024);
        self.socket.read_buf(&mut self.read).await.unwrap_or_default()
    }

    pub(crate) async fn write(&mut self, text: impl AsRef<[u8]>) {
        self.socket.write_all(text.as_ref()).await.unwrap();
        self.socket.flush().await.unwrap();
    }

    /// Writes until the client has closed the connection.
    pub(crate) async fn write_until_closed(&mut self, text: impl AsRef<[u8]>) {
        while self.socket.write_all(text.as_ref()).await.is_ok() {}
    }

    /// Waits until the client closes the connection.
    pub(crate) async fn closed(mut self) {
        while self.read_some().await > 0 {}
    }

    /// Ends the connection and waits until the client has noticed.
    pub(crate) async fn end(mut self) {
        self.socket.shutdown().await.unwrap();
        self.closed().await;
    }

    /// Closes the connection with a reset instead of an orderly end.
    pub(crate) fn reset(self) {
        self.socket.set_zero_linger().unwrap();
    }
}
