//! Tools that start commands.
