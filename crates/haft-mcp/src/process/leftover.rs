//! Servers that an earlier process has left behind.
//!
//! Each running server has a file with its id, its start time and a random tag, which is also in its environment. A
//! server is a leftover only if all three are still true of the process with that id, and the process that started it
//! is gone. So a process that got the same id later is never ended.
//!
//! It needs `/proc`, so elsewhere nothing is recorded and nothing ended.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use haft_core::internal::{push_hex, sha256};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};

/// The variable with the tag of a server.
pub(super) const TAG_VARIABLE: &str = "HAFT_MCP_TAG";

/// The record of one server. Dropping it removes its file.
#[derive(Debug)]
pub(super) struct Leftover {
    file: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    tag: String,
    server: ProcessMark,
    owner: ProcessMark,
}

/// A process at one time: ids are used again, start times with them are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ProcessMark {
    id: u32,
    /// In clock ticks since the machine started.
    started: u64,
}

impl ProcessMark {
    fn of(id: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name of the program is in parentheses and may contain any character.
        let started = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
        Some(Self { id, started })
    }

    fn is_alive(self) -> bool {
        Self::of(self.id) == Some(self)
    }
}

/// Returns a tag that no other server has.
pub(super) fn new_tag() -> String {
    use std::hash::{BuildHasher, RandomState};
    let mut tag = String::new();
    for part in 0..2_u8 {
        push_hex(&mut tag, &RandomState::new().hash_one(part).to_be_bytes());
    }
    tag
}

impl Leftover {
    /// Records a server that has just been started.
    pub(super) fn record(folder: &Path, id: u32, tag: &str) -> io::Result<Option<Self>> {
        let (Some(server), Some(owner)) = (ProcessMark::of(id), ProcessMark::of(std::process::id())) else {
            return Ok(None);
        };
        fs::create_dir_all(folder)?;
        let file = folder.join(format!("{}.json", &sha256(tag)["sha256:".len()..]));
        fs::write(&file, serde_json::to_vec(&Record { tag: tag.to_owned(), server, owner })?)?;
        Ok(Some(Self { file }))
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

/// Ends what earlier processes have left behind. Returns the ids of the groups.
pub(super) fn end_leftovers(folder: &Path) -> Vec<u32> {
    let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
    let files = files.filter_map(|file| Some(file.ok()?.path()));
    let files = files.filter(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.filter_map(|file| end_leftover(&file)).collect()
}

fn end_leftover(file: &Path) -> Option<u32> {
    let record: Record = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    if record.owner.is_alive() {
        return None;
    }
    let _ = fs::remove_file(file);
    let environment = fs::read(format!("/proc/{}/environ", record.server.id)).ok()?;
    let expected = format!("{TAG_VARIABLE}={}", record.tag);
    let is_tagged = environment.split(|&byte| byte == 0).any(|variable| variable == expected.as_bytes());
    // The start time is read last: the process whose tag was read had it.
    if !is_tagged || !record.server.is_alive() {
        return None;
    }
    let group = Pid::from_raw(record.server.id.cast_signed())?;
    kill_process_group(group, Signal::KILL).ok()?;
    Some(record.server.id)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use super::*;

    fn sleeper(tag: &str) -> Child {
        Command::new("sleep").arg("1000").env(TAG_VARIABLE, tag).process_group(0).spawn().unwrap()
    }

    fn gone() -> ProcessMark {
        ProcessMark { id: std::process::id(), started: 0 }
    }

    fn write(folder: &Path, tag: &str, server: ProcessMark, owner: ProcessMark) {
        let record = Record { tag: tag.to_owned(), server, owner };
        fs::write(folder.join("a.json"), serde_json::to_vec(&record).unwrap()).unwrap();
    }

    #[test]
    fn a_server_is_ended_only_if_everything_matches_and_its_owner_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = sleeper("tag-1");
        let server = ProcessMark::of(child.id()).unwrap();
        let alive = ProcessMark::of(std::process::id()).unwrap();
        let other_time = ProcessMark { started: server.started + 1, ..server };
        for (tag, server, owner) in [("tag-1", server, alive), ("tag-2", server, gone()), ("tag-1", other_time, gone())]
        {
            write(folder.path(), tag, server, owner);
            assert!(end_leftovers(folder.path()).is_empty());
            assert!(child.try_wait().unwrap().is_none());
        }
        write(folder.path(), "tag-1", server, gone());
        assert_eq!(end_leftovers(folder.path()), [server.id]);
        assert!(!child.wait().unwrap().success());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_record_is_removed_with_its_server_and_garbage_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.json");
        fs::write(&file, "garbage").unwrap();
        let tag = new_tag();
        assert_ne!(tag, new_tag());
        let record = Leftover::record(folder.path(), std::process::id(), &tag).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        assert!(end_leftovers(folder.path()).is_empty());
        drop(record);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
