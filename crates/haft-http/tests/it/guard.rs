//! Tests of the guard against real connections, with names that a table resolves.

mod address;
mod connection;
mod proxy;
mod redirect;

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_http::{AddressGuard, GuardRejection, GuardedClient, HttpError, HttpRequest, Resolver, Resolving};

use tokio::time::timeout;

use crate::server::builder;

/// An upper bound against hangs, which no passing test comes near.
const BOUND: Duration = Duration::from_secs(30);

/// A resolver that answers from a table and records the questions. A name's answers are used in order, and the last one
/// again and again.
#[derive(Clone, Default)]
struct Names(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    answers: HashMap<String, Vec<Vec<IpAddr>>>,
    asked: Vec<String>,
}

impl Names {
    fn new<const N: usize>(answers: [(&str, &[&str]); N]) -> Self {
        let names = Self::default();
        for (name, answers) in answers {
            let parse = |answer: &&str| answer.split_whitespace().map(|address| address.parse().unwrap()).collect();
            let answers = answers.iter().map(parse).collect();
            names.0.lock().unwrap().answers.insert(name.to_owned(), answers);
        }
        names
    }

    fn asked(&self) -> Vec<String> {
        self.0.lock().unwrap().asked.clone()
    }
}

impl Resolver for Names {
    fn resolve(&self, host: &str) -> Resolving {
        let mut table = self.0.lock().unwrap();
        table.asked.push(host.to_owned());
        let answer = match table.answers.get_mut(host) {
            Some(answers) if answers.len() > 1 => Ok(answers.remove(0)),
            Some(answers) => Ok(answers[0].clone()),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        Box::pin(std::future::ready(answer))
    }
}

fn guarded(guard: AddressGuard, names: &Names) -> GuardedClient {
    builder().redirects(5).resolver(names.clone()).guarded(guard).unwrap()
}

/// Returns an error's reason, which must be a guard's.
#[track_caller]
fn rejection(error: &HttpError) -> GuardRejection {
    assert!(!error.retryable());
    match error {
        HttpError::Forbidden { rejection, endpoint } => {
            assert_eq!(error.sent(), endpoint.redirects() > 0);
            *rejection
        }
        other => panic!("{other:?}"),
    }
}

/// Sends a request that must be rejected, and returns the reason.
async fn rejected(client: &GuardedClient, url: &str) -> GuardRejection {
    // A request that is not rejected waits for a server that does not answer.
    match timeout(BOUND, client.send(HttpRequest::get(url))).await.unwrap_or_else(|_| panic!("{url} is not rejected")) {
        Err(error) => rejection(&error),
        Ok(response) => panic!("{url}: {response:?}"),
    }
}
