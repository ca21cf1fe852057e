//! The executor service: runs tools of a registry by name.
