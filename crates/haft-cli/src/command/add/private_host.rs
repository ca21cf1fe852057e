//! Hosts of a new entry that are not public: the guard of the file rejects requests to them unless it is told otherwise.
//!
//! Only addresses and `localhost` are recognised: `add` resolves no names. `haft check` does.

use std::net::IpAddr;
use std::path::Path;

use haft::registry::Recipient;
use haft::workspace::Loaded;

use super::entry::NewEntry;
use super::{edit, write};
use crate::context::Context;
use crate::error::CommandError;
use crate::report;

/// The treatment of an entry's hosts that are not public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PrivateHosts {
    /// They are reported.
    Reported,
    /// These are added to `http.allow-hosts`.
    Allowed(Vec<String>),
}

impl PrivateHosts {
    /// Creates the treatment that the option requests. The hosts are found by [`allow`].
    pub(super) fn of(allow_private: bool) -> Self {
        if allow_private { Self::Allowed(Vec::new()) } else { Self::Reported }
    }

    /// Returns the hosts to add to the file.
    pub(super) fn allowed(&self) -> &[String] {
        match self {
            Self::Reported => &[],
            Self::Allowed(hosts) => hosts,
        }
    }
}

/// Finds the hosts to allow, if that is requested.
pub(super) async fn allow(
    cx: &Context,
    entry: &mut NewEntry,
    path: &Path,
    before: &Loaded,
) -> Result<(), CommandError> {
    if let PrivateHosts::Allowed(_) = entry.private_hosts {
        let draft = write::check(cx, &edit::add(before, entry)?, path, before).await?;
        entry.private_hosts = PrivateHosts::Allowed(rejected(entry, &draft).await);
    }
    Ok(())
}

/// Reports the hosts that the guard of the file rejects.
pub(super) async fn report(cx: &Context, entry: &NewEntry, draft: &Loaded) {
    // A server was connected to before it was added.
    if entry.table.get("kind").and_then(|kind| kind.as_str()) == Some("mcp") {
        return;
    }
    for host in rejected(entry, draft).await {
        report::note(cx, &format!("`{host}` is not a public host, so requests to it are rejected"));
        report::help(
            cx,
            &format!("add it to `allow-hosts` in `[http]`, as `--allow-private` does: `allow-hosts = [\"{host}\"]`"),
        );
    }
}

/// Returns an entry's hosts that are not public and not allowed, as `allow-hosts` has them.
async fn rejected(entry: &NewEntry, draft: &Loaded) -> Vec<String> {
    let key = format!("toolbox.{}.{}.{}", entry.namespace, entry.sort.key(), entry.name);
    let entries = draft.entries.iter().filter(|known| *known.path == *draft.path && known.key == key);
    let mut found = Vec::new();
    for (recipient, _) in entries.flat_map(|entry| entry.reach.recipients()) {
        let Recipient::Host(origin) = recipient else { continue };
        let host = origin.split_once("://").map_or(origin.as_str(), |(_, host)| host);
        if is_recognised(host) && draft.guard.check_host_of(origin).await.is_err() {
            found.push(host.to_owned());
        }
    }
    found
}

/// Reports whether no name server is needed to know a host, which may have a port.
fn is_recognised(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name == "localhost" || name.parse::<IpAddr>().is_ok()
}
