//! Conversations in a database: each operation is one transaction, and only the current claim may save.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use haft::conversation::Timestamp;
use haft::model::{Claim, ClaimToken, ConversationStore, LoopState, StoreError, StoreFuture, StoredConversation};
use rusqlite::{Connection, OptionalExtension, Params, Result, Transaction, TransactionBehavior};

const TABLE: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS conversations (id TEXT PRIMARY KEY, version INTEGER NOT NULL DEFAULT 0, state TEXT,
    claim TEXT, claimed_until INTEGER NOT NULL DEFAULT 0) STRICT";

/// A store for one process. Clones share the connection.
#[derive(Clone)]
pub(crate) struct SqliteStore {
    database: Arc<Mutex<Connection>>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl SqliteStore {
    /// Opens a database, and creates it if it does not exist.
    ///
    /// It ends all claims: only one process uses the database, so those that are left belong to one that died. If that
    /// is wrong and it lives, its next save fails and its runs end.
    pub(crate) fn open(path: impl AsRef<Path>) -> Result<Self> {
        let database = Connection::open(path)?;
        database.execute_batch(TABLE)?;
        database.execute("UPDATE conversations SET claim = NULL", ())?;
        Ok(Self { database: Arc::new(Mutex::new(database)), clock: Arc::new(|| SystemTime::now().into()) })
    }

    /// Sets the clock that leases are measured by.
    #[allow(dead_code, reason = "`chat_service` uses the machine's clock")]
    pub(crate) fn clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// Runs a transaction on a thread that may block. The outer result is the database's, the inner one the store's.
    fn transact<'a, T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>, Timestamp) -> Result<Result<T, StoreError>> + Send + 'static,
    ) -> StoreFuture<'a, T> {
        let Self { database, clock } = self.clone();
        let work = move || -> Result<Result<T, StoreError>> {
            let mut database = database.lock().unwrap_or_else(PoisonError::into_inner);
            let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction, clock())?;
            transaction.commit().map(|()| done)
        };
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(work).await;
            let done = done.map_err(|error| StoreError::failed("finish a transaction", error))?;
            done.map_err(|error| StoreError::failed("use the database", error))?
        })
    }

    /// Changes the row of a claim, if the claim is the current one.
    fn change<'a, T: Send + 'static>(
        &self,
        change: &'static str,
        row: impl Params + Send + 'static,
        changed: T,
    ) -> StoreFuture<'a, T> {
        self.transact(move |sql, _| match sql.execute(change, row)? {
            0 => Ok(Err(StoreError::ClaimLost)),
            _ => Ok(Ok(changed)),
        })
    }
}

impl ConversationStore for SqliteStore {
    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<StoredConversation>> {
        let id = id.to_owned();
        self.transact(move |sql, _| {
            let saved = "SELECT version, state FROM conversations WHERE id = ?1 AND state IS NOT NULL";
            let row = sql.query_row(saved, [&id], |row| Ok((row.get(0)?, row.get::<_, String>(1)?))).optional()?;
            let read = |(version, text): (u64, String)| match serde_json::from_str(&text) {
                Ok(state) => Ok(StoredConversation::new(state, version)),
                Err(error) => Err(StoreError::damaged(format!("the conversation {id}"), error.to_string())),
            };
            Ok(row.map(read).transpose())
        })
    }

    fn claim<'a>(&'a self, id: &'a str, lease: Duration) -> StoreFuture<'a, Claim> {
        let id = id.to_owned();
        self.transact(move |sql, now| {
            let current = "SELECT claimed_until FROM conversations
                WHERE id = ?1 AND claim IS NOT NULL AND claimed_until > ?2";
            let until = sql.query_row(current, (&id, now.unix_millis()), |row| row.get(0)).optional()?;
            if let Some(until) = until.map(Timestamp::from_unix_millis) {
                return Ok(Err(StoreError::Busy { until }));
            }
            let claim = Claim::new(id, ClaimToken::random(), now.saturating_add(lease));
            let claimed = "INSERT INTO conversations (id, claim, claimed_until) VALUES (?1, ?2, ?3)
                ON CONFLICT (id) DO UPDATE SET claim = ?2, claimed_until = ?3";
            sql.execute(claimed, (&claim.conversation, claim.token.as_str(), claim.expires_at.unix_millis()))?;
            Ok(Ok(claim))
        })
    }

    fn renew<'a>(&'a self, claim: &'a Claim, lease: Duration) -> StoreFuture<'a, Claim> {
        let until = (self.clock)().saturating_add(lease);
        let row = (claim.conversation.clone(), claim.token.as_str().to_owned(), until.unix_millis());
        let renewed = Claim::new(&claim.conversation, claim.token.clone(), until);
        self.change("UPDATE conversations SET claimed_until = ?3 WHERE id = ?1 AND claim = ?2", row, renewed)
    }

    fn save<'a>(&'a self, claim: &'a Claim, expected: u64, state: &'a LoopState) -> StoreFuture<'a, u64> {
        let (claim, text) = (claim.clone(), serde_json::to_string(state));
        self.transact(move |sql, now| {
            let current = "SELECT version FROM conversations WHERE id = ?1 AND claim = ?2 AND claimed_until > ?3";
            let row = (&claim.conversation, claim.token.as_str(), now.unix_millis());
            let text = match (sql.query_row(current, row, |row| row.get(0)).optional()?, text) {
                (None, _) => return Ok(Err(StoreError::ClaimLost)),
                (Some(found), _) if found != expected => return Ok(Err(StoreError::Changed { expected, found })),
                (_, Err(error)) => return Ok(Err(StoreError::failed("write the state as JSON", error))),
                (_, Ok(text)) => text,
            };
            let saved = "UPDATE conversations SET version = ?2, state = ?3 WHERE id = ?1";
            sql.execute(saved, (&claim.conversation, expected + 1, text))?;
            Ok(Ok(expected + 1))
        })
    }

    fn release<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, ()> {
        let row = (claim.conversation.clone(), claim.token.as_str().to_owned());
        self.change("UPDATE conversations SET claim = NULL WHERE id = ?1 AND claim = ?2", row, ())
    }
}
