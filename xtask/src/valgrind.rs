//! Valgrind's callgrind, which counts the instructions that a program executes.
//!
//! A count depends neither on the machine's speed nor on its load. Three things would still change it from run to run,
//! and are removed: the random seeds of haft's own hash maps (`--cfg haft_fixed_seeds`), the state of the heap
//! (glibc's per-thread cache is made large enough to serve every allocation after the first), and the start-up (only
//! one function is counted).

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

use crate::artifact;
use crate::invocation::Invocation;
use crate::workspace::Workspace;

/// Settings that make the cost of an allocation independent of earlier ones, and that of a copy independent of the
/// processor: where one has an instruction for copying, callgrind counts it once per byte. Ignored where the C library
/// is not glibc.
const TUNABLES: &str = "glibc.malloc.tcache_count=65535:glibc.malloc.mmap_threshold=1073741824:\
                        glibc.malloc.trim_threshold=1073741824:glibc.malloc.top_pad=67108864:\
                        glibc.cpu.x86_rep_movsb_threshold=1073741824:glibc.cpu.x86_rep_stosb_threshold=1073741824";
/// The flags of the counted build, whose profile is in the workspace's manifest: hash seeds are fixed.
const FLAGS: (&str, &str) = ("CARGO_ENCODED_RUSTFLAGS", "--cfg\u{1f}haft_fixed_seeds");

/// A valgrind that runs on this machine.
#[derive(Debug)]
pub(crate) struct Valgrind {
    program: &'static str,
}

/// The outcome of one run.
#[derive(Debug)]
pub(crate) struct Counted {
    /// The standard output of the program.
    pub(crate) output: String,
    /// The instructions executed by each call of the counted function, in order.
    pub(crate) calls: Vec<u64>,
}

impl Valgrind {
    /// Returns the machine's valgrind, if there is one.
    pub(crate) fn find() -> Option<Self> {
        let program = "valgrind";
        Invocation::new(program).arg("--version").succeeds().then_some(Self { program })
    }

    /// Returns the machine's valgrind, installing it with `apt-get` where it is missing and this process is root.
    pub(crate) fn install() -> anyhow::Result<Self> {
        if let Some(valgrind) = Self::find() {
            return Ok(valgrind);
        }
        let user = Invocation::new("id").arg("-u").capture()?;
        ensure!(user.trim() == "0", "valgrind is missing, and only root can install it");
        apt_get_install("valgrind")?;
        Self::find().context("valgrind was installed and still does not run")
    }

    /// Runs the program and counts the instructions of each call of `function`, with everything that it calls.
    ///
    /// The function is named by its path, `krate::module::function`. It must be neither generic nor inlined.
    pub(crate) fn count(
        &self,
        workspace: &Workspace,
        program: &Path,
        arguments: &[&str],
        function: &str,
    ) -> anyhow::Result<Counted> {
        let folder = workspace.root().join("target/callgrind").join(std::process::id().to_string());
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let counted = self.count_in(&folder, workspace, program, arguments, function);
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        counted
    }

    /// Runs the program and counts all its instructions. `settings` are set in its environment.
    pub(crate) fn count_whole(
        &self,
        workspace: &Workspace,
        program: &Path,
        arguments: &[&str],
        settings: &[(&str, &Path)],
    ) -> anyhow::Result<u64> {
        let folder = workspace.root().join("target/callgrind").join(std::process::id().to_string());
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let file = folder.join("whole");
        let valgrind = workspace.invoke(self.program).env("GLIBC_TUNABLES", TUNABLES);
        let valgrind = settings.iter().fold(valgrind, |valgrind, (name, value)| valgrind.env(name, value));
        let callgrind = valgrind.args(["-q", "--tool=callgrind"]);
        let callgrind = callgrind.arg(format!("--callgrind-out-file={}", file.display()));
        callgrind.arg(program).args(arguments).capture()?;
        let text = fs::read_to_string(&file).with_context(|| format!("callgrind wrote no {}", file.display()))?;
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        total(&text)
    }

