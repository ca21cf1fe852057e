//! The sections of a file besides its toolboxes.

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;

use super::build::Trusted;
use super::document::{TextFault, member};
use super::settings::{HttpSettings, LimitSettings, SecretSetting, StandardChoice, StandardSetting};
use super::tree::Part;
use crate::secrets::{SecretOrigin, Secrets};

/// The settings of all files together.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) standard: Option<StandardChoice>,
    pub(crate) secrets: Secrets,
    pub(crate) http: HttpSettings,
    pub(crate) limits: LimitSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            standard: Some(StandardChoice::default()),
            secrets: Secrets::default(),
            http: HttpSettings::default(),
            limits: LimitSettings::default(),
        }
    }
}

/// Reads the sections of one file.
pub(crate) struct SectionReader<'a> {
    pub(crate) part: &'a mut Part,
    pub(crate) remarks: &'a mut Vec<TextFault>,
    pub(crate) trusted: Trusted,
}

impl SectionReader<'_> {
    /// Reads the sections of which all files have their share.
    pub(crate) fn read_shared(&mut self, settings: &mut Settings) {
        self.read_secrets(&mut settings.secrets);
        self.read_http(&mut settings.http);
    }

    /// Reads the sections that count in the file that is loaded.
    pub(crate) fn read_own(&mut self, settings: &mut Settings) {
        settings.limits = self.part.section("limits").unwrap_or_default();
        settings.standard = match self.part.workspace.standard.take() {
            None | Some(StandardSetting::Enabled(true)) => Some(StandardChoice::default()),
            Some(StandardSetting::Enabled(false)) => None,
            Some(StandardSetting::Chosen(choice)) => Some(self.standard(choice)),
        };
    }

    /// Remarks on the sections that count only in the file that is loaded.
    pub(crate) fn ignore_own(&mut self) {
        let mut ignored = Vec::new();
        if self.part.take("limits").is_some() {
            ignored.push("/limits");
        }
        if self.part.workspace.standard.is_some() {
            ignored.push("/workspace/standard");
        }
        let message = "left out: this counts only in the file that is loaded itself, not in that of an organisation";
        self.remarks.extend(ignored.into_iter().map(|pointer| TextFault::at_key(pointer, message)));
    }

    fn read_secrets(&mut self, all: &mut Secrets) {
        let Some(secrets) = self.part.section::<BTreeMap<String, SecretSetting>>("secrets") else { return };
        for (name, setting) in secrets {
            if all.contains(&name) {
                let message = format!("left out: another file defines the secret `{name}` already");
                self.remarks.push(TextFault::at_key(member("/secrets", &name), message));
                continue;
            }
            let origin = match (self.trusted, setting) {
                (Trusted::No, _) => {
                    let path = self.part.source.path.display();
                    SecretOrigin::Withheld(format!("`{path}` is not trusted; review the file, and trust it"))
                }
                (Trusted::Yes, SecretSetting::Env(variable)) => SecretOrigin::Env(variable),
                (Trusted::Yes, SecretSetting::File(path)) => SecretOrigin::File(self.part.source.folder().join(path)),
            };
            *all = std::mem::take(all).with(name, origin);
        }
        if self.trusted == Trusted::No {
            let message = "withheld: secrets require that this file is trusted";
            self.remarks.push(TextFault::at_key("/secrets", message));
        }
    }

    fn read_http(&mut self, all: &mut HttpSettings) {
        let Some(HttpSettings { allow_hosts, allow_nets }) = self.part.section("http") else { return };
        for (key, list, check) in [
            ("/http/allow-hosts", &allow_hosts, check_host as fn(&str) -> Result<(), &'static str>),
            ("/http/allow-nets", &allow_nets, check_net),
        ] {
            let checked = list.iter().enumerate().filter_map(|(at, text)| Some((at, text, check(text).err()?)));
            let fault = |(at, text, fault)| TextFault::at(format!("{key}/{at}"), format!("`{text}` {fault}"));
            self.part.faults.extend(checked.map(fault));
        }
        match self.trusted {
            Trusted::Yes => {
                all.allow_hosts.extend(allow_hosts);
                all.allow_nets.extend(allow_nets);
            }
            Trusted::No if allow_hosts.is_empty() && allow_nets.is_empty() => {}
            Trusted::No => {
                let message = "left out: hosts that are not public require that this file is trusted";
                self.remarks.push(TextFault::at_key("/http", message));
            }
        }
    }

    /// Resolves the folder of standard tools that read files.
    fn standard(&mut self, mut choice: StandardChoice) -> StandardChoice {
        const FILES: &str = "/workspace/standard/files";
        let Some(files) = choice.files.take() else { return choice };
        match fs::canonicalize(self.part.source.folder().join(&files)) {
            Ok(folder) if !folder.is_dir() => {
                let message = format!("`{}` is not a folder; name the folder whose files may be read", files.display());
                self.part.faults.push(TextFault::at(FILES, message));
            }
            Ok(folder) if self.trusted == Trusted::No && !folder.starts_with(self.part.source.folder()) => {
                let message = "left out: files outside of this folder require that this file is trusted";
                self.remarks.push(TextFault::at_key(FILES, message));
            }
            Ok(folder) => choice.files = Some(folder),
            Err(error) => {
                let message = format!("the folder `{}` can't be used: {error}", files.display());
                self.part.faults.push(TextFault::at(FILES, message));
            }
        }
        choice
    }
}

/// Checks a host with or without a port.
fn check_host(text: &str) -> Result<(), &'static str> {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, "")) => (host, None),
        Some((host, port)) => (host, Some(port.strip_prefix(':').unwrap_or_default())),
        None if text.parse::<IpAddr>().is_ok() => (text, None),
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let is_host = !host.is_empty() && host.len() <= 253 && host.bytes().all(is_name) || host.parse::<IpAddr>().is_ok();
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    if is_host && is_port { Ok(()) } else { Err("is not a host; write `name`, `name:port` or an address") }
}

/// Checks a network in CIDR notation.
fn check_net(text: &str) -> Result<(), &'static str> {
    let (address, bits) = text.split_once('/').ok_or("is not a network; write one such as `10.0.0.0/8`")?;
    let most = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return Err("does not begin with an address; write a network such as `10.0.0.0/8`"),
    };
    let is_number = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
    match bits.parse::<u8>() {
        Ok(bits) if is_number && bits <= most => Ok(()),
        _ => Err("does not end with a length of at most 32 bits, or 128 bits for version 6"),
    }
}

#[cfg(test)]
mod tests {
    use super::{check_host, check_net};

    #[test]
    fn hosts() {
        for host in ["localhost", "localhost:8080", "10.0.0.1", "10.0.0.1:80", "::1", "[::1]", "[::1]:443", "a-b.c_d"] {
            assert_eq!(check_host(host), Ok(()), "{host}");
        }
        for host in ["", ":80", "a:", "a:0", "a:65536", "a:b", "http://a", "a/b", "a b", "[::1", "[::1]x", "*.a", "ü"]
        {
            assert!(check_host(host).is_err(), "{host}");
        }
    }

    #[test]
    fn networks() {
        for net in ["10.0.0.0/8", "0.0.0.0/0", "fe80::/10", "::1/128", "1.2.3.4/32"] {
            assert_eq!(check_net(net), Ok(()), "{net}");
        }
        for net in ["", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "::/129", "10.0/8", "a/8"]
        {
            assert!(check_net(net).is_err(), "{net}");
        }
    }
}
