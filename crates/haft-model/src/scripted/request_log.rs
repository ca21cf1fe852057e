//! The log of requests to a scripted model.
//!
//! The requests of a conversation repeat each other: each has the items of the one before it and some more. So the log
//! stores only the items that a request does not share with the one before. A thousand complete requests of a
//! conversation of a thousand turns would hold half a million turns.

use std::sync::Arc;

use haft_core::history::Revision;
use haft_core::{History, Item, TurnRequest};

/// Requests in order; an item that several requests repeat is stored once.
#[derive(Default)]
pub(super) struct RequestLog {
    requests: Vec<LoggedRequest>,
    /// The history of the last request.
    last: Vec<Arc<Item>>,
    /// Its revision, to find the shared prefix of the next history without comparing all items.
    revision: Option<Revision>,
}

/// One request of the log.
struct LoggedRequest {
    /// The request without its history.
    rest: TurnRequest,
    /// The number of items that it shares with the request before it.
    common: usize,
    /// The items after those.
    items: Vec<Arc<Item>>,
}

impl RequestLog {
    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    pub(super) fn push(&mut self, request: &TurnRequest) {
        let history = &request.history;
        let added = self.revision.as_ref().and_then(|revision| history.added_since(revision));
        let common = match added {
            Some(added) => history.len() - added.len(),
            None => self.last.iter().zip(history).take_while(|(known, item)| ***known == **item).count(),
        };
        let items: Vec<Arc<Item>> = history[common..].iter().cloned().map(Arc::new).collect();
        self.last.truncate(common);
        self.last.extend(items.iter().cloned());
        self.revision = Some(history.revision());
        self.requests.push(LoggedRequest { rest: with_history(request, History::new()), common, items });
    }

    pub(super) fn all(&self) -> Vec<TurnRequest> {
        let mut history: Vec<Item> = Vec::new();
        let whole = |request: &LoggedRequest| {
            history.truncate(request.common);
            history.extend(request.items.iter().map(|item| Item::clone(item)));
            with_history(&request.rest, history.clone().into())
        };
        self.requests.iter().map(whole).collect()
    }

    pub(super) fn get(&self, number: usize) -> Option<TurnRequest> {
        let request = self.requests.get(number)?;
        let mut items: Vec<&Arc<Item>> = Vec::new();
        for LoggedRequest { common, items: added, .. } in &self.requests[..=number] {
            items.truncate(*common);
            items.extend(added);
        }
        let history = items.into_iter().map(|item| Item::clone(item)).collect();
        Some(with_history(&request.rest, history))
    }
}

/// Returns a request with another history.
fn with_history(request: &TurnRequest, history: History) -> TurnRequest {
    let mut request = request.clone();
    request.history = history;
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(texts: &[&str]) -> TurnRequest {
        TurnRequest::new("m", texts.iter().copied().map(Item::user).collect())
    }

    fn items_kept(log: &RequestLog) -> usize {
        log.requests.iter().map(|request| request.items.len()).sum()
    }

    #[test]
    fn every_request_is_returned_unchanged() {
        let made = [
            request(&["a", "b"]),
            request(&["a", "b", "c"]),
            request(&["a", "x", "c", "d"]),
            request(&[]),
            request(&["a"]),
            request(&["a"]),
        ];
        let mut log = RequestLog::default();
        for request in &made {
            log.push(request);
        }
        assert_eq!(log.all(), made);
        for (number, request) in made.iter().enumerate() {
            assert_eq!(log.get(number).as_ref(), Some(request));
        }
        assert_eq!((log.get(made.len()), log.len()), (None, made.len()));
        assert_eq!(items_kept(&log), 2 + 1 + 3 + 1);
    }

    #[test]
    fn an_item_of_a_growing_conversation_is_stored_once() {
        let (mut log, mut request) = (RequestLog::default(), request(&[]));
        for n in 0..100 {
            request.history.push(Item::user(format!("{n}")));
            log.push(&request);
        }
        assert_eq!(items_kept(&log), 100);
        request.history[99] = Item::user("changed");
        log.push(&request);
        assert_eq!((items_kept(&log), log.get(100)), (101, Some(request)));
    }
}
