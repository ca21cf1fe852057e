//! Every command's surroundings: the global options, the terminal, interrupts, and the state folder.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use clap::ArgAction;
use etcetera::{AppStrategy, AppStrategyArgs, choose_app_strategy};
use haft::registry::LiveSource;
use haft::workspace::{Loaded, TrustStore};
use tokio::task::JoinSet;

use crate::error::Fault;
use crate::interrupt::Interrupt;
use crate::terminal::Terminal;

/// The variable that names the state folder, replacing the system's usual one.
pub(crate) const STATE_FOLDER: &str = "HAFT_STATE_DIR";

/// The options of all commands.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalOptions {
    /// The folder of the workspace, or its file. Without it, the nearest `haft.toml` is used, looking upward from the
    /// current folder
    #[arg(long, short = 'w', global = true, value_name = "DIR", env = "HAFT_WORKSPACE")]
    pub(crate) workspace: Option<PathBuf>,
    /// Shows spans and messages on standard error; twice or three times for more
    #[arg(long, short = 'v', global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// A command's surroundings.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) global: GlobalOptions,
    pub(crate) terminal: Terminal,
    pub(crate) interrupt: Interrupt,
    /// The sources that may have connections and programs.
    live: Mutex<Vec<Arc<dyn LiveSource>>>,
}

impl Context {
    pub(crate) fn new(global: GlobalOptions) -> Self {
        Self { global, terminal: Terminal::detect(), interrupt: Interrupt::new(), live: Mutex::default() }
    }

    /// Notes a workspace's live sources, which end with the command.
    pub(crate) fn opened(&self, loaded: &Loaded) {
        let sources = loaded.entries.iter().filter_map(|entry| entry.live.clone());
        self.live.lock().unwrap_or_else(PoisonError::into_inner).extend(sources);
    }

    /// Ends all live sources at the same time, and waits for them.
    pub(crate) async fn close(&self) {
        let sources = std::mem::take(&mut *self.live.lock().unwrap_or_else(PoisonError::into_inner));
        let mut closing: JoinSet<()> = sources.into_iter().map(|one| async move { one.close().await }).collect();
        while closing.join_next().await.is_some() {}
    }

    /// Returns the folder for what the command remembers: trust in files, conversations.
    #[allow(clippy::unused_self, reason = "the folder belongs to the surroundings of a command")]
    pub(crate) fn state_folder(&self) -> Result<PathBuf, Fault> {
        if let Some(folder) = std::env::var_os(STATE_FOLDER).filter(|folder| !folder.is_empty()) {
            return Ok(folder.into());
        }
        let names = AppStrategyArgs { app_name: "haft".to_owned(), ..AppStrategyArgs::default() };
        let strategy = choose_app_strategy(names).map_err(|error| {
            Fault::new("the home folder is not known")
                .cause(&error)
                .advice(format!("set the variable {STATE_FOLDER} to a folder for the state of haft"))
        })?;
        Ok(strategy.state_dir().unwrap_or_else(|| strategy.data_dir()))
    }

    /// Returns the path to the user's own rules, a file that need not exist.
    pub(crate) fn policy_file(&self) -> Result<PathBuf, Fault> {
        Ok(self.state_folder()?.join("policy.toml"))
    }

    /// Returns the record of trusted files.
    pub(crate) fn trust_store(&self) -> Result<TrustStore, Fault> {
        Ok(TrustStore::new(self.state_folder()?.join("trust")))
    }
}