    fn count_in(
        &self,
        folder: &Path,
        workspace: &Workspace,
        program: &Path,
        arguments: &[&str],
        function: &str,
    ) -> anyhow::Result<Counted> {
        let file = folder.join("calls");
        let valgrind = workspace.invoke(self.program).env("GLIBC_TUNABLES", TUNABLES);
        let callgrind = valgrind.args(["-q", "--tool=callgrind"]);
        let callgrind = callgrind.arg(format!("--callgrind-out-file={}", file.display()));
        // Counting begins when the function is entered and ends when it returns; each return writes a separate file.
        let counting = callgrind.args([format!("--toggle-collect={function}"), format!("--dump-after={function}")]);
        let output = counting.arg(program).args(arguments).capture()?;
        let mut calls = Vec::new();
        while let Ok(text) = fs::read_to_string(file.with_extension((calls.len() + 1).to_string())) {
            calls.push(total(&text)?);
        }
        Ok(Counted { output, calls })
    }
}

/// Installs a package of Debian, for root.
pub(crate) fn apt_get_install(package: &str) -> anyhow::Result<()> {
    let apt_get = |arguments: &[&str]| {
        Invocation::new("apt-get").env("DEBIAN_FRONTEND", "noninteractive").args(arguments).run_quietly()
    };
    let install = ["install", "-y", "--no-install-recommends", package];
    if apt_get(&install).is_err() {
        apt_get(&["update"])?;
        apt_get(&install)?;
    }
    Ok(())
}

/// Builds this benchmark of each package, for counting, and returns the programs in the order of the packages.
///
/// The packages are built together, so what they have in common is built once, with these features beside their defaults.
pub(crate) fn build(
    workspace: &Workspace,
    packages: &[&str],
    bench: &str,
    features: &[&str],
) -> anyhow::Result<Vec<PathBuf>> {
    let cargo = workspace.cargo().env(FLAGS.0, FLAGS.1);
    let cargo = cargo.args(["bench", "--quiet", "--profile", "counted", "--no-run", "--bench", bench]);
    let cargo = features.iter().fold(cargo, |cargo, feature| cargo.args(["--features", feature]));
    let built = artifact::built_by(packages.iter().fold(cargo, |cargo, package| cargo.args(["-p", package])))?;
    let program_of = |package: &&str| {
        let program = built.iter().find(|program| program.package == *package && program.name == bench);
        let program = program.map(|program| PathBuf::from(&program.executable));
        program.with_context(|| format!("cargo does not report the path of the benchmark of {package}"))
    };
    packages.iter().map(program_of).collect()
}

/// Builds a program of a package, for counting.
pub(crate) fn build_program(workspace: &Workspace, package: &str, name: &str) -> anyhow::Result<PathBuf> {
    let cargo = workspace.cargo().env(FLAGS.0, FLAGS.1);
    let cargo = cargo.args(["build", "--quiet", "--profile", "counted", "-p", package, "--bin", name]);
    let built = artifact::built_by(cargo)?;
    let program = built.iter().find(|program| program.package == package && program.name == name);
    let program = program.map(|program| PathBuf::from(&program.executable));
    program.with_context(|| format!("cargo does not report the path of the program of {package}"))
}

/// Returns the total of one of callgrind's files.
fn total(text: &str) -> anyhow::Result<u64> {
    let Some(total) = text.lines().find_map(|line| line.strip_prefix("totals: ")) else {
        bail!("callgrind wrote a file without a total");
    };
    total.trim().parse().with_context(|| format!("`{total}` is not a count"))
}

#[cfg(test)]
mod tests {
    use super::total;

    #[test]
    fn the_total_of_a_file_is_read_and_a_file_without_one_is_an_error() {
        assert_eq!(total("version: 1\nevents: Ir\n\nfn=(1) f\n3 40\n\ntotals: 195355\n").unwrap(), 195_355);
        assert!(total("version: 1\n").is_err());
        assert!(total("totals: many\n").is_err());
    }
}
