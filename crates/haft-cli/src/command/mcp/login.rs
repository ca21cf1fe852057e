//! Logins at servers.

use std::sync::Arc;

use haft::registry::ImportLogin;
use haft::workspace::Loaded;

use super::browser::Browser;
use super::import::{LockedImport, imports};
use super::selection::ImportSelection;
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;
use crate::report;
use crate::terminal::printable;

/// Logs in at the selected servers, one after the other.
pub(super) async fn run(
    cx: &Context,
    loaded: &Loaded,
    selection: &ImportSelection,
    browser: Browser,
) -> Result<ExitStatus, CommandError> {
    for (import, login) in with_logins(loaded, selection)? {
        log_in(cx, &import.name, login, loaded, browser).await?;
        if import.pinned.is_none() {
            report::help(cx, &format!("run `haft mcp accept {}` to read its tools and accept them", import.name));
        }
    }
    Ok(ExitStatus::Done)
}

/// Logs in at one server.
pub(crate) async fn log_in(
    cx: &Context,
    name: &str,
    login: &Arc<dyn ImportLogin>,
    loaded: &Loaded,
    browser: Browser,
) -> Result<(), Fault> {
    let (terminal, import) = (cx.terminal, name.to_owned());
    let open = move |page: &str| {
        terminal.note(format!("log in to `{import}` on this page:\n  {}", printable(page)));
        browser.open(page);
    };
    let outcome = login.login(loaded.services(), Box::new(open)).await;
    outcome.map_err(|error| Fault::new(format!("nobody is logged in to `{name}`")).cause(&*error))?;
    cx.terminal.note(format!("logged in to `{name}`"));
    Ok(())
}

/// Forgets the logins at the selected servers.
pub(super) fn forget(cx: &Context, loaded: &Loaded, selection: &ImportSelection) -> Result<ExitStatus, CommandError> {
    for (import, login) in with_logins(loaded, selection)? {
        let was_logged_in = login.is_logged_in();
        login.logout().map_err(|error| Fault::new(format!("the login to `{}` stays", import.name)).cause(&*error))?;
        let done = if was_logged_in { "logged out from" } else { "nobody was logged in to" };
        cx.terminal.note(format!("{done} `{}`", import.name));
    }
    Ok(ExitStatus::Done)
}

/// An import with its logins.
type WithLogins<'l> = (LockedImport<'l>, &'l Arc<dyn ImportLogin>);

/// Returns the selected imports whose servers know people.
fn with_logins<'l>(loaded: &'l Loaded, selection: &ImportSelection) -> Result<Vec<WithLogins<'l>>, Fault> {
    let chosen = imports(loaded).into_iter().filter(|import| selection.has_import(&import.name));
    let (with, without): (Vec<_>, Vec<_>) = chosen.partition(|import| import.entry.login.is_some());
    if with.is_empty() {
        let names: Vec<String> = without.iter().map(|import| format!("`{}`", import.name)).collect();
        let fault = Fault::new(format!("{} has no logins", names.join(", ")));
        return Err(fault.advice("set `auth = \"oauth\"` in its entry if you log in to its server with a browser"));
    }
    Ok(with
        .into_iter()
        .filter_map(|import| {
            let login = import.entry.login.as_ref()?;
            Some((import, login))
        })
        .collect())
}
