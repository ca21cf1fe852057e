//! Permissions: which tools may be called, and with which arguments.
