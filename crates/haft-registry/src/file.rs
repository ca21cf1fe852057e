//! Workspaces as files: `haft.toml`.
