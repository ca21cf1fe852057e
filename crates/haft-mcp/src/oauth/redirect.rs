//! The redirect of a browser to this machine.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The size of a request's first line that is read.
const MAX_REQUEST: usize = 16 * 1024;
const PAGE: &str = "You can close this page and go back to haft.";

/// A listener on a port of this machine, for one redirect.
pub(super) struct Redirect {
    listener: TcpListener,
    url: String,
}

impl Redirect {
    pub(super) async fn bind() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/callback", listener.local_addr()?);
        Ok(Self { listener, url })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Waits for the browser, and returns the whole address to which it was redirected. Other requests, such as one for
    /// an icon, are answered and ignored.
    pub(super) async fn callback(&self) -> io::Result<String> {
        loop {
            let (mut browser, _) = self.listener.accept().await?;
            let query = tokio::time::timeout(std::time::Duration::from_secs(10), query(&mut browser)).await;
            let Ok(Ok(Some(query))) = query else { continue };
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{PAGE}",
                PAGE.len()
            );
            // What the browser shows does not matter to the login.
            let _ = browser.write_all(answer.as_bytes()).await;
            let _ = browser.shutdown().await;
            return Ok(format!("{}?{query}", self.url));
        }
    }
}

/// Reads the query of a request for the callback.
async fn query(browser: &mut TcpStream) -> io::Result<Option<String>> {
    let mut request = Vec::new();
    let mut piece = [0; 1024];
    while !request.contains(&b'\n') && request.len() < MAX_REQUEST {
        match browser.read(&mut piece).await? {
            0 => break,
            length => request.extend_from_slice(&piece[..length]),
        }
    }
    let line = request.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let target = line.strip_prefix("GET /callback?").and_then(|rest| rest.split(' ').next());
    Ok(target.map(str::to_owned))
}
